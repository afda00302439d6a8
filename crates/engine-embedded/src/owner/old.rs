//! The ids that are not in memory: handed to the spiller once they are durable, let go once a run has them, and looked for before
//! a command that carries an id is decided.

use std::sync::Arc;

use scarce_core::command::plain::Plain;
use scarce_core::command::{Body, Command, Envelope};
use scarce_core::machine::Machine;
use scarce_core::operations::OldOperation;
use scarce_core::types::{OperationId, TimeMs, time_of};
use scarce_engine::engine::Failure;

use super::Owner;
use crate::error::explain;
use crate::keeper::Keeper;
use crate::runs::{FoundRuns, Run, RunError, SpillSettings, Spiller, SpillerEnd};
use crate::waker::OwnerWaker;
use crate::{EmbeddedError, EmbeddedSettings};

/// A new run holds this part of what stays in memory, and no more than so many.
const RUN_PART: usize = 8;
const RUN_RECORDS_MAX: usize = 1 << 19;

/// A merged run holds this part of what is remembered at most: so much is on disk beyond it until all of a run is forgotten.
const MERGED_PART: usize = 4;

/// How many times more may be in memory while none can leave, because a snapshot is being written or the disk fails; and how many
/// in any case.
const RESERVE_TIMES: usize = 2;
const RESERVE_MIN: usize = 100_000;

/// Whether the time of a ULID says in which runs it cannot be: when they were written, the setting may have been another one, and
/// a ULID from the future have been taken.
const ULID_TIMES: bool = false;

/// How many are handed over at a time, or let go, beside twice those that came since.
const PER_TURN: u64 = 1_024;

/// The ids that are not in memory, and those on their way.
pub(super) struct OldOperations {
    /// The oldest first.
    runs: Vec<Arc<Run>>,
    spiller: Option<SpillerEnd>,
    in_memory_max: usize,
    /// The number behind the last one that is in a run, and the one behind the last that was handed over.
    covered: u64,
    handed: u64,
    /// Those before this number were forgotten before they could be handed over, by what is durable with this sequence.
    skipped: Option<(u64, u64)>,
    /// The number that came next in the last turn.
    next: u64,
    lead_ms: u64,
    /// How often a run was read.
    reads: u64,
}

impl OldOperations {
    /// Begins with the runs that were found, and with what the keeper has.
    pub(super) fn start(
        keeper: &Keeper,
        settings: &EmbeddedSettings,
        waker: OwnerWaker,
        found: FoundRuns,
        machine: &Machine,
    ) -> Result<Self, EmbeddedError> {
        let (in_memory_max, state) = (settings.operations_in_memory_max, &keeper.settings);
        let run_records = (in_memory_max / RUN_PART).clamp(1, RUN_RECORDS_MAX);
        let merged = (state.operations_max / MERGED_PART).max(run_records);
        let (runs, covered) = (found.runs.clone(), found.end());
        let spiller = Spiller {
            home: keeper.home.clone(),
            settings: SpillSettings { run_records: run_records as u64, merged_records_max: merged as u64 },
            log: keeper.log.clone(),
            receipts: keeper.receipts.clone(),
            progress: keeper.progress.clone(),
            floor: keeper.run_floor.clone(),
            waker,
            found,
        };
        let numbers = machine.state().operations.numbers();
        Ok(Self {
            runs,
            spiller: Some(spiller.start()?),
            in_memory_max,
            covered,
            handed: covered.max(if covered == 0 { numbers.in_memory } else { 0 }),
            skipped: None,
            next: numbers.next,
            lead_ms: state.id_lead_ms_max(),
            reads: 0,
        })
    }

    /// Ends the thread.
    pub(super) fn stop(&mut self) {
        self.spiller = None;
    }

    /// Whether no more ids can be taken until some have left memory.
    pub(super) const fn is_overrun(&self, in_memory: usize) -> bool {
        let reserve = self.in_memory_max.saturating_mul(RESERVE_TIMES).saturating_add(RESERVE_MIN);
        in_memory >= self.in_memory_max.saturating_add(reserve)
    }

    /// How often a run was read since the start.
    pub(super) const fn reads(&self) -> u64 {
        self.reads
    }

    /// Whether a key may be in a run.
    fn may_have(&self, key: [u64; 2], made_at: Option<TimeMs>) -> bool {
        self.runs.iter().any(|run| run.may_have(key, made_at, self.lead_ms))
    }

    /// The latest record of a key.
    fn find(&mut self, key: [u64; 2], made_at: Option<TimeMs>) -> Result<Option<OldOperation>, RunError> {
        for run in self.runs.iter().rev().filter(|run| run.may_have(key, made_at, self.lead_ms)) {
            self.reads += 1;
            let found = run.find(key)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Takes the list of runs, if there is a newer one.
    fn take_finished(&mut self) {
        let Some(runs) = self.spiller.as_ref().and_then(SpillerEnd::take_finished) else { return };
        self.covered = runs.last().map_or(self.covered, |last| last.end());
        self.runs = runs;
    }
}

impl Owner {
    /// Hands over what is old and durable, and lets go what is in a run.
    pub(crate) fn tend_old(&mut self) {
        let numbers = self.machine.state().operations.numbers();
        let count = PER_TURN + 2 * (numbers.next - std::mem::replace(&mut self.old.next, numbers.next));
        self.old.take_finished();
        if numbers.in_memory < self.old.covered {
            self.machine.let_go(self.old.covered, usize::try_from(count).unwrap_or(usize::MAX));
        }
        if self.old.in_memory_max as u64 + self.old.handed < numbers.next {
            self.hand_over_old(count);
        }
    }

    fn hand_over_old(&mut self, count: u64) {
        let (numbers, durable) =
            (self.machine.state().operations.numbers(), self.committer.progress.sequence());
        let sequence = self.machine.sequence();
        let old = &mut self.old;
        if old.handed < numbers.in_memory {
            // They may be forgotten by what a crash takes back: until it is durable, a run must not count as having them.
            let (before, rests_on) = *old.skipped.get_or_insert((numbers.in_memory, sequence));
            if durable < rests_on {
                return;
            }
            (old.handed, old.skipped) = (before, None);
            if old.handed < numbers.in_memory {
                return;
            }
        }
        let Some(spiller) = old.spiller.as_ref().filter(|spiller| spiller.has_room()) else { return };
        let surplus = numbers.next.saturating_sub(old.handed + old.in_memory_max as u64);
        let operations = &self.machine.state().operations;
        let batch: Vec<_> = operations
            .from_number(old.handed)
            .take(usize::try_from(count.min(surplus)).unwrap_or(usize::MAX))
            .take_while(|old| old.sequence_last <= durable)
            .collect();
        let handed = batch.last().map_or(old.handed, |last| last.number + 1);
        if !batch.is_empty() && spiller.hand_over(batch) {
            old.handed = handed;
        }
    }

    /// Whether there are ids in memory that a run has.
    pub(super) fn has_old_to_let_go(&self) -> bool {
        let numbers = self.machine.state().operations.numbers();
        numbers.in_memory < self.old.covered.min(numbers.next) && !self.slices.is_giving()
    }

    /// Gives the machine what is on disk under the id of a command.
    pub(super) fn recall_old_of(&mut self, envelope: &Envelope) -> Result<(), Failure> {
        let id = match &envelope.body {
            Body::Single(Command::OperationResolve(resolve)) => Some(&resolve.operation),
            _ => envelope.common.operation.as_ref(),
        };
        match id {
            Some(id) => self.recall_old(&envelope.namespace, id),
            None => Ok(()),
        }
    }

    pub(super) fn recall_old(&mut self, namespace: &str, id: &OperationId) -> Result<(), Failure> {
        if self.old.runs.is_empty() {
            return Ok(());
        }
        let key = self.machine.state().operations.key_of(namespace, id);
        match self.old.find(key, id.time_ms(ULID_TIMES)) {
            Ok(found) => {
                self.machine.recall_old(found);
                Ok(())
            }
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// A run cannot be read: told to every caller whose id it may have, and once in the log.
    fn unreadable(&self, error: &RunError) -> Failure {
        let (runs, reason) = (&self.committer.progress.metrics().runs, explain(error));
        if !runs.is_failing() {
            tracing::error!(
                partition = self.machine.partition(),
                reason,
                "an operation id cannot be looked up"
            );
        }
        runs.note_damaged();
        Failure::Unavailable { reason }
    }

    /// Whether the id of a request may be on disk.
    pub(super) fn may_be_old(&self, plain: &Plain<'_>) -> bool {
        let Some(id) = plain.operation().filter(|_| !self.old.runs.is_empty()) else { return false };
        let key = self.machine.state().operations.key_of_bytes("", id);
        self.old.may_have(key, time_of(id, ULID_TIMES))
    }
}
