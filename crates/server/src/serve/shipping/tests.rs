//! A store that does not answer: a call that hangs is held by a lock here, as by a kernel whose file server is away.

use std::sync::Condvar;
use std::time::Instant;

use scarce_backup::store::{Folder, StoreError, StoredObject};
use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Envelope};
use scarce_engine::{Engine, Log, Request};
use scarce_engine_embedded::{self as embedded, EmbeddedSettings, Running, SilentPort};
use tempfile::TempDir;

use super::*;

/// A folder of which the objects below one of its folders are put only while the gate is open.
#[derive(Clone)]
struct Gated {
    folder: Arc<Folder>,
    hangs: &'static str,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Gated {
    fn open(&self, is_open: bool) {
        *lock(&self.gate.0) = is_open;
        self.gate.1.notify_all();
    }

    fn pass(&self, name: &str) {
        if name.starts_with(self.hangs) {
            drop(self.gate.1.wait_while(lock(&self.gate.0), |is_open| !*is_open));
        }
    }
}

impl Store for Gated {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.pass(name);
        self.folder.put(name, bytes)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        self.folder.put_new(name, bytes)
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

const SEGMENT_BYTES: u64 = 256 << 10;
const LOG_BYTES_MAX: u64 = 1 << 20;

struct Stage {
    folder: TempDir,
    engine: Arc<Embedded>,
    running: Running,
    store: Gated,
    status: Arc<BackupStatus>,
    shipping: Shipping,
}

impl Stage {
    /// Ships to a store that hangs where something is put below a folder, once the gate is closed.
    fn start(hangs: &'static str, is_open: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let settings = EmbeddedSettings {
            segment_bytes: SEGMENT_BYTES,
            snapshot_bytes: SEGMENT_BYTES,
            ..EmbeddedSettings::default()
        };
        let recovered = embedded::open(&data, &settings, &mut |_| {}).unwrap();
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).unwrap();
        let store = Arc::new(Folder::new(folder.path().join("store")));
        let store = Gated { folder: store, hangs, gate: Arc::default() };
        store.open(is_open);
        let status = Arc::new(BackupStatus::new("store".to_owned()));
        let plan = Plan {
            data,
            interval: Duration::from_millis(20),
            full_every_ms: 1 << 40,
            log_bytes_max: LOG_BYTES_MAX,
            answer_max: Duration::from_millis(300),
            check_interval: Duration::from_millis(50),
            end_timeout: Duration::from_millis(500),
        };
        let stores: [Arc<dyn Store>; 2] = [Arc::new(store.clone()), Arc::new(store.clone())];
        let shipping =
            Shipping::begin(plan, engine.clone(), status.clone(), stores, Default::default()).unwrap();
        let stage = Self { folder, engine, running, store, status, shipping };
        stage.ask("ACCOUNT.OPEN a EUR");
        stage
    }

    fn ask(&self, line: &str) {
        assert!(self.engine.call(0, vec![request(line)]).remove(0).is_ok());
    }

    fn log_some(&self) {
        let credits = vec![request("ACCOUNT.CREDIT a 1"); 500];
        assert!(self.engine.call(0, credits).iter().all(Result::is_ok));
    }

    fn disk_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.folder.path().join("data/partition-0000")).unwrap();
        entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
    }

    fn has_everything(&self) -> bool {
        let levels = self.status.levels();
        levels.begun_at_ms > 0
            && levels.trouble.is_none()
            && levels.lag_events(0, self.engine.durable_through(0).unwrap()) == 0
    }

    /// Logs much more than may wait; the disk takes no more than the bound and what the engine needs for itself.
    fn log_beyond_the_bound(&self) {
        let begun = self.engine.metrics(0).unwrap().log_bytes.get();
        let written = || self.engine.metrics(0).unwrap().log_bytes.get() - begun;
        until("the bound is passed", || {
            self.log_some();
            written() > 3 * LOG_BYTES_MAX
        });
        until("what the store never took is not on disk any more", || {
            self.log_some();
            self.disk_bytes() < LOG_BYTES_MAX + 6 * SEGMENT_BYTES
        });
    }

    fn end(self) -> Duration {
        let begun = Instant::now();
        self.running.shut_down().unwrap();
        self.shipping.end();
        begun.elapsed()
    }
}

fn request(line: &str) -> Request {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = find(words[0]).unwrap();
    let (command, common) = Command::parse(spec, &words[1..]).unwrap();
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).unwrap())
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn a_store_that_hangs_keeps_neither_the_bound_nor_the_end() {
    let stage = Stage::start("log/", true);
    until("all is shipped", || stage.has_everything());
    stage.store.open(false);
    stage.log_beyond_the_bound();
    assert!(stage.status.levels().overruns > 0);
    until("it is reported", || stage.status.levels().trouble.is_some());
    stage.store.open(true);
    until("the store has everything again", || stage.has_everything());
    stage.store.open(false);
    stage.log_some();
    let store = stage.store.clone();
    assert!(stage.end() < Duration::from_secs(5));
    store.open(true);
}

#[test]
fn a_store_that_hangs_in_the_middle_of_a_backup_gives_the_files_back() {
    let stage = Stage::start("data/", false);
    until("it is reported", || stage.status.levels().trouble.is_some());
    stage.log_beyond_the_bound();
    stage.store.open(true);
    until("the store has everything", || stage.has_everything());
    let store = stage.store.clone();
    stage.end();
    store.open(true);
}

#[test]
fn a_store_that_is_not_mounted_is_not_made_anew_and_goes_on_once_it_is_back() {
    let stage = Stage::start("log/", true);
    until("all is shipped", || stage.has_everything());
    let (store, away) = (stage.folder.path().join("store"), stage.folder.path().join("away"));
    std::fs::rename(&store, &away).unwrap();
    let is_told =
        || stage.status.levels().trouble.is_some_and(|(reason, _)| reason.contains("not there any more"));
    until("it is reported", || {
        stage.log_some();
        is_told()
    });
    assert!(!store.exists());
    let known = std::fs::read_to_string(stage.folder.path().join("data/backup-stores")).unwrap();
    assert_eq!(known.trim_end(), store.join("").display().to_string(), "also after a restart");
    std::fs::rename(&away, &store).unwrap();
    until("the store has everything again", || stage.has_everything());
    assert_eq!(
        std::fs::read_dir(store.join("backups")).unwrap().count(),
        1,
        "the log goes on behind the same backup"
    );
    stage.end();
}

#[test]
fn a_part_that_the_store_has_lost_leads_to_another_backup() {
    let stage = Stage::start("log/", true);
    until("all is shipped", || stage.has_everything());
    let backups = || std::fs::read_dir(stage.folder.path().join("store/backups")).unwrap().count();
    stage.log_some();
    until("all is shipped", || stage.has_everything());
    let log =
        std::fs::read_dir(stage.folder.path().join("store/log")).unwrap().next().unwrap().unwrap().path();
    let first = std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    std::fs::remove_file(first).unwrap();
    until("another one is made", || backups() == 2 && stage.has_everything());
    stage.end();
}

#[test]
fn a_piece_that_the_store_has_lost_leads_to_another_backup() {
    let stage = Stage::start("log/", true);
    until("all is shipped", || stage.has_everything());
    let store = stage.folder.path().join("store");
    let backups = || std::fs::read_dir(store.join("backups")).unwrap().count();
    let folder = std::fs::read_dir(store.join("data")).unwrap().next().unwrap().unwrap().path();
    let piece = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(piece).unwrap();
    until("another one is made", || backups() == 2 && stage.has_everything());
    let vault = Vault { store: Box::new(stage.store.clone()), keys: Keys::default() };
    let newest = scarce_backup::choose(&vault, &scarce_backup::Point::Newest).unwrap();
    assert!(newest.passed_over.len() == 1, "{newest:?}");
    stage.end();
}

/// A store whose client panics where something is put, as one may that takes its settings for right.
struct Panicking(Folder);

impl Store for Panicking {
    fn put(&self, name: &str, _bytes: &[u8]) -> Result<(), StoreError> {
        panic!("no {name}")
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        self.0.put_new(name, bytes)
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.0.settle()
    }

    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        self.0.get(name, bytes_max)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        self.0.list(folder)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.0.remove(name)
    }

    fn locate(&self, name: &str) -> String {
        self.0.locate(name)
    }
}

#[test]
fn a_client_that_panics_fails_one_call_and_not_those_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Panicking(Folder::new(folder.path().to_owned())));
    let (called, _calls) = CalledStore::start(store, "panics").unwrap();
    for _ in 0..2 {
        let failed = explain(&called.put("x", b"").unwrap_err());
        assert!(failed.contains("the store's client failed: no x"), "{failed}");
    }
    assert_eq!(called.list("").unwrap(), []);
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(&'static str, #[source] Option<Box<Said>>);

#[test]
fn a_reason_is_one_line_and_says_nothing_twice() {
    let inner = Said("Error in 558.8ms - <Error>\n  <Code>AccessDenied</Code>\n</Error>", None);
    let middle = Said(
        "client: Error in 558.8ms - <Error>\n  <Code>AccessDenied</Code>\n</Error>",
        Some(Box::new(inner)),
    );
    let text = explain(&Said("cannot write x", Some(Box::new(middle))));
    let wanted =
        "cannot write x; because client: Error in 558.8ms - <Error> <Code>AccessDenied</Code> </Error>";
    assert_eq!(text, wanted);
    assert!(is_same_reason(wanted, &wanted.replace("558.8ms", "1.2s")));
    assert!(!is_same_reason(wanted, &wanted.replace("AccessDenied", "SlowDown")));
}
