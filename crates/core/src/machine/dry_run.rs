//! Dry runs: the answer that a command would get. Nothing is changed, logged or stored.

use super::atomic::too_much;
use super::step::{OperationProgress, Step};
use super::{Context, Machine, MachineAnswer, decide};
use crate::command::{Body, Command, Envelope};
use crate::event::OperationMark;
use crate::facts;
use crate::outcome::{Code, Facts, Outcome, Refusal, Value};
use crate::store::Reversible;
use crate::types::TimeMs;

/// How many orders the steps of one dry run may touch. The steps cannot be divided, because what changed in between would be
/// foretold, too. So nothing else of the partition is served until they are done.
pub const FORETOLD_MAX: usize = 2_048;

impl Machine {
    /// Returns the answer that an envelope would get at `clock`. The answer leaves out the contents of
    /// packets that nobody has claimed yet and the seeds of open campaigns: nobody may see them before
    /// claiming.
    ///
    /// `log` receives the further steps of an interrupted operation, as in [`Machine::submit`].
    pub fn dry_run(&mut self, envelope: &Envelope, clock: TimeMs, log: &mut Vec<u8>) -> MachineAnswer {
        let before = self.now;
        self.stamp(clock);
        self.finish(log);
        let answer = self.foretold(envelope);
        self.events.clear();
        // A dry run leaves no stamp behind.
        self.now = before.max(self.state.at);
        answer
    }

    fn foretold(&mut self, envelope: &Envelope) -> MachineAnswer {
        if let Body::Single(Command::OperationResolve(resolve)) = &envelope.body {
            return self
                .resolution(&envelope.namespace, resolve)
                .unwrap_or_else(|outcome| self.receipt(outcome));
        }
        let fingerprint = match &envelope.common.operation {
            Some(_) => envelope.fingerprint(&mut self.scratch),
            None => 0,
        };
        if let Some(answer) = self.seek(envelope).and_then(|sought| self.known(envelope, sought, fingerprint))
        {
            return answer;
        }
        if let Err(refusal) = self.admit(envelope) {
            return self.receipt(*refusal.0);
        }
        self.state.begin();
        self.end_due_unlogged(envelope.commands());
        let outcome = match &envelope.body {
            Body::Single(command) => self.single_foretold(command, envelope),
            Body::Atomic(commands) => self.atomic_foretold(commands, envelope),
        };
        self.state.rollback();
        self.receipt(outcome)
    }

    fn receipt(&self, outcome: Outcome) -> MachineAnswer {
        MachineAnswer::Receipt(self.unlogged(outcome))
    }

    /// Ends the passed deadlines of the resources that the commands touch, without a log entry.
    pub(super) fn end_due_unlogged(&mut self, commands: &[Command]) {
        for (kind, slot) in self.touched(commands) {
            for record in self.due_of(kind, slot) {
                self.events.clear();
                self.end(kind, slot, &record);
            }
        }
        self.events.clear();
    }

    fn single_foretold(&mut self, command: &Command, envelope: &Envelope) -> Outcome {
        let (operation, prepared) = (envelope.common.operation.as_ref(), envelope.prepared.first());
        let context = Context { now: self.now, operation, prepared };
        match decide::decide(&self.state, command, &context, &mut self.events) {
            Ok(step) => match self.foretell_steps(step) {
                Ok(mut facts) => {
                    hide_figures(command, &mut facts);
                    Outcome::applied(facts)
                }
                Err(refusal) => *refusal.0,
            },
            Err(refusal) => *refusal.0,
        }
    }

    /// Applies a decided step and all further ones; returns the values of the last, or the refusal where they are too many.
    fn foretell_steps(&mut self, mut step: Step) -> Result<Facts, Refusal> {
        let mut so_far: Option<OperationProgress> = None;
        let mut touched = 0_usize;
        loop {
            self.evolve_from(0, None);
            self.events.clear();
            let progress = match step {
                Step::Done(facts) => return Ok(facts),
                Step::More(progress) => progress.join(so_far.take()),
            };
            // The packets of a campaign are known from its words, and bounded with them.
            if !matches!(progress, OperationProgress::Packets { .. }) {
                touched = touched.saturating_add(self.state.settings.step_max.max(1));
                if touched >= FORETOLD_MAX {
                    return Err(too_much(FORETOLD_MAX));
                }
            }
            step = decide::go_on(&self.state, &progress, self.now, &mut self.events);
            so_far = Some(progress);
        }
    }

    fn atomic_foretold(&mut self, commands: &[Command], envelope: &Envelope) -> Outcome {
        let operation = envelope.common.operation.as_ref().map(|id| OperationMark {
            namespace: envelope.namespace.clone(),
            id: id.clone(),
            fingerprint: 0,
        });
        match self.lines(commands, operation.as_ref(), &envelope.prepared) {
            Ok(mut answers) => {
                for (command, answer) in commands.iter().zip(&mut answers) {
                    hide_line(command, answer);
                }
                Outcome::applied(answers)
            }
            Err((index, Refusal(refused))) => {
                let Outcome { code, mut facts } = *refused;
                if code == Code::AlreadyClaimed {
                    // An earlier line of this batch may have drawn the packet.
                    facts.fill(Value::Absent);
                }
                let facts = facts![index as u64, code.word(), facts.into_vec()];
                Outcome { code: Code::BatchRefused, facts }
            }
        }
    }
}

/// Blanks the values that the table hides from dry runs: a packet's contents, and what closing a campaign
/// reveals.
fn hide_figures(command: &Command, facts: &mut [Value]) {
    for (value, spec) in facts.iter_mut().zip(command.spec().reply) {
        if spec.value_type.is_hidden {
            *value = Value::Absent;
        }
    }
}

/// The same for a line of a batch, which begins with 1 for applied.
fn hide_line(command: &Command, answer: &mut Value) {
    if let Value::List(values) = answer
        && let Some(figures) = values.get_mut(1..)
    {
        hide_figures(command, figures);
    }
}
