//! A directory of the file system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags};

use super::{FileLock, Storage, StorageError, StorageFile};

/// Zeros are written in pieces of this size.
const ZERO_BYTES: usize = 1 << 20;

/// A directory of the file system.
pub struct FileStorage {
    path: PathBuf,
    directory: File,
    read_only: bool,
}

impl FileStorage {
    /// Opens `path`, creating it (and what leads to it) durably if it is absent.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        let path = path.as_ref().to_path_buf();
        let fail = |source| StorageError::new("open directory", path.display().to_string(), source);
        create_durably(&path).map_err(fail)?;
        let directory = File::open(&path).map_err(fail)?;
        Ok(Self { path, directory, read_only: false })
    }

    /// Opens `path`, which must exist, to look at it: nothing is ever changed, nor is the right to.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        let path = path.as_ref().to_path_buf();
        let fail = |source| StorageError::new("open directory", path.display().to_string(), source);
        let directory = File::open(&path).map_err(fail)?;
        Ok(Self { path, directory, read_only: true })
    }

    /// Whether its path still leads to the directory that was opened: it may have been renamed since, or another one been put there.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let here = self.directory.metadata().map(|its| (its.dev(), its.ino()));
        let there = std::fs::metadata(&self.path).map(|its| (its.dev(), its.ino()));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }

    fn check_writable(&self, operation: &'static str, name: &str) -> Result<(), StorageError> {
        if self.read_only {
            return Err(self.error(operation, name, io::ErrorKind::ReadOnlyFilesystem.into()));
        }
        Ok(())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: &'static str, name: &str, source: io::Error) -> StorageError {
        StorageError::new(operation, self.locate(name), source)
    }

    fn directory_error(&self, operation: &'static str, source: io::Error) -> StorageError {
        StorageError::new(operation, self.path.display().to_string(), source)
    }
}

/// Each directory made is synced in its parent, else a power loss could take the data with it.
fn create_durably(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Ok(()),
    };
    create_durably(parent)?;
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => File::open(parent)?.sync_all(),
    }
}

impl Storage for FileStorage {
    fn list(&self) -> Result<Vec<String>, StorageError> {
        let fail = |source| self.directory_error("list", source);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            if entry.file_type().map_err(fail)?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn open(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        let file = OpenOptions::new().read(true).write(!self.read_only).open(self.path.join(name));
        let file = file.map_err(|source| self.error("open", name, source))?;
        Ok(Box::new(OpenFile { file, path: self.locate(name) }))
    }

    fn create(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        self.check_writable("create", name)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(self.path.join(name)).map_err(|source| self.error("create", name, source))?;
        Ok(Box::new(OpenFile { file, path: self.locate(name) }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.check_writable("rename", from)?;
        std::fs::rename(self.path.join(from), self.path.join(to))
            .map_err(|source| self.error("rename", from, source))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.check_writable("remove", name)?;
        std::fs::remove_file(self.path.join(name)).map_err(|source| self.error("remove", name, source))
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        self.directory.sync_all().map_err(|source| self.directory_error("sync directory", source))
    }

    fn available_bytes(&self) -> Result<u64, StorageError> {
        let found = rustix::fs::fstatvfs(&self.directory);
        let found = found.map_err(|error| self.directory_error("measure the room in", error.into()))?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn lock_alone(&self, name: &str) -> Result<Option<FileLock>, StorageError> {
        self.check_writable("lock", name)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(self.path.join(name)).map_err(|source| self.error("lock", name, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FileLock { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(self.error("lock", name, source)),
        }
    }

    fn locate(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

struct OpenFile {
    file: File,
    path: String,
}

impl OpenFile {
    fn error(&self, operation: &'static str, source: io::Error) -> StorageError {
        StorageError::new(operation, self.path.clone(), source)
    }

    fn fill_with_zeros(&mut self, from: u64, length: u64) -> io::Result<()> {
        // Blocks that are reserved but never written need a metadata update, and its journal commit, at
        // each first write; zeros written now keep that out of the syncs that callers wait for.
        match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, length - from) {
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        let zeros = vec![0; ZERO_BYTES];
        let mut offset = from;
        while offset < length {
            let piece = usize::try_from(length - offset).unwrap_or(usize::MAX).min(ZERO_BYTES);
            self.file.write_all_at(&zeros[..piece], offset)?;
            offset += piece as u64;
        }
        self.file.flush()
    }
}

impl StorageFile for OpenFile {
    fn len(&self) -> Result<u64, StorageError> {
        self.file.metadata().map(|found| found.len()).map_err(|source| self.error("measure", source))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let mut done = 0;
        while done < buffer.len() {
            match self.file.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.error("read", source).at(offset + done as u64)),
            }
        }
        Ok(done)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), StorageError> {
        self.file.write_all_at(bytes, offset).map_err(|source| self.error("write", source).at(offset))
    }

    fn allocate(&mut self, length: u64) -> Result<(), StorageError> {
        let from = self.len()?;
        if from >= length {
            return Ok(());
        }
        self.fill_with_zeros(from, length).map_err(|source| self.error("allocate", source).at(from))
    }

    fn sync_data(&mut self) -> Result<(), StorageError> {
        self.file.sync_data().map_err(|source| self.error("sync", source))
    }

    fn note_name(&mut self, name: &str) {
        self.path = Path::new(&self.path).with_file_name(name).display().to_string();
    }

    fn forget_cached(&self) -> Result<(), StorageError> {
        rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
            .map_err(|error| self.error("drop the cache of", error.into()))
    }
}
