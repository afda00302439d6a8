//! Reading a backup, to see whether all of it is there and is what was put there.

use std::collections::BTreeMap;

use crate::log::for_each_part;
use crate::manifest::Manifest;
use crate::store::StoreError;
use crate::{BackupError, Vault};

/// What was read.
#[derive(Debug, Default)]
pub struct Verified {
    /// Pieces that are good.
    pub pieces: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Parts of the log that follows the backup, and are good.
    pub log_parts: u64,
    /// The last sequence of each partition in it.
    pub log_sequences: BTreeMap<u32, u64>,
    /// What is not.
    pub damages: Vec<Damage>,
}

/// A piece that is not what was put there.
#[derive(Debug)]
pub struct Damage {
    /// The files that need it.
    pub files: Vec<String>,
    /// What is wrong.
    pub error: BackupError,
}

/// Reads every piece of a backup and compares it with its name.
///
/// # Errors
/// When the store fails, or the key is not there.
pub fn verify(
    vault: &Vault,
    manifest: &Manifest,
    on_progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified, BackupError> {
    let key = vault.key_of(manifest)?;
    let (mut verified, mut done, total) = (Verified::default(), 0, manifest.bytes());
    let users = users(manifest);
    for (object, piece) in manifest.pieces() {
        match vault.get(piece, key) {
            Ok(content) => {
                verified.pieces += 1;
                verified.bytes += content.len() as u64;
            }
            Err(error @ (BackupError::Damaged { .. } | BackupError::Store(StoreError::Missing { .. }))) => {
                let files = users.get(&object).cloned().unwrap_or_default();
                verified.damages.push(Damage { files, error });
            }
            Err(error) => return Err(error),
        }
        done += piece.bytes;
        on_progress(done, total);
    }
    let bad = for_each_part(vault, manifest, &mut |head, content| {
        verified.log_parts += 1;
        let last = head.partitions.iter().map(|part| (part.partition, part.last_sequence));
        verified.log_sequences.extend(last);
        verified.bytes += content.len() as u64;
        Ok(())
    })?;
    let of_log = bad.map(|error| Damage { files: vec!["the log that follows".to_owned()], error });
    verified.damages.extend(of_log);
    Ok(verified)
}

/// The files that need an object.
pub(crate) fn users(manifest: &Manifest) -> BTreeMap<String, Vec<String>> {
    let of_partitions = manifest.partitions.iter().flat_map(|part| {
        part.files.iter().map(move |file| (format!("partition {}, {}", part.partition, file.name), file))
    });
    let files = manifest.files.iter().map(|file| (file.name.clone(), file)).chain(of_partitions);
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, file) in files {
        for piece in &file.pieces {
            users.entry(piece.object()).or_default().push(name.clone());
        }
    }
    users
}
