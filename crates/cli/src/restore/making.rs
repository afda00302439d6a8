//! The directory that a restore fills before it has its name, and what is left of one that was killed.

use std::fs::{File, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tempfile::TempDir;

use crate::{Exit, Failed};

const PREFIXES: [&str; 4] = [".scarce-restore-", ".scarce-drill-", ".scarce-migrate-", ".scarce-migrate-"];

/// A directory that is removed unless it is kept, and locked as long as its process lives.
pub(crate) struct Making {
    folder: TempDir,
    _held: File,
}

/// What a directory is made for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Restore,
    Drill,
    Migrate,
    /// For a server, which ends in its own way on signals.
    Serve,
}

impl Making {
    /// Makes one in a folder, and removes those there whose processes were killed.
    pub(crate) fn begin(parent: &Path, purpose: Purpose) -> Result<Self, Failed> {
        let failed = |error: std::io::Error| {
            Failed::text(Exit::Failed, format!("cannot write to {}: {error}", parent.display()))
        };
        remove_left(parent)?;
        loop {
            let mut builder = tempfile::Builder::new();
            // As a server makes its data directory.
            builder.prefix(PREFIXES[purpose as usize]).permissions(Permissions::from_mode(0o700));
            let folder = builder.tempdir_in(parent).map_err(failed)?;
            if let Some(held) = hold(folder.path()).map_err(failed)? {
                if !matches!(purpose, Purpose::Serve) {
                    remove_on_signals(folder.path().to_owned())?;
                }
                return Ok(Self { folder, _held: held });
            }
        }
    }

    /// Makes one beside the directory that it will be, so that an incomplete result never has the final name.
    pub(crate) fn beside(data: &Path, purpose: Purpose) -> Result<Self, Failed> {
        let parent = parent_of(data);
        std::fs::create_dir_all(parent).map_err(|error| {
            Failed::text(Exit::Failed, format!("cannot write to {}: {error}", parent.display()))
        })?;
        Self::begin(parent, purpose)
    }

    /// Gives the finished directory its final name, durably.
    pub(crate) fn finish(self, data: &Path) -> Result<(), Failed> {
        std::fs::rename(self.path(), data).map_err(|error| {
            let text = format!("cannot give the new directory the name {}: {error}", data.display());
            Failed::text(Exit::Failed, text)
        })?;
        // It has its final name now, and must stay.
        self.keep();
        Ok(File::open(parent_of(data)).and_then(|parent| parent.sync_all())?)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Lets it stay where it is.
    pub(crate) fn keep(self) {
        let _ = self.folder.keep();
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Locks a new directory; none if another process took it for one that was left, and removed it before.
fn hold(path: &Path) -> std::io::Result<Option<File>> {
    let held = match File::open(path) {
        Ok(held) => held,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    held.lock()?;
    Ok(path.exists().then_some(held))
}

/// The directories of this process, also those that are finished and have another name now.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A signal ends the process at once, but not without removing what is not finished.
fn remove_on_signals(path: PathBuf) -> std::io::Result<()> {
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_heard = !made().is_empty();
    made().push(path);
    if is_heard {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let ending = move || {
        let Some(signal) = signals.forever().next() else { return };
        for path in made().iter() {
            if std::fs::remove_dir_all(path).is_ok() {
                let text = format!("interrupted; removed {}, which was not finished", path.display());
                let _ = writeln!(std::io::stderr(), "{text}");
            }
        }
        std::process::exit(128 + signal);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(ending).map(drop)
}

/// Whether a directory has the name of one that is not finished.
pub(crate) fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Removes directories in a folder that nobody fills any more.
fn remove_left(parent: &Path) -> Result<(), Failed> {
    let entries = std::fs::read_dir(parent)?.filter_map(Result::ok);
    let left = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let left = left.map(|entry| entry.path()).filter(|path| is_unfinished(path));
    let mut err = std::io::stderr().lock();
    for path in left {
        match remove_if_left(&path) {
            Ok(true) => writeln!(err, "removed {}, which a killed command left", path.display())?,
            Ok(false) => {}
            // Another process was faster.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                writeln!(err, "cannot remove {}: {error}; a killed command left it", path.display())?;
            }
        }
    }
    Ok(())
}

fn remove_if_left(path: &Path) -> std::io::Result<bool> {
    let folder = File::open(path)?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => std::fs::remove_dir_all(path).map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_was_removed_before_it_was_locked_is_not_an_error() {
        let parent = tempfile::tempdir().expect("a directory");
        let made = parent.path().join(".scarce-drill-removed");
        std::fs::create_dir(&made).expect("a directory");
        assert!(hold(&made).expect("locked").is_some());
        assert!(remove_if_left(&made).expect("removed"));
        assert!(hold(&made).expect("no error").is_none());
    }
}
