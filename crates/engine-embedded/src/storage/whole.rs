//! Small files that are read and written as a whole.

use super::{Storage, StorageError};

/// The content of a file, cut off behind `bytes_max`; none where there is no file.
///
/// # Errors
/// When the disk fails.
pub(crate) fn read_small(
    storage: &dyn Storage,
    name: &str,
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, StorageError> {
    let file = match storage.open(name) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.len()?.min(bytes_max);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(Some(bytes))
}

/// Writes a file durably in the place of what it was: a reader sees the old content or the new one.
///
/// # Errors
/// When the disk fails; the old content is still there then, or the new one.
pub(crate) fn replace(
    storage: &dyn Storage,
    temporary: &str,
    name: &str,
    bytes: &[u8],
) -> Result<(), StorageError> {
    lay(storage, temporary, bytes)?;
    storage.rename(temporary, name)?;
    storage.sync_directory()
}

/// Writes the content that a file is to have under a temporary name.
///
/// # Errors
/// When the disk fails.
pub(crate) fn lay(storage: &dyn Storage, temporary: &str, bytes: &[u8]) -> Result<(), StorageError> {
    // What a crash may have left.
    match storage.remove(temporary) {
        Err(error) if !error.is_not_found() => return Err(error),
        _ => {}
    }
    let mut file = storage.create(temporary)?;
    file.write_at(0, bytes)?;
    file.sync_data()
}

/// A text with a last line that holds a checksum over what comes before.
pub(crate) fn sealed(body: &str) -> String {
    format!("{body}checksum = {:08x}\n", crc32c::crc32c(body.as_bytes()))
}

/// What comes before the checksum, if it fits and is the last line.
pub(crate) fn unsealed(text: &str) -> Option<&str> {
    let body = &text[..text.rfind("checksum = ")?];
    (sealed(body) == text).then_some(body)
}
