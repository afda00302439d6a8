//! What a partition counts. Its owner is the only one that writes, so counting is a load and a store
//! and no locked instruction; readers see values that are at most one turn old.

mod runs;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scarce_core::command::{Body, Envelope};
use scarce_core::outcome::Code;

use crate::engine::{Failure, Request};
use crate::slow::SlowCommands;

pub use runs::RunMetrics;

/// Command numbers are below this; 0 stands for atomic batches.
const NUMBERS: usize = 128;

/// Code numbers are below this.
const CODE_NUMBERS: usize = 512;

/// Where each code's counters stand among those of a command.
const CODE_PLACES: [u8; CODE_NUMBERS] = {
    let mut places = [0; CODE_NUMBERS];
    let mut at = 0;
    while at < Code::ALL.len() {
        // Checked by a test: there are fewer codes than a byte can count.
        #[allow(clippy::cast_possible_truncation, reason = "checked by a test")]
        let place = at as u8;
        places[Code::ALL[at].number() as usize] = place;
        at += 1;
    }
    places
};

/// A counter with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds; only the one writer may.
    fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// The count so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper bounds of the buckets for durations, in seconds.
pub const DURATION_BOUNDS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

/// How long something took, by buckets; one thread writes.
#[derive(Debug, Default)]
pub struct Durations {
    buckets: [Counter; DURATION_BOUNDS.len() + 1],
    nanoseconds: Counter,
}

impl Durations {
    /// Notes one duration for `count` things that waited for it.
    pub fn note(&self, took: Duration, count: u64) {
        let seconds = took.as_secs_f64();
        let place = DURATION_BOUNDS.iter().position(|bound| seconds <= *bound);
        self.buckets[place.unwrap_or(DURATION_BOUNDS.len())].add(count);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.add(nanoseconds.saturating_mul(count));
    }

    /// How many fell into each bucket; the last is for what is above all bounds.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.buckets.iter().map(Counter::get).collect()
    }

    /// The sum of all in seconds.
    #[must_use]
    pub fn sum_seconds(&self) -> f64 {
        Duration::from_nanos(self.nanoseconds.get()).as_secs_f64()
    }
}

/// How much there is of something at the end of the owner's last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Operation ids that are remembered.
    pub operations: u64,
    /// Those of them that must not be forgotten yet, where the engine counts them.
    pub operations_locked: u64,
    /// Holds and reservations that are open and have a deadline.
    pub deadlines: u64,
    /// How long the oldest of them is overdue.
    pub deadline_lag_ms: u64,
    /// The sequence of the last event that was decided.
    pub sequence: u64,
    /// Batches that wait in the inbox.
    pub inbox: u64,
    /// Events that the slowest consumer of the log has not confirmed.
    pub outflow_lag: u64,
    /// How far the wall clock is ahead of the time that stamps go by, and not believed.
    pub clock_ahead_ms: u64,
    /// How far it is behind.
    pub clock_behind_ms: u64,
    /// How much of the time nothing confirms yet: nothing ends by it.
    pub clock_doubted_ms: u64,
}

/// The queue that a refusal for want of room for operation ids names.
const IDS_QUEUE: &str = "operations";

impl Levels {
    /// Fails where new operation ids are refused: all that may be remembered must not be forgotten yet.
    ///
    /// # Errors
    /// [`Failure::Overloaded`].
    pub fn check_ids(&self, operations_max: usize) -> Result<(), Failure> {
        if self.operations_locked < operations_max as u64 {
            return Ok(());
        }
        Err(Failure::Overloaded { queue: IDS_QUEUE })
    }
}

/// The last snapshot, and how many failed; one thread writes.
#[derive(Debug, Default)]
pub struct SnapshotMetrics {
    made_at_ms: Counter,
    payload_bytes: Counter,
    took_ms: Counter,
    failures: Counter,
    damaged: Counter,
}

impl SnapshotMetrics {
    /// Notes a snapshot: when it was made, in Unix milliseconds, its size, and how long that took.
    pub fn note(&self, made_at_ms: u64, payload_bytes: u64, took: Duration) {
        self.made_at_ms.set(made_at_ms);
        self.payload_bytes.set(payload_bytes);
        self.took_ms.set(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    }

    /// Notes a snapshot that failed.
    pub fn note_failure(&self) {
        self.failures.add(1);
    }

    /// Notes how many snapshots are damaged.
    pub fn note_damaged(&self, count: u64) {
        self.damaged.set(count);
    }

    /// When the last one was made, in Unix milliseconds; 0 if there is none.
    #[must_use]
    pub fn made_at_ms(&self) -> u64 {
        self.made_at_ms.get()
    }

    /// The size of the last one.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes.get()
    }

    /// How long the last one took; 0 if it was made before the start.
    #[must_use]
    pub fn took_ms(&self) -> u64 {
        self.took_ms.get()
    }

    /// How many failed since the start.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }

    /// How many of the newest ones are damaged.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged.get()
    }
}

/// How far back a partition's log reaches; one thread writes.
#[derive(Debug, Default)]
pub struct LogReach {
    first_sequence: Counter,
    oldest_at_ms: Counter,
}

impl LogReach {
    /// Notes the first event that the log still has, and its stamp.
    pub fn note(&self, first_sequence: u64, oldest_at_ms: u64) {
        self.first_sequence.set(first_sequence);
        self.oldest_at_ms.set(oldest_at_ms);
    }

    /// The first sequence; 0 if it is not known.
    #[must_use]
    pub fn first_sequence(&self) -> u64 {
        self.first_sequence.get()
    }

    /// The stamp of that event, in Unix milliseconds.
    #[must_use]
    pub fn oldest_at_ms(&self) -> u64 {
        self.oldest_at_ms.get()
    }
}

/// What a partition counts.
#[derive(Debug)]
pub struct PartitionMetrics {
    outcomes: Box<[Counter]>,
    operations: Counter,
    operations_locked: Counter,
    deadlines: Counter,
    deadline_lag_ms: Counter,
    sequence: Counter,
    inbox: Counter,
    outflow_lag: Counter,
    clock_ahead_ms: Counter,
    clock_behind_ms: Counter,
    clock_doubted_ms: Counter,
    /// Requests for which the engine could not decide.
    pub failures: Counter,
    /// How long the journal took to sync; written by the committer.
    pub syncs: Durations,
    /// How long commands waited from their decision until they were durable; written by the committer.
    pub commits: Durations,
    /// Bytes of log; written by the committer.
    pub log_bytes: Counter,
    /// Snapshots, where the engine makes any.
    pub snapshots: SnapshotMetrics,
    /// Operation ids in files, where the engine keeps some there.
    pub runs: RunMetrics,
    /// How far back the log reaches; written by what trims it.
    pub log_reach: LogReach,
    /// The last slow commands.
    pub slow_commands: SlowCommands,
}

impl Default for PartitionMetrics {
    fn default() -> Self {
        let counters = || (0..NUMBERS * Code::ALL.len()).map(|_| Counter::default());
        Self {
            outcomes: counters().collect(),
            operations: Counter::default(),
            operations_locked: Counter::default(),
            deadlines: Counter::default(),
            deadline_lag_ms: Counter::default(),
            sequence: Counter::default(),
            inbox: Counter::default(),
            outflow_lag: Counter::default(),
            clock_ahead_ms: Counter::default(),
            clock_behind_ms: Counter::default(),
            clock_doubted_ms: Counter::default(),
            failures: Counter::default(),
            syncs: Durations::default(),
            commits: Durations::default(),
            log_bytes: Counter::default(),
            snapshots: SnapshotMetrics::default(),
            runs: RunMetrics::default(),
            log_reach: LogReach::default(),
            slow_commands: SlowCommands::default(),
        }
    }
}

impl PartitionMetrics {
    /// Counts what a request was answered. Dry runs and sweeps are no operations.
    pub fn count(&self, request: &Request, code: Result<Code, &Failure>) {
        let number = match request {
            Request::Write(envelope) => return self.count_write(envelope, code),
            Request::Read(_, command) => command.spec().number,
            Request::DryRun(_) | Request::Expire(_) => return,
        };
        self.count_number(number, code);
    }

    /// Counts what a change was answered.
    pub fn count_write(&self, envelope: &Envelope, code: Result<Code, &Failure>) {
        let number = match &envelope.body {
            Body::Single(command) => command.spec().number,
            Body::Atomic(_) => 0,
        };
        self.count_number(number, code);
    }

    /// Counts a command of this number that was applied.
    #[inline]
    pub fn count_applied(&self, number: u16) {
        self.count_number(number, Ok(Code::Applied));
    }

    fn count_number(&self, number: u16, code: Result<Code, &Failure>) {
        let Ok(code) = code else { return self.failures.add(1) };
        if let Some(counter) = self.outcome_counter(number, code) {
            counter.add(1);
        }
    }

    fn outcome_counter(&self, number: u16, code: Code) -> Option<&Counter> {
        let place = usize::from(*CODE_PLACES.get(usize::from(code.number()))?);
        self.outcomes.get(usize::from(number) * Code::ALL.len() + place)
    }

    /// How often commands of this number (0 for atomic batches) ended with the code.
    #[must_use]
    pub fn outcomes(&self, number: u16, code: Code) -> u64 {
        self.outcome_counter(number, code).map_or(0, Counter::get)
    }

    /// Sets the levels, at the end of a turn of the owner.
    pub fn set_levels(&self, levels: Levels) {
        self.operations.set(levels.operations);
        self.operations_locked.set(levels.operations_locked);
        self.deadlines.set(levels.deadlines);
        self.deadline_lag_ms.set(levels.deadline_lag_ms);
        self.sequence.set(levels.sequence);
        self.inbox.set(levels.inbox);
        self.outflow_lag.set(levels.outflow_lag);
        self.clock_ahead_ms.set(levels.clock_ahead_ms);
        self.clock_behind_ms.set(levels.clock_behind_ms);
        self.clock_doubted_ms.set(levels.clock_doubted_ms);
    }

    /// The levels at the end of the owner's last turn.
    #[must_use]
    pub fn levels(&self) -> Levels {
        Levels {
            operations: self.operations.get(),
            operations_locked: self.operations_locked.get(),
            deadlines: self.deadlines.get(),
            deadline_lag_ms: self.deadline_lag_ms.get(),
            sequence: self.sequence.get(),
            inbox: self.inbox.get(),
            outflow_lag: self.outflow_lag.get(),
            clock_ahead_ms: self.clock_ahead_ms.get(),
            clock_behind_ms: self.clock_behind_ms.get(),
            clock_doubted_ms: self.clock_doubted_ms.get(),
        }
    }

    /// Notes a batch that became durable.
    pub fn note_commit(&self, bytes: u64) {
        self.log_bytes.add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_core::command::COMMANDS;

    #[test]
    fn every_command_and_code_has_a_counter_of_its_own() {
        assert!(Code::ALL.len() <= usize::from(u8::MAX));
        let metrics = PartitionMetrics::default();
        let mut count = 0;
        for number in std::iter::once(0).chain(COMMANDS.iter().map(|spec| spec.number)) {
            for code in Code::ALL {
                let counter = metrics.outcome_counter(number, *code).expect("a counter");
                assert_eq!(counter.get(), 0, "{number} {}", code.word());
                count += 1;
                counter.add(count);
            }
        }
        assert_eq!(metrics.outcomes(0, Code::ALL[0]), 1);
    }

    #[test]
    fn durations_fall_into_the_bucket_of_the_first_bound_that_holds_them() {
        let durations = Durations::default();
        durations.note(Duration::from_micros(50), 2);
        durations.note(Duration::from_secs(60), 1);
        let counts = durations.counts();
        assert_eq!((counts[0], counts[DURATION_BOUNDS.len()]), (2, 1));
        assert!((durations.sum_seconds() - 60.000_1).abs() < 1e-9);
    }
}
