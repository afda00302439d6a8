//! One process per data directory, and old files that stay while another process copies them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "lock";

/// Why the data directory could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{path} is in use by {}; stop that process, or use another data directory", holder(*.pid))]
    Held {
        /// The lock file.
        path: String,
        /// The other process, if it has written its id already.
        pid: Option<u32>,
    },
    /// The lock file cannot be used.
    #[error("cannot lock {path}; check that the directory exists and that this user may write to it")]
    Unusable {
        /// The lock file.
        path: String,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// The lock on a data directory, held until dropped. The kernel releases it when the process dies.
#[derive(Debug)]
pub struct DirectoryLock {
    _file: File,
    path: PathBuf,
}

impl DirectoryLock {
    /// Locks `directory` for this process alone, or fails at once with the process that has it.
    ///
    /// # Errors
    /// [`LockError::Held`] when another process has it, [`LockError::Unusable`] when the lock file cannot be used.
    pub fn acquire(directory: impl AsRef<Path>) -> Result<Self, LockError> {
        let path = directory.as_ref().join(FILE_NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(|source| unusable(&path, source))?;
        file.try_lock().map_err(|error| refused(&mut file, &path, error))?;
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|source| unusable(&path, source))?;
        // The file stays for good: removing it would let two processes lock two files of the same name.
        Ok(Self { _file: file, path })
    }

    /// Keeps servers away from `directory` without changing it, for a process that only reads; any number may read.
    /// `None` where there is no lock file, so that no server has ever used the directory.
    ///
    /// # Errors
    /// As [`DirectoryLock::acquire`].
    pub fn share(directory: impl AsRef<Path>) -> Result<Option<Self>, LockError> {
        let path = directory.as_ref().join(FILE_NAME);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, error)),
        };
        file.try_lock_shared().map_err(|error| refused(&mut file, &path, error))?;
        Ok(Some(Self { _file: file, path }))
    }

    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file that is locked by those who copy a partition's files, and by those who remove old ones.
pub(crate) const HOLD_NAME: &str = "held";

/// Keeps the files of a partition while they are copied: a running server removes and reuses none until this is
/// dropped. Any number may hold them at once, and it holds up nothing else.
#[derive(Debug)]
pub struct Hold {
    _file: File,
}

impl Hold {
    /// Holds the files in a partition's directory. Waits while a server is removing old ones. `None` where the file
    /// to lock is absent and may not be made: then no server of this release has used the directory.
    ///
    /// # Errors
    /// When the file cannot be locked.
    pub fn take(partition: impl AsRef<Path>) -> Result<Option<Self>, LockError> {
        let path = partition.as_ref().join(HOLD_NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = match options.open(&path).or_else(|_| File::open(&path)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, error)),
        };
        file.lock_shared().map_err(|error| unusable(&path, error))?;
        Ok(Some(Self { _file: file }))
    }
}

fn unusable(path: &Path, source: io::Error) -> LockError {
    LockError::Unusable { path: path.display().to_string(), source }
}

fn refused(file: &mut File, path: &Path, error: TryLockError) -> LockError {
    match error {
        TryLockError::WouldBlock => LockError::Held { path: path.display().to_string(), pid: read_pid(file) },
        TryLockError::Error(source) => unusable(path, source),
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
