//! Whose backups a store holds: an object names the deployment from before its first backup on, so that two which begin
//! at once do not share a store. A data directory remembers its stores, so that nothing is put where one is not mounted.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::storage::StorageError;

use crate::store::StoreError;
use crate::{BackupError, Vault};

const OBJECT: &str = "deployment";
const BYTES_MAX: u64 = 256;

/// The file of a data directory with the addresses of stores that held a backup of it, one on each line.
const KNOWN: &str = "backup-stores";

/// Whether a store is there to which something was put once: where a file system is not mounted, its folder is empty.
///
/// # Errors
/// When nothing says whose backups it holds, or the store fails.
pub fn check_there(vault: &Vault, data: &Path) -> Result<(), BackupError> {
    match vault.store.get(OBJECT, BYTES_MAX) {
        Err(StoreError::Missing { place }) => {
            Err(BackupError::StoreGone { place, known_in: data.join(KNOWN) })
        }
        found => Ok(found.map(drop)?),
    }
}

/// Remembers in a data directory that a store holds a backup of it.
///
/// # Errors
/// When the directory cannot be written.
pub fn remember(vault: &Vault, data: &Path) -> Result<(), BackupError> {
    let (mut known, place) = (known_stores(data)?, vault.store.locate(""));
    if known.lines().any(|line| line == place) {
        return Ok(());
    }
    known.push_str(&format!("{place}\n"));
    let (path, unfinished) = (data.join(KNOWN), data.join(format!("{KNOWN}.new")));
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(known.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)?;
        File::open(data)?.sync_all()
    });
    Ok(written.map_err(|error| failed("write", &path, error))?)
}

fn known_stores(data: &Path) -> Result<String, BackupError> {
    let path = data.join(KNOWN);
    match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => Ok(read.map_err(|error| failed("read", &path, error))?),
    }
}

fn failed(operation: &'static str, path: &Path, error: std::io::Error) -> EmbeddedError {
    StorageError::new(operation, path.display().to_string(), error).into()
}

/// Refuses a store that the data directory remembers and that is not there: what is put where nothing is mounted is
/// no backup.
pub(crate) fn check_known(vault: &Vault, data: &Path) -> Result<(), BackupError> {
    let place = vault.store.locate("");
    let is_known = known_stores(data)?.lines().any(|line| line == place);
    if is_known { check_there(vault, data) } else { Ok(()) }
}

/// Binds a store to a deployment, unless it is bound already.
///
/// # Errors
/// When it is bound to another one, or the store fails.
pub(crate) fn bind(vault: &Vault, deployment: &str) -> Result<(), BackupError> {
    let bytes = match vault.read(OBJECT, BYTES_MAX) {
        Err(BackupError::Store(StoreError::Missing { .. })) => {
            match vault.store.put_new(OBJECT, format!("{deployment}\n").as_bytes()) {
                Ok(true) => return Ok(vault.store.settle()?),
                Ok(false) => vault.read(OBJECT, BYTES_MAX)?,
                // The answer may be all that was lost.
                Err(error @ StoreError::Unanswered { .. }) => {
                    vault.read(OBJECT, BYTES_MAX).map_err(|_| error)?
                }
                Err(error) => return Err(error.into()),
            }
        }
        bytes => bytes?,
    };
    let place = vault.store.locate(OBJECT);
    let bound = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_suffix('\n'));
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(bound) = bound.filter(is_name) else {
        let reason = "it names no deployment; if all backups there are of one, remove it".to_owned();
        return Err(BackupError::Damaged { place, reason });
    };
    if bound == deployment {
        return Ok(());
    }
    Err(BackupError::Foreign { place, found: bound.to_owned(), expected: deployment.to_owned() })
}
