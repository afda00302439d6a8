//! What the store has already that a new backup can build on.

use std::collections::BTreeMap;

use crate::catalog::list;
use crate::manifest::{FilePart, Manifest};
use crate::there::Pieces;
use crate::{BackupError, Vault};

/// Files of an earlier backup, by partition and name.
pub(crate) type Former = BTreeMap<(Option<u32>, String), FilePart>;

/// What is there already.
#[derive(Default)]
pub(crate) struct FormerBackup {
    /// The highest number of any.
    pub(crate) number: u64,
    /// The newest that can be built on.
    pub(crate) manifest: Option<Manifest>,
}

/// The newest backup, unless the store is another deployment's, or is encrypted and the new one is not, or the other way
/// round. One that cannot be read is no ground to build on.
pub(crate) fn former_backup(vault: &Vault, deployment: &str) -> Result<FormerBackup, BackupError> {
    let mut newest = FormerBackup::default();
    let mut encryption = None;
    for listed in list(vault)? {
        let Ok(manifest) = listed.manifest else { continue };
        if manifest.deployment != deployment {
            return Err(BackupError::Foreign {
                place: vault.store.locate(""),
                found: manifest.deployment,
                expected: deployment.to_owned(),
            });
        }
        newest.number = newest.number.max(manifest.number);
        encryption = Some((manifest.id.clone(), manifest.key.clone()));
        newest.manifest = Some(manifest).filter(|_| listed.is_checked).or(newest.manifest);
    }
    match encryption {
        Some((backup, key)) if !vault.keys.may_join(key.as_deref()) => {
            let place = vault.store.locate("");
            Err(BackupError::Mixed { place, backup, is_encrypted: key.is_some() })
        }
        _ => Ok(newest),
    }
}

/// The files of a backup of which the store has all pieces, with the length that they should have: what is lost or was
/// cut short is put again.
pub(crate) fn files_there(vault: &Vault, manifest: Manifest) -> Result<Former, BackupError> {
    let there = Pieces::list_for(vault, &manifest)?;
    let is_encrypted = manifest.key.is_some();
    let mut files = files_of(manifest);
    files.retain(|_, file| file.pieces.iter().all(|piece| there.has(piece, is_encrypted)));
    Ok(files)
}

fn files_of(manifest: Manifest) -> Former {
    let of_partitions = manifest.partitions.into_iter().flat_map(|part| {
        let partition = Some(part.partition);
        part.files.into_iter().map(move |file| ((partition, file.name.clone()), file))
    });
    let of_deployment = manifest.files.into_iter().map(|file| ((None, file.name.clone()), file));
    of_partitions.chain(of_deployment).collect()
}
