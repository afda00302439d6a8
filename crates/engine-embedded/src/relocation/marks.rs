//! The marks that two directories have of each other while a deployment moves from one to the other, and afterwards.

use std::path::Path;

use scarce_engine::random::{self, hex, unhex};

use crate::storage::{FileStorage, Storage, StorageError, lay, read_small, replace, sealed, unsealed};

const FORMAT_VERSION: &str = "1";
const MOVED_NAME: &str = "moved";
const ARRIVING_NAME: &str = "arriving";
const TEMPORARY_NAME: &str = "relocation.tmp";
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Why a directory is not served, or what it says of a move cannot be learned.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// The deployment lives elsewhere.
    #[error(
        "{directory} is not served any more: its deployment has moved to {address}; send requests there. Everything that happened since is there, so these files must not be served again"
    )]
    Moved {
        /// The directory.
        directory: String,
        /// Where it went.
        address: String,
    },
    /// The deployment has not arrived here.
    #[error(
        "{directory} is not served, because the move that made it was not finished: {from} does not say that it has moved here; serve that, and move again into another directory"
    )]
    Arriving {
        /// The directory.
        directory: String,
        /// Where it comes from.
        from: String,
    },
    /// The disk failed.
    #[error("the mark of a move could not be read or written; check the data directory")]
    Storage(#[from] StorageError),
    /// There is no randomness for the name of a move.
    #[error("the system gave no random bytes to name the move by")]
    Random(#[source] std::io::Error),
    /// The file is not one of ours, was changed, or is of a newer release.
    #[error("{path} is damaged or newer than this release; restore it from a copy")]
    Damaged {
        /// The file.
        path: String,
    },
}

/// Names one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocationId(String);

impl RelocationId {
    /// One that no other move has.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, MarkError> {
        random::bytes::<16>().map(|bytes| Self(hex(&bytes))).map_err(MarkError::Random)
    }

    /// Reads one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        unhex::<16>(text).map(|_| Self(text.to_owned()))
    }

    /// It as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The mark in the files that a deployment has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Which move.
    pub id: RelocationId,
    /// Where it is served now, for callers.
    pub address: String,
}

/// The mark in files that a deployment is about to go into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Which move.
    pub id: RelocationId,
    /// The directory that it comes from.
    pub from: String,
}

impl Moved {
    /// The mark of a directory, if it has one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(root: &dyn Storage) -> Result<Option<Self>, MarkError> {
        Ok(load(root, MOVED_NAME)?.map(|(id, address)| Self { id, address }))
    }

    /// Leaves the mark for good: from here on the deployment is served elsewhere.
    ///
    /// # Errors
    /// When the disk fails; whether the mark is there is found by [`Moved::load`] then.
    pub fn leave(&self, root: &dyn Storage) -> Result<(), MarkError> {
        self.prepare(root)?;
        Self::leave_prepared(root)
    }

    /// Writes the mark under another name, so that leaving it needs no room on the disk any more.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn prepare(&self, root: &dyn Storage) -> Result<(), MarkError> {
        Ok(lay(root, TEMPORARY_NAME, text(&self.id, &self.address).as_bytes())?)
    }

    /// The same as [`Moved::leave`], for the mark that was prepared.
    ///
    /// # Errors
    /// As there.
    pub fn leave_prepared(root: &dyn Storage) -> Result<(), MarkError> {
        root.rename(TEMPORARY_NAME, MOVED_NAME)?;
        Ok(root.sync_directory()?)
    }

    /// Removes a mark that was prepared and is not left.
    pub fn discard_prepared(root: &dyn Storage) {
        // What is still there has no meaning, and the next one takes its place.
        let _ = root.remove(TEMPORARY_NAME);
    }
}

impl Arriving {
    /// The mark of a directory, if it has one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(root: &dyn Storage) -> Result<Option<Self>, MarkError> {
        Ok(load(root, ARRIVING_NAME)?.map(|(id, from)| Self { id, from }))
    }

    /// Leaves the mark, so that the directory is not served yet.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn leave(&self, root: &dyn Storage) -> Result<(), MarkError> {
        Ok(replace(root, TEMPORARY_NAME, ARRIVING_NAME, text(&self.id, &self.from).as_bytes())?)
    }

    /// Removes the mark: the deployment is here.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn end(root: &dyn Storage) -> Result<(), MarkError> {
        root.remove(ARRIVING_NAME)?;
        Ok(root.sync_directory()?)
    }

    /// Whether the directory that it comes from says that this move is done.
    fn is_done(&self) -> bool {
        let from = FileStorage::open_read_only(Path::new(&self.from));
        let moved = from.ok().and_then(|root| Moved::load(&root).ok()).flatten();
        moved.is_some_and(|moved| moved.id == self.id)
    }
}

/// Refuses to serve a directory that its deployment has left, or that it has not arrived in.
pub(crate) fn check_served(root: &dyn Storage) -> Result<(), MarkError> {
    match arrival(root)? {
        // A move that was killed behind the mark in the old directory is done all the same.
        Some(_) => Arriving::end(root),
        None => Ok(()),
    }
}

/// Refuses files that are not the deployment's any more, or not yet: a copy of them would be served beside it. Nothing is
/// changed.
///
/// # Errors
/// When the deployment is elsewhere, or a mark cannot be read.
pub fn check_current(root: &dyn Storage) -> Result<(), MarkError> {
    arrival(root).map(drop)
}

/// The mark of a move into the directory that is done, if it is still there.
fn arrival(root: &dyn Storage) -> Result<Option<Arriving>, MarkError> {
    let directory = || root.locate("").trim_end_matches('/').to_owned();
    if let Some(Moved { address, .. }) = Moved::load(root)? {
        return Err(MarkError::Moved { directory: directory(), address });
    }
    let arriving = Arriving::load(root)?;
    match arriving.as_ref().filter(|arriving| !arriving.is_done()) {
        Some(Arriving { from, .. }) => {
            Err(MarkError::Arriving { directory: directory(), from: from.clone() })
        }
        None => Ok(arriving),
    }
}

fn load(root: &dyn Storage, name: &str) -> Result<Option<(RelocationId, String)>, MarkError> {
    let Some(bytes) = read_small(root, name, FILE_BYTES_MAX)? else { return Ok(None) };
    let parsed = std::str::from_utf8(&bytes).ok().and_then(parse);
    parsed.map(Some).ok_or_else(|| MarkError::Damaged { path: root.locate(name) })
}

fn parse(text: &str) -> Option<(RelocationId, String)> {
    let mut lines = unsealed(text)?.lines();
    let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(" = ");
    value("format_version").filter(|version| *version == FORMAT_VERSION)?;
    let id = RelocationId::parse(value("id")?)?;
    value("place").map(|place| (id, place.to_owned()))
}

fn text(id: &RelocationId, place: &str) -> String {
    let place = place.replace(['\n', '\r'], " ");
    sealed(&format!("format_version = {FORMAT_VERSION}\nid = {}\nplace = {place}\n", id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_served_only_where_the_deployment_is() {
        let (old, new) =
            (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let storage = |folder: &tempfile::TempDir| FileStorage::open(folder.path()).expect("storage");
        let (from, to) = (storage(&old), storage(&new));
        let id = RelocationId::random().expect("random");
        assert!(check_served(&from).is_ok() && check_served(&to).is_ok());
        let arriving = Arriving { id: id.clone(), from: old.path().display().to_string() };
        arriving.leave(&to).expect("left");
        assert!(check_served(&from).is_ok());
        assert!(matches!(check_served(&to), Err(MarkError::Arriving { .. })));
        // The mark of another move does not count.
        let other = Moved { id: RelocationId::random().expect("random"), address: "there:1".to_owned() };
        other.leave(&from).expect("left");
        assert!(matches!(check_served(&to), Err(MarkError::Arriving { .. })));
        let moved = Moved { id, address: "there:2".to_owned() };
        moved.leave(&from).expect("left");
        let refused = check_served(&from).expect_err("refused").to_string();
        assert!(refused.contains("has moved to there:2"), "{refused}");
        assert!(check_served(&to).is_ok());
        assert_eq!(Arriving::load(&to).expect("read"), None);
    }

    #[test]
    fn a_damaged_mark_is_no_mark_that_is_absent() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = FileStorage::open(folder.path()).expect("storage");
        std::fs::write(folder.path().join(MOVED_NAME), "format_version = 1\n").expect("written");
        assert!(matches!(check_served(&root), Err(MarkError::Damaged { .. })));
    }
}
