//! Which backup leads to a point, and when that is for people to decide.

use std::collections::BTreeSet;

use crate::catalog::{begun_at_ms, list, shown_time};
use crate::history::{History, Shelved, histories};
use crate::log::{LOG, LogEnd, log_end, parse_name};
use crate::there::Pieces;
use crate::{BackupError, Manifest, Vault};

/// The point that a restore is to lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// The end of the newest backup.
    Newest,
    /// The end of the newest backup, also if the store lacks pieces of it: to say all that is wrong with it.
    NewestAsItIs,
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
    /// Another one that has all of it up to a time, should that log be damaged.
    pub without_log: Option<Manifest>,
    /// Other backups that cannot be used, and why.
    pub passed_over: Vec<String>,
    /// What else there is: the newest backups of other histories.
    pub other_histories: Vec<String>,
}

/// The backup from which a point can be restored, with the log that follows it if that leads further.
///
/// # Errors
/// When the store cannot be read, has none that reaches the point, or it is not certain that the one which does is meant.
pub fn choose(vault: &Vault, point: &Point) -> Result<Chosen, BackupError> {
    let mut shelf = Shelf::new(vault, point)?;
    shelf.note_lost_manifests()?;
    let chosen = shelf.find(point)?;
    let manifest = chosen.manifest.clone();
    let has_log = chosen.log.parts > 0 || chosen.log.problem.is_some();
    let without_log = match point {
        Point::Time(at) => shelf.covering(*at).map(|its| its.manifest.clone()),
        _ => None,
    };
    let other_histories = shelf.other_histories(&manifest.id);
    let told = |(id, reason): (&str, &str)| format!("backup {id} cannot be used: {reason}");
    // What is wrong with one backup is asked; whether others lack pieces is not.
    let is_told = |id: &str| *point != Point::NewestAsItIs || shelf.unusable.iter().any(|(its, _)| its == id);
    let others = shelf.all_unusable().filter(|(id, _)| *id != manifest.id && is_told(id));
    let passed_over = others.map(told).collect();
    Ok(Chosen { manifest, has_log, without_log, passed_over, other_histories })
}

/// What a store has.
struct Shelf<'a> {
    vault: &'a Vault,
    /// Backups with their logs, in the order in which they were made.
    good: Vec<Shelved>,
    /// The names of others, and why they cannot be used.
    unusable: Vec<(String, String)>,
    /// The newest last.
    histories: Vec<History>,
}

impl<'a> Shelf<'a> {
    fn new(vault: &'a Vault, point: &Point) -> Result<Self, BackupError> {
        let (mut good, mut unusable) = (Vec::new(), Vec::new());
        let listed = list(vault)?;
        // Later, so that those of a backup that was just made are among them.
        let pieces = Pieces::list(vault)?;
        for listed in listed {
            match listed.manifest {
                Ok(manifest) => {
                    let log = match log_end(vault, &manifest) {
                        // The backup itself says so where it is used.
                        Err(BackupError::WrongKey { .. }) => LogEnd::default(),
                        log => log?,
                    };
                    let lacks = pieces.lacking(vault, &manifest);
                    good.push(Shelved { manifest, log, lacks });
                }
                Err(error) if *point == Point::Backup(listed.id.clone()) => return Err(error),
                Err(error) => unusable.push((listed.id, error.to_string())),
            }
        }
        let histories = histories(&good);
        Ok(Self { vault, good, unusable, histories })
    }

    /// The backups of the newest history, those that reach furthest last.
    fn newest_history(&self) -> impl DoubleEndedIterator<Item = &Shelved> + Clone {
        let newest = self.histories.last().map_or(&[][..], |history| &history.backups);
        newest.iter().map(|index| &self.good[*index])
    }

    fn newest(&self) -> Option<&Shelved> {
        self.newest_history().next_back()
    }

    /// The newest of which the store has all pieces.
    fn newest_usable(&self) -> Option<&Shelved> {
        let backups = self.histories.iter().rev().flat_map(|history| history.backups.iter().rev());
        backups.map(|index| &self.good[*index]).find(|its| its.lacks.is_none())
    }

    /// The names of all that cannot be used, and why.
    fn all_unusable(&self) -> impl Iterator<Item = (&str, &str)> {
        let lacking = self.good.iter().filter_map(|its| Some((&*its.manifest.id, its.lacks.as_deref()?)));
        self.unusable.iter().map(|(id, reason)| (&**id, &**reason)).chain(lacking)
    }

    fn find(&self, point: &Point) -> Result<&Shelved, BackupError> {
        let Some(newest) = self.newest() else {
            self.check_newest(None, false)?;
            let place = self.vault.store.locate("");
            return Err(BackupError::NotFound(format!("there is no backup at {place}")));
        };
        if !matches!(point, Point::Backup(_)) {
            self.check_deployments(&newest.manifest)?;
        }
        let found = match point {
            Point::Newest | Point::NewestAsItIs => {
                self.check_newest(Some(newest), *point == Point::NewestAsItIs)?;
                Some(newest)
            }
            Point::NewestUsable => self.newest_usable(),
            Point::Backup(id) => return self.named(id),
            Point::Time(at) => self.at_time(*at),
            Point::Sequences(wanted) => self.through(wanted, newest)?,
        };
        found.ok_or_else(|| {
            BackupError::NotFound(format!(
                "no backup at {} reaches {}; the newest is {}, {}{}",
                self.vault.store.locate(""),
                describe(point),
                newest.manifest.id,
                newest.manifest.ends(&newest.log),
                self.told(),
            ))
        })
    }

    fn named(&self, id: &str) -> Result<&Shelved, BackupError> {
        let found = self.good.iter().find(|its| its.manifest.id == *id);
        found.ok_or_else(|| {
            let place = self.vault.store.locate("");
            let text = format!(
                "there is no backup {id} at {place}; 'scarce backup list' names those that are there"
            );
            BackupError::NotFound(text)
        })
    }

    fn told(&self) -> String {
        let each = self.all_unusable().map(|(id, reason)| format!("\n{id} cannot be used: {reason}"));
        each.collect()
    }

    /// The ends of histories of which a backup is not.
    fn other_histories(&self, chosen: &str) -> Vec<String> {
        let is_of =
            |history: &&History| history.backups.iter().all(|index| self.good[*index].manifest.id != chosen);
        let others = self.histories.iter().filter(is_of).filter_map(|history| history.backups.last());
        let told = |other: &Shelved| {
            let id = &other.manifest.id;
            format!(
                "backup {id}, {}, is of another history: the data was put back, or two servers went on with it; --backup {id} \
                 restores that one",
                other.manifest.ends(&other.log)
            )
        };
        others.map(|index| told(&self.good[*index])).collect()
    }

    /// A log that follows no backup tells that there was one, unless older backups were just removed.
    fn note_lost_manifests(&mut self) -> Result<(), BackupError> {
        let newest_at_ms = self.newest().and_then(|newest| self.named_at_ms(&newest.manifest));
        let objects = self.vault.store.list(LOG)?;
        let ids: BTreeSet<_> =
            objects.iter().filter_map(|object| Some(parse_name(&object.name)?.0)).collect();
        let is_known = |id: &str| {
            self.good.iter().any(|its| its.manifest.id == id)
                || self.unusable.iter().any(|(unusable, _)| unusable == id)
        };
        let lost = ids.into_iter().filter(|id| !is_known(id) && begun_at_ms(id) >= newest_at_ms);
        let reason = "its manifest is missing, though log that follows it is there";
        let lost: Vec<_> = lost.map(|id| (id.to_owned(), reason.to_owned())).collect();
        self.unusable.extend(lost);
        Ok(())
    }

    /// The time in the name of a backup, with which the names of those are compared that cannot be read. None where
    /// the clock was wrong once, so that names do not say which came later.
    fn named_at_ms(&self, manifest: &Manifest) -> Option<u64> {
        let names = self.good.iter().map(|its| begun_at_ms(&its.manifest.id));
        if names.is_sorted() { begun_at_ms(&manifest.id) } else { None }
    }

    fn check_deployments(&self, newest: &Manifest) -> Result<(), BackupError> {
        let mut all = self.good.iter().rev().map(|its| &its.manifest);
        let Some(other) = all.find(|manifest| manifest.deployment != newest.deployment) else {
            return Ok(());
        };
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
    fn check_newest(&self, newest: Option<&Shelved>, may_lack: bool) -> Result<(), BackupError> {
        let newest_at_ms = newest.and_then(|newest| self.named_at_ms(&newest.manifest));
        let later = self.unusable.iter().filter(|(id, _)| begun_at_ms(id) >= newest_at_ms);
        let later = later.map(|(id, reason)| (&**id, &**reason));
        let newest = newest.filter(|_| !may_lack);
        let lacking = newest.and_then(|its| Some((&*its.manifest.id, its.lacks.as_deref()?)));
        let all = later.chain(lacking);
        let all: Vec<_> = all.map(|(id, reason)| format!("backup {id} cannot be used: {reason}")).collect();
        if all.is_empty() {
            return Ok(());
        }
        let older = self.newest_usable().map(|usable| usable.manifest.id.clone());
        Err(BackupError::NewestUnusable { reasons: all.join("\n"), older })
    }

    /// The backup that leads to a time: the last one before it whose log goes beyond it, or the first that has all of it.
    fn at_time(&self, at: u64) -> Option<&Shelved> {
        let is_led_to =
            |its: &&Shelved| its.lacks.is_none() && its.manifest.begun_at_ms <= at && its.log_covers_time(at);
        let with_log = self.newest_history().filter(|its| self.is_last_before(its, at)).rfind(is_led_to);
        with_log.or_else(|| self.covering(at))
    }

    /// The first backup that has all up to a time without any log.
    fn covering(&self, at: u64) -> Option<&Shelved> {
        let covers = |its: &&Shelved| its.lacks.is_none() && its.manifest.covers_time(at);
        self.newest_history().filter(|its| self.is_last_before(its, at)).find(covers)
    }

    fn is_last_before(&self, its: &Shelved, at: u64) -> bool {
        !self.newest_history().any(|other| other.adds_before(its, at))
    }

    /// The backup that leads to sequences. Those of a history that was given up are refused.
    fn through(&self, wanted: &[(u32, u64)], newest: &Shelved) -> Result<Option<&Shelved>, BackupError> {
        let covers = |its: &&Shelved| its.manifest.covers(wanted, &its.log);
        if self.newest_history().any(|its| covers(&its)) {
            return Ok(self.newest_history().rfind(|its| its.lacks.is_none() && covers(its)));
        }
        let others = self.histories.iter().rev().flat_map(|history| history.backups.iter().rev());
        let Some(found) = others.map(|index| &self.good[*index]).find(covers) else { return Ok(None) };
        let is_beyond =
            |(partition, sequence): &&(u32, u64)| newest.last_sequence(*partition) < Some(*sequence);
        let (partition, sequence) = wanted.iter().find(is_beyond).copied().unwrap_or_default();
        let last = newest.last_sequence(partition).unwrap_or(0);
        let (id, newest) = (&found.manifest.id, &newest.manifest.id);
        Err(BackupError::Undecided(format!(
            "backup {id} has the sequence {partition}:{sequence}, and {newest}, which is later, ends at {partition}:{last}: the \
             data was put back in between, and what followed was given up; add --backup {id} to restore what was \
             given up, or name a sequence up to {last}",
        )))
    }
}

fn describe(point: &Point) -> String {
    match point {
        Point::Newest | Point::NewestAsItIs | Point::NewestUsable => "anything".to_owned(),
        Point::Backup(id) => format!("the name {id}"),
        Point::Time(at) => format!("the time {}", shown_time(*at)),
        Point::Sequences(wanted) => {
            let each = wanted.iter().map(|(partition, sequence)| format!("{partition}:{sequence}"));
            format!("the sequence {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}
