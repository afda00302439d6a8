//! Which backup leads to a point, and when that is for people to decide.

use std::collections::BTreeMap;

use crate::catalog::{begun_at_ms, list};
use crate::log::{LOG, LogEnd, log_end, parse_name};
use crate::{BackupError, Manifest, Vault};

/// The point that a restore is to lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// The end of the newest backup.
    Newest,
    /// The end of the newest backup that can be used.
    NewestUsable,
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
    /// Other backups that cannot be used, and why.
    pub passed_over: Vec<String>,
}

/// The backup from which a point can be restored, with the log that follows it if that leads further.
///
/// # Errors
/// When the store cannot be read, has none that reaches the point, or it is not certain that the one which does is meant.
pub fn choose(vault: &Vault, point: &Point) -> Result<Chosen, BackupError> {
    let mut shelf = Shelf { vault, good: Vec::new(), unusable: Vec::new(), logs: log_times(vault)? };
    for listed in list(vault)? {
        match listed.manifest {
            Ok(manifest) => shelf.good.push(manifest),
            Err(error) if *point == Point::Backup(listed.id.clone()) => return Err(error),
            Err(error) => shelf.unusable.push((listed.id, error.to_string())),
        }
    }
    let manifest = shelf.find(point)?.clone();
    let has_log = shelf.log_to(&manifest) > 0;
    let told = |(id, reason): (String, String)| format!("backup {id} cannot be used: {reason}");
    Ok(Chosen { manifest, has_log, passed_over: shelf.unusable.into_iter().map(told).collect() })
}

/// What a store has.
struct Shelf<'a> {
    vault: &'a Vault,
    /// Backups, oldest first.
    good: Vec<Manifest>,
    /// The names of others, and why they cannot be used.
    unusable: Vec<(String, String)>,
    /// When the last part of the log that follows each backup was taken.
    logs: BTreeMap<String, u64>,
}

impl Shelf<'_> {
    fn log_to(&self, manifest: &Manifest) -> u64 {
        self.logs.get(&manifest.id).copied().unwrap_or(0)
    }

    fn log_end(&self, manifest: &Manifest) -> Result<LogEnd, BackupError> {
        if self.log_to(manifest) > 0 { log_end(self.vault, manifest) } else { Ok(LogEnd::default()) }
    }

    fn find(&mut self, point: &Point) -> Result<&Manifest, BackupError> {
        let newest = self.good.iter().max_by_key(|manifest| manifest.begun_at_ms.max(self.log_to(manifest)));
        let newest_at_ms = newest.and_then(|newest| begun_at_ms(&newest.id));
        self.note_lost_manifests(newest_at_ms);
        let newest = self.good.iter().max_by_key(|manifest| manifest.begun_at_ms.max(self.log_to(manifest)));
        let Some(newest) = newest else {
            self.check_newest(None)?;
            let place = self.vault.store.locate("");
            return Err(BackupError::NotFound(format!("there is no backup at {place}")));
        };
        if !matches!(point, Point::Backup(_)) {
            self.check_deployments(newest)?;
        }
        let found = match point {
            Point::Newest => {
                self.check_newest(Some(newest))?;
                Some(newest)
            }
            Point::NewestUsable => Some(newest),
            Point::Backup(id) => self.good.iter().find(|manifest| manifest.id == *id),
            Point::Time(at) => self.at_time(*at),
            Point::Sequences(wanted) => self.through(wanted)?,
        };
        found.ok_or_else(|| {
            BackupError::NotFound(format!(
                "no backup at {} reaches {}; the newest is {}, {}{}",
                self.vault.store.locate(""),
                describe(point),
                newest.id,
                newest.ends(),
                self.told(),
            ))
        })
    }

    fn told(&self) -> String {
        let each = self.unusable.iter().map(|(id, reason)| format!("\n{id} cannot be used: {reason}"));
        each.collect()
    }

    /// A log that follows no backup tells that there was one, unless older backups were just removed.
    fn note_lost_manifests(&mut self, newest_at_ms: Option<u64>) {
        let is_known = |id: &String| {
            self.good.iter().any(|manifest| manifest.id == *id)
                || self.unusable.iter().any(|(unusable, _)| unusable == id)
        };
        let lost = self.logs.keys().filter(|id| !is_known(id) && begun_at_ms(id) >= newest_at_ms);
        let reason = "its manifest is missing, though log that follows it is there";
        let lost: Vec<_> = lost.map(|id| (id.clone(), reason.to_owned())).collect();
        self.unusable.extend(lost);
    }

    fn check_deployments(&self, newest: &Manifest) -> Result<(), BackupError> {
        let other = self.good.iter().rev().find(|manifest| manifest.deployment != newest.deployment);
        let Some(other) = other else { return Ok(()) };
        Err(BackupError::Undecided(format!(
            "{} holds backups of two deployments: {} is of {}, and {} is of {}; say which one with --backup",
            self.vault.store.locate(""),
            newest.id,
            newest.deployment,
            other.id,
            other.deployment,
        )))
    }

    /// Refuses to go back behind one that may be the newest.
    fn check_newest(&self, newest: Option<&Manifest>) -> Result<(), BackupError> {
        let newest_at_ms = newest.and_then(|newest| begun_at_ms(&newest.id));
        let later = self.unusable.iter().filter(|(id, _)| begun_at_ms(id) >= newest_at_ms);
        let later: Vec<_> =
            later.map(|(id, reason)| format!("backup {id} cannot be used: {reason}")).collect();
        if later.is_empty() {
            return Ok(());
        }
        Err(BackupError::NewestUnusable {
            reasons: later.join("\n"),
            older: newest.map(|newest| newest.id.clone()),
        })
    }

    fn at_time(&self, at: u64) -> Option<&Manifest> {
        let is_led_to = |manifest: &&Manifest| manifest.begun_at_ms <= at && self.log_to(manifest) > at;
        let with_log = self.good.iter().rev().find(is_led_to);
        let covers = |(index, manifest): &(usize, &Manifest)| {
            let mut later = self.good[index + 1..].iter();
            manifest.covers_time(at) && !later.any(|later| later.adds_before(manifest, at))
        };
        with_log.or_else(|| self.good.iter().enumerate().find(covers).map(|(_, manifest)| manifest))
    }

    fn through(&self, wanted: &[(u32, u64)]) -> Result<Option<&Manifest>, BackupError> {
        for manifest in self.good.iter().rev() {
            if manifest.covers(wanted, &self.log_end(manifest)?) {
                self.check_history(manifest, wanted)?;
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    /// Refuses sequences that a later backup does not have: the data was put back in between, and its history went on
    /// from there.
    fn check_history(&self, chosen: &Manifest, wanted: &[(u32, u64)]) -> Result<(), BackupError> {
        let taken_at_ms = chosen.begun_at_ms.max(self.log_to(chosen));
        for later in self.good.iter().filter(|later| later.begun_at_ms > taken_at_ms) {
            let end = self.log_end(later)?;
            let is_beyond = |(partition, sequence): &&(u32, u64)| {
                later.last_sequence(*partition, &end).is_some_and(|last| last < *sequence)
            };
            let Some((partition, sequence)) = wanted.iter().find(is_beyond) else { continue };
            let last = later.last_sequence(*partition, &end).unwrap_or(0);
            return Err(BackupError::Undecided(format!(
                "backup {} has the sequence {partition}:{sequence}, and {}, which is later, ends at {partition}:{last}: the \
                 data was put back in between, and what followed was given up; add --backup {} to restore what was \
                 given up, or name a sequence up to {last}",
                chosen.id, later.id, chosen.id,
            )));
        }
        Ok(())
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
        Point::Newest | Point::NewestUsable => "anything".to_owned(),
        Point::Backup(id) => format!("the name {id}"),
        Point::Time(at) => format!("the time {at}"),
        Point::Sequences(wanted) => {
            let each = wanted.iter().map(|(partition, sequence)| format!("{partition}:{sequence}"));
            format!("the sequence {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}
