//! Keys in a file of the data directory. It is replaced as a whole, under a lock, and can be read by its owner only.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use scarce_access::{KeyError, KeyId, Ring};
use scarce_core::types::TimeMs;
use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::relocation::Moved;
use scarce_engine_embedded::storage::FileStorage;

use super::KeyStoreError;

pub(crate) const KEYS: &str = "keys.json";
pub(crate) const USES: &str = "keys.used";
/// What is locked is a file of its own, which stays: the one with the keys is replaced.
pub(crate) const LOCK: &str = "keys.lock";

/// Larger files are not read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What tells two states of a file apart: it is replaced, so that each has a number of its own.
type Mark = (u64, i64, i64, u64);

/// Keys in a file.
pub struct FileKeys {
    directory: PathBuf,
    loaded: Mutex<Option<Mark>>,
}

impl FileKeys {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), loaded: Mutex::default() }
    }

    pub(super) fn place(&self) -> String {
        self.directory.join(KEYS).display().to_string()
    }

    pub(super) fn may_have_changed(&self) -> bool {
        self.mark() != *self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self) -> Option<Mark> {
        let its = std::fs::metadata(self.directory.join(KEYS)).ok()?;
        Some((its.ino(), its.mtime(), its.mtime_nsec(), its.len()))
    }

    pub(super) fn load(&self) -> Result<Ring, KeyStoreError> {
        // Before it is read: what changes meanwhile is seen at the next look.
        let mark = self.mark();
        let ring = match self.read(KEYS)? {
            None if self.loaded.lock().unwrap_or_else(PoisonError::into_inner).is_some() => {
                let (doing, path) = ("find", self.place());
                return Err(KeyStoreError::File { doing, path, error: io::ErrorKind::NotFound.into() });
            }
            None => Ring::default(),
            Some(text) => {
                Ring::from_text(&text).map_err(|error| KeyStoreError::Keys { place: self.place(), error })?
            }
        };
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = mark;
        Ok(ring)
    }

    pub(super) fn change<T>(
        &self,
        mut change: impl FnMut(&mut Ring) -> Result<T, KeyError>,
    ) -> Result<T, KeyStoreError> {
        // A key may be made before the first start.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.map_err(|error| self.failed("create", "", error))?;
        let _lock = self.lock()?;
        self.check_here()?;
        let mut ring = self.load()?;
        let done = change(&mut ring)?;
        self.replace(KEYS, &ring.to_text())?;
        Ok(done)
    }

    /// Refuses where the deployment has moved: its keys went along.
    fn check_here(&self) -> Result<(), KeyStoreError> {
        let root = FileStorage::open_read_only(&self.directory).map_err(EmbeddedError::from)?;
        match Moved::load(&root).map_err(EmbeddedError::from)? {
            None => Ok(()),
            Some(Moved { address, .. }) => {
                Err(KeyStoreError::Moved { directory: self.directory.display().to_string(), address })
            }
        }
    }

    fn lock(&self) -> Result<File, KeyStoreError> {
        lock(&self.directory).map_err(|error| self.failed("lock", LOCK, error))
    }

    pub(super) fn last_uses(&self) -> Result<BTreeMap<KeyId, TimeMs>, KeyStoreError> {
        let text = self.read(USES)?.unwrap_or_default();
        let line = |line: &str| {
            let (id, at) = line.split_once(' ')?;
            Some((KeyId::parse(id)?, at.parse().ok()?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    pub(super) fn note_uses(&self, uses: &BTreeMap<KeyId, TimeMs>) -> Result<(), KeyStoreError> {
        let _lock = self.lock()?;
        let mut all = self.last_uses()?;
        for (id, at) in uses {
            let known = all.entry(*id).or_default();
            *known = (*known).max(*at);
        }
        let lines: Vec<String> = all.iter().map(|(id, at)| format!("{id} {at}\n")).collect();
        self.replace(USES, &lines.concat())
    }

    fn read(&self, name: &str) -> Result<Option<String>, KeyStoreError> {
        let mut text = String::new();
        let read = File::open(self.directory.join(name))
            .and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
        match read {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", name, error)),
        }
    }

    fn replace(&self, name: &str, text: &str) -> Result<(), KeyStoreError> {
        let (path, temporary) = (self.directory.join(name), self.directory.join(format!("{name}.tmp")));
        let write = || {
            // What a crash may have left.
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(text.as_bytes())?;
            give(&self.directory, &file);
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().map_err(|error| self.failed("write", name, error))
    }

    fn failed(&self, doing: &'static str, name: &str, error: io::Error) -> KeyStoreError {
        KeyStoreError::File { doing, path: self.directory.join(name).display().to_string(), error }
    }
}

/// Keeps the keys in a directory from being changed until the file is dropped.
pub(crate) fn lock(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(directory.join(LOCK))?;
    give(directory, &file);
    file.lock().map(|()| file)
}

/// Gives a file to the owner of the directory: root may make keys for a server that runs as someone else.
fn give(directory: &Path, file: &File) {
    if let Ok(its) = std::fs::metadata(directory) {
        // Anyone but root may not, and then the file is that one's own.
        let _ = fchown(file, Some(its.uid()), Some(its.gid()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_access::{Asked, Key, Scope, Shown};
    use std::os::unix::fs::PermissionsExt as _;

    fn asked() -> Asked {
        let namespace = Some("shop".to_owned());
        Asked { name: "shop".to_owned(), scopes: vec![Scope::ALL], namespace, ttl_ms: None }
    }

    fn create(ring: &mut Ring) -> Result<Key, KeyError> {
        ring.create(&asked(), &Shown::draw()?, 1)
    }

    #[test]
    fn keys_are_kept_for_the_owner_alone_and_changes_are_noticed() {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, other) = (FileKeys::new(directory.path()), FileKeys::new(directory.path()));
        assert!(server.load().expect("none").is_empty() && !server.may_have_changed());
        let key = other.change(create).expect("a key");
        let mode = |name: &str| {
            std::fs::metadata(directory.path().join(name)).expect("a file").permissions().mode() & 0o777
        };
        assert_eq!((mode(KEYS), mode(LOCK)), (0o600, 0o600));
        assert!(server.may_have_changed());
        assert_eq!(server.load().expect("keys").keys().count(), 1);
        assert!(!server.may_have_changed());
        server.note_uses(&BTreeMap::from([(key.id, 7_200_000)])).expect("noted");
        server.note_uses(&BTreeMap::from([(key.id, 3_600_000)])).expect("noted");
        assert_eq!(other.last_uses().expect("uses"), BTreeMap::from([(key.id, 7_200_000)]));
        std::fs::remove_file(directory.path().join(KEYS)).expect("removed");
        assert!(server.may_have_changed() && server.load().is_err(), "their loss opens nothing");
        std::fs::write(directory.path().join(KEYS), "{}").expect("written");
        assert!(server.load().is_err() && other.change(|ring| ring.revoke("shop", false, 1)).is_err());
    }

    #[test]
    fn many_change_keys_at_once_and_none_is_lost() {
        let directory = tempfile::tempdir().expect("a directory");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let keys = FileKeys::new(directory.path());
                    keys.change(create).expect("a key");
                });
            }
        });
        assert_eq!(FileKeys::new(directory.path()).load().expect("keys").keys().count(), 8);
    }
}
