//! Which backups a store has, and which of them leads to a point.

use std::collections::BTreeMap;

use crate::log::{LOG, LogEnd, log_end, parse_name};
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest, PartitionPart};
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
        let decoded = match vault.read(&object.name, MANIFEST_BYTES_MAX) {
            // It was removed meanwhile.
            Err(BackupError::Store(StoreError::Missing { .. })) => continue,
            Err(error @ BackupError::Store(_)) => return Err(error),
            bytes => bytes.and_then(|bytes| {
                Manifest::decode(&bytes, &vault.store.locate(&object.name), &vault.keys)
            }),
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
#[derive(Debug)]
pub struct Chosen {
    /// The backup.
    pub manifest: Manifest,
    /// Whether the store has log that follows it.
    pub has_log: bool,
}

/// The backup from which a point can be restored, with the log that follows it if that leads further.
///
/// # Errors
/// When the store cannot be read, or has none that reaches the point.
pub fn choose(vault: &Vault, point: &Point) -> Result<Chosen, BackupError> {
    let mut good = Vec::new();
    let mut unusable = String::new();
    for listed in list(vault)? {
        match listed.manifest {
            Ok(manifest) => good.push(manifest),
            Err(error) if *point == Point::Backup(listed.id.clone()) => return Err(error),
            Err(error) => unusable.push_str(&format!("\n{} cannot be used: {error}", listed.id)),
        }
    }
    let logs = log_times(vault)?;
    let log_to = |manifest: &Manifest| logs.get(&manifest.id).copied().unwrap_or(0);
    let newest = good.iter().max_by_key(|manifest| manifest.begun_at_ms.max(log_to(manifest)));
    let Some(newest) = newest else {
        let place = vault.store.locate("");
        return Err(BackupError::NotFound(format!("there is no backup at {place}{unusable}")));
    };
    let chosen = match point {
        Point::Newest => Some(newest),
        Point::Backup(id) => good.iter().find(|manifest| manifest.id == *id),
        Point::Time(at) => {
            let is_led_to = |manifest: &&Manifest| manifest.begun_at_ms <= *at && log_to(manifest) > *at;
            let with_log = good.iter().rev().find(is_led_to);
            let covers = |(index, manifest): &(usize, &Manifest)| {
                let mut later = good[index + 1..].iter();
                manifest.covers_time(*at) && !later.any(|later| later.adds_before(manifest, *at))
            };
            with_log.or_else(|| good.iter().enumerate().find(covers).map(|(_, manifest)| manifest))
        }
        Point::Sequences(wanted) => {
            let mut found = None;
            for manifest in good.iter().rev() {
                let end = if log_to(manifest) > 0 { log_end(vault, manifest)? } else { LogEnd::default() };
                if manifest.covers(wanted, &end) {
                    found = Some(manifest);
                    break;
                }
            }
            found
        }
    };
    match chosen {
        Some(manifest) => Ok(Chosen { has_log: log_to(manifest) > 0, manifest: manifest.clone() }),
        None => Err(BackupError::NotFound(format!(
            "no backup at {} reaches {}; the newest is {}, {}{unusable}",
            vault.store.locate(""),
            describe(point),
            newest.id,
            newest.ends(),
        ))),
    }
}

/// When the last part of the log that follows each backup was taken.
fn log_times(vault: &Vault) -> Result<BTreeMap<String, u64>, BackupError> {
    let mut times = BTreeMap::new();
    for object in vault.store.list(LOG)? {
        if let Some((backup, _, taken_at_ms)) = parse_name(&object.name) {
            let time = times.entry(backup.to_owned()).or_insert(0);
            *time = taken_at_ms.max(*time);
        }
    }
    Ok(times)
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
    /// Whether all that had happened by this time is in it: its events go on beyond, or it was begun later and nothing
    /// was left to the next one.
    fn covers_time(&self, at: u64) -> bool {
        let covers = |part: &PartitionPart| part.last_at_ms > at || (self.begun_at_ms > at && !part.is_cut);
        self.partitions.iter().all(covers)
    }

    /// Whether it has an event of this time or an earlier one that an earlier backup lacks: then that one was made while
    /// the clock was ahead.
    fn adds_before(&self, earlier: &Self, at: u64) -> bool {
        self.partitions.iter().any(|part| {
            let its = earlier.partitions.iter().find(|its| its.partition == part.partition);
            its.is_some_and(|its| part.last_sequence > its.last_sequence) && part.last_at_ms <= at
        })
    }

    /// Whether these sequences can be restored, with the log that follows it.
    fn covers(&self, wanted: &[(u32, u64)], log: &LogEnd) -> bool {
        wanted.iter().all(|(partition, sequence)| {
            let found = self.partitions.iter().find(|part| part.partition == *partition);
            let last = log.sequences.get(partition).copied().unwrap_or(0);
            found.is_some_and(|part| {
                (part.reaches_back_to()..=part.last_sequence.max(last)).contains(sequence)
            })
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
        let bases =
            self.snapshots.iter().filter(|sequence| sequence.saturating_add(1) >= self.first_sequence);
        bases.min().copied().unwrap_or(self.last_sequence)
    }
}
