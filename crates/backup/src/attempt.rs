//! Backups that are being made of a data directory: a file there is locked as long as the process lives that makes one.
//! So the next one knows what a killed one left in the store, and removes it: two hosts cannot tell of each other.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalog::{MANIFESTS, manifest_name};
use crate::prune::{DATA, pending_name, remove_all};
use crate::{BackupError, Vault};

const PREFIX: &str = "backup-attempt-";

/// What the file begins with where something was put of which no answer said that it is there. It may come later.
const UNANSWERED: u8 = b'?';
const ANSWERED: u8 = b' ';

/// How many files stay that tell of backups which could not be cleared away yet.
const LEFT_MAX: usize = 100;

/// After so long, nothing comes any more.
const LATE_MAX: Duration = Duration::from_mins(10);

/// A backup that is being made. Without a file where the directory may only be read: then only pruning clears away
/// what it leaves.
pub(crate) struct Attempt(Option<(PathBuf, File)>);

impl Attempt {
    /// Begins one whose announcement is about to be put. While the store is away for long, not every try leaves a file.
    pub(crate) fn begin(vault: &Vault, data: &Path, id: &str, left: usize) -> Self {
        if left >= LEFT_MAX {
            return Self(None);
        }
        let path = data.join(format!("{PREFIX}{id}"));
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let begun = opened.and_then(|mut file| {
            file.lock()?;
            // Until it says of which store it is, nobody takes it for one that was left.
            let place = vault.store.locate("");
            file.write_all(format!("{}{place}\n", char::from(UNANSWERED)).as_bytes())?;
            Ok((path, file))
        });
        Self(begun.ok())
    }

    /// Whether something is about to be put that may come although it is not answered.
    pub(crate) fn expect(&self, is_unanswered: bool) {
        if let Some((_, file)) = &self.0 {
            // Where it cannot be written, what is left is cleared away too late or by pruning.
            let _ = file.write_all_at(&[if is_unanswered { UNANSWERED } else { ANSWERED }], 0);
        }
    }

    /// Nothing of it is left that another one has to clear away.
    pub(crate) fn end(self) {
        if let Some((path, _)) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes what backups of a data directory left in the store whose processes were killed, or that failed where the
/// store did, too. Gives how many of them are left for a later time.
pub(crate) fn clear_left(vault: &Vault, data: &Path) -> usize {
    let entries = std::fs::read_dir(data).into_iter().flatten().filter_map(Result::ok);
    let (mut left, mut has_failed) = (0, false);
    for entry in entries {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        left += 1;
        // Where the store fails once, it is not asked again for each of them.
        let taken = if has_failed { None } else { take_left(vault, &entry.path()) };
        if let Some(_locked) = taken {
            has_failed = clear(vault, id).is_err();
            if !has_failed && std::fs::remove_file(entry.path()).is_ok() {
                left -= 1;
            }
        }
    }
    left
}

/// The file of a backup that nobody makes any more, locked. None where something of it may yet come.
fn take_left(vault: &Vault, path: &Path) -> Option<File> {
    let mut file = File::open(path).ok()?;
    file.try_lock().ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let (answered, place) = text.strip_suffix('\n')?.split_at_checked(1)?;
    let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
    let may_come = answered.as_bytes() == [UNANSWERED] && age < LATE_MAX;
    (place == vault.store.locate("") && !may_come).then_some(file)
}

fn clear(vault: &Vault, id: &str) -> Result<(), BackupError> {
    let manifest = manifest_name(id);
    if vault.store.list(MANIFESTS)?.iter().all(|object| object.name != manifest) {
        remove_all(&*vault.store, &format!("{DATA}{id}/"))?;
    }
    vault.store.remove(&pending_name(id))?;
    Ok(vault.store.settle()?)
}
