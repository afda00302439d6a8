//! Atomic batches: all lines are applied, each seeing the effects of those before it, or none is.

use super::step::{OperationProgress, Step};
use super::{Context, Machine, decide};
use crate::codec::Wire;
use crate::command::Command;
use crate::event::{ENTRY_BYTES_MAX, OperationMark};
use crate::facts;
use crate::outcome::{Code, Facts, Outcome, Receipt, Refusal, Value};
use crate::packets::Prepared;
use crate::store::Reversible;

/// The maximum size of a batch's events and answers: they share one entry, whose size is bounded.
pub const BATCH_BYTES_MAX: usize = ENTRY_BYTES_MAX / 2;

impl Machine {
    pub(super) fn atomic(
        &mut self,
        commands: &[Command],
        operation: Option<OperationMark>,
        prepared: &[Prepared],
        log: &mut Vec<u8>,
    ) -> Receipt {
        self.events.clear();
        self.state.begin();
        match self.lines(commands, operation.as_ref(), prepared) {
            Ok(answers) => {
                self.state.commit();
                self.log_events(operation, false, Some(Outcome::applied(answers)), log)
            }
            Err((index, refusal)) => {
                self.state.rollback();
                let Outcome { code, facts } = *refusal.0;
                let facts = facts![index as u64, code.word(), facts.into_vec()];
                let remembered = commands.iter().any(|command| command.spec().remembers_refusals());
                self.refuse(Outcome { code: Code::BatchRefused, facts }, operation, remembered, log)
            }
        }
    }

    /// Decides and applies each line in order; returns the answer of each, or the first refusal and its
    /// line.
    pub(super) fn lines(
        &mut self,
        commands: &[Command],
        operation: Option<&OperationMark>,
        prepared: &[Prepared],
    ) -> Result<Facts, (usize, Refusal)> {
        self.state.settings.exchange_steps();
        let answers = self.each_line(commands, operation, prepared);
        self.state.settings.exchange_steps();
        answers
    }

    fn each_line(
        &mut self,
        commands: &[Command],
        operation: Option<&OperationMark>,
        prepared: &[Prepared],
    ) -> Result<Facts, (usize, Refusal)> {
        let mut prepared = prepared.iter();
        let mut answers = Facts::new();
        self.scratch.clear();
        for (index, command) in commands.iter().enumerate() {
            let prepared = if matches!(command, Command::PacketCreate(_)) { prepared.next() } else { None };
            let context = Context { now: self.now, operation: operation.map(|mark| &mark.id), prepared };
            let first = self.events.len();
            let step = decide::decide(&self.state, command, &context, &mut self.events)
                .map_err(|refusal| (index, refusal))?;
            self.evolve_from(first, operation);
            match step {
                Step::Done(facts) => answers.push(Value::List(Outcome::applied(facts).to_values())),
                Step::More(progress) => return Err((index, too_much(self.step_limit(&progress)))),
            }
            if self.bytes_with(first, answers.last()) > BATCH_BYTES_MAX {
                return Err((index, too_much(BATCH_BYTES_MAX)));
            }
        }
        Ok(answers)
    }

    /// The size of the batch in the log, with the line whose events begin at `first`.
    fn bytes_with(&mut self, first: usize, answer: Option<&Value>) -> usize {
        self.events[first..].iter().for_each(|event| event.put(&mut self.scratch));
        answer.into_iter().for_each(|answer| answer.put(&mut self.scratch));
        self.scratch.len()
    }

    fn step_limit(&self, progress: &OperationProgress) -> usize {
        match progress {
            OperationProgress::Packets { .. } => self.state.settings.packets_per_step_max,
            OperationProgress::Sweep(_) | OperationProgress::CancelAll { .. } => self.state.settings.step_max,
        }
    }
}

pub(super) fn too_much(limit: usize) -> Refusal {
    Refusal::new(Code::StepLimit, facts![limit as u64])
}
