//! Manifests and parts of the log whose checksums are right and whose content is made up: refused, or read as they are.

use std::collections::BTreeMap;
use std::sync::Mutex;

use scarce_backup::store::{Store, StoreError, StoredObject};
use scarce_backup::{BackupStorage, Keys, Point, Vault, choose, list, log_end, read_log, verify};
use sha2::{Digest, Sha256};

use super::Stage;

/// Objects in memory.
#[derive(Default)]
struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Store for Memory {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let is_new = !self.0.lock().unwrap().contains_key(name);
        if is_new {
            self.put(name, bytes)?;
        }
        Ok(is_new)
    }
    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let found = self.0.lock().unwrap().get(name).cloned();
        let bytes = found.ok_or_else(|| StoreError::Missing { place: name.to_owned() })?;
        let is_small = bytes.len() as u64 <= bytes_max;
        is_small.then_some(bytes).ok_or_else(|| StoreError::TooLarge { place: name.to_owned(), bytes_max })
    }
    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        let objects = self.0.lock().unwrap();
        let object = |(name, bytes): (&String, &Vec<u8>)| StoredObject {
            name: name.clone(),
            bytes: bytes.len() as u64,
        };
        Ok(objects.iter().filter(|(name, _)| name.starts_with(folder)).map(object).collect())
    }
    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
    fn locate(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// A good store's objects.
fn good() -> BTreeMap<String, Vec<u8>> {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    let mut client = server.connect();
    super::open_account(&mut client);
    super::credit(&mut client, 500);
    super::shipping::wait_until_shipped(&server);
    drop(client);
    server.stop();
    let name =
        |path: &std::path::Path| path.strip_prefix(&stage.store).unwrap().to_string_lossy().into_owned();
    stage.objects().iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// Replaces the n-th number or word of the first line, and gives it the right checksum.
fn make_up(object: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let end = object.iter().position(|byte| *byte == b'\n').unwrap();
    let rest = object[end + 1..].iter().position(|byte| *byte == b'\n').unwrap();
    let mut line = String::from_utf8(object[..end].to_vec()).unwrap();
    for _ in 0..=random.usize(..3) {
        let numbers: Vec<_> =
            line.match_indices(|found: char| found.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = numbers[random.usize(..numbers.len())];
        let from = line[..at].rfind(|found: char| !found.is_ascii_digit()).map_or(0, |before| before + 1);
        let to =
            line[at..].find(|found: char| !found.is_ascii_digit()).map_or(line.len(), |after| at + after);
        let new = ["0", "1", "4096", "18446744073709551615", "9223372036854775808", "4194305", "-1", ""];
        line.replace_range(from..to, new[random.usize(..new.len())]);
    }
    let sum: String = Sha256::digest(line.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    [line.as_bytes(), b"\nsha256 ", sum.as_bytes(), &object[end + 1 + rest..]].concat()
}

/// Reads everything there is, and gives what no partition's files may differ by: their content, where all was good.
fn read_all(objects: BTreeMap<String, Vec<u8>>) {
    let vault =
        std::sync::Arc::new(Vault { store: Box::new(Memory(Mutex::new(objects))), keys: Keys::default() });
    for point in [Point::NewestAsItIs, Point::Time(1), Point::Sequences(vec![(0, 100)])] {
        let Ok(chosen) = choose(&vault, &point) else { continue };
        let manifest = std::sync::Arc::new(chosen.manifest);
        let _ = (
            verify(&vault, &manifest, &mut |_, _| {}),
            log_end(&vault, &manifest),
            manifest.common_time_ms(),
        );
        let log = read_log(&vault, &manifest, tempfile::tempfile().unwrap()).ok().map(std::sync::Arc::new);
        for (_, files) in BackupStorage::of_partitions(&vault, &manifest, log.as_ref()) {
            use scarce_engine_embedded::storage::Storage;
            for name in files.list().unwrap() {
                let file = files.open(&name).unwrap();
                let mut buffer = vec![0; 10_000];
                for offset in [0, 4_090, 1 << 20, u64::MAX - 5_000] {
                    let _ = file.read_at(offset, &mut buffer);
                }
            }
        }
    }
    let _ = list(&vault).unwrap();
}

#[test]
fn made_up_numbers_in_manifests_and_logs_are_refused_or_read_and_end_nothing() {
    let good = good();
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let told: Vec<_> = good
        .keys()
        .filter(|name| name.starts_with("backups/") || name.starts_with("log/"))
        .cloned()
        .collect();
    assert!(told.len() >= 2, "{told:?}");
    for round in 0..600 {
        let mut objects = good.clone();
        let name = &told[random.usize(..told.len())];
        let bad = make_up(&objects[name], &mut random);
        objects.insert(name.clone(), bad.clone());
        let read = std::panic::catch_unwind(|| read_all(objects));
        let line = String::from_utf8_lossy(&bad[..bad.len().min(3_000)]).into_owned();
        assert!(read.is_ok(), "seed {seed}, round {round}, {name}: {line}");
    }
}
