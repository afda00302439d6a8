//! The store fails for good, or the process ends, at every call.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scarce_backup::store::{Folder, Store, StoreError, StoredObject};
use scarce_backup::{BackupError, CreateOptions, Keep, Keys, Vault};

use super::{Stage, credit, ended, open_account};

/// A folder that answers so many calls and then no more, as for a process that was killed.
struct Dying {
    folder: Folder,
    calls_left: Arc<AtomicUsize>,
}

impl Dying {
    fn live(&self, name: &str) -> Result<(), StoreError> {
        let left =
            self.calls_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
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
    Vault { store: Box::new(Dying { folder, calls_left: Arc::new(calls.into()) }), keys: Keys::default() }
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

#[test]
fn pruning_removes_nothing_of_a_backup_that_is_being_made() {
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
    assert_eq!((pruned.pending, pruned.objects), (vec![mine.to_owned()], 1));
    assert_eq!(store.list(&format!("data/{mine}/")).unwrap().len(), 1);
    assert_eq!(check_all(&stage), [first]);
}
