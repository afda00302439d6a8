//! The moment at which the deployment changes its place, and what is left where it does not come.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::relocation::{Arriving, Moved, RelocationId};
use scarce_engine_embedded::storage::FileStorage;
use scarce_server::relocation::take_along;

use super::{Migrate, storage};
use crate::restore::Making;
use crate::{Exit, Failed};

/// A move whose mark is laid ready in the old directory.
pub(super) struct Handover {
    id: RelocationId,
    from: PathBuf,
    to: PathBuf,
    source: FileStorage,
    is_left: bool,
}

impl Drop for Handover {
    fn drop(&mut self) {
        if !self.is_left {
            Moved::discard_prepared(&self.source);
        }
    }
}

impl Handover {
    /// Lays the mark ready, so that a full disk is met before the work.
    pub(super) fn prepare(options: &Migrate) -> Result<Self, Failed> {
        let id = RelocationId::random().map_err(EmbeddedError::from)?;
        let (from, to) = (options.from.canonicalize()?, place_of(&options.to)?);
        let source = storage(&from)?;
        let made = Self { id, from, to, source, is_left: false };
        let address = options.address.clone().unwrap_or_else(|| made.to.display().to_string());
        let mark = Moved { id: made.id.clone(), address };
        mark.prepare(&made.source).map_err(EmbeddedError::from)?;
        Ok(made)
    }

    /// Gives the new directory its name and lets the deployment change its place.
    pub(super) fn complete(mut self, making: Making) -> Result<(), Failed> {
        let from = self.from.display().to_string();
        let made = storage(making.path())?;
        take_along(&self.from, making.path()).map_err(|error| Failed::new(Exit::Failed, &error))?;
        Arriving { id: self.id.clone(), from }.leave(&made).map_err(EmbeddedError::from)?;
        let named = making.finish(&self.to);
        let left = named.and_then(|()| Ok(Moved::leave_prepared(&self.source).map_err(EmbeddedError::from)?));
        if let Err(failed) = left {
            return Err(self.explain(failed));
        }
        self.is_left = true;
        self.take_changes()?;
        let arrived = storage(&self.to).map(|to| Arriving::end(&to));
        if !matches!(arrived, Ok(Ok(()))) {
            let at = self.to.display();
            writeln!(
                io::stderr(),
                "the file 'arriving' in {at} could not be removed for certain; a server does it when it starts there"
            )?;
        }
        Ok(())
    }

    /// Takes along what was changed of the keys before the mark was there.
    fn take_changes(&self) -> Result<(), Failed> {
        take_along(&self.from, &self.to).map_err(|error| {
            let (from, to) = (self.from.display(), self.to.display());
            let mut failed = Failed::new(Exit::Failed, &error);
            failed.message.push_str(&format!(
                "\n{from} has moved to {to} all the same: copy keys.json, keys.used and waiting-rooms.json from it before you serve that"
            ));
            failed
        })
    }

    /// Says where the deployment is, and leaves nothing of a move that did not come to be.
    fn explain(&mut self, mut failed: Failed) -> Failed {
        let (from, to) = (self.from.display(), self.to.display());
        let text = match Moved::load(&self.source) {
            Ok(Some(moved)) if moved.id == self.id => {
                self.is_left = true;
                format!(
                    "{from} has moved to {to} all the same: serve that. The disk has not confirmed it; after a power failure see \
                     that {from} still has the file 'moved' before anything is served"
                )
            }
            Ok(_) => {
                let left = if self.remove_new() { "" } else { "; remove it before you move again" };
                format!("nothing was moved: {from} is served as before, and {to} is not{left}")
            }
            Err(_) => format!(
                "whether {from} has moved to {to} could not be read: see whether {from} has the file 'moved'. If so, serve {to}, \
                 otherwise {from}"
            ),
        };
        failed.message.push_str(&format!("\n{text}"));
        failed
    }

    /// Removes the new directory, which nobody has served, if it is there and of this move. Whether nothing is left.
    fn remove_new(&self) -> bool {
        if !self.to.exists() {
            return true;
        }
        let mark =
            FileStorage::open_read_only(&self.to).ok().and_then(|to| Arriving::load(&to).ok()).flatten();
        mark.is_some_and(|mark| mark.id == self.id) && std::fs::remove_dir_all(&self.to).is_ok()
    }
}

/// Where a directory will be that may not be there yet.
fn place_of(to: &Path) -> io::Result<PathBuf> {
    let parent =
        to.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    match (parent, to.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => to.canonicalize(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::restore::Purpose;
    use crate::setting_flags::MoveFlags;

    #[test]
    fn a_move_whose_mark_is_not_left_leaves_nothing_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::create_dir(&from).unwrap();
        let options = Migrate {
            from: from.clone(),
            to: to.clone(),
            partitions: None,
            address: None,
            dry_run: false,
            json: false,
            redis: MoveFlags::default(),
        };
        let making = Making::beside(&to, Purpose::Migrate).unwrap();
        assert_eq!(making.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let handover = Handover::prepare(&options).unwrap();
        // The disk fails behind it.
        std::fs::remove_file(from.join("relocation.tmp")).unwrap();
        let failed = handover.complete(making).unwrap_err();
        assert!(failed.message.contains("nothing was moved"), "{}", failed.message);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the old directory is there");
        let handover = Handover::prepare(&options).unwrap();
        handover.complete(Making::beside(&to, Purpose::Migrate).unwrap()).unwrap();
        assert!(from.join("moved").exists() && to.exists() && !to.join("arriving").exists());
    }
}
