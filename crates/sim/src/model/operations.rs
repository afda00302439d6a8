//! The stored operations: a list with the complete content of each, so that content is compared directly
//! and not by hash.

use compact_str::CompactString;
use scarce_core::command::{Body, Envelope};
use scarce_core::facts;
use scarce_core::outcome::{Code, Outcome, Value, Verdict};
use scarce_core::types::{OperationId, TimeMs};

use super::{MAX, Model, Reply, figure, is_remembered, refuse};

#[derive(Clone, Debug)]
pub(super) struct Remembered {
    namespace: CompactString,
    id: OperationId,
    at: TimeMs,
    /// The request and its answer; `None` if the id was declared absent.
    done: Option<(Body, Outcome)>,
}

impl Model {
    fn is_running(&self, operation: &Remembered, now: TimeMs) -> bool {
        i128::from(operation.at) + i128::from(self.settings.window_ms) > i128::from(now)
    }

    fn known(&self, namespace: &str, id: &OperationId, now: TimeMs) -> Option<&Remembered> {
        let same = |known: &&Remembered| known.namespace == namespace && known.id == *id;
        self.operations.iter().filter(|known| self.is_running(known, now)).find(same)
    }

    /// The answer to an operation that is known, too late, or without space; `None` lets it proceed.
    pub(super) fn admit(&mut self, envelope: &Envelope, now: TimeMs) -> Option<Reply> {
        let id = envelope.common.operation.as_ref();
        if let Some(known) = id.and_then(|id| self.known(&envelope.namespace, id, now)) {
            return Some(copy_of(known, envelope, now));
        }
        let refused = |code, facts| {
            Some(Reply { outcome: Outcome { code, facts }, at: now, replayed: false, events: Vec::new() })
        };
        if envelope.commands().is_empty() {
            return refused(Code::Invalid, facts!["batch", "has no lines"]);
        }
        if let Some(expired) = id.and_then(|id| self.expired(id, envelope.issued_at, now)) {
            return refused(expired.code, expired.facts);
        }
        if let Some(deadline) = envelope.common.deadline.filter(|deadline| now >= *deadline) {
            return refused(Code::DeadlinePassed, facts![deadline, now]);
        }
        if let Some(wait_ms) = id.and_then(|_| self.wait_ms(now)) {
            return refused(Code::Overloaded, facts!["operations", wait_ms]);
        }
        None
    }

    /// How long no operation can be stored without violating the minimum window; `None` if one can be now.
    fn wait_ms(&self, now: TimeMs) -> Option<Value> {
        let running: Vec<_> = self.operations.iter().filter(|its| self.is_running(its, now)).collect();
        if running.len() < self.settings.operations_max {
            return None;
        }
        let oldest = running.first().map_or(now, |its| its.at);
        let wait_ms = i128::from(oldest) + i128::from(self.settings.window_ms_min) - i128::from(now);
        (wait_ms > 0).then(|| figure(wait_ms))
    }

    fn keep(&mut self, namespace: &str, id: &OperationId, done: Option<(Body, Outcome)>, now: TimeMs) {
        let mut running: Vec<_> =
            self.operations.iter().filter(|its| self.is_running(its, now)).cloned().collect();
        while !running.is_empty() && running.len() >= self.settings.operations_max {
            self.crowded_out = running.remove(0).at;
        }
        running.push(Remembered { namespace: namespace.into(), id: id.clone(), at: now, done });
        self.operations = running;
    }

    /// Stores the outcome of an operation if required, and records when the last entry was logged; the
    /// first `ended` events are those of deadlines.
    pub(super) fn remember(&mut self, envelope: &Envelope, outcome: &Outcome, ended: usize, now: TimeMs) {
        if let Some(id) = envelope.common.operation.as_ref().filter(|_| is_remembered(envelope, outcome)) {
            let done = Some((envelope.body.clone(), outcome.clone()));
            self.keep(&envelope.namespace, id, done, now);
            if !outcome.is_applied() {
                self.note("operation.refused");
            } else if self.events.len() == ended {
                self.note("operation.unchanged");
            }
            self.at = now;
        }
        if !self.events.is_empty() {
            self.at = now;
        }
    }

    /// The refusal of an id with a time before the window.
    fn expired(&self, id: &OperationId, issued_at: Option<TimeMs>, now: TimeMs) -> Option<Outcome> {
        let window = i128::from(now) - i128::from(self.settings.window_ms);
        let horizon = window.max(i128::from(self.crowded_out));
        let made_at = time_of(id, self.settings.ulid_times).or(issued_at)?;
        let lead = i128::from(self.settings.window_ms_min / 10);
        if i128::from(made_at) > i128::from(now) + lead {
            let facts = facts!["ID", "carries a time ahead of the clock"];
            return Some(Outcome { code: Code::Invalid, facts });
        }
        let facts = facts![id.as_str(), figure((i128::from(now) - horizon).min(MAX))];
        (i128::from(made_at) <= horizon + lead).then_some(Outcome { code: Code::IdExpired, facts })
    }

    pub(super) fn resolve(&mut self, namespace: &str, id: &OperationId, now: TimeMs) -> Reply {
        let done = self.known(namespace, id, now).map(|known| known.done.clone());
        if let Some(expired) = self.expired(id, None, now).filter(|_| done.is_none()) {
            return self.reply(expired, now);
        }
        let facts = match done {
            Some(Some((_, outcome))) => shown(&outcome),
            Some(None) => facts!["ABSENT", Value::Absent],
            None => {
                if let Some(wait_ms) = self.wait_ms(now) {
                    let facts = facts!["operations", wait_ms];
                    return self.reply(Outcome { code: Code::Overloaded, facts }, now);
                }
                self.keep(namespace, id, None, now);
                self.note("operation.resolved");
                self.at = now;
                facts!["ABSENT", Value::Absent]
            }
        };
        self.reply(Outcome::applied(facts), now)
    }

    /// Operation, no sequence (the model does not count them), stamp and outcome.
    pub(super) fn show_operation(&self, namespace: &str, id: &OperationId, now: TimeMs) -> Verdict {
        let Some(known) = self.known(namespace, id, now) else {
            return match self.expired(id, None, now) {
                Some(expired) => refuse(expired.code, expired.facts),
                None => refuse(Code::OperationNotFound, facts![id.as_str()]),
            };
        };
        let absent = Outcome { code: Code::ResolvedAbsent, facts: facts![id.as_str()] };
        let outcome = known.done.as_ref().map_or(&absent, |(_, outcome)| outcome);
        Ok(facts![id.as_str(), Value::Absent, known.at, outcome.to_values()])
    }
}

fn shown(outcome: &Outcome) -> scarce_core::outcome::Facts {
    let state = if outcome.is_applied() { "APPLIED" } else { "REFUSED" };
    facts![state, outcome.to_values()]
}

fn copy_of(known: &Remembered, envelope: &Envelope, now: TimeMs) -> Reply {
    let id = known.id.as_str();
    let fresh = |code| Reply {
        outcome: Outcome { code, facts: facts![id] },
        at: now,
        replayed: false,
        events: Vec::new(),
    };
    match &known.done {
        None => fresh(Code::ResolvedAbsent),
        Some((body, _)) if *body != envelope.body => fresh(Code::IdReused),
        Some((_, outcome)) => {
            Reply { outcome: outcome.clone(), at: known.at, replayed: true, events: Vec::new() }
        }
    }
}

/// The time in an operation id.
fn time_of(id: &OperationId, ulids: bool) -> Option<TimeMs> {
    id.uuid_v7_ms().or_else(|| if ulids { id.ulid_ms() } else { None })
}
