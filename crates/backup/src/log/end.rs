//! How far the log that follows a backup reaches.

use std::collections::BTreeMap;

use super::{decode, log_folder, parse_name, part_bytes_max};
use crate::store::StoredObject;
use crate::{BackupError, Manifest, Vault};

/// How far the log that follows a backup reaches.
#[derive(Debug, Default)]
pub struct LogEnd {
    /// How many parts follow each other without a gap.
    pub parts: u64,
    /// Their bytes in the store.
    pub bytes: u64,
    /// All that was durable at this time is in it, in Unix milliseconds; 0 if there is no log.
    pub taken_at_ms: u64,
    /// The last sequence of each partition.
    pub sequences: BTreeMap<u32, u64>,
    /// The epoch of each partition there.
    pub epochs: BTreeMap<u32, u64>,
    /// What is wrong with what comes later.
    pub problem: Option<String>,
}

/// The parts of the log that follows a backup, up to the first gap, and what is missing there.
pub(super) fn parts_of(
    vault: &Vault,
    manifest: &Manifest,
) -> Result<(Vec<StoredObject>, Option<String>), BackupError> {
    let folder = log_folder(&manifest.id);
    let mut found = Vec::new();
    for object in vault.store.list(&folder)? {
        if let Some((_, number, _)) = parse_name(&object.name) {
            found.push((number, object));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    let whole = found.iter().zip(1..).take_while(|((number, _), wanted)| number == wanted).count();
    let gap = found.get(whole).map(|(number, _)| {
        let place = vault.store.locate(&folder);
        format!("{place} lacks parts of the log before number {number}")
    });
    found.truncate(whole);
    Ok((found.into_iter().map(|(_, object)| object).collect(), gap))
}

/// How far the log that follows a backup reaches, by its last part. Those before it are not read.
///
/// # Errors
/// When the store fails, or the key is not there.
pub fn log_end(vault: &Vault, manifest: &Manifest) -> Result<LogEnd, BackupError> {
    let (mut parts, mut problem) = parts_of(vault, manifest)?;
    while let Some(object) = parts.last() {
        let read = vault.read(&object.name, part_bytes_max(manifest));
        let place = vault.store.locate(&object.name);
        match read.and_then(|bytes| decode(object, &place, &bytes, (manifest, &vault.keys))) {
            Ok((head, _)) => {
                let epochs = head.partitions.iter().map(|part| (part.partition, part.epoch)).collect();
                let sequences = head.partitions.iter().map(|part| (part.partition, part.last_sequence));
                return Ok(LogEnd {
                    parts: head.number,
                    bytes: parts.iter().map(|part| part.bytes).sum(),
                    taken_at_ms: head.taken_at_ms,
                    sequences: sequences.collect(),
                    epochs,
                    problem,
                });
            }
            Err(error @ BackupError::Damaged { .. }) => problem = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        parts.pop();
    }
    Ok(LogEnd { problem, ..LogEnd::default() })
}
