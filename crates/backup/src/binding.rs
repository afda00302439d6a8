//! Whose backups a store holds: an object names the deployment from before its first backup on, so that two which begin
//! at once do not share a store.

use crate::store::StoreError;
use crate::{BackupError, Vault};

const OBJECT: &str = "deployment";
const BYTES_MAX: u64 = 256;

/// Whether a store is there to which something was put once: where a file system is not mounted, its folder is empty.
///
/// # Errors
/// When nothing says whose backups it holds, or the store fails.
pub fn check_there(vault: &Vault) -> Result<(), BackupError> {
    match vault.store.get(OBJECT, BYTES_MAX) {
        Err(StoreError::Missing { place }) => Err(BackupError::StoreGone { place }),
        found => Ok(found.map(drop)?),
    }
}

/// Binds a store to a deployment, unless it is bound already.
///
/// # Errors
/// When it is bound to another one, or the store fails.
pub(crate) fn bind(vault: &Vault, deployment: &str) -> Result<(), BackupError> {
    let bytes = match vault.read(OBJECT, BYTES_MAX) {
        Err(BackupError::Store(StoreError::Missing { .. })) => {
            if vault.store.put_new(OBJECT, format!("{deployment}\n").as_bytes())? {
                return Ok(vault.store.settle()?);
            }
            vault.read(OBJECT, BYTES_MAX)?
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
