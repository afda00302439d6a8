//! Manifests of backups and parts of shipped logs. Each input gets the right checksum, as anyone who can write to an
//! unencrypted store can give it one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use scarce_backup::store::{Store, StoreError, StoredObject};
use scarce_backup::{BackupStorage, Keys, Manifest, Point, Vault, choose, log_end, read_log, verify};
use scarce_engine_embedded::storage::Storage;
use sha2::{Digest, Sha256};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "backup",
    about: "manifests of backups and parts of shipped logs: what is made up is refused or read, and leads nowhere else",
    examples,
    check,
    weight: 100,
};

const MANIFEST_NAME: &str = "backups/20261122T100000Z-0a1b2c3d.manifest";
const PART_NAME: &str = "log/20261122T100000Z-0a1b2c3d/0000000001-1795341600000";

const MANIFEST: &str = r#"{"format":"scarce-backup","version":1,"id":"20261122T100000Z-0a1b2c3d","release":"0.1.0","deployment":"07","begun_at_ms":1795341600000,"ended_at_ms":1795341600001,"builds_on":null,"key":null,"files":[],"partitions":[{"partition":0,"epoch":7,"first_sequence":1,"last_sequence":3,"last_at_ms":9,"looked_at_ms":10,"is_cut":false,"snapshots":[2],"files":[{"name":"journal-00000001-0000000000000001.seg","length":8192,"pieces":[{"hash":"ab","bytes":4096,"of":"20261122T100000Z-0a1b2c3d"}]}]},{"partition":1,"epoch":7,"first_sequence":1,"last_sequence":0,"last_at_ms":0,"looked_at_ms":10,"is_cut":true,"snapshots":[],"files":[]}]}"#;

/// The content of the example's part: nothing, or bytes that are all alike.
const PART: &str = r#"{"format":"scarce-backup-log","version":1,"backup":"20261122T100000Z-0a1b2c3d","number":1,"taken_at_ms":1795341600000,"key":null,"hash":"HASH","partitions":[{"partition":0,"last_sequence":4,"files":[{"name":"journal-00000001-0000000000000001.seg","length":8192,"offset":4096,"bytes":64}]}]}"#;

const CONTENT: [u8; 64] = [7; 64];

fn examples() -> Vec<Vec<u8>> {
    vec![MANIFEST.as_bytes().to_vec(), PART.replace("HASH", &sha256(&CONTENT)).into_bytes()]
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line with its checksum.
fn sealed(line: &[u8]) -> Vec<u8> {
    [line, format!("\nsha256 {}\n", sha256(line)).as_bytes()].concat()
}

fn check(bytes: &[u8]) {
    if bytes.contains(&b'\n') {
        return;
    }
    read_all([(MANIFEST_NAME, sealed(bytes))]);
    let part = [sealed(bytes), CONTENT.to_vec()].concat();
    read_all([(MANIFEST_NAME, sealed(MANIFEST.as_bytes())), (PART_NAME, part)]);
}

/// Reads all that the objects say there is.
fn read_all<const COUNT: usize>(objects: [(&str, Vec<u8>); COUNT]) {
    let objects = objects.map(|(name, bytes)| (name.to_owned(), bytes));
    let store = Box::new(Memory(Mutex::new(BTreeMap::from(objects))));
    let vault = Arc::new(Vault { store, keys: Keys::default() });
    for point in [Point::NewestAsItIs, Point::Time(1_795_341_599_999), Point::Sequences(vec![(0, 4)])] {
        if let Ok(chosen) = choose(&vault, &point) {
            read(&vault, &Arc::new(chosen.manifest));
        }
    }
}

fn read(vault: &Arc<Vault>, manifest: &Arc<Manifest>) {
    let _ = (verify(vault, manifest, &mut |_, _| {}), log_end(vault, manifest));
    let _ = (manifest.common_time_ms(), manifest.bytes(), manifest.new_bytes());
    let log = tempfile::tempfile().ok().and_then(|spool| read_log(vault, manifest, spool).ok());
    for (_, files) in BackupStorage::of_partitions(vault, manifest, log.map(Arc::new).as_ref()) {
        for name in files.list().unwrap_or_default() {
            assert!(!name.contains('/') && !name.starts_with('.'), "{name} leads elsewhere");
            let Ok(file) = files.open(&name) else { continue };
            for offset in [0, 4_090, u64::MAX - 50] {
                let _ = file.read_at(offset, &mut [0; 100]);
            }
        }
    }
}

/// Objects in memory.
struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Store for Memory {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !objects.contains_key(name);
        objects.entry(name.to_owned()).or_insert_with(|| bytes.to_vec());
        Ok(is_new)
    }

    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn get(&self, name: &str, _bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        found.ok_or_else(|| StoreError::Missing { place: name.to_owned() })
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = objects.iter().filter(|(name, _)| name.starts_with(folder));
        Ok(inside
            .map(|(name, bytes)| StoredObject { name: name.clone(), bytes: bytes.len() as u64 })
            .collect())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    fn locate(&self, name: &str) -> String {
        name.to_owned()
    }
}
