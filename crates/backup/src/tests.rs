//! Backups in a store that fails in ways in which a real one does when it is told to only by chance.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use scarce_engine_embedded::{self as embedded, EmbeddedSettings, SilentPort};
use tempfile::TempDir;

use crate::log::part_bytes_max;
use crate::store::{Folder, Store, StoreError, StoredObject};
use crate::{BackupError, CreateOptions, Manifest, Point, Vault, choose, create, remember, verify};

/// An object and what is put.
type Put = (String, Vec<u8>);

/// A folder that takes some objects without an answer, and has them later.
#[derive(Clone)]
struct Late {
    folder: Arc<Folder>,
    /// The objects of this folder get no answer.
    stalls: Arc<Mutex<Option<&'static str>>>,
    /// What is on its way.
    underway: Arc<Mutex<Vec<Put>>>,
    /// Whether what only one can put gets no answer, though it is there.
    loses_answer: Arc<Mutex<bool>>,
}

impl Late {
    fn stall(&self, folder: Option<&'static str>) {
        *self.stalls.lock().unwrap() = folder;
    }

    /// What was on its way gets there.
    fn arrive(&self) {
        for (name, bytes) in self.underway.lock().unwrap().drain(..) {
            self.folder.put(&name, &bytes).unwrap();
        }
    }
}

impl Store for Late {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        if self.stalls.lock().unwrap().is_none_or(|folder| !name.starts_with(folder)) {
            return self.folder.put(name, bytes);
        }
        self.underway.lock().unwrap().push((name.to_owned(), bytes.to_vec()));
        let place = self.locate(name);
        Err(StoreError::Unanswered { operation: "write", place, source: "no answer".into() })
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let is_put = self.folder.put_new(name, bytes)?;
        if *self.loses_answer.lock().unwrap() {
            let place = self.locate(name);
            return Err(StoreError::Unanswered { operation: "write", place, source: "no answer".into() });
        }
        Ok(is_put)
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.folder.settle()
    }

    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        self.folder.get(name, bytes_max)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        self.folder.list(folder)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.folder.remove(name)
    }

    fn locate(&self, name: &str) -> String {
        self.folder.locate(name)
    }
}

struct Stage {
    folder: TempDir,
    store: Late,
    vault: Vault,
}

impl Stage {
    /// An empty deployment, and an empty store.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recovered =
            embedded::open(&folder.path().join("data"), &EmbeddedSettings::default(), &mut |_| {}).unwrap();
        let (_engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).unwrap();
        running.shut_down().unwrap();
        let store = Arc::new(Folder::new(folder.path().join("store")));
        let (stalls, underway, loses_answer) = Default::default();
        let store = Late { folder: store, stalls, underway, loses_answer };
        let vault = Vault { store: Box::new(store.clone()), keys: crate::Keys::default() };
        Self { folder, store, vault }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn create(&self) -> Result<Manifest, BackupError> {
        let data = self.data();
        let options = CreateOptions { is_full: true, ..CreateOptions::of(&data) };
        create(&self.vault, options, &mut |_| {}).map(|(manifest, _)| manifest)
    }
}

#[test]
fn a_manifest_that_comes_later_finds_its_pieces() {
    let stage = Stage::new();
    stage.create().unwrap();
    stage.store.stall(Some("backups/"));
    assert!(matches!(stage.create(), Err(BackupError::Store(StoreError::Unanswered { .. }))));
    stage.store.stall(None);
    stage.store.arrive();
    let newest = choose(&stage.vault, &Point::Newest).unwrap().manifest;
    assert_eq!(newest.number, 2);
    assert!(verify(&stage.vault, &newest, &mut |_, _| {}).unwrap().damages.is_empty());
}

#[test]
fn a_store_whose_answer_was_lost_is_bound_all_the_same() {
    let stage = Stage::new();
    *stage.store.loses_answer.lock().unwrap() = true;
    stage.create().unwrap();
}

#[test]
fn a_named_backup_that_is_gone_is_named() {
    let stage = Stage::new();
    stage.create().unwrap();
    let gone = choose(&stage.vault, &Point::Backup("20200101T000000Z-00000000".to_owned())).unwrap_err();
    assert!(gone.to_string().starts_with("there is no backup 20200101T000000Z-00000000 at"), "{gone}");
}

#[test]
fn what_a_killed_backup_left_is_cleared_away_by_the_next_one() {
    let stage = Stage::new();
    let note = |id: &str, answered: &str| {
        stage.store.put(&format!("pending/{id}"), b"").unwrap();
        stage.store.put(&format!("data/{id}/x"), b"x").unwrap();
        let path = stage.data().join(format!("backup-attempt-{id}"));
        std::fs::write(&path, format!("{answered}{}\n", stage.store.locate(""))).unwrap();
        std::fs::File::open(path).unwrap()
    };
    let [dead, live, late] = ["dead", "live", "late"].map(|name| format!("20261122T100000Z-{name}"));
    drop(note(&dead, " "));
    let held = note(&live, " ");
    held.lock().unwrap();
    // Its manifest may yet come.
    drop(note(&late, "?"));
    let made = stage.create().unwrap().id;
    let names = |folder| stage.store.list(folder).unwrap().into_iter().map(|object| object.name);
    assert_eq!(names("pending/").collect::<Vec<_>>(), [&late, &live].map(|id| format!("pending/{id}")));
    assert_eq!(names("data/").filter(|name| !name.contains(&made)).count(), 2);
    drop(held);
    stage.create().unwrap();
    assert_eq!(names("pending/").collect::<Vec<_>>(), [format!("pending/{late}")]);
    let notes = std::fs::read_dir(stage.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let notes = notes.filter(|name| name.to_string_lossy().starts_with("backup-attempt-"));
    assert_eq!(notes.collect::<Vec<_>>(), [format!("backup-attempt-{late}").as_str()]);
}

#[test]
fn a_store_that_is_away_for_long_fills_the_data_directory_with_no_files() {
    let stage = Stage::new();
    stage.store.stall(Some("pending/"));
    (0..150).for_each(|_| assert!(stage.create().is_err()));
    assert!(std::fs::read_dir(stage.data()).unwrap().count() < 120);
}

#[test]
fn a_known_store_that_is_not_mounted_is_not_begun_anew() {
    let stage = Stage::new();
    let (store, away) = (stage.folder.path().join("store"), stage.folder.path().join("away"));
    stage.create().unwrap();
    remember(&stage.vault, &stage.data()).unwrap();
    std::fs::rename(&store, &away).unwrap();
    let Err(BackupError::StoreGone { known_in, .. }) = stage.create() else { panic!("it was made") };
    assert!(!store.exists());
    std::fs::rename(&away, &store).unwrap();
    stage.create().unwrap();
    // To begin anew takes a word of the operator.
    std::fs::remove_dir_all(&store).unwrap();
    std::fs::remove_file(known_in).unwrap();
    stage.create().unwrap();
}

#[test]
fn log_is_put_only_where_the_backup_is_that_it_follows() {
    let stage = Stage::new();
    let first = stage.create().unwrap().id;
    stage.store.put(&format!("log/{first}/0000000001-1"), b"x").unwrap();
    let other = "log/20261122T100000Z-0a1b2c3d/0000000001-1";
    assert!(matches!(stage.store.put(other, b"x"), Err(StoreError::Failed { .. })));
}

#[test]
fn a_part_is_read_however_much_each_partition_goes_beyond_its_share() {
    let stage = Stage::new();
    let mut manifest = stage.create().unwrap();
    let few = part_bytes_max(&manifest);
    manifest.partitions = vec![manifest.partitions[0].clone(); 16];
    let frames = 16 * scarce_engine_embedded::journal::PAYLOAD_BYTES_MAX;
    assert!(few >= 64 << 20 && part_bytes_max(&manifest) > (16 << 20) + frames);
}
