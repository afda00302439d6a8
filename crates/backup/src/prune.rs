//! Removing old backups, and what no backup needs.
//!
//! A backup names all that it needs, also what others brought. So a piece may go when no manifest that stays names it,
//! and none that is yet to be written will. A backup builds on what it finds listed after it has announced itself. So
//! while one is announced, or has become complete meanwhile, no piece is removed. What announces itself later does not
//! find the manifests that were removed before, and its pieces are not among those that were listed before.

use std::collections::BTreeSet;

use crate::catalog::{Listed, MANIFESTS, begun_at_ms, list, manifest_name};
use crate::history::{History, Shelved, histories};
use crate::log::{LOG, LogEnd, log_end};
use crate::store::{Store, StoredObject};
use crate::there::Pieces;
use crate::{BackupError, Vault};

const PENDING: &str = "pending/";
pub(crate) const DATA: &str = "data/";

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
    /// Backups that are being made or were made meanwhile. Because they may need what others brought, no object was
    /// removed.
    pub pending: Vec<String>,
    /// Backups that stay because each is the newest of another history than that of the newest.
    pub other_histories: Vec<String>,
    /// Backups that stay and cannot be restored, with what the store lacks of them. They count as none of the newest.
    pub lacking: Vec<(String, String)>,
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

/// Removes backups that are not to be kept, with the log that follows them, then what no backup needs. Of each
/// history at least the newest of which nothing is missing stays, all later ones, and the one that its newest log follows.
///
/// # Errors
/// When the store fails, or a manifest cannot be read and checked: what it needs is not known then, and nothing is removed.
pub fn prune(vault: &Vault, keep: &Keep) -> Result<Pruned, BackupError> {
    let store = &*vault.store;
    if !keep.is_dry_run {
        // Before the manifests are listed: one that is written later finds that its announcement is gone, and gives up.
        remove_abandoned(store, keep.abandoned_before_ms)?;
    }
    let mut pruned = Pruned::default();
    let (needed, objects) = choose(vault, keep, &mut pruned)?;
    if !keep.is_dry_run {
        for id in &pruned.removed {
            store.remove(&manifest_name(id))?;
        }
        // No piece goes before the manifests that name it are gone for good.
        store.settle()?;
    }
    // Before it is asked what is being made, as the pieces: what is put later is not among them.
    let logs = store.list(LOG)?;
    let empty = [store.empty_folders(DATA)?, store.empty_folders(LOG)?].concat();
    pruned.pending = made_meanwhile(vault, keep, &pruned)?;
    if pruned.pending.is_empty() {
        // What lies where folders of backups are is not ours, such as a link to one that was moved elsewhere.
        let is_piece = |name: &str| name[DATA.len()..].contains('/');
        let unneeded =
            objects.into_iter().filter(|object| is_piece(&object.name) && !needed.contains(&object.name));
        let is_kept = |name: &str| {
            let backup = name[LOG.len()..].split('/').next();
            pruned.kept.iter().any(|kept| Some(&**kept) == backup)
        };
        let is_part = |name: &str| name[LOG.len()..].contains('/');
        let logs = logs.into_iter().filter(|object| is_part(&object.name) && !is_kept(&object.name));
        let logs: Vec<_> = logs.collect();
        let unneeded = unneeded.chain(logs);
        remove_objects(store, unneeded, keep.is_dry_run, &mut pruned)?;
        empty.iter().filter(|_| !keep.is_dry_run).try_for_each(|folder| store.remove(folder))?;
    }
    Ok(pruned)
}

/// Decides which backups stay. Gives the names of the pieces that they need, and all pieces that there are.
fn choose(
    vault: &Vault,
    keep: &Keep,
    pruned: &mut Pruned,
) -> Result<(BTreeSet<String>, Vec<StoredObject>), BackupError> {
    let mut shelf = Vec::new();
    let listed = list(vault)?;
    let objects = vault.store.list(DATA)?;
    let pieces = Pieces::of(&objects);
    for Listed { manifest, .. } in listed {
        let manifest = manifest?;
        // Without its key, nothing says that the manifest names all that it needs.
        vault.key_of(&manifest)?;
        let log = log_end(vault, &manifest)?;
        let lacks = pieces.lacking(vault, &manifest);
        shelf.push(Shelved { manifest, log, lacks });
    }
    let histories = histories(&shelf);
    let mut kept = BTreeSet::new();
    for (at, history) in histories.iter().rev().enumerate() {
        let newest = if at == 0 { keep.newest.max(1) } else { 1 };
        kept.extend(newest_of(history, newest, &shelf));
        kept.extend(followed(history, &shelf));
        let others = history.backups.last().filter(|_| at > 0);
        pruned.other_histories.extend(others.map(|index| shelf[*index].manifest.id.clone()));
    }
    let mut needed = BTreeSet::new();
    for (index, Shelved { manifest, lacks, .. }) in shelf.into_iter().enumerate() {
        if kept.contains(&index) || manifest.begun_at_ms >= keep.since_ms {
            needed.extend(manifest.pieces().into_keys());
            pruned.lacking.extend(lacks.map(|lacks| (manifest.id.clone(), lacks)));
            pruned.kept.push(manifest.id);
        } else {
            pruned.removed.push(manifest.id);
        }
    }
    Ok((needed, objects))
}

/// So many of the newest backups of a history that can be restored, and those between them that cannot.
fn newest_of(history: &History, newest: usize, shelf: &[Shelved]) -> Vec<usize> {
    let mut whole = 0;
    let is_wanted = |index: &usize| {
        let may_stay = whole < newest;
        whole += usize::from(shelf[*index].lacks.is_none());
        may_stay
    };
    history.backups.iter().rev().copied().take_while(is_wanted).collect()
}

/// The backup of a history that its newest log follows: a server may be shipping it.
fn followed(history: &History, shelf: &[Shelved]) -> Option<usize> {
    let has_log = |index: &&usize| {
        let LogEnd { parts, problem, .. } = &shelf[**index].log;
        *parts > 0 || problem.is_some()
    };
    history.backups.iter().rev().find(has_log).copied()
}

/// Backups that may build on what was removed: those that are announced, and those that have become complete since the
/// manifests were listed. Announcements are looked at first, because they go after the manifest is there.
fn made_meanwhile(vault: &Vault, keep: &Keep, pruned: &Pruned) -> Result<Vec<String>, BackupError> {
    let mut made = pending(&*vault.store, keep.abandoned_before_ms)?;
    let known = |id: &String| pruned.kept.contains(id) || pruned.removed.contains(id);
    made.extend(list(vault)?.into_iter().map(|listed| listed.id).filter(|id| !known(id)));
    Ok(made.into_iter().collect())
}

fn remove_objects(
    store: &dyn Store,
    objects: impl Iterator<Item = StoredObject>,
    is_dry_run: bool,
    pruned: &mut Pruned,
) -> Result<(), BackupError> {
    for object in objects {
        (pruned.objects, pruned.bytes) = (pruned.objects + 1, pruned.bytes + object.bytes);
        if !is_dry_run {
            store.remove(&object.name)?;
        }
    }
    Ok(store.settle()?)
}

/// The backups that are being made.
fn pending(store: &dyn Store, abandoned_before_ms: u64) -> Result<BTreeSet<String>, BackupError> {
    let names = store.list(PENDING)?.into_iter();
    let ids = names.filter_map(|object| object.name.strip_prefix(PENDING).map(str::to_owned));
    Ok(ids.filter(|id| !is_abandoned(id, abandoned_before_ms)).collect())
}

/// Whether a backup with this name was begun so long ago that its process must have been killed.
fn is_abandoned(id: &str, abandoned_before_ms: u64) -> bool {
    begun_at_ms(id).is_some_and(|at| at < abandoned_before_ms)
}

/// Announcements whose backups were never finished, and manifests that were never whole.
fn remove_abandoned(store: &dyn Store, abandoned_before_ms: u64) -> Result<(), BackupError> {
    for object in store.list(PENDING)?.into_iter().chain(store.list(MANIFESTS)?) {
        let name = object.name.rsplit('/').next().unwrap_or_default();
        let may_go = object.name.starts_with(PENDING) || is_unfinished(name);
        if may_go && is_abandoned(name, abandoned_before_ms) {
            store.remove(&object.name)?;
        }
    }
    Ok(store.settle()?)
}

/// Whether a file was never given its name.
fn is_unfinished(name: &str) -> bool {
    name.starts_with('.')
}
