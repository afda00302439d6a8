//! Which backups are of one history, and which history is the newest.
//!
//! Clocks may be wrong, so they order nothing here. What is known for sure: every start of an engine begins a higher epoch
//! with its first event, two starts from one place have epochs that differ, and within an epoch sequences only rise.

use std::collections::BTreeMap;

use scarce_engine_embedded::epoch;

use crate::Manifest;
use crate::log::LogEnd;

/// A place in the log of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogPosition {
    epoch: u64,
    sequence: u64,
}

impl LogPosition {
    /// What orders places of different histories, too.
    const fn rank(self) -> (u64, u64) {
        (epoch::count(self.epoch), self.sequence)
    }
}

/// Whether an epoch began at a later start than another.
pub(crate) const fn is_later(epoch: u64, other: u64) -> bool {
    let (count, of_other) = (epoch::count(epoch), epoch::count(other));
    count > of_other || (count == 0 && of_other == 0 && epoch > other)
}

/// A backup with the log that follows it.
#[derive(Debug)]
pub(crate) struct Shelved {
    pub(crate) manifest: Manifest,
    pub(crate) log: LogEnd,
    /// What the store lacks of it, so that it cannot be restored.
    pub(crate) lacks: Option<String>,
}

impl Shelved {
    /// The places of each partition that it has for certain: where the backup ends, and where its log does.
    fn places(&self) -> impl Iterator<Item = (u32, LogPosition)> {
        let ends =
            self.manifest.partitions.iter().map(|part| {
                (part.partition, LogPosition { epoch: part.epoch, sequence: part.last_sequence })
            });
        let of_log = self.log.sequences.iter().filter_map(|(partition, sequence)| {
            let epoch = *self.log.epochs.get(partition).filter(|epoch| **epoch > 0)?;
            Some((*partition, LogPosition { epoch, sequence: *sequence }))
        });
        ends.chain(of_log)
    }

    /// How far it reaches, in an order in which later starts come after earlier ones.
    fn rank(&self) -> (Vec<u64>, Vec<u64>, u64) {
        let mut last: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (partition, place) in self.places() {
            let its = last.entry(partition).or_default();
            *its = place.rank().max(*its);
        }
        let (epochs, sequences) = last.into_values().unzip();
        (epochs, sequences, self.manifest.number)
    }

    /// Whether all that had happened by this time is in it with its log.
    pub(crate) fn log_covers_time(&self, at: u64) -> bool {
        self.log.parts > 0 && self.log.taken_at_ms >= at
    }

    /// Whether it has events of this time or an earlier one that another one lacks: then that one was made while the
    /// clock was ahead.
    pub(crate) fn adds_before(&self, other: &Self, at: u64) -> bool {
        self.manifest.partitions.iter().any(|part| {
            let others = other.last_sequence(part.partition);
            (part.last_at_ms <= at && Some(part.last_sequence) > others)
                || (self.log.parts > 0
                    && self.log.taken_at_ms <= at
                    && self.last_sequence(part.partition) > others)
        })
    }

    /// The last sequence of a partition.
    pub(crate) fn last_sequence(&self, partition: u32) -> Option<u64> {
        self.manifest.last_sequence(partition, &self.log)
    }
}

/// Backups that go on from each other.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Places of them, by their number, those that reach furthest last.
    pub(crate) backups: Vec<usize>,
    /// By partition and epoch, the last sequence that is known of it.
    known: BTreeMap<u32, BTreeMap<u64, u64>>,
}

impl History {
    fn newest(&self, partition: u32) -> Option<LogPosition> {
        let known = self.known.get(&partition)?.iter();
        let places = known.map(|(epoch, sequence)| LogPosition { epoch: *epoch, sequence: *sequence });
        places.max_by_key(|place| place.rank())
    }

    /// Whether all that a backup has may be of this history.
    fn fits(&self, backup: &Shelved) -> bool {
        backup.places().all(|(partition, place)| {
            let Some(newest) = self.newest(partition) else { return true };
            let known = self.known.get(&partition).and_then(|known| known.get(&place.epoch));
            place.epoch == newest.epoch
                || known.is_some_and(|last| place.sequence <= *last)
                || (is_later(place.epoch, newest.epoch) && place.sequence >= newest.sequence)
        })
    }

    fn add(&mut self, index: usize, backup: &Shelved) {
        self.backups.push(index);
        for (partition, place) in backup.places() {
            let last = self.known.entry(partition).or_default().entry(place.epoch).or_default();
            *last = place.sequence.max(*last);
        }
    }

    fn rank(&self) -> (Vec<u64>, Option<usize>) {
        let newest = self.known.keys().filter_map(|partition| self.newest(*partition));
        (newest.map(|place| place.rank().0).collect(), self.backups.iter().max().copied())
    }
}

/// The histories of backups that are given in the order in which they were made. The last one is the newest: the one
/// with the latest start, and of equal ones the one of which a backup was made last.
pub(crate) fn histories(backups: &[Shelved]) -> Vec<History> {
    let mut found: Vec<History> = Vec::new();
    for (index, backup) in backups.iter().enumerate() {
        let fitting = found.iter_mut().filter(|history| history.fits(backup));
        match fitting.max_by_key(|history| history.rank()) {
            Some(history) => history.add(index, backup),
            None => {
                let mut history = History::default();
                history.add(index, backup);
                found.push(history);
            }
        }
    }
    for history in &mut found {
        history.backups.sort_by_key(|index| backups[*index].rank());
    }
    found.sort_by_key(History::rank);
    found
}
