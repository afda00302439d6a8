//! The store fails for good, the process ends, or another one comes between, at every call.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scarce_backup::store::{Folder, Store, StoreError, StoredObject};
use scarce_backup::{BackupError, CreateOptions, Keep, Keys, Vault};

use super::{Stage, credit, ended, open_account};

/// What happens at a call, if it is not to fail.
type Between = Box<dyn Fn() + Send + Sync>;

/// A folder that answers so many calls and then no more, as for a process that was killed; or that has something else
/// done before the next call.
struct Dying {
    folder: Folder,
    calls_left: Arc<AtomicUsize>,
    between: Option<Between>,
}

impl Dying {
    fn live(&self, name: &str) -> Result<(), StoreError> {
        let left =
            self.calls_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if let Some(between) = &self.between {
            if left == Ok(1) {
                between();
            }
            return Ok(());
        }
        left.map(drop).map_err(|_| StoreError::Failed {
            operation: "reach",
            place: self.folder.locate(name),
            source: "the store is gone".into(),
        })
    }
}

impl Store for Dying {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.live(name)?;
        self.folder.put(name, bytes)
    }
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        self.live(name)?;
        self.folder.put_new(name, bytes)
    }
    fn settle(&self) -> Result<(), StoreError> {
        self.live("")?;
        self.folder.settle()
    }
    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        self.live(name)?;
        self.folder.get(name, bytes_max)
    }
    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        self.live(folder)?;
        self.folder.list(folder)
    }
    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.live(name)?;
        self.folder.remove(name)
    }
    fn locate(&self, name: &str) -> String {
        self.folder.locate(name)
    }
}

fn vault(stage: &Stage, calls: usize) -> Vault {
    let folder = Folder::new(stage.store.clone());
    let dying = Dying { folder, calls_left: Arc::new(calls.into()), between: None };
    Vault { store: Box::new(dying), keys: Keys::default() }
}

/// A store that has something else done before a call; and how many calls are left until then.
fn interrupted(stage: &Stage, call: usize, between: Between) -> (Vault, Arc<AtomicUsize>) {
    let (folder, calls_left) = (Folder::new(stage.store.clone()), Arc::new(AtomicUsize::new(call)));
    let dying = Dying { folder, calls_left: Arc::clone(&calls_left), between: Some(between) };
    (Vault { store: Box::new(dying), keys: Keys::default() }, calls_left)
}

fn create(stage: &Stage, calls: usize, is_full: bool) -> Result<String, BackupError> {
    create_in(&vault(stage, calls), &stage.data, is_full)
}

fn create_in(vault: &Vault, data: &Path, is_full: bool) -> Result<String, BackupError> {
    let options = CreateOptions { is_full, ..CreateOptions::of(data) };
    scarce_backup::create(vault, options, &mut |_| {}).map(|(manifest, _)| manifest.id)
}

/// Every backup that is listed is whole; gives their names.
fn check_all(stage: &Stage) -> Vec<String> {
    let vault = vault(stage, usize::MAX);
    let listed = scarce_backup::list(&vault).unwrap();
    let check = |listed: scarce_backup::Listed| {
        let manifest = listed.manifest.unwrap();
        let verified = scarce_backup::verify(&vault, &manifest, &mut |_, _| {}).unwrap();
        assert!(verified.damages.is_empty(), "{:?}", verified.damages);
        listed.id
    };
    listed.into_iter().map(check).collect()
}

const EVERYTHING_IS_ABANDONED: Keep =
    Keep { newest: 2, since_ms: u64::MAX, abandoned_before_ms: u64::MAX, is_dry_run: false };

fn stage() -> Stage {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 10_000);
    drop(client);
    server.stop();
    stage
}

#[test]
fn a_backup_that_ends_at_any_call_leaves_none_and_harms_none() {
    let stage = stage();
    let first = create(&stage, usize::MAX, false).unwrap();
    let mut calls = 0;
    let second = loop {
        match create(&stage, calls, true) {
            Ok(id) => break id,
            Err(error) => assert!(matches!(error, BackupError::Store(_)), "{error:?}"),
        }
        let listed = check_all(&stage);
        assert!(listed.contains(&first), "after {calls} calls");
        // Once the manifest is there, all of it is; that the process learns nothing of it changes nothing.
        assert!(listed.len() <= 2, "after {calls} calls: {listed:?}");
        for id in listed.iter().filter(|id| **id != first) {
            std::fs::remove_file(stage.store.join(format!("backups/{id}.manifest"))).unwrap();
        }
        calls += 1;
    };
    assert!(calls > 10, "it was killed at every call: {calls}");
    assert_eq!(check_all(&stage), [first, second]);
    let before = stage.objects().len();
    scarce_backup::prune(&vault(&stage, usize::MAX), &EVERYTHING_IS_ABANDONED).unwrap();
    assert!(stage.objects().len() < before, "what was left of the others is gone");
    assert_eq!(std::fs::read_dir(stage.store.join("pending")).map_or(0, Iterator::count), 0);
    assert_eq!(check_all(&stage).len(), 2);
    ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
}

#[test]
fn pruning_that_ends_at_any_call_leaves_every_listed_backup_whole() {
    let stage = stage();
    let mut calls = 0;
    loop {
        while check_all(&stage).len() < 4 {
            let is_full = check_all(&stage).len().is_multiple_of(2);
            create(&stage, usize::MAX, is_full).unwrap();
        }
        let pruned = scarce_backup::prune(&vault(&stage, calls), &EVERYTHING_IS_ABANDONED);
        assert!(check_all(&stage).len() >= 2, "after {calls} calls");
        if pruned.is_ok() {
            break;
        }
        calls += 1;
    }
    assert!(calls > 10, "it was killed at every call: {calls}");
    assert_eq!(check_all(&stage).len(), 2);
}

/// Another process makes a full backup if that is said, and removes all but the newest.
fn pruning_beside(stage: &Stage, makes_full: bool) -> Between {
    let (data, store) = (stage.data.clone(), stage.store.clone());
    Box::new(move || {
        let vault = Vault { store: Box::new(Folder::new(store.clone())), keys: Keys::default() };
        if makes_full {
            create_in(&vault, &data, true).unwrap();
        }
        let keep = Keep { newest: 1, abandoned_before_ms: 0, ..EVERYTHING_IS_ABANDONED };
        scarce_backup::prune(&vault, &keep).unwrap();
    })
}

#[test]
fn what_a_backup_in_the_making_builds_on_stays_whenever_another_process_prunes() {
    let stage = stage();
    for call in 1.. {
        create(&stage, usize::MAX, true).unwrap();
        let (vault, calls_left) = interrupted(&stage, call, pruning_beside(&stage, true));
        create_in(&vault, &stage.data, false).unwrap();
        assert!(!check_all(&stage).is_empty(), "call {call}");
        if calls_left.load(Ordering::SeqCst) > 0 {
            assert!(call > 10, "it was pruned at every call: {call}");
            break;
        }
    }
    pruning_beside(&stage, false)();
    assert_eq!(check_all(&stage).len(), 1);
    ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
}

#[test]
fn what_a_backup_builds_on_stays_whenever_it_is_made_while_another_process_prunes() {
    let stage = stage();
    for call in 1.. {
        create(&stage, usize::MAX, true).unwrap();
        // The newest but one is removed, and the newest refers to it.
        create(&stage, usize::MAX, false).unwrap();
        let (data, store) = (stage.data.clone(), stage.store.clone());
        let making = move || {
            let vault = Vault { store: Box::new(Folder::new(store.clone())), keys: Keys::default() };
            // One that builds on what is there, and one that brings everything itself.
            create_in(&vault, &data, false).unwrap();
            create_in(&vault, &data, true).unwrap();
        };
        let (vault, calls_left) = interrupted(&stage, call, Box::new(making));
        let keep = Keep { newest: 1, abandoned_before_ms: 0, ..EVERYTHING_IS_ABANDONED };
        scarce_backup::prune(&vault, &keep).unwrap();
        assert!(!check_all(&stage).is_empty(), "call {call}");
        if calls_left.load(Ordering::SeqCst) > 0 {
            assert!(call > 5, "one was made at every call: {call}");
            break;
        }
    }
    ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
}

#[test]
fn a_backup_that_begins_while_another_process_prunes_stays_announced() {
    let stage = stage();
    create(&stage, usize::MAX, true).unwrap();
    let announced = stage.store.join("pending/20990101T000000Z-00000000");
    let keep = Keep { newest: 1, abandoned_before_ms: 4_000_000_000_000, ..EVERYTHING_IS_ABANDONED };
    for call in 1.. {
        let path = announced.clone();
        let announce = move || std::fs::write(&path, "").unwrap();
        let (vault, calls_left) = interrupted(&stage, call, Box::new(announce));
        scarce_backup::prune(&vault, &keep).unwrap();
        if calls_left.load(Ordering::SeqCst) > 0 {
            assert!(call > 5, "one was announced at every call: {call}");
            break;
        }
        assert!(std::fs::remove_file(&announced).is_ok(), "call {call}");
    }
}

#[test]
fn pruning_removes_nothing_while_a_backup_is_being_made() {
    let stage = stage();
    let first = create(&stage, usize::MAX, false).unwrap();
    // Another process has announced itself, and put a piece.
    let store = Folder::new(stage.store.clone());
    let mine = "20990101T000000Z-00000000";
    store.put(&format!("pending/{mine}"), b"").unwrap();
    store.put(&format!("data/{mine}/piece"), b"piece").unwrap();
    store.put("data/20200101T000000Z-00000000/piece", b"piece").unwrap();
    let keep = Keep { abandoned_before_ms: 4_000_000_000_000, ..EVERYTHING_IS_ABANDONED };
    let pruned = scarce_backup::prune(&vault(&stage, usize::MAX), &keep).unwrap();
    assert_eq!((pruned.pending, pruned.objects), (vec![mine.to_owned()], 0));
    assert_eq!(store.list(&format!("data/{mine}/")).unwrap().len(), 1);
    store.remove(&format!("pending/{mine}")).unwrap();
    assert_eq!(scarce_backup::prune(&vault(&stage, usize::MAX), &keep).unwrap().objects, 2);
    assert_eq!(check_all(&stage), [first]);
}

#[test]
fn two_deployments_that_begin_at_once_never_share_a_store() {
    let (one, other) = (super::refusals::small(), super::refusals::small());
    for call in 1.. {
        let store = tempfile::tempdir().unwrap();
        let stage = Stage {
            store: store.path().to_owned(),
            folder: tempfile::tempdir().unwrap(),
            data: one.data.clone(),
        };
        let (data, path) = (other.data.clone(), stage.store.clone());
        let theirs = move || {
            let vault = Vault { store: Box::new(Folder::new(path.clone())), keys: Keys::default() };
            let _ = create_in(&vault, &data, true);
        };
        let (vault, calls_left) = interrupted(&stage, call, Box::new(theirs));
        let mine = create_in(&vault, &stage.data, true);
        let listed = scarce_backup::list(&vault).unwrap();
        let of: std::collections::BTreeSet<_> =
            listed.into_iter().map(|listed| listed.manifest.unwrap().deployment).collect();
        assert_eq!(of.len(), 1, "call {call}: {mine:?}");
        if calls_left.load(Ordering::SeqCst) > 0 {
            assert!(call > 8, "the other came at every call: {call}");
            break;
        }
    }
}
