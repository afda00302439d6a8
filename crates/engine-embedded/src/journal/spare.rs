//! The spare segment: preallocated and synced before it is needed, so that a full disk is met early and the
//! switch to the next segment costs no allocation.

use crate::storage::{Storage, StorageError};

use super::segment::spare_file_name;
use super::{JournalError, JournalSettings};

/// The next segment's number, and whether its file is ready.
#[derive(Debug)]
pub(crate) struct SpareSlot {
    pub(crate) next_segment: u32,
    pub(crate) ready: bool,
}

impl SpareSlot {
    /// Makes the spare unless there is one; answers whether it had to be made.
    pub(crate) fn prepare(
        &mut self,
        storage: &dyn Storage,
        settings: &JournalSettings,
    ) -> Result<bool, JournalError> {
        if self.ready {
            return Ok(false);
        }
        make(storage, settings, self.next_segment)?;
        self.ready = true;
        Ok(true)
    }

    pub(crate) fn name(&self) -> String {
        spare_file_name(self.next_segment)
    }
}

fn make(storage: &dyn Storage, settings: &JournalSettings, segment: u32) -> Result<(), JournalError> {
    let temporary = format!("spare-{segment:08x}.tmp");
    let made = fill(storage, settings, &temporary)
        .and_then(|()| storage.rename(&temporary, &spare_file_name(segment)))
        .and_then(|()| storage.sync_directory());
    made.map_err(|source| {
        // Best effort: recovery removes what is left, and keeping the file would only take room.
        let _ = storage.remove(&temporary);
        if source.is_full() {
            return JournalError::Full { segment_bytes: settings.segment_bytes, source };
        }
        source.into()
    })
}

fn fill(storage: &dyn Storage, settings: &JournalSettings, temporary: &str) -> Result<(), StorageError> {
    match storage.remove(temporary) {
        Err(error) if !error.is_not_found() => return Err(error),
        _ => {}
    }
    let mut file = storage.create(temporary)?;
    file.allocate(settings.segment_bytes)?;
    file.sync_data()
}
