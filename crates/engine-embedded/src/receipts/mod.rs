//! Receipts that outlive the part of the log that held them.
//!
//! A remembered operation's receipt is in memory where it is small, and otherwise in the log. Before old segments are
//! dropped, the receipts in them that a duplicate may still ask for move into a file of their own, so that the log is
//! kept by snapshots and consumers, and not for a day because of one refusal.

mod file;
mod writer;

use std::iter::Peekable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scarce_core::codec::{Input, Malformed};
use scarce_core::event::Entry;

use crate::EmbeddedError;
use crate::fold::FoldError;
use crate::log::PartitionLog;
use crate::partition::PartitionHome;
use crate::snapshot::SnapshotOwner;
use crate::storage::{Storage, StorageError};

use file::ReceiptFile;
pub use file::ReceiptsError;
use writer::ReceiptFileWriter;

/// How much of the log is read at a time.
const READ_BYTES: u64 = 4 << 20;

/// The receipts of one partition that have left its log.
pub(crate) struct MovedReceipts {
    storage: Arc<dyn Storage>,
    owner: SnapshotOwner,
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
        Ok(Self { storage, owner, files: Mutex::new(files) })
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

    /// Copies the receipts of entries that end at these sequences, in ascending order, out of the log. Afterwards they
    /// are durable here, and the log may be trimmed.
    ///
    /// # Errors
    /// When the log cannot be read or the file not be written.
    pub(crate) fn take(&self, log: &dyn PartitionLog, sequences: &[u64]) -> Result<(), EmbeddedError> {
        let known = self.files().last().map_or(0, ReceiptFile::last);
        let after = sequences.partition_point(|sequence| *sequence <= known);
        let (Some(first), Some(last)) = (sequences.get(after), sequences.last()) else { return Ok(()) };
        let mut writer = ReceiptFileWriter::create(&*self.storage, &self.owner, *first)?;
        let mut wanted = sequences[after..].iter().copied().peekable();
        let mut reader = log.reader();
        while let Some(sequence) = wanted.peek().copied() {
            for batch in reader.read_from(sequence, *last, READ_BYTES)? {
                each_wanted(&batch, &mut wanted, &mut |_, entry| Ok(writer.add(entry)?))?;
            }
            if wanted.peek() == Some(&sequence) {
                return Err(FoldError::Gap { sequence, found: sequence + 1 }.into());
            }
        }
        let file = writer.finish(&*self.storage)?;
        self.files().push(file);
        Ok(())
    }

    /// Removes the files whose operations have all been forgotten: those before the first sequence that may still be
    /// asked for.
    ///
    /// # Errors
    /// When the disk fails.
    pub(crate) fn forget_before(&self, sequence: u64) -> Result<(), StorageError> {
        let mut files = self.files();
        while files.first().is_some_and(|file| file.last() < sequence) {
            self.storage.remove(&files.remove(0).name)?;
            self.storage.sync_directory()?;
        }
        Ok(())
    }
}

/// Gives the receipts that have left a partition's log and end at these sequences to `take`, in their order, and leaves
/// the other sequences.
///
/// # Errors
/// When a file cannot be read or is damaged, or `take` fails.
pub(crate) fn each_moved(
    home: &PartitionHome,
    wanted: &[u64],
    take: &mut dyn FnMut(u64, &Entry) -> Result<(), EmbeddedError>,
) -> Result<Vec<u64>, EmbeddedError> {
    let (storage, owner) = (&*home.storage, home.snapshot_owner());
    let opened = names(storage)?.into_iter().map(|name| ReceiptFile::open(storage, &name, &owner));
    let files = opened.collect::<Result<Vec<_>, _>>()?;
    let mut left = Vec::new();
    for sequence in wanted {
        let file = files.iter().find(|file| file.covers(*sequence));
        match file.map(|file| file.find(storage, *sequence)).transpose()?.flatten() {
            Some(entry) => take(*sequence, &entry)?,
            None => left.push(*sequence),
        }
    }
    Ok(left)
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
    for name in names(&*from.storage)? {
        let file = ReceiptFile::open(&*from.storage, &name, &from.snapshot_owner())?;
        if file.last() <= sequence_last {
            file.copy(&*from.storage, &*to.storage)?;
        }
    }
    Ok(())
}

/// The names of a partition's files of receipts.
///
/// # Errors
/// When the directory cannot be read.
pub(crate) fn names(storage: &dyn Storage) -> Result<Vec<String>, StorageError> {
    Ok(storage.list()?.into_iter().filter(|name| file::is_name(name)).collect())
}

/// Checks a file's header and index.
///
/// # Errors
/// When it cannot be read, is damaged, or belongs to another partition.
pub(crate) fn check(home: &PartitionHome, name: &str) -> Result<(), ReceiptsError> {
    ReceiptFile::open(&*home.storage, name, &home.snapshot_owner()).map(drop)
}

/// Gives the entries that are wanted and in this batch to `take`, each with its last sequence, and takes them off the list.
pub(crate) fn each_wanted(
    batch: &[u8],
    wanted: &mut Peekable<impl Iterator<Item = u64>>,
    take: &mut dyn FnMut(u64, &Entry) -> Result<(), EmbeddedError>,
) -> Result<(), EmbeddedError> {
    let mut rest = batch;
    while let Some(sequence) = wanted.peek().copied() {
        let found = entry_ending_at(&mut rest, sequence);
        match found.map_err(|source| FoldError::Malformed { sequence, source })? {
            None => return Ok(()),
            Some(entry) => take(sequence, &entry)?,
        }
        wanted.next();
    }
    Ok(())
}

/// Moves `rest` to the entry that ends at a sequence; those before it are skipped without being decoded.
pub(crate) fn entry_ending_at(rest: &mut &[u8], sequence: u64) -> Result<Option<Entry>, Malformed> {
    while !rest.is_empty() {
        let mut input = Input::new(rest);
        Entry::skip(&mut input)?;
        let next = &rest[rest.len() - input.len()..];
        let next_first = if next.is_empty() { None } else { Some(Entry::skip(&mut Input::new(next))?) };
        if next_first.is_none_or(|first| first > sequence) {
            let entry = Entry::read(&mut Input::new(rest))?;
            if entry.sequence_last() == sequence {
                return Ok(Some(entry));
            }
        }
        *rest = next;
    }
    Ok(None)
}
