//! The machine: takes envelopes in order, gives each one answer and logs what changed.

mod atomic;
#[cfg(test)]
pub(crate) mod bench;
mod clock;
#[cfg(test)]
mod clock_tests;
mod decide;
mod dry_run;
mod due;
mod effect;
mod plain;
#[cfg(test)]
mod plain_tests;
mod preparing;
mod query;
pub mod regroup;
#[cfg(test)]
mod regroup_tests;
mod replay;
mod rows;
mod scan;
mod slices;
mod snapshot;
pub mod step;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod work_tests;

use crate::codec::Wire;
use crate::command::{Body, Command, Envelope};
use crate::draft::Draft;
use crate::event::{
    Entry, EntryHead, Event, Histories, OperationEvent, OperationMark, OperationRefused, OperationUnchanged,
    Position,
};
use crate::facts;
use crate::operations::{Encoded, OldOperation, Sought};
use crate::outcome::codes::Kind;
use crate::outcome::{Code, Durability, Outcome, Receipt, Refusal, overload};
use crate::packets::{self, Prepared};
use crate::state::{FORGOTTEN_PER_EVENT_MAX, Origin, State, StateSettings};
use crate::types::TimeMs;

pub use atomic::BATCH_BYTES_MAX;
pub use clock::ClockChange;
pub use decide::Context;
pub use dry_run::FORETOLD_MAX;
pub use due::ENDED_PER_ENTRY;
pub use query::digest_outcome;
pub use replay::{Asked, Replay};
pub use rows::{Moment, StateRow, TakeRow};
pub use scan::Outline;
pub use slices::Slices;
use step::{OperationProgress, Step, Unfinished};

/// The answer to an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineAnswer {
    /// The receipt.
    Receipt(Receipt),
    /// The first receipt again; it is large, and is in the log in the entry that ends at this sequence.
    Replay(Replay),
}

/// A partition's state and its position in the log.
#[derive(Debug)]
pub struct Machine {
    state: State,
    partition: u32,
    epoch: u64,
    /// Which epochs wrote the log, this one too.
    histories: Histories,
    sequence: u64,
    now: TimeMs,
    events: Vec<Event>,
    scratch: Vec<u8>,
    /// The entry of a command that is decided in the plain way.
    draft: Draft,
    /// Where the id of the operation was looked up that is being decided.
    sought: Option<Sought>,
    /// Whether nothing is decided in a plain way, for tests that compare both ways.
    #[cfg(test)]
    pub(crate) is_general: bool,
}

impl Machine {
    /// An empty partition.
    #[must_use]
    pub fn new(settings: StateSettings, partition: u32) -> Self {
        Self::with_state(State::new(settings), partition, 1, 0)
    }

    /// A partition with a state from another store.
    #[must_use]
    pub fn with_state(state: State, partition: u32, epoch: u64, sequence: u64) -> Self {
        let (now, mut histories) = (state.at, Histories::default());
        histories.note(Position { epoch, sequence: sequence.saturating_add(1) });
        let (events, scratch, draft) = (Vec::new(), Vec::new(), Draft::default());
        Self {
            state,
            partition,
            epoch,
            histories,
            sequence,
            now,
            events,
            scratch,
            draft,
            sought: None,
            #[cfg(test)]
            is_general: false,
        }
    }

    /// The state without its machine.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }

    /// The state, for reading.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The partition's number.
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.partition
    }

    /// The epoch of the partition's leadership.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Starts a new epoch. Epochs never decrease: a lower one changes nothing.
    pub fn set_epoch(&mut self, epoch: u64) {
        self.epoch = self.epoch.max(epoch);
        self.histories.note(Position { epoch: self.epoch, sequence: self.sequence.saturating_add(1) });
    }

    /// Which epochs wrote the log, and where each began; the last one may have no event yet.
    #[must_use]
    pub fn histories(&self) -> &Histories {
        &self.histories
    }

    /// The sequence of the last event.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The last stamp.
    #[must_use]
    pub fn now(&self) -> TimeMs {
        self.now
    }

    /// Decides an envelope at `clock`, applies its changes and appends them to `log`.
    pub fn submit(&mut self, envelope: &Envelope, clock: TimeMs, log: &mut Vec<u8>) -> MachineAnswer {
        if let Some(epoch) = envelope.epoch.filter(|epoch| *epoch != self.epoch) {
            return MachineAnswer::Receipt(self.unlogged(other_epoch(self.epoch, epoch)));
        }
        self.stamp(clock);
        self.finish(log);
        let fingerprint = match &envelope.common.operation {
            Some(_) => envelope.fingerprint(&mut self.scratch),
            None => 0,
        };
        if let Body::Single(Command::OperationResolve(resolve)) = &envelope.body {
            return self.resolve(&envelope.namespace, resolve, log);
        }
        let sought = self.seek(envelope);
        if let Some(answer) = sought.and_then(|sought| self.known(envelope, sought, fingerprint)) {
            return answer;
        }
        if let Err(refusal) = self.admit(envelope) {
            return MachineAnswer::Receipt(self.unlogged(*refusal.0));
        }
        self.end_due_of(envelope.commands(), log);
        if let Body::Single(command) = &envelope.body {
            let operation = envelope.common.operation.as_ref();
            let operation = operation.map(|id| (envelope.namespace.as_str(), id, fingerprint));
            if let Some(receipt) = self.submit_order(command, operation, sought, log) {
                return MachineAnswer::Receipt(receipt);
            }
        }
        let operation = envelope.common.operation.as_ref().map(|id| OperationMark {
            namespace: envelope.namespace.clone(),
            id: id.clone(),
            fingerprint,
        });
        self.sought = sought;
        let receipt = match &envelope.body {
            Body::Single(command) => self.single(command, operation, envelope.prepared.first(), log),
            Body::Atomic(commands) => self.atomic(commands, operation, &envelope.prepared, log),
        };
        self.sought = None;
        MachineAnswer::Receipt(receipt)
    }

    /// Whether the next entry at `clock` would drop remembered operations or ended records: their time is over.
    #[must_use]
    pub fn can_forget(&self, clock: TimeMs) -> bool {
        let state = &self.state;
        let now = state.settled(clock.max(self.now));
        let ended_at = now.checked_sub(state.settings.retention_ms);
        state.operations.has_overdue(&state.settings, now)
            || ended_at.is_some_and(|ended_at| state.ended.first().is_some_and(|first| first <= ended_at))
    }

    /// Takes what is kept outside of memory under the id of the next command: [`OldOperation`] or nothing.
    pub fn recall_old(&mut self, found: Option<OldOperation>) {
        self.state.operations.recall(found);
    }

    /// Lets remembered operations leave memory; see [`Operations::let_go`](crate::operations::Operations::let_go).
    pub fn let_go(&mut self, before: u64, count_max: usize) -> usize {
        self.state.operations.let_go(before, count_max)
    }

    /// Takes all remembered operations that left memory back, which `outside` gives in the order of their numbers.
    ///
    /// # Errors
    /// Those of `outside`.
    pub fn take_back<E>(
        &mut self,
        outside: impl FnOnce(&mut dyn FnMut(&OldOperation)) -> Result<(), E>,
    ) -> Result<(), E> {
        self.state.operations.take_back(outside)
    }

    /// Finishes an operation that was interrupted between two steps, and prepares what packets are missing of campaigns
    /// that were created.
    pub fn finish(&mut self, log: &mut Vec<u8>) {
        if self.state.unfinished.is_some() {
            self.go_on(log);
        }
        if self.state.campaigns.lacks_packets() {
            self.prepare_missing(log);
        }
    }

    /// Folds an entry of the log into the state.
    pub fn apply(&mut self, entry: &Entry) {
        for event in &entry.events {
            self.state.evolve(event, Origin::of(entry.head.at, entry.head.operation.as_ref()));
        }
        self.epoch = self.epoch.max(entry.head.epoch);
        self.histories.note(Position { epoch: self.epoch, sequence: entry.head.sequence_first });
        self.sequence = entry.sequence_last();
        self.now = if clock::is_move(&entry.events) { entry.head.at } else { self.now.max(entry.head.at) };
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        entry.outcome.iter().for_each(|outcome| outcome.put(&mut bytes));
        let outcome = entry.outcome.as_ref().map(|outcome| Encoded::new(outcome, &bytes));
        self.settle(&entry.head, outcome, &entry.events);
        self.scratch = bytes;
    }

    /// Answers a command that only reads.
    #[must_use]
    pub fn query(&self, namespace: &str, command: &Command, clock: TimeMs) -> MachineAnswer {
        match query::answer(self, namespace, command, clock.max(self.now)) {
            Ok(outcome) => MachineAnswer::Receipt(self.unlogged(outcome)),
            Err(replay) => MachineAnswer::Replay(replay),
        }
    }

    fn stamp(&mut self, clock: TimeMs) {
        self.now = self.now.max(clock);
    }

    /// The checks that all commands share.
    fn admit(&self, envelope: &Envelope) -> Result<(), Refusal> {
        if envelope.commands().is_empty() {
            return Err(Refusal::invalid("batch", "has no lines"));
        }
        if let Some(id) = &envelope.common.operation {
            self.check_age(id, envelope.issued_at, self.now)?;
        }
        if let Some(deadline) = envelope.common.deadline.filter(|deadline| self.now >= *deadline) {
            return Err(Refusal::new(Code::DeadlinePassed, facts![deadline, self.now]));
        }
        let operations = &self.state.operations;
        let wait_ms = envelope
            .common
            .operation
            .as_ref()
            .and_then(|_| operations.wait_ms(&self.state.settings, self.settled_now()));
        match wait_ms {
            Some(wait_ms) => Err(Refusal::new(Code::Overloaded, facts![overload::OPERATIONS, wait_ms])),
            None => Ok(()),
        }
    }

    fn single(
        &mut self,
        command: &Command,
        operation: Option<OperationMark>,
        prepared: Option<&Prepared>,
        log: &mut Vec<u8>,
    ) -> Receipt {
        self.events.clear();
        let context = Context { now: self.now, operation: operation.as_ref().map(|mark| &mark.id), prepared };
        match decide::decide(&self.state, command, &context, &mut self.events) {
            Ok(step) => {
                let is_finished = matches!(step, Step::Done(_));
                debug_assert!(is_finished || command.spec().takes_several_steps(), "the table says one step");
                self.carry_out(step, operation, log)
            }
            Err(refusal) => self.refuse(*refusal.0, operation, command.spec().remembers_refusals(), log),
        }
    }

    /// Applies the decided events of a first step, and takes the further steps.
    fn carry_out(&mut self, step: Step, operation: Option<OperationMark>, log: &mut Vec<u8>) -> Receipt {
        self.evolve_from(0, operation.as_ref());
        match step {
            Step::Done(facts) => self.log_events(operation, false, Some(Outcome::applied(facts)), log),
            // The campaign is created with this entry. Its further packets belong to no operation, because other commands may come
            // between them.
            Step::More(OperationProgress::Packets { campaign }) => {
                let answer = packets::answer_of(&self.state, &campaign);
                let receipt = self.log_events(operation, false, Some(Outcome::applied(answer)), log);
                self.prepare_packets(&campaign, log);
                receipt
            }
            Step::More(progress) => {
                self.log_step(operation, progress, log);
                self.go_on(log)
            }
        }
    }

    /// Takes the remaining steps of the unfinished operation.
    fn go_on(&mut self, log: &mut Vec<u8>) -> Receipt {
        loop {
            let Some(unfinished) = &self.state.unfinished else {
                return self
                    .unlogged(Outcome { code: Code::Unavailable, facts: facts!["no step to continue"] });
            };
            let Unfinished { at, sequence_first, .. } = *unfinished;
            let operation = unfinished.operation.clone();
            let later = std::mem::replace(&mut self.now, at);
            self.events.clear();
            let step = decide::go_on(&self.state, &unfinished.progress, at, &mut self.events);
            self.evolve_from(0, operation.as_ref());
            match step {
                Step::More(progress) => {
                    self.log_step(operation, progress, log);
                    self.now = later;
                }
                Step::Done(facts) => {
                    let receipt = self.log_events(operation, false, Some(Outcome::applied(facts)), log);
                    self.now = later;
                    return Receipt { sequence_first, ..receipt };
                }
            }
        }
    }

    fn log_step(&mut self, operation: Option<OperationMark>, progress: OperationProgress, log: &mut Vec<u8>) {
        self.events.push(crate::event::OperationStepped { progress }.into());
        self.log_events(operation, true, None, log);
    }

    fn refuse(
        &mut self,
        outcome: Outcome,
        operation: Option<OperationMark>,
        remembered: bool,
        log: &mut Vec<u8>,
    ) -> Receipt {
        self.events.clear();
        if operation.is_none() || !remembered || outcome.code.kind() != Kind::Refusal {
            return self.unlogged(outcome);
        }
        self.events.push(OperationRefused {}.into());
        self.log_events(operation, false, Some(outcome), log)
    }

    /// Applies the events from index `first` on.
    fn evolve_from(&mut self, first: usize, operation: Option<&OperationMark>) {
        for event in &self.events[first..] {
            self.state.evolve(event, Origin::of(self.now, operation));
        }
    }

    /// Logs events that are applied already, and settles the rest of the entry.
    fn log_events(
        &mut self,
        operation: Option<OperationMark>,
        more: bool,
        outcome: Option<Outcome>,
        log: &mut Vec<u8>,
    ) -> Receipt {
        if self.events.is_empty() && operation.is_some() {
            self.events.push(OperationUnchanged {}.into());
        }
        let sequence_before = self.sequence;
        self.sequence += self.events.len() as u64;
        // Taken out, so that no event can be logged twice.
        let mut events = std::mem::take(&mut self.events);
        let any = !events.is_empty();
        if any {
            let kept = outcome.as_ref().filter(|_| operation.is_some());
            let head = EntryHead {
                epoch: self.epoch,
                sequence_first: sequence_before + 1,
                at: self.now,
                operation,
                more,
            };
            let bytes = Entry::write(log, &head, kept, &events);
            self.settle(&head, kept.map(|outcome| Encoded::new(outcome, &log[bytes])), &events);
        }
        events.clear();
        self.events = events;
        Receipt {
            outcome: outcome.unwrap_or_else(|| Outcome::applied(facts![])),
            partition: self.partition,
            epoch: self.epoch,
            sequence_first: if any { sequence_before + 1 } else { sequence_before },
            sequence_last: self.sequence,
            at: self.now,
            replayed: false,
            durability: Durability::Memory,
        }
    }

    /// What an entry changes besides its events: the stored operations, the unfinished operation, and the
    /// records that are dropped by time.
    fn settle(&mut self, head: &EntryHead, outcome: Option<Encoded<'_>>, events: &[Event]) {
        let state = &mut self.state;
        state.at = head.at;
        if let (Some(operation), Some(outcome)) = (&head.operation, outcome) {
            let last = head.sequence_first + events.len() as u64 - 1;
            let first = state.unfinished.as_ref().map_or(head.sequence_first, |begun| begun.sequence_first);
            let count = u32::try_from(last + 1 - first).unwrap_or(u32::MAX);
            state.operations.remember(operation, self.sought.take(), outcome, head, (last, count));
            let settled = state.settled(head.at);
            state.operations.forget(&state.settings, settled, FORGOTTEN_PER_EVENT_MAX);
        }
        let before = if state.unfinished.is_some() { state.unfinished.take() } else { None };
        if let Some(Event::Operation(OperationEvent::OperationStepped(stepped))) = events.last() {
            let sequence_first = before.as_ref().map_or(head.sequence_first, |before| before.sequence_first);
            state.unfinished = Some(Unfinished {
                at: head.at,
                operation: head.operation.clone(),
                sequence_first,
                progress: stepped.progress.clone().join(before.map(|before| before.progress)),
            });
        }
        state.forget(head.at, events.len());
    }

    fn unlogged(&self, outcome: Outcome) -> Receipt {
        Receipt {
            outcome,
            partition: self.partition,
            epoch: self.epoch,
            sequence_first: self.sequence,
            sequence_last: self.sequence,
            at: self.now,
            replayed: false,
            durability: Durability::Memory,
        }
    }
}

/// The failure of a request that may only be decided in another epoch.
fn other_epoch(found: u64, wanted: u64) -> Outcome {
    let reason = format!(
        "the partition is in epoch {found}, and the request rests on epoch {wanted}: what it rests on may be lost, so nothing \
         was changed; compare with the log again"
    );
    Outcome { code: Code::Unavailable, facts: facts![reason.as_str()] }
}
