//! The files of limits and of waiting rooms.

use std::io::Read as _;
use std::path::Path;

use scarce_limits::Rule;
use scarce_limits::rooms::{self, Room};

use super::ServeError;

/// How large the file may be.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads the limits in a file; there are none without one.
///
/// # Errors
/// When it cannot be read, or what is wrong in it.
pub(super) fn read(path: Option<&Path>) -> Result<Vec<Rule>, ServeError> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let failed = |reason: String| ServeError::Limits { path: path.to_owned(), reason };
    scarce_limits::read(&text_of(path).map_err(failed)?).map_err(|error| failed(error.to_string()))
}

/// Reads the waiting rooms in a file; there are none without one.
///
/// # Errors
/// When it cannot be read, or what is wrong in it.
pub(super) fn read_rooms(path: Option<&Path>) -> Result<Vec<Room>, ServeError> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let failed = |reason: String| ServeError::Rooms { path: path.to_owned(), reason };
    rooms::read(&text_of(path).map_err(failed)?).map_err(|error| failed(error.to_string()))
}

fn text_of(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let bytes = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if bytes as u64 > FILE_BYTES_MAX {
        return Err("it is larger than 1 MiB".to_owned());
    }
    Ok(text)
}
