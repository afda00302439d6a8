//! The state behind the faulty disk: directory, files, ordered faults.

use std::collections::BTreeMap;
use std::io;

use super::image::Image;
use super::{Fault, StorageError};

/// Kinds of calls, as far as faults tell them apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    Read,
    Write,
    Allocate,
    Sync,
    SyncDirectory,
    Other,
}

impl Fault {
    fn fits(self, call: Call) -> bool {
        match self {
            Fault::WriteError | Fault::WriteShort => call == Call::Write,
            Fault::ReadError => call == Call::Read,
            Fault::SyncError => call == Call::Sync,
            Fault::DirectorySyncError => call == Call::SyncDirectory,
            Fault::Full => call == Call::Allocate,
            Fault::NoDescriptor => call == Call::Open,
            Fault::PowerCut => true,
        }
    }

    fn error(self) -> io::Error {
        match self {
            Fault::Full => io::Error::from(io::ErrorKind::StorageFull),
            Fault::NoDescriptor => rustix::io::Errno::MFILE.into(),
            Fault::PowerCut => io::Error::other("the power is off"),
            _ => io::Error::other("injected input/output error"),
        }
    }
}

/// Splitmix64: small, seeded, the same everywhere.
pub(super) struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }
}

#[derive(Clone)]
enum DirectoryChange {
    Link(String, u64),
    Rename(String, u64),
    Unlink(String, u64),
}

#[derive(Clone, Default)]
pub(super) struct Disk {
    files: BTreeMap<u64, Image>,
    seen: BTreeMap<String, u64>,
    safe: BTreeMap<String, u64>,
    unsynced: Vec<DirectoryChange>,
    file_next: u64,
    power_off: bool,
    pub(super) generation: u64,
    pub(super) calls: u64,
    pub(super) faults: Vec<(u64, Fault)>,
    pub(super) fired: u64,
    pub(super) last_fault: Option<Fault>,
    pub(super) capacity_bytes: Option<u64>,
    pub(super) syncs_blocked: bool,
    pub(super) creation_blocked: Option<String>,
    pub(super) syncs_waiting: usize,
    /// Writes to files whose names begin so are held.
    pub(super) writes_blocked: Option<String>,
    pub(super) writes_waiting: usize,
}

impl Disk {
    /// Counts the call and fails it if a fault was ordered for it.
    pub(super) fn enter(
        &mut self,
        call: Call,
        operation: &'static str,
        name: &str,
    ) -> Result<(), StorageError> {
        self.last_fault = None;
        if self.power_off {
            return Err(StorageError::new(operation, name, Fault::PowerCut.error()));
        }
        let index = self.calls;
        self.calls += 1;
        let due = self.faults.iter().position(|&(at, fault)| at <= index && fault.fits(call));
        let Some(due) = due else { return Ok(()) };
        let (_, fault) = self.faults.remove(due);
        self.fired += 1;
        self.power_off |= fault == Fault::PowerCut;
        self.last_fault = Some(fault);
        Err(StorageError::new(operation, name, fault.error()))
    }

    /// Enters a change of the directory; when the power goes at this very call, it may still have landed.
    pub(super) fn change<T>(
        &mut self,
        call: Call,
        operation: &'static str,
        name: &str,
        apply: impl FnOnce(&mut Self) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let power = self.power();
        let entered = self.enter(call, operation, name);
        let applied = if power { Some(apply(self)) } else { None };
        entered?;
        applied.unwrap_or_else(|| Err(StorageError::new(operation, name, Fault::PowerCut.error())))
    }

    pub(super) fn power(&self) -> bool {
        !self.power_off
    }

    pub(super) fn check_generation(
        &self,
        generation: u64,
        operation: &'static str,
        name: &str,
    ) -> Result<(), StorageError> {
        if generation == self.generation {
            return Ok(());
        }
        Err(StorageError::new(operation, name, io::Error::other("the file was open in a process that died")))
    }

    pub(super) fn check_room(&self, grown: u64, name: &str) -> Result<(), StorageError> {
        if grown <= self.available_bytes() {
            return Ok(());
        }
        Err(StorageError::new("allocate", name, Fault::Full.error()))
    }

    pub(super) fn available_bytes(&self) -> u64 {
        let used: u64 = self.seen.values().map(|file| self.files[file].len()).sum();
        self.capacity_bytes.unwrap_or(u64::MAX).saturating_sub(used)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.seen.keys().cloned().collect()
    }

    pub(super) fn image(&mut self, file: u64) -> &mut Image {
        self.files.entry(file).or_default()
    }

    pub(super) fn content(&self, name: &str) -> Option<Vec<u8>> {
        self.seen.get(name).map(|file| self.files[file].seen().to_vec())
    }

    pub(super) fn open(&self, name: &str) -> Result<(u64, u64), StorageError> {
        let missing = || StorageError::new("open", name, io::Error::from(io::ErrorKind::NotFound));
        self.seen.get(name).map(|&file| (file, self.generation)).ok_or_else(missing)
    }

    pub(super) fn create(&mut self, name: &str) -> Result<(u64, u64), StorageError> {
        if self.seen.contains_key(name) {
            return Err(StorageError::new("create", name, io::Error::from(io::ErrorKind::AlreadyExists)));
        }
        let file = self.file_next;
        self.file_next += 1;
        self.files.insert(file, Image::default());
        self.seen.insert(name.into(), file);
        self.unsynced.push(DirectoryChange::Link(name.into(), file));
        Ok((file, self.generation))
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), StorageError> {
        let missing = || StorageError::new("rename", from, io::Error::from(io::ErrorKind::NotFound));
        let file = self.seen.remove(from).ok_or_else(missing)?;
        self.seen.insert(to.into(), file);
        self.unsynced.push(DirectoryChange::Rename(to.into(), file));
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<(), StorageError> {
        let missing = || StorageError::new("remove", name, io::Error::from(io::ErrorKind::NotFound));
        let file = self.seen.remove(name).ok_or_else(missing)?;
        self.unsynced.push(DirectoryChange::Unlink(name.into(), file));
        Ok(())
    }

    pub(super) fn sync_directory(&mut self) {
        self.unsynced.clear();
        self.safe.clone_from(&self.seen);
    }

    pub(super) fn flip_bit(&mut self, name: &str, offset: u64, bit: u8) -> bool {
        match self.seen.get(name) {
            Some(&file) => self.image(file).flip_bit(offset, bit),
            None => false,
        }
    }

    pub(super) fn kill(&mut self) {
        self.generation += 1;
        (self.syncs_blocked, self.creation_blocked) = (false, None);
        self.writes_blocked = None;
    }

    pub(super) fn crash(&mut self, seed: u64) {
        self.kill();
        self.power_off = false;
        let mut random = SeededRandom(seed);
        for change in std::mem::take(&mut self.unsynced) {
            if random.coin() {
                self.land(change);
            }
        }
        for image in self.files.values_mut() {
            image.crash(&mut random);
        }
        let safe = &self.safe;
        self.files.retain(|file, _| safe.values().any(|kept| kept == file));
        self.seen.clone_from(&self.safe);
    }

    fn land(&mut self, change: DirectoryChange) {
        match change {
            DirectoryChange::Link(name, file) => {
                self.safe.insert(name, file);
            }
            DirectoryChange::Rename(to, file) => {
                self.safe.retain(|_, linked| *linked != file);
                self.safe.insert(to, file);
            }
            DirectoryChange::Unlink(name, file) => {
                if self.safe.get(&name) == Some(&file) {
                    self.safe.remove(&name);
                }
            }
        }
    }
}
