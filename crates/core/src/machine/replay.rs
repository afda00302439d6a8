//! One id, one answer: what duplicates of an operation and queries about it receive.

use super::{Machine, MachineAnswer, query};
use crate::command::table::OperationResolve;
use crate::command::{Body, Command, Envelope};
use crate::event::{Entry, OperationMark, OperationResolved};
use crate::facts;
use crate::operations::{Answered, Known, Sought};
use crate::outcome::{Code, Durability, Outcome, Receipt, Refusal, Value, overload};
use crate::types::{OperationId, TimeMs};

/// The location of a first receipt in the log, and what to make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The first event of the operation.
    pub sequence_first: u64,
    /// The last event of the operation; the entry that ends with it contains the outcome.
    pub sequence_last: u64,
    /// The command that requested it.
    pub asked: Asked,
}

/// The command that requests a stored outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A duplicate of the operation itself.
    ByCopy,
    /// `OPERATION.RESOLVE`.
    ByResolve,
    /// `OPERATION.GET`.
    ByLookup,
}

/// What an id's time says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// It would be known if it had been used; also if it carries no time.
    Known,
    /// It is from the future.
    Ahead,
    /// It may have been used and forgotten.
    Over { horizon: TimeMs },
}

impl Replay {
    pub(super) fn of(known: &Known, asked: Asked) -> Self {
        Self { sequence_first: known.sequence_first, sequence_last: known.sequence_last, asked }
    }
}

impl Machine {
    /// The receipt from a log entry, in the form that the requesting command needs.
    #[must_use]
    pub fn replayed(&self, replay: Replay, entry: &Entry) -> Receipt {
        let first = entry.outcome.clone().unwrap_or_else(|| Outcome::applied(facts![]));
        let id = entry.head.operation.as_ref().map_or("", |mark| mark.id.as_str());
        match replay.asked {
            Asked::ByResolve => self.unlogged(resolved(&first)),
            Asked::ByLookup => {
                self.unlogged(query::operation_found(id, replay.sequence_last, entry.head.at, &first))
            }
            Asked::ByCopy => Receipt {
                outcome: first,
                partition: self.partition,
                epoch: entry.head.epoch,
                sequence_first: replay.sequence_first,
                sequence_last: replay.sequence_last,
                at: entry.head.at,
                replayed: true,
                durability: Durability::Memory,
            },
        }
    }

    /// The answer to an envelope whose id is known by `clock`, and the sequence of the event that it rests on;
    /// `None` if it would have to be decided. For engines that can decide nothing at the moment: a duplicate
    /// still learns what became of the first one.
    pub fn recall(&mut self, envelope: &Envelope, clock: TimeMs) -> Option<(MachineAnswer, u64)> {
        let before = self.now;
        self.stamp(clock);
        let resolve = match &envelope.body {
            Body::Single(Command::OperationResolve(resolve)) => Some(resolve),
            _ => None,
        };
        let id = resolve.map(|resolve| &resolve.operation).or(envelope.common.operation.as_ref());
        let settings = &self.state.settings;
        let known = id
            .and_then(|id| self.state.operations.find(&envelope.namespace, id, settings, self.settled_now()));
        let rests_on = known.map(|known| known.sequence_last);
        let answer = rests_on.and_then(|_| match resolve {
            Some(resolve) => self.resolution(&envelope.namespace, resolve).ok(),
            None => {
                let fingerprint = envelope.fingerprint(&mut self.scratch);
                self.seek(envelope).and_then(|sought| self.known(envelope, sought, fingerprint))
            }
        });
        // Nothing was decided, so nothing is stamped.
        self.now = before;
        answer.zip(rests_on)
    }

    /// Looks the envelope's id up.
    pub(super) fn seek(&self, envelope: &Envelope) -> Option<Sought> {
        let id = envelope.common.operation.as_ref()?;
        Some(self.state.operations.seek(&envelope.namespace, id.as_str().as_bytes()))
    }

    /// The answer to an operation whose id is known.
    pub(super) fn known(
        &self,
        envelope: &Envelope,
        sought: Sought,
        fingerprint: u64,
    ) -> Option<MachineAnswer> {
        let id = envelope.common.operation.as_ref()?;
        let known = self.state.operations.known(sought, &self.state.settings, self.settled_now())?;
        let refused =
            |code| MachineAnswer::Receipt(self.unlogged(Outcome { code, facts: facts![id.as_str()] }));
        Some(match known.answered {
            Answered::Absent => refused(Code::ResolvedAbsent),
            _ if known.fingerprint != fingerprint => refused(Code::IdReused),
            Answered::InLog => MachineAnswer::Replay(Replay::of(&known, Asked::ByCopy)),
            Answered::Outcome(outcome) => MachineAnswer::Receipt(Receipt {
                outcome,
                partition: self.partition,
                epoch: known.epoch,
                sequence_first: known.sequence_first,
                sequence_last: known.sequence_last,
                at: known.at,
                replayed: true,
                durability: Durability::Memory,
            }),
        })
    }

    /// An id with a time before the window may have been used and forgotten. An id too far in the future
    /// is refused at once, because it would be forgotten before its own time leaves the window.
    /// An id without a time counts as made when its request was issued.
    pub(super) fn check_age(
        &self,
        id: &OperationId,
        issued_at: Option<TimeMs>,
        now: TimeMs,
    ) -> Result<(), Refusal> {
        let made_at = id.time_ms(self.state.settings.ulid_times).or(issued_at);
        match self.age(made_at, now) {
            Age::Known => Ok(()),
            Age::Ahead => Err(Refusal::invalid(
                "ID",
                "carries a time ahead of the clock; set the clock that it was made by",
            )),
            Age::Over { horizon } => Err(Refusal::new(Code::IdExpired, facts![id.as_str(), now - horizon])),
        }
    }

    /// How the time of an id compares with the window.
    pub(super) fn age(&self, made_at: Option<TimeMs>, now: TimeMs) -> Age {
        let Some(made_at) = made_at else { return Age::Known };
        let (settings, lead) = (&self.state.settings, self.state.settings.id_lead_ms_max());
        let horizon = self.state.operations.horizon(settings, self.state.settled(now));
        match () {
            () if made_at > now.saturating_add(lead) => Age::Ahead,
            () if made_at <= horizon.saturating_add(lead) => Age::Over { horizon },
            () => Age::Known,
        }
    }

    /// `OPERATION.RESOLVE`: the receipt, or a mark of absence that any duplicate arriving later meets.
    pub(super) fn resolve(
        &mut self,
        namespace: &str,
        resolve: &OperationResolve,
        log: &mut Vec<u8>,
    ) -> MachineAnswer {
        match self.resolution(namespace, resolve) {
            Ok(answer) => answer,
            Err(absent) => {
                let receipt = self.mark_absent(namespace, &resolve.operation, log);
                MachineAnswer::Receipt(Receipt { outcome: absent, ..receipt })
            }
        }
    }

    /// What is known about an operation; if nothing is, the error is the outcome of declaring it absent.
    pub(super) fn resolution(
        &self,
        namespace: &str,
        resolve: &OperationResolve,
    ) -> Result<MachineAnswer, Outcome> {
        let id = &resolve.operation;
        let settings = &self.state.settings;
        let known = self.state.operations.find(namespace, id, settings, self.settled_now());
        let outcome = match &known {
            Some(known) => match &known.answered {
                Answered::InLog => return Ok(MachineAnswer::Replay(Replay::of(known, Asked::ByResolve))),
                Answered::Outcome(outcome) => resolved(outcome),
                Answered::Absent => absent(),
            },
            None => match self.check_age(id, None, self.now) {
                // It may have been applied and forgotten; declaring it absent would be a guess.
                Err(refusal) => *refusal.0,
                Ok(()) => match self.state.operations.wait_ms(settings, self.settled_now()) {
                    Some(wait_ms) => {
                        Outcome { code: Code::Overloaded, facts: facts![overload::OPERATIONS, wait_ms] }
                    }
                    None => return Err(absent()),
                },
            },
        };
        Ok(MachineAnswer::Receipt(self.unlogged(outcome)))
    }

    fn mark_absent(&mut self, namespace: &str, id: &OperationId, log: &mut Vec<u8>) -> Receipt {
        self.events.clear();
        self.events.push(OperationResolved { operation: id.clone() }.into());
        let operation = OperationMark { namespace: namespace.into(), id: id.clone(), fingerprint: 0 };
        let mark = Outcome { code: Code::ResolvedAbsent, facts: facts![] };
        self.log_events(Some(operation), false, Some(mark), log)
    }
}

fn absent() -> Outcome {
    Outcome::applied(facts!["ABSENT", Value::Absent])
}

fn resolved(outcome: &Outcome) -> Outcome {
    let state = if outcome.is_applied() { "APPLIED" } else { "REFUSED" };
    Outcome::applied(facts![state, outcome.to_values()])
}
