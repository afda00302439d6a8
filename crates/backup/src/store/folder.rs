//! A folder of the file system.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

use crate::catalog::manifest_name;
use crate::log::LOG;

use super::{Store, StoreError, StoredObject};

/// What the name of a file begins with until it is complete.
const UNFINISHED: &str = ".unfinished-";

/// Opening a pipe does not wait for its other end.
const NO_WAIT: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// A folder of the file system. What was written is synced before it has its name.
pub struct Folder {
    path: PathBuf,
    /// Folders with entries that are not durable yet.
    unsynced: Mutex<BTreeSet<PathBuf>>,
}

impl Folder {
    /// The store in a folder, which is made when something is put there.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, unsynced: Mutex::default() }
    }

    fn unsynced(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let Some(parent) = path.parent() else { return Ok(()) };
        self.make_folder(parent)?;
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.unsynced().insert(parent.to_owned());
        Ok(())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path).to_owned();
        if let Some(backup) = name.strip_prefix(LOG).and_then(|name| name.split('/').next())
            && !self.path.join(manifest_name(backup)).is_file()
        {
            // Such as where a file system is not mounted: what is written there would be missing in the store.
            return Err(io::Error::other("the backup that the log follows is not there"));
        }
        self.make_folder(&folder)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = folder.join(format!("{UNFINISHED}{file_name}"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(NO_WAIT);
        let mut file = options.open(&unfinished)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let named = written.and_then(|()| std::fs::rename(&unfinished, &path));
        if named.is_err() {
            // It would only take room, which may be what is lacking.
            let _ = std::fs::remove_file(&unfinished);
        }
        named?;
        self.unsynced().insert(folder);
        Ok(())
    }

    /// A process that is killed in between leaves an empty file.
    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path).to_owned();
        self.make_folder(&folder)?;
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            file => file?,
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = std::fs::remove_file(&path);
        }
        written?;
        self.unsynced().insert(folder);
        Ok(true)
    }

    fn walk(&self, folder: &Path, found: &mut Vec<StoredObject>) -> io::Result<()> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() && !self.is_place_of_object(&entry.path()) {
                self.walk(&entry.path(), found)?;
            } else if let Ok(name) = entry.path().strip_prefix(&self.path) {
                let bytes = match entry.metadata() {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    metadata => metadata?.len(),
                };
                found.push(StoredObject { name: name.to_string_lossy().into_owned(), bytes });
            }
        }
        Ok(())
    }

    /// Whether an object should be there: `data/` and `log/` have a folder for each backup.
    fn is_place_of_object(&self, path: &Path) -> bool {
        let name = path.strip_prefix(&self.path).unwrap_or(path);
        let depth = if name.starts_with("data") || name.starts_with("log") { 3 } else { 2 };
        name.components().count() >= depth
    }

    /// Opens a regular file. Anything else of its name, such as a pipe, is not waited for.
    fn open(&self, name: &str) -> Result<File, StoreError> {
        let opened = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(self.path.join(name));
        let found = opened.and_then(|file| Ok((file.metadata()?.is_file(), file)));
        match found.map_err(|source| self.failed("read", name, source))? {
            (true, file) => Ok(file),
            (false, _) => Err(StoreError::NoFile { place: self.locate(name) }),
        }
    }

    fn failed(&self, operation: &'static str, name: &str, source: io::Error) -> StoreError {
        let place = self.locate(name);
        if source.kind() == io::ErrorKind::NotFound && operation == "read" {
            return StoreError::Missing { place };
        }
        StoreError::Failed { operation, place, source: source.into() }
    }
}

impl Store for Folder {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.write(name, bytes).map_err(|source| self.failed("write", name, source))
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        self.write_new(name, bytes).map_err(|source| self.failed("write", name, source))
    }

    fn settle(&self) -> Result<(), StoreError> {
        let folders = std::mem::take(&mut *self.unsynced());
        for folder in folders {
            match File::open(&folder).and_then(|folder| folder.sync_all()) {
                // It was removed with the last object in it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                synced => {
                    synced.map_err(|source| self.failed("sync", &folder.to_string_lossy(), source))?;
                }
            }
        }
        Ok(())
    }

    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let read = self.open(name)?.take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|source| self.failed("read", name, source))?;
        if bytes.len() as u64 > bytes_max {
            return Err(StoreError::TooLarge { place: self.locate(name), bytes_max });
        }
        Ok(bytes)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        let mut found = Vec::new();
        let walked = self.walk(&self.path.join(folder), &mut found);
        walked.map_err(|source| self.failed("list", folder, source))?;
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }

    fn empty_folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let failed = |source| self.failed("list", folder, source);
        let entries = match std::fs::read_dir(self.path.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            // What cannot be read is not empty.
            let is_empty = std::fs::read_dir(&path).is_ok_and(|mut inside| inside.next().is_none());
            if let Some(name) = path.file_name().filter(|_| is_empty) {
                found.push(format!("{folder}{}/", name.to_string_lossy()));
            }
        }
        Ok(found)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        if name.ends_with('/') {
            // Something was put there meanwhile, or it is gone: both are well.
            let _ = std::fs::remove_dir(self.path.join(name));
            return Ok(());
        }
        let path = self.path.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(self.failed("remove", name, error));
            }
            _ => {}
        }
        if let Some(folder) = path.parent() {
            self.unsynced().insert(folder.to_owned());
            if name.starts_with("data/") || name.starts_with("log/") {
                // Succeeds with the last object of a backup, when nothing else is put there.
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(())
    }

    fn locate(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn objects_come_back_in_order_and_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let store = Folder::new(folder.path().join("a/b"));
        assert_eq!(store.list("data/").unwrap(), []);
        store.put("data/2/x", b"two").unwrap();
        store.put("data/1/y", b"one").unwrap();
        store.put("data/1/y", b"three").unwrap();
        store.settle().unwrap();
        let names: Vec<_> = store.list("data/").unwrap();
        let object = |name: &str, bytes| StoredObject { name: name.to_owned(), bytes };
        assert_eq!(names, [object("data/1/y", 5), object("data/2/x", 3)]);
        assert_eq!(store.get("data/1/y", 5).unwrap(), b"three");
        assert!(matches!(store.get("data/1/y", 4), Err(StoreError::TooLarge { .. })));
        assert!(matches!(store.get("data/1/z", 4), Err(StoreError::Missing { .. })));
        store.remove("data/1/y").unwrap();
        store.remove("data/1/y").unwrap();
        store.settle().unwrap();
        assert!(!folder.path().join("a/b/data/1").exists());
    }
}
