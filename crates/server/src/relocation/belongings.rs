//! What a deployment has in its data directory beside its partitions, and needs where it goes: who may call, and who waits.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::keys;
use crate::serve::ROOMS_FILE;

/// Why a file did not come along.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be copied into {to}")]
pub struct BelongingError {
    /// The file.
    path: PathBuf,
    /// The new directory.
    to: PathBuf,
    /// What the system said.
    #[source]
    source: io::Error,
}

/// Copies the files into another directory, durably, in place of those of an earlier copy. Keys do not change meanwhile.
///
/// # Errors
/// When one cannot be read or written.
pub fn take_along(from: &Path, to: &Path) -> Result<(), BelongingError> {
    let failed = |name: &str| {
        let (path, to) = (from.join(name), to.to_owned());
        move |source| BelongingError { path, to, source }
    };
    let _lock = keys::lock(from).map_err(failed(keys::LOCK))?;
    for name in [keys::KEYS, keys::USES, ROOMS_FILE] {
        copy(from, to, name).map_err(failed(name))?;
    }
    Ok(())
}

/// Copies a file, if it is there and is another one.
fn copy(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    let bytes = match std::fs::read(from.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes?,
    };
    if std::fs::read(to.join(name)).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let part = to.join(format!("{name}.tmp"));
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    std::fs::rename(part, to.join(name))?;
    File::open(to)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_there_is_copied_for_the_owner_alone_and_again_if_it_changed() {
        let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        take_along(from.path(), to.path()).expect("nothing to copy");
        assert!(!to.path().join(keys::KEYS).exists());
        for text in ["one", "two"] {
            std::fs::write(from.path().join(keys::KEYS), text).expect("written");
            take_along(from.path(), to.path()).expect("copied");
            assert_eq!(std::fs::read_to_string(to.path().join(keys::KEYS)).expect("a file"), text);
        }
        let mode = std::fs::metadata(to.path().join(keys::KEYS)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::remove_file(from.path().join(keys::KEYS)).expect("removed");
        std::fs::create_dir(from.path().join(keys::KEYS)).expect("a folder in the way");
        let error = take_along(from.path(), to.path()).expect_err("it cannot be read").to_string();
        assert!(error.contains(keys::KEYS), "{error}");
    }
}
