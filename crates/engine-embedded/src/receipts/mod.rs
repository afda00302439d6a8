//! Receipts that outlive the part of the log that held them.
//!
//! A remembered operation's receipt is in memory where it is small, and otherwise in the log. Before old segments are
//! dropped, the receipts in them that a duplicate may still ask for move into a file of their own, so that the log is
//! kept by snapshots and consumers, and not for a day because of one refusal.

mod file;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scarce_core::event::Entry;

use crate::partition::PartitionHome;
use crate::storage::Storage;

use file::ReceiptFile;
pub use file::ReceiptsError;

/// The receipts of one partition that have left its log.
pub(crate) struct MovedReceipts {
    storage: Arc<dyn Storage>,
    /// In the order of their sequences.
    files: Mutex<Vec<ReceiptFile>>,
}

impl MovedReceipts {
    /// Finds the files of a partition.
    ///
    /// # Errors
    /// When one cannot be read, is damaged, or belongs to another partition.
    pub(crate) fn open(home: &PartitionHome) -> Result<Self, ReceiptsError> {
        let (storage, owner) = (home.storage.clone(), home.snapshot_owner());
        let mut files = Vec::new();
        for name in storage.list()? {
            if file::is_temporary(&name) {
                storage.remove(&name)?;
            } else if file::is_name(&name) {
                files.push(ReceiptFile::open(&*storage, &name, &owner)?);
            }
        }
        files.sort_by_key(ReceiptFile::first);
        Ok(Self { storage, files: Mutex::new(files) })
    }

    fn files(&self) -> MutexGuard<'_, Vec<ReceiptFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry that ends at a sequence, without its events, if its receipt has moved here.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub(crate) fn find(&self, sequence_last: u64) -> Result<Option<Entry>, ReceiptsError> {
        let files = self.files();
        match files.iter().find(|file| file.covers(sequence_last)) {
            Some(file) => file.find(&*self.storage, sequence_last),
            None => Ok(None),
        }
    }
}

/// Copies all files whose receipts end at `sequence_last` or before.
///
/// # Errors
/// When one cannot be read, is damaged, or the copy cannot be written.
pub(crate) fn copy_through(
    from: &PartitionHome,
    to: &PartitionHome,
    sequence_last: u64,
) -> Result<(), ReceiptsError> {
    for name in from.storage.list()?.iter().filter(|name| file::is_name(name)) {
        let file = ReceiptFile::open(&*from.storage, name, &from.snapshot_owner())?;
        if file.last() <= sequence_last {
            file.copy(&*from.storage, &*to.storage)?;
        }
    }
    Ok(())
}
