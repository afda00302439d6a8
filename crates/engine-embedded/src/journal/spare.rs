//! The spare segment: preallocated and synced before it is needed, so that a full disk is met early and the
//! switch to the next segment costs no allocation. It stays open, so that the switch needs no file descriptor either.

use crate::storage::{Storage, StorageError, StorageFile};

use super::segment::spare_file_name;
use super::{JournalError, JournalSettings};

/// The next segment's number, whether its file is ready, and the file once it was opened.
pub(crate) struct SpareSlot {
    pub(crate) next_segment: u32,
    pub(crate) ready: bool,
    pub(crate) file: Option<Box<dyn StorageFile>>,
}

impl SpareSlot {
    /// Makes the spare unless there is one; answers whether it had to be made.
    pub(crate) fn prepare(
        &mut self,
        storage: &dyn Storage,
        settings: &JournalSettings,
    ) -> Result<bool, JournalError> {
        if self.file.is_some() {
            return Ok(false);
        }
        let made =
            if self.ready { storage.open(&self.name()) } else { make(storage, settings, self.next_segment) };
        self.file = Some(made.map_err(|source| explained(source, settings))?);
        Ok(!std::mem::replace(&mut self.ready, true))
    }

    pub(crate) fn name(&self) -> String {
        spare_file_name(self.next_segment)
    }
}

fn make(
    storage: &dyn Storage,
    settings: &JournalSettings,
    segment: u32,
) -> Result<Box<dyn StorageFile>, StorageError> {
    let temporary = format!("spare-{segment:08x}.tmp");
    let made = fill(storage, settings, &temporary).and_then(|file| {
        storage.rename(&temporary, &spare_file_name(segment))?;
        storage.sync_directory()?;
        Ok(file)
    });
    if made.is_err() {
        // Best effort: recovery removes what is left, and keeping the file would only take room.
        let _ = storage.remove(&temporary);
    }
    made
}

fn explained(source: StorageError, settings: &JournalSettings) -> JournalError {
    if source.is_full() {
        return JournalError::Full { segment_bytes: settings.segment_bytes, source };
    }
    if source.is_out_of_descriptors() {
        return JournalError::NoDescriptor { source };
    }
    source.into()
}

fn fill(
    storage: &dyn Storage,
    settings: &JournalSettings,
    temporary: &str,
) -> Result<Box<dyn StorageFile>, StorageError> {
    match storage.remove(temporary) {
        Err(error) if !error.is_not_found() => return Err(error),
        _ => {}
    }
    let mut file = storage.create(temporary)?;
    file.allocate(settings.segment_bytes)?;
    file.sync_data()?;
    Ok(file)
}
