//! How changes are decided, and when that is refused beforehand.

use std::time::Instant;

use scarce_core::command::plain::Plain;
use scarce_core::command::{Body, Command, Envelope};
use scarce_core::machine::MachineAnswer;
use scarce_core::outcome::{Durability, Receipt, overload};
use scarce_engine::engine::Failure;

use super::{Owner, wants_replicas};

impl Owner {
    /// Decides a change, unless anything stands against it, and gives its receipt to `take` with the batch that must be
    /// durable before it may leave. False if [`Owner::serve`] must be asked instead; then nothing was done.
    pub fn decide(&mut self, envelope: &Envelope, take: &mut dyn FnMut(&Receipt, u64)) -> bool {
        if wants_replicas(envelope)
            || self.memory.check_ready().is_err()
            || self.check_room(leaves_id(envelope)).is_err()
            || self.recall_old_of(envelope).is_err()
        {
            return false;
        }
        let MachineAnswer::Receipt(mut receipt) = self.submit(envelope) else { return false };
        self.note_decided();
        receipt.durability = Durability::Synced;
        self.committer.progress.metrics().count_write(envelope, Ok(receipt.outcome.code));
        take(&receipt, self.gate());
        true
    }

    /// Decides a request of the commonest form, unless anything stands against it. Returns the numbers of its answer, and
    /// the batch that must be durable before that may leave. None if [`Owner::decide`] must be asked instead; then nothing
    /// was done.
    pub fn decide_plain(&mut self, plain: &Plain<'_>) -> Option<([i64; 2], u64)> {
        let has_room = self.check_room(plain.operation().is_some()).is_ok();
        if !has_room || self.memory.check_ready().is_err() || self.may_be_old(plain) {
            return None;
        }
        let now = self.time();
        self.begin_batch();
        let numbers = self.machine.submit_plain(plain, now, &mut self.open)?;
        self.note_decided();
        self.committer.progress.metrics().count_applied(plain.number());
        Some((numbers, self.gate()))
    }

    pub(super) fn write(&mut self, envelope: &Envelope) -> Result<Receipt, Failure> {
        self.check_room(leaves_id(envelope))?;
        let now = self.time();
        self.recall_old_of(envelope)?;
        if !self.has_memory(envelope, now) {
            return Err(Failure::Overloaded { queue: overload::MEMORY });
        }
        let answer = self.submit(envelope);
        self.note_decided();
        match answer {
            MachineAnswer::Receipt(receipt) => Ok(receipt),
            MachineAnswer::Replay(replay) => self.read_back(replay),
        }
    }

    #[inline]
    fn submit(&mut self, envelope: &Envelope) -> MachineAnswer {
        let now = self.time();
        self.begin_batch();
        self.machine.submit(envelope, now, &mut self.open)
    }

    /// Counts a command among those that wait for the open batch.
    fn note_decided(&mut self) {
        if !self.open.is_empty() {
            self.open_begun.get_or_insert_with(Instant::now);
            self.open_commands += 1;
        }
    }

    /// Nothing is logged, but what was decided before and is not durable yet is seen, so the answer waits
    /// for that as any other does.
    pub(super) fn dry_run(&mut self, envelope: &Envelope) -> Result<Receipt, Failure> {
        self.committer.progress.check_changing()?;
        let now = self.time();
        self.recall_old_of(envelope)?;
        self.begin_batch();
        match self.machine.dry_run(envelope, now, &mut self.open) {
            MachineAnswer::Receipt(receipt) => Ok(receipt),
            MachineAnswer::Replay(replay) => self.read_back(replay),
        }
    }
}

/// Whether an operation id is remembered once a change is applied: that of `OPERATION.RESOLVE` too.
const fn leaves_id(envelope: &Envelope) -> bool {
    matches!(envelope.body, Body::Single(Command::OperationResolve(_))) || envelope.common.operation.is_some()
}
