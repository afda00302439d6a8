//! A disk in memory that loses what was not synced, for tests.
//!
//! It keeps apart what a program sees and what would survive a power loss. [`FaultyDisk::crash`] lets each
//! unsynced sector and each unsynced directory operation land or vanish on its own, as real disks do.

mod disk;
mod image;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Storage, StorageError, StorageFile};
use disk::{Call, Disk};

/// Sectors land whole or not at all.
pub const SECTOR_BYTES: usize = 512;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A write fails and leaves nothing.
    WriteError,
    /// A write fails after half of its bytes.
    WriteShort,
    /// A read fails.
    ReadError,
    /// A sync of a file fails, and the pages it should have written count as clean, as on Linux.
    SyncError,
    /// A sync of the directory fails and writes nothing.
    DirectorySyncError,
    /// An allocation finds the disk full.
    Full,
    /// A file cannot be opened or created, because the process has no descriptor left.
    NoDescriptor,
    /// The power goes at this call, of whatever kind: it and all later calls fail.
    PowerCut,
}

/// A disk in memory with faults to order. Clones are the same disk.
#[derive(Clone, Default)]
pub struct FaultyDisk {
    shared: Arc<SharedDisk>,
}

#[derive(Default)]
struct SharedDisk {
    disk: Mutex<Disk>,
    gate: Condvar,
}

impl FaultyDisk {
    /// An empty disk without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The disk as the trait object that the engine takes.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(self.clone())
    }

    /// Number of I/O calls so far; the next call has this index.
    pub fn call_count(&self) -> u64 {
        self.disk().calls
    }

    /// Orders `fault` for the first call with index `call` or later that it can happen to.
    pub fn inject(&self, call: u64, fault: Fault) {
        self.disk().faults.push((call, fault));
    }

    /// How many ordered faults have happened.
    pub fn fired_count(&self) -> u64 {
        self.disk().fired
    }

    /// Forgets ordered faults that have not happened.
    pub fn clear_faults(&self) {
        self.disk().faults.clear();
    }

    /// Limits the disk to `bytes`; `None` lifts the limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk().capacity_bytes = bytes;
    }

    /// Loses the power: of everything unsynced, what `seed` chooses lands, the rest is gone. Files that
    /// were open stay unusable; the disk can be opened anew.
    pub fn crash(&self, seed: u64) {
        self.disk().crash(seed);
        self.shared.gate.notify_all();
    }

    /// Kills the process but not the machine: open files become unusable, nothing is lost.
    pub fn kill(&self) {
        self.disk().kill();
        self.shared.gate.notify_all();
    }

    /// Flips one bit of a file, for good. Answers whether there was such a bit.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u8) -> bool {
        self.disk().flip_bit(name, offset, bit)
    }

    /// A copy of the disk as it is now, for trying several fates.
    #[must_use]
    pub fn fork(&self) -> Self {
        let copy = self.disk().clone();
        Self { shared: Arc::new(SharedDisk { disk: Mutex::new(copy), gate: Condvar::new() }) }
    }

    /// Content of a file as programs see it.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        self.disk().content(name)
    }

    /// Holds all syncs of files until [`FaultyDisk::release_syncs`].
    pub fn block_syncs(&self) {
        self.disk().syncs_blocked = true;
    }

    /// Holds the creation of files whose names begin so, until [`FaultyDisk::release_syncs`].
    pub fn block_creation(&self, prefix: &str) {
        self.disk().creation_blocked = Some(prefix.to_owned());
    }

    /// Lets go on what is held.
    pub fn release_syncs(&self) {
        let mut disk = self.disk();
        (disk.syncs_blocked, disk.creation_blocked) = (false, None);
        drop(disk);
        self.shared.gate.notify_all();
    }

    /// Waits until `count` syncs and creations are being held.
    pub fn wait_for_blocked_syncs(&self, count: usize) {
        let mut disk = self.disk();
        while disk.syncs_waiting < count {
            disk = self.shared.gate.wait(disk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Holds all writes to files whose names begin so until [`FaultyDisk::release_writes`].
    pub fn block_writes(&self, prefix: &str) {
        self.disk().writes_blocked = Some(prefix.to_owned());
    }

    /// Lets held writes go on.
    pub fn release_writes(&self) {
        self.disk().writes_blocked = None;
        self.shared.gate.notify_all();
    }

    /// Waits until `count` writes are being held.
    pub fn wait_for_blocked_writes(&self, count: usize) {
        let mut disk = self.disk();
        while disk.writes_waiting < count {
            disk = self.shared.gate.wait(disk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.shared.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for FaultyDisk {
    fn list(&self) -> Result<Vec<String>, StorageError> {
        self.disk().enter(Call::Other, "list", "/")?;
        Ok(self.disk().names())
    }

    fn open(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        let mut disk = self.disk();
        disk.enter(Call::Open, "open", name)?;
        let (file, generation) = disk.open(name)?;
        Ok(Box::new(Handle { shared: Arc::clone(&self.shared), name: name.into(), file, generation }))
    }

    fn create(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        let mut disk = self.disk();
        while disk.creation_blocked.as_ref().is_some_and(|prefix| name.starts_with(prefix)) {
            disk.syncs_waiting += 1;
            self.shared.gate.notify_all();
            disk = self.shared.gate.wait(disk).unwrap_or_else(PoisonError::into_inner);
            disk.syncs_waiting -= 1;
        }
        let (file, generation) = disk.change(Call::Open, "create", name, |disk| disk.create(name))?;
        Ok(Box::new(Handle { shared: Arc::clone(&self.shared), name: name.into(), file, generation }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.disk().change(Call::Other, "rename", from, |disk| disk.rename(from, to))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.disk().change(Call::Other, "remove", name, |disk| disk.remove(name))
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        let mut disk = self.disk();
        disk.enter(Call::SyncDirectory, "sync directory", "/")?;
        disk.sync_directory();
        Ok(())
    }

    fn available_bytes(&self) -> Result<u64, StorageError> {
        let mut disk = self.disk();
        disk.enter(Call::Other, "measure the room in", "/")?;
        Ok(disk.available_bytes())
    }

    fn locate(&self, name: &str) -> String {
        name.to_owned()
    }
}

struct Handle {
    shared: Arc<SharedDisk>,
    name: String,
    file: u64,
    generation: u64,
}

impl Handle {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.shared.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_leave_to_write(&self) -> MutexGuard<'_, Disk> {
        let mut disk = self.disk();
        let is_held = |disk: &Disk| {
            disk.writes_blocked.as_ref().is_some_and(|prefix| self.name.starts_with(prefix))
                && disk.generation == self.generation
        };
        while is_held(&disk) {
            disk.writes_waiting += 1;
            self.shared.gate.notify_all();
            disk = self.shared.gate.wait(disk).unwrap_or_else(PoisonError::into_inner);
            disk.writes_waiting -= 1;
        }
        disk
    }

    fn enter(&self, disk: &mut Disk, call: Call, operation: &'static str) -> Result<(), StorageError> {
        disk.check_generation(self.generation, operation, &self.name)?;
        disk.enter(call, operation, &self.name)
    }
}

impl StorageFile for Handle {
    fn len(&self) -> Result<u64, StorageError> {
        let mut disk = self.disk();
        self.enter(&mut disk, Call::Other, "measure")?;
        Ok(disk.image(self.file).len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let mut disk = self.disk();
        self.enter(&mut disk, Call::Read, "read").map_err(|error| error.at(offset))?;
        Ok(disk.image(self.file).read(offset, buffer))
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), StorageError> {
        let mut disk = self.wait_for_leave_to_write();
        let power = disk.power();
        let failure = self.enter(&mut disk, Call::Write, "write").map_err(|error| error.at(offset));
        let written = match disk.last_fault.take() {
            Some(Fault::WriteShort) => bytes.len() / 2,
            // When the power goes, any part of the write may have reached the disk.
            Some(Fault::PowerCut) => bytes.len(),
            _ if failure.is_ok() => bytes.len(),
            _ => 0,
        };
        if power && written > 0 && disk.generation == self.generation {
            let grown = (offset + written as u64).saturating_sub(disk.image(self.file).len());
            disk.check_room(grown, &self.name)?;
            disk.image(self.file).write(offset, &bytes[..written]);
        }
        failure
    }

    fn allocate(&mut self, length: u64) -> Result<(), StorageError> {
        let mut disk = self.disk();
        self.enter(&mut disk, Call::Allocate, "allocate")?;
        let grown = length.saturating_sub(disk.image(self.file).len());
        disk.check_room(grown, &self.name)?;
        disk.image(self.file).grow(length);
        Ok(())
    }

    fn sync_data(&mut self) -> Result<(), StorageError> {
        let mut disk = self.disk();
        if disk.syncs_blocked {
            disk.syncs_waiting += 1;
            self.shared.gate.notify_all();
            while disk.syncs_blocked && disk.generation == self.generation {
                disk = self.shared.gate.wait(disk).unwrap_or_else(PoisonError::into_inner);
            }
            disk.syncs_waiting -= 1;
        }
        let failure = self.enter(&mut disk, Call::Sync, "sync");
        if disk.last_fault.take() == Some(Fault::SyncError) {
            disk.image(self.file).lose();
        }
        failure?;
        disk.image(self.file).sync();
        Ok(())
    }

    fn note_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }
}
