//! Removing old backups, and what no backup needs.
//!
//! A backup names all that it needs, also what others brought. So a piece may go when no manifest that stays names it
//! and its own backup is not being made any more. What begins meanwhile is safe: it builds on what it finds listed after
//! it has announced itself, and once something has announced itself no piece is removed.

use std::collections::BTreeSet;

use crate::catalog::{Listed, list, manifest_name};
use crate::store::Store;
use crate::{BackupError, Vault};

const PENDING: &str = "pending/";
const MANIFESTS: &str = "backups/";
const DATA: &str = "data/";

/// Which backups stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// So many of the newest.
    pub newest: usize,
    /// Those that were begun at this time or later, in Unix milliseconds.
    pub since_ms: u64,
    /// Announcements of backups older than this are of processes that were killed.
    pub abandoned_before_ms: u64,
    /// Whether nothing is removed.
    pub is_dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Backups that stay.
    pub kept: Vec<String>,
    /// Backups that were removed.
    pub removed: Vec<String>,
    /// Objects that no backup needs.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Backups that are being made, because of which no object was removed that may be theirs.
    pub pending: Vec<String>,
}

pub(crate) fn pending_name(id: &str) -> String {
    format!("{PENDING}{id}")
}

pub(crate) fn remove_all(store: &dyn Store, folder: &str) -> Result<(), BackupError> {
    for object in store.list(folder)? {
        store.remove(&object.name)?;
    }
    Ok(store.settle()?)
}

/// Removes backups that are not to be kept, then what no backup needs. At least the newest stays.
///
/// # Errors
/// When the store fails, or a manifest cannot be read and checked: what it needs is not known then, and nothing is removed.
pub fn prune(vault: &Vault, keep: &Keep) -> Result<Pruned, BackupError> {
    let store = &*vault.store;
    let pending = pending(store, keep.abandoned_before_ms)?;
    if !keep.is_dry_run {
        // Before the manifests are listed: one that is written later finds that its announcement is gone, and gives up.
        remove_abandoned(store, &pending)?;
    }
    let mut pruned = Pruned { pending: pending.iter().cloned().collect(), ..Pruned::default() };
    let listed = list(vault)?;
    let mut needed = BTreeSet::new();
    let count = listed.len();
    for (at, Listed { id, manifest, .. }) in listed.into_iter().enumerate() {
        let manifest = manifest?;
        // Without its key, nothing says that the manifest names all that it needs.
        vault.key_of(&manifest)?;
        if at + keep.newest.max(1) >= count || manifest.begun_at_ms >= keep.since_ms {
            needed.extend(manifest.pieces().into_keys());
            pruned.kept.push(id);
        } else {
            pruned.removed.push(id);
        }
    }
    if !keep.is_dry_run {
        for id in &pruned.removed {
            store.remove(&manifest_name(id))?;
        }
        // No piece goes before the manifests that name it are gone for good.
        store.settle()?;
    }
    let began = self::pending(store, keep.abandoned_before_ms)?;
    if began.iter().any(|id| !pending.contains(id)) {
        pruned.pending = began.into_iter().collect();
        return Ok(pruned);
    }
    for object in store.list(DATA)? {
        let backup = object.name[DATA.len()..].split('/').next().unwrap_or_default();
        if needed.contains(&object.name) || pending.contains(backup) {
            continue;
        }
        (pruned.objects, pruned.bytes) = (pruned.objects + 1, pruned.bytes + object.bytes);
        if !keep.is_dry_run {
            store.remove(&object.name)?;
        }
    }
    store.settle()?;
    Ok(pruned)
}

/// The backups that are being made.
fn pending(store: &dyn Store, abandoned_before_ms: u64) -> Result<BTreeSet<String>, BackupError> {
    let names = store.list(PENDING)?.into_iter();
    let ids = names.filter_map(|object| object.name.strip_prefix(PENDING).map(str::to_owned));
    Ok(ids.filter(|id| begun_at_ms(id).is_none_or(|at| at >= abandoned_before_ms)).collect())
}

/// Announcements whose backups were never finished, and manifests that were never whole.
fn remove_abandoned(store: &dyn Store, pending: &BTreeSet<String>) -> Result<(), BackupError> {
    for object in store.list(PENDING)?.into_iter().chain(store.list(MANIFESTS)?) {
        let name = object.name.rsplit('/').next().unwrap_or_default();
        let is_abandoned = match object.name.strip_prefix(PENDING) {
            Some(id) => !pending.contains(id),
            None => is_unfinished(name) && !pending.iter().any(|id| name.contains(id)),
        };
        if is_abandoned {
            store.remove(&object.name)?;
        }
    }
    Ok(store.settle()?)
}

/// Whether a file was never given its name.
fn is_unfinished(name: &str) -> bool {
    name.starts_with('.')
}

/// When a backup was begun, by its name.
fn begun_at_ms(id: &str) -> Option<u64> {
    let id = id.trim_start_matches(|digit: char| !digit.is_ascii_digit());
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", id.split('-').next()?).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    u64::try_from(at.timestamp().as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_backup_tells_when_it_was_begun() {
        assert_eq!(begun_at_ms("20261122T100000Z-0a1b2c3d"), Some(1_795_341_600_000));
        assert_eq!(begun_at_ms(".unfinished-20261122T100000Z-0a1b2c3d"), Some(1_795_341_600_000));
        assert_eq!(begun_at_ms("nonsense"), None);
    }
}
