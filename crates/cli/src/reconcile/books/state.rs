//! The file with what stays open.

use std::fs::{File, Permissions, TryLockError};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use scarce_books::{Day, Map, State};
use tempfile::NamedTempFile;

use super::{BookFile, unread};
use crate::{Exit, Failed};

/// The file of a state, which no other process changes meanwhile.
pub(super) struct Held {
    /// Where it is, behind all links.
    path: PathBuf,
    /// The file that it was read from, locked; none if it is new.
    file: Option<File>,
}

/// Reads it, and closes in it what is to be closed.
pub(super) fn load(options: &BookFile, map: &Map, today: Day) -> Result<Option<(State, Held)>, Failed> {
    let Some(path) = &options.state else { return Ok(None) };
    let (mut state, held) = match hold(path)? {
        Some(_) if options.new_state => {
            return Err(Failed::text(
                Exit::Usage,
                format!("{} is there already; --new-state is for a first file", path.display()),
            ));
        }
        Some((text, held)) => (State::read(&text, map)?, held),
        None if options.new_state => (State::new(map), Held { path: path.clone(), file: None }),
        None => {
            let text = format!(
                "there is no {}: what was open would be lost. Bring it back, or begin with --new-state if this is the first file",
                path.display()
            );
            return Err(Failed::text(Exit::Usage, text));
        }
    };
    for close in &options.close {
        // There may be such signs in an id.
        let mut pairs = close.match_indices('=').map(|(at, _)| (&close[..at], &close[at + 1..]));
        let pair = pairs.find(|(id, _)| state.is_open(id)).or_else(|| close.split_once('='));
        let pair = pair.filter(|(_, reason)| !reason.trim().is_empty());
        let (id, reason) = pair.ok_or_else(|| {
            Failed::text(
                Exit::Usage,
                format!("--close takes an id and the reason, as ID=REASON; '{close}' has none"),
            )
        })?;
        state.close(id, reason.trim(), today)?;
    }
    Ok(Some((state, held)))
}

/// Opens and locks it; nothing, if there is none. Two runs at once would lose what one of them did.
fn hold(path: &Path) -> Result<Option<(Vec<u8>, Held)>, Failed> {
    let unread = |error: &std::io::Error| unread(path, error);
    loop {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unread(&error)),
        };
        let mut file = File::open(&real).map_err(|error| unread(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = format!("another process is comparing with {}; wait for it", path.display());
                return Err(Failed::text(Exit::Usage, text));
            }
            Err(TryLockError::Error(error)) => return Err(unread(&error)),
        }
        // The one before may have put another file in its place.
        if !is_at(&file, &real) {
            continue;
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| unread(&error))?;
        return Ok(Some((text, Held { path: real, file: Some(file) })));
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |its: std::fs::Metadata| (its.dev(), its.ino());
    file.metadata().map(id).ok().is_some_and(|held| path.metadata().map(id).is_ok_and(|there| there == held))
}

/// What becomes of the state.
pub(super) struct Kept<'s> {
    /// What is said of it.
    pub(super) said: String,
    state: Option<(&'s State, &'s Held)>,
}

/// Decides what becomes of it.
pub(super) fn kept<'s>(
    options: &BookFile,
    held: Option<&'s Held>,
    state: Option<&'s State>,
    bad_count: u64,
) -> Kept<'s> {
    let (Some(path), Some(held)) = (&options.state, held) else {
        return Kept { said: "nothing is carried on; see --state".to_owned(), state: None };
    };
    let unchanged = |why: &str| Kept { said: format!("{} is unchanged: {why}", path.display()), state: None };
    match (state, options.dry_run, bad_count) {
        (None, ..) => unchanged("too much is open; is this the right file and account?"),
        (_, true, _) => unchanged("--dry-run"),
        // What is in a bad line would be missing for good.
        (_, false, 1..) => unchanged("some lines could not be read; put them right and compare again"),
        (Some(state), false, 0) => {
            Kept { said: format!("{} has what is open", path.display()), state: Some((state, held)) }
        }
    }
}

impl Kept<'_> {
    /// Writes it, all or nothing.
    pub(super) fn save(&self) -> Result<(), Failed> {
        let Some((state, held)) = self.state else { return Ok(()) };
        write(held, state).map_err(|error| {
            Failed::text(
                Exit::Failed,
                format!("cannot write to {}, which is unchanged: {error}", held.path.display()),
            )
        })
    }
}

fn write(held: &Held, state: &State) -> Result<(), Box<dyn std::error::Error>> {
    let folder = held.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let mode: Option<Permissions> =
        held.file.as_ref().map(|file| file.metadata()).transpose()?.map(|its| its.permissions());
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    let mut out = BufWriter::new(file.as_file_mut());
    state.write(&mut out)?;
    out.flush()?;
    drop(out);
    file.as_file().sync_all()?;
    match held.file {
        Some(_) => drop(file.persist(&held.path)?),
        None => drop(file.persist_noclobber(&held.path)?),
    }
    Ok(())
}
