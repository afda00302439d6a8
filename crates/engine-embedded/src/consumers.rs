//! The consumers of one partition of the embedded engine: in memory, and in a file beside its journal.
//!
//! The file may be behind what is in memory: a consumer that restarts from it reads some events again. The
//! journal is therefore kept by what the file says.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_core::types::TimeMs;
use scarce_engine::Failure;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease, overrun};

use crate::inputs::Inputs;
use crate::storage::{Storage, StorageError, read_small, replace, sealed, unsealed};

/// The version of a file in which no consumer has diverged, which older releases read too, and of any other.
const FORMAT_VERSIONS: [u32; 2] = [1, 2];

const FILE_NAME: &str = "consumers";
const TEMPORARY_NAME: &str = "consumers.tmp";
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The file with its largest size, for those who copy it.
pub(crate) const FILE: (&str, u64) = (FILE_NAME, FILE_BYTES_MAX);

/// The floor where there is no consumer.
const NOBODY: u64 = u64::MAX;

/// Why the consumers cannot be learned.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The disk failed.
    #[error("the list of consumers could not be read")]
    Storage(#[from] StorageError),
    /// The file is not one of ours, was changed, or is of a newer release.
    #[error(
        "{path} is damaged or newer than this release; remove it and all consumers begin anew, where the journal still reaches back to"
    )]
    Damaged {
        /// The file.
        path: String,
    },
    /// The file of the inputs' positions is not one of ours, was changed, or is of a newer release.
    #[error(
        "{path} is damaged or newer than this release; remove it, and commands from Kafka are read from the offsets of the consumer group"
    )]
    DamagedInputs {
        /// The file.
        path: String,
    },
}

#[derive(Clone, Debug)]
struct Row {
    confirmed: Position,
    confirmed_at: TimeMs,
    lease: Option<(String, Instant)>,
    diverged: Option<Position>,
    abandoned: Option<Position>,
}

/// Who consumes the log of one partition.
pub(crate) struct Registry {
    /// How far inputs of commands were consumed.
    pub(crate) inputs: Inputs,
    rows: Mutex<BTreeMap<ConsumerName, Row>>,
    /// The lowest sequence that all have confirmed.
    floor: AtomicU64,
    /// The same as the file has it.
    saved_floor: AtomicU64,
    is_changed: std::sync::atomic::AtomicBool,
    /// How many events may wait for the slowest.
    lag_events_max: u64,
}

/// The words for a position of another history.
const DIVERGED: &str = "diverged";
const ABANDONED: &str = "abandoned";

impl Row {
    fn other_history(&self) -> Option<(&'static str, Position)> {
        let diverged = self.diverged.map(|held| (DIVERGED, held));
        diverged.or(self.abandoned.map(|held| (ABANDONED, held)))
    }

    fn at(confirmed: Position, confirmed_at: TimeMs) -> Self {
        Self { confirmed, confirmed_at, lease: None, diverged: None, abandoned: None }
    }
}

impl Registry {
    /// Loads what the file of a partition says.
    ///
    /// # Errors
    /// When it cannot be read or is not such a file.
    pub(crate) fn load(storage: &dyn Storage, lag_events_max: u64) -> Result<Self, RegistryError> {
        let rows = match read_small(storage, FILE_NAME, FILE_BYTES_MAX)? {
            None => BTreeMap::new(),
            Some(bytes) => std::str::from_utf8(&bytes)
                .ok()
                .and_then(parse)
                .ok_or_else(|| RegistryError::Damaged { path: storage.locate(FILE_NAME) })?,
        };
        let floor = floor_of(&rows);
        Ok(Self {
            inputs: Inputs::load(storage)?,
            rows: Mutex::new(rows),
            floor: AtomicU64::new(floor),
            saved_floor: AtomicU64::new(floor),
            is_changed: false.into(),
            lag_events_max,
        })
    }

    /// Copies what a partition's files say into another directory, whose log ends at a sequence. A consumer that is
    /// beyond that is found there to have diverged; an input's position beyond it does not hold.
    ///
    /// # Errors
    /// When a file cannot be read, is not one of ours, or cannot be written.
    pub(crate) fn copy_through(
        from: &dyn Storage,
        to: &dyn Storage,
        sequence: u64,
    ) -> Result<(), RegistryError> {
        let copied = Self::load(from, u64::MAX)?;
        if !copied.rows().is_empty() {
            replace(to, TEMPORARY_NAME, FILE_NAME, text_of(&copied.rows()).as_bytes())?;
        }
        copied.inputs.forget_behind(sequence);
        Ok(copied.inputs.save(to)?)
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<ConsumerName, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether so many events wait for the slowest consumer that no more should come.
    pub(crate) fn is_overrun(&self, sequence: u64) -> bool {
        self.lag(sequence) > self.lag_events_max
    }

    /// Whether changes are taken.
    ///
    /// # Errors
    /// When they are not, because of the slowest consumer.
    pub(crate) fn check_room(&self, sequence: u64) -> Result<(), Failure> {
        if self.is_overrun(sequence) {
            return Err(overrun(self.lag(sequence), self.lag_events_max));
        }
        Ok(())
    }

    /// How many events the slowest has not confirmed.
    pub(crate) fn lag(&self, sequence: u64) -> u64 {
        sequence.saturating_sub(self.floor.load(Ordering::Relaxed))
    }

    /// The last sequence that no consumer needs any more, by what the file says.
    pub(crate) fn saved_floor(&self) -> u64 {
        self.saved_floor.load(Ordering::Acquire)
    }

    /// All of them, in the order of their names.
    pub(crate) fn list(&self) -> Vec<Consumption> {
        let now = Instant::now();
        let holder = |row: &Row| Some(row.lease.as_ref().filter(|(_, until)| *until > now)?.0.clone());
        let show = |(name, row): (&ConsumerName, &Row)| Consumption {
            name: name.clone(),
            confirmed: row.confirmed,
            confirmed_at: row.confirmed_at,
            holder: holder(row),
            diverged: row.diverged,
            abandoned: row.abandoned,
        };
        self.rows().iter().map(show).collect()
    }

    /// The position that a consumer holds and the log does not have, if there is one.
    pub(crate) fn diverged(&self, name: &ConsumerName) -> Option<Position> {
        self.rows().get(name)?.diverged
    }

    /// The confirmed position of a consumer.
    pub(crate) fn confirmed(&self, name: &ConsumerName) -> Option<Position> {
        Some(self.rows().get(name)?.confirmed)
    }

    /// Notes that a consumer holds a position that the log does not have. Where no confirmed position of the log is
    /// known, everything from `begins_at` on is kept.
    pub(crate) fn note_divergence(&self, name: &ConsumerName, held: Position, begins_at: u64) {
        let mut rows = self.rows();
        let oldest = Position { epoch: 0, sequence: begins_at.saturating_sub(1) };
        let row = rows.entry(name.clone()).or_insert_with(|| Row::at(oldest, 0));
        if row.confirmed == held {
            (row.confirmed, row.confirmed_at) = (oldest, 0);
        }
        (row.diverged, row.abandoned) = (Some(held), None);
        row.lease = None;
        self.note_change(&rows);
    }

    /// Sets a consumer onto a position, and ends its divergence. When it confirmed something stays known: it may be asked
    /// again what was lost since.
    pub(crate) fn rebase(&self, name: &ConsumerName, to: Position, now: TimeMs) {
        let mut rows = self.rows();
        let before = rows.get(name);
        let abandoned = before.and_then(|row| row.diverged.or(row.abandoned));
        let confirmed_at = before.map_or(now, |row| row.confirmed_at);
        rows.insert(name.clone(), Row { abandoned, ..Row::at(to, confirmed_at) });
        self.note_change(&rows);
    }

    /// Notes how far a consumer is; never back. Somebody else's lease keeps the note out.
    pub(crate) fn confirm(
        &self,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
        now: TimeMs,
    ) -> Lease {
        let mut rows = self.rows();
        match rows.get_mut(name) {
            None => {
                rows.insert(name.clone(), Row::at(confirmed, now));
            }
            Some(row) => {
                if let Some(other) = held_by_another(row, holder) {
                    return other;
                }
                if confirmed > row.confirmed {
                    (row.confirmed, row.abandoned) = (confirmed, None);
                }
                row.confirmed_at = now;
            }
        }
        self.note_change(&rows);
        Lease::Held
    }

    /// Gives a process the lease of a consumer for a while, or prolongs it; ends it where that is no time.
    pub(crate) fn lease(&self, name: &ConsumerName, holder: &str, ttl: Duration) -> Option<Lease> {
        let mut rows = self.rows();
        let row = rows.get_mut(name)?;
        let other = held_by_another(row, holder);
        if other.is_none() {
            row.lease = (!ttl.is_zero()).then(|| (holder.to_owned(), Instant::now() + ttl));
        }
        Some(other.unwrap_or(Lease::Held))
    }

    /// Forgets a consumer. Whether there was one.
    pub(crate) fn forget(&self, name: &ConsumerName) -> bool {
        let mut rows = self.rows();
        let was_known = rows.remove(name).is_some();
        self.note_change(&rows);
        was_known
    }

    fn note_change(&self, rows: &BTreeMap<ConsumerName, Row>) {
        self.floor.store(floor_of(rows), Ordering::Relaxed);
        self.is_changed.store(true, Ordering::Release);
    }

    /// Writes the file if it is behind.
    ///
    /// # Errors
    /// When the disk fails; it stays behind then.
    pub(crate) fn save(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        self.inputs.save(storage)?;
        if !self.is_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let (text, floor) = {
            let rows = self.rows();
            (text_of(&rows), floor_of(&rows))
        };
        let written = replace(storage, TEMPORARY_NAME, FILE_NAME, text.as_bytes());
        match &written {
            Ok(()) => self.saved_floor.store(floor, Ordering::Release),
            Err(_) => self.is_changed.store(true, Ordering::Release),
        }
        written
    }
}

fn held_by_another(row: &Row, holder: &str) -> Option<Lease> {
    let (other, until) = row.lease.as_ref()?;
    (other != holder && *until > Instant::now()).then(|| Lease::HeldBy(other.clone()))
}

fn floor_of(rows: &BTreeMap<ConsumerName, Row>) -> u64 {
    rows.values().map(|row| row.confirmed.sequence).min().unwrap_or(NOBODY)
}

/// A head, a line for each consumer, and a checksum over all that. A line has name, confirmed epoch and sequence, and
/// when that was confirmed; where the consumer holds or has abandoned another history, also a word for that and the
/// epoch and sequence there.
fn text_of(rows: &BTreeMap<ConsumerName, Row>) -> String {
    let version = FORMAT_VERSIONS[usize::from(rows.values().any(|row| row.other_history().is_some()))];
    let mut text = format!(
        "# How far each consumer of this log is. Written by the server; scarce consumers changes it.\n\
         format_version = {version}\n"
    );
    for (name, row) in rows {
        let Row { confirmed: Position { epoch, sequence }, confirmed_at, .. } = row;
        text.push_str(&format!("{name} {epoch} {sequence} {confirmed_at}"));
        if let Some((word, Position { epoch, sequence })) = row.other_history() {
            text.push_str(&format!(" {word} {epoch} {sequence}"));
        }
        text.push('\n');
    }
    sealed(&text)
}

fn parse(text: &str) -> Option<BTreeMap<ConsumerName, Row>> {
    let mut rows = BTreeMap::new();
    for line in unsealed(text)?.lines().skip(2) {
        let mut words = line.split(' ');
        let name = ConsumerName::parse(words.next()?).ok()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        let confirmed = Position { epoch: number()?, sequence: number()? };
        let mut row = Row::at(confirmed, number()?);
        if let Some(word) = words.next() {
            let mut number = || words.next()?.parse::<u64>().ok();
            let place = Some(Position { epoch: number()?, sequence: number()? });
            *(if word == DIVERGED { &mut row.diverged } else { &mut row.abandoned }) = place;
        }
        rows.insert(name, row);
    }
    // Written again it must be the same, the version in its head too.
    (text_of(&rows) == text).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FaultyDisk;

    fn name(text: &str) -> ConsumerName {
        ConsumerName::parse(text).expect("it is one")
    }

    fn at(sequence: u64) -> Position {
        Position { epoch: 1, sequence }
    }

    fn registry(disk: &FaultyDisk) -> Registry {
        Registry::load(disk, 100).expect("it can be read")
    }

    #[test]
    fn the_slowest_holds_the_log_once_it_is_written_down() {
        let disk = FaultyDisk::new();
        let known = registry(&disk);
        assert!(!known.is_overrun(1_000_000), "nobody waits for it");
        known.confirm(&name("sql"), "", at(40), 1);
        known.confirm(&name("kafka"), "", at(90), 2);
        known.confirm(&name("kafka"), "", at(80), 3);
        assert_eq!(known.saved_floor(), NOBODY);
        assert!(!known.is_overrun(140) && known.is_overrun(141));
        known.save(&disk).expect("it is written");
        assert_eq!(known.saved_floor(), 40);
        let again = registry(&disk);
        assert_eq!(again.list(), known.list());
        assert_eq!(again.list()[0].confirmed, at(90));
        assert!(again.forget(&name("sql")) && !again.forget(&name("sql")));
        assert_eq!(again.saved_floor(), 40, "the file still says so");
        again.save(&disk).expect("it is written");
        assert_eq!(again.saved_floor(), 90);
    }

    #[test]
    fn a_divergence_is_written_down_until_it_is_ended() {
        let disk = FaultyDisk::new();
        let known = registry(&disk);
        known.confirm(&name("sql"), "", at(40), 1);
        known.save(&disk).expect("it is written");
        let older = read_small(&disk, FILE_NAME, FILE_BYTES_MAX).expect("it is read").expect("it is there");
        assert!(older.starts_with(b"# ") && older.windows(18).any(|words| words == b"format_version = 1"));
        known.note_divergence(&name("sql"), at(90), 7);
        known.note_divergence(&name("new"), at(90), 7);
        known.save(&disk).expect("it is written");
        let again = registry(&disk);
        let rows = |known: &Registry| {
            let rows = known.list().into_iter().map(|its| (its.confirmed.sequence, its.diverged));
            rows.collect::<Vec<_>>()
        };
        assert_eq!(rows(&again), [(6, Some(at(90))), (40, Some(at(90)))]);
        assert_eq!(again.saved_floor(), 6, "everything is kept for it");
        again.rebase(&name("new"), at(40), 3);
        again.rebase(&name("sql"), at(40), 3);
        assert_eq!(rows(&again), [(40, None), (40, None)]);
        let confirmed_at: Vec<_> = again.list().into_iter().map(|its| its.confirmed_at).collect();
        assert_eq!(confirmed_at, [0, 1], "a rebase confirms nothing");
        again.confirm(&name("sql"), "", at(40), 4);
        again.confirm(&name("new"), "", at(41), 4);
        again.save(&disk).expect("it is written");
        let abandoned: Vec<_> = registry(&disk).list().into_iter().map(|its| its.abandoned).collect();
        assert_eq!(abandoned, [None, Some(at(90))], "until it has gone on");
    }

    #[test]
    fn one_at_a_time_works_under_a_name() {
        let known = registry(&FaultyDisk::new());
        assert_eq!(known.lease(&name("sql"), "a", Duration::from_secs(60)), None);
        known.confirm(&name("sql"), "a", at(0), 1);
        assert_eq!(known.lease(&name("sql"), "a", Duration::from_secs(60)), Some(Lease::Held));
        let other = Lease::HeldBy("a".to_owned());
        assert_eq!(known.lease(&name("sql"), "b", Duration::from_secs(60)), Some(other.clone()));
        assert_eq!(known.confirm(&name("sql"), "b", at(9), 2), other);
        assert_eq!(known.confirm(&name("sql"), "a", at(5), 3), Lease::Held);
        assert_eq!(known.lease(&name("sql"), "a", Duration::ZERO), Some(Lease::Held));
        assert_eq!(known.lease(&name("sql"), "b", Duration::from_secs(60)), Some(Lease::Held));
        assert_eq!(known.list()[0].holder.as_deref(), Some("b"));
        assert_eq!(known.list()[0].confirmed, at(5));
    }

    #[test]
    fn a_consumer_may_be_named_as_the_last_line_is() {
        let disk = FaultyDisk::new();
        let known = registry(&disk);
        known.confirm(&name("checksum"), "", at(40), 1);
        known.save(&disk).expect("it is written");
        assert_eq!(registry(&disk).list(), known.list());
    }

    #[test]
    fn a_changed_file_is_not_believed() {
        let disk = FaultyDisk::new();
        let known = registry(&disk);
        known.confirm(&name("sql"), "", at(40), 1);
        known.save(&disk).expect("it is written");
        let good = read_small(&disk, FILE_NAME, FILE_BYTES_MAX).expect("it is read").expect("it is there");
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            replace(&disk, TEMPORARY_NAME, FILE_NAME, &bad).expect("it is written");
            assert!(Registry::load(&disk, 100).is_err(), "byte {place}");
        }
    }
}
