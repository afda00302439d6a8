//! The file with what stays open.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use scarce_books::{Day, Map, State};
use tempfile::NamedTempFile;

use super::{BookFile, unread};
use crate::{Exit, Failed};

/// Reads it, and closes in it what is to be closed. A missing one is new.
pub(super) fn load(options: &BookFile, map: &Map, today: Day) -> Result<Option<State>, Failed> {
    let Some(path) = &options.state else { return Ok(None) };
    let mut state = match std::fs::read(path) {
        Ok(text) => State::read(&text, map)?,
        Err(error) if error.kind() == ErrorKind::NotFound => State::new(map),
        Err(error) => return Err(unread(path, &error)),
    };
    for close in &options.close {
        let pair = close.split_once('=').filter(|(_, reason)| !reason.trim().is_empty());
        let (id, reason) = pair.ok_or_else(|| {
            Failed::text(
                Exit::Usage,
                format!("--close takes an id and the reason, as ID=REASON; '{close}' has none"),
            )
        })?;
        state.close(id, reason.trim(), today)?;
    }
    Ok(Some(state))
}

/// Writes it, all or nothing, and says what became of it.
pub(super) fn save(options: &BookFile, state: Option<&State>, bad_count: u64) -> Result<String, Failed> {
    let Some(path) = &options.state else { return Ok("nothing is carried on; see --state".to_owned()) };
    let unchanged = |why: &str| Ok(format!("{} is unchanged: {why}", path.display()));
    let Some(state) = state else {
        return unchanged("too much is open; is this the right file and account?");
    };
    match (options.dry_run, bad_count) {
        (true, _) => unchanged("--dry-run"),
        // What is in a bad line would be missing for good.
        (false, 1..) => unchanged("some lines could not be read; put them right and compare again"),
        (false, 0) => {
            write(path, state).map_err(|error| {
                Failed::text(Exit::Failed, format!("cannot write to {}: {error}", path.display()))
            })?;
            Ok(format!("{} has what is open", path.display()))
        }
    }
}

fn write(path: &Path, state: &State) -> Result<(), Box<dyn std::error::Error>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::new(file.as_file_mut());
    state.write(&mut out)?;
    out.flush()?;
    drop(out);
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
