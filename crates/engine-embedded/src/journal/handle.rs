//! What the writer shares with other threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::storage::Storage;

use super::catalog::Catalog;
use super::spare::SpareSlot;
use super::{JournalError, JournalReader, JournalSettings};

/// A partition's journal, as shared by all threads. Clones are the same journal.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<JournalShared>,
}

pub(crate) struct JournalShared {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) settings: JournalSettings,
    catalog: Mutex<Catalog>,
    /// Held while a spare is made or used, and before the catalog where both are needed.
    spare: Mutex<SpareSlot>,
}

/// What [`Journal::retire`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retired {
    /// Segments dropped.
    pub segments: u64,
    /// Bytes given back to the disk; a segment kept as the spare gives none.
    pub bytes: u64,
}

impl JournalShared {
    pub(crate) fn catalog(&self) -> MutexGuard<'_, Catalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn spare(&self) -> MutexGuard<'_, SpareSlot> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        settings: JournalSettings,
        catalog: Catalog,
        spare: SpareSlot,
    ) -> Self {
        let shared =
            JournalShared { storage, settings, catalog: Mutex::new(catalog), spare: Mutex::new(spare) };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn shared(&self) -> &JournalShared {
        &self.shared
    }

    /// The settings in use.
    pub fn settings(&self) -> &JournalSettings {
        &self.shared.settings
    }

    /// A new reader with a position of its own.
    pub fn reader(&self) -> JournalReader {
        JournalReader::new(self.clone())
    }

    /// The oldest sequence that can still be read.
    pub fn first_available(&self) -> u64 {
        self.shared.catalog().first_available()
    }

    /// Number of segments, without the spare.
    pub fn segment_count(&self) -> usize {
        self.shared.catalog().len()
    }

    /// Bytes of all segments, without the spare.
    pub fn bytes(&self) -> u64 {
        self.shared.catalog().bytes()
    }

    /// Whether a spare segment is ready. Without one, the next change of segment has to make it.
    pub fn spare_ready(&self) -> bool {
        self.shared.spare().ready
    }

    /// Makes the spare segment unless there is one; answers whether it had to. Writes and syncs a whole
    /// segment, so call it from a background thread. A full disk answers [`JournalError::Full`] and harms nothing.
    pub fn prepare_spare(&self) -> Result<bool, JournalError> {
        self.shared.spare().prepare(&*self.shared.storage, &self.shared.settings)
    }

    /// The oldest sequence that [`Journal::retire`] would leave.
    pub fn first_after_retire(&self, before_sequence: u64) -> u64 {
        self.shared.catalog().first_after_retire(before_sequence)
    }

    /// Bytes of the segments that [`Journal::retire`] would drop.
    pub fn bytes_before(&self, before_sequence: u64) -> u64 {
        self.shared.catalog().bytes_before(before_sequence)
    }

    /// Drops all segments whose sequences are all below `before_sequence`; the newest always stays. One of
    /// them becomes the spare if there is none. Call it only once a verified snapshot covers them.
    pub fn retire(&self, before_sequence: u64) -> Result<Retired, JournalError> {
        let storage = &*self.shared.storage;
        let mut retired = Retired::default();
        loop {
            // First out of the catalog, so that a reader that trips over the missing file knows why.
            let Some(header) = self.shared.catalog().retire_first(before_sequence) else {
                return Ok(retired);
            };
            let mut spare = self.shared.spare();
            if !spare.ready && header.segment_bytes == self.shared.settings.segment_bytes {
                storage.rename(&header.name(), &spare.name())?;
                storage.sync_directory()?;
                spare.ready = true;
            } else {
                storage.remove(&header.name())?;
                // One at a time: a crash that kept a later removal and undid an earlier one would leave a gap.
                storage.sync_directory()?;
                retired.bytes += header.segment_bytes;
            }
            retired.segments += 1;
        }
    }
}
