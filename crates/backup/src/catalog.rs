//! Which backups a store has, and which of them leads to a point.

use crate::manifest::{MANIFEST_BYTES_MAX, Manifest};
use crate::store::StoreError;
use crate::{BackupError, Vault};

const FOLDER: &str = "backups/";
const SUFFIX: &str = ".manifest";

/// A backup in a store.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// What it consists of, or why that cannot be read.
    pub manifest: Result<Manifest, BackupError>,
    /// Whether the manifest was compared with its checksum, which takes the key where it is encrypted.
    pub is_checked: bool,
}

pub(crate) fn manifest_name(id: &str) -> String {
    format!("{FOLDER}{id}{SUFFIX}")
}

/// All backups of a store, oldest first.
///
/// # Errors
/// When the store cannot be listed.
pub fn list(vault: &Vault) -> Result<Vec<Listed>, BackupError> {
    let mut found = Vec::new();
    for object in vault.store.list(FOLDER)? {
        let id = object.name.strip_prefix(FOLDER).and_then(|name| name.strip_suffix(SUFFIX));
        let Some(id) = id.filter(|id| !id.starts_with('.')) else { continue };
        let decoded = match vault.store.get(&object.name, MANIFEST_BYTES_MAX) {
            // It was removed meanwhile.
            Err(StoreError::Missing { .. }) => continue,
            bytes => Manifest::decode(&bytes?, &vault.store.locate(&object.name), &vault.keys),
        };
        let (manifest, is_checked) = match decoded {
            Ok((manifest, is_checked)) => (Ok(manifest), is_checked),
            Err(error) => (Err(error), false),
        };
        found.push(Listed { id: id.to_owned(), manifest, is_checked });
    }
    found.sort_by_key(|listed| {
        let begun_at_ms = listed.manifest.as_ref().map_or(0, |manifest| manifest.begun_at_ms);
        (begun_at_ms, listed.id.clone())
    });
    Ok(found)
}

/// The point that a restore is to lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// The end of the newest backup.
    Newest,
    /// The end of this backup.
    Backup(String),
    /// A time, in Unix milliseconds.
    Time(u64),
    /// The sequences of partitions.
    Sequences(Vec<(u32, u64)>),
}

/// The backup from which a point can be restored.
///
/// # Errors
/// When the store cannot be read, or has none that reaches the point.
pub fn choose(vault: &Vault, point: &Point) -> Result<Manifest, BackupError> {
    let not_found = |text: String| Err(BackupError::NotFound(text));
    let mut good = Vec::new();
    let mut unusable = String::new();
    for listed in list(vault)? {
        match listed.manifest {
            Ok(manifest) => good.push(manifest),
            Err(error) if *point == Point::Backup(listed.id.clone()) => return Err(error),
            Err(error) => unusable.push_str(&format!("\n{} cannot be used: {error}", listed.id)),
        }
    }
    let Some(newest) = good.last() else {
        return not_found(format!("there is no backup at {}{unusable}", vault.store.locate("")));
    };
    let chosen = match point {
        Point::Newest => Some(newest),
        Point::Backup(id) => good.iter().find(|manifest| manifest.id == *id),
        Point::Time(at) => good.iter().find(|manifest| manifest.covers_time(*at)),
        Point::Sequences(wanted) => good.iter().rev().find(|manifest| manifest.covers(wanted)),
    };
    match chosen {
        Some(manifest) => Ok(manifest.clone()),
        None => not_found(format!(
            "no backup at {} reaches {}; the newest is {}, {}{unusable}",
            vault.store.locate(""),
            describe(point),
            newest.id,
            newest.ends(),
        )),
    }
}

fn describe(point: &Point) -> String {
    match point {
        Point::Newest => "anything".to_owned(),
        Point::Backup(id) => format!("the name {id}"),
        Point::Time(at) => format!("the time {at}"),
        Point::Sequences(wanted) => {
            let each = wanted.iter().map(|(partition, sequence)| format!("{partition}:{sequence}"));
            format!("the sequence {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

impl Manifest {
    /// Whether all that had happened by this time is in it: it was begun later, or its events go on beyond.
    fn covers_time(&self, at: u64) -> bool {
        let goes_on = self.partitions.iter().all(|partition| partition.last_at_ms > at);
        self.begun_at_ms > at || goes_on
    }

    fn covers(&self, wanted: &[(u32, u64)]) -> bool {
        wanted.iter().all(|(partition, sequence)| {
            let found = self.partitions.iter().find(|part| part.partition == *partition);
            found.is_some_and(|part| (part.reaches_back_to()..=part.last_sequence).contains(sequence))
        })
    }

    fn ends(&self) -> String {
        let each = self.partitions.iter().map(|part| {
            let (from, to) = (part.reaches_back_to(), part.last_sequence);
            format!("partition {} from sequence {from} to {to}", part.partition)
        });
        let each: Vec<_> = each.collect();
        format!("begun at {} with {}", self.begun_at_ms, each.join(", "))
    }
}

impl crate::PartitionPart {
    /// The first sequence to which it can be restored.
    #[must_use]
    pub fn reaches_back_to(&self) -> u64 {
        if self.first_sequence <= 1 {
            return 0;
        }
        let bases = self.snapshots.iter().filter(|sequence| **sequence + 1 >= self.first_sequence);
        bases.min().copied().unwrap_or(self.last_sequence)
    }
}
