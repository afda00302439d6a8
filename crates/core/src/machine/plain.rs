//! The plain way of the commonest commands: decided on the bytes of the request, logged straight from the figures.
//! The same as the general way, byte for byte; as soon as anything is unusual it does nothing, and the general way decides.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::Machine;
use super::replay::Age;
use crate::command::Command;
use crate::command::plain::Plain;
use crate::draft::{Draft, NAMESPACE_BYTES_MAX};
use crate::event::Entry;
use crate::operations::{Done, Encoded, Sought};
use crate::outcome::{Outcome, Receipt};
use crate::state::FORGOTTEN_PER_EVENT_MAX;
use crate::types::{OperationId, TimeMs, time_of};
use crate::{accounts, markets};

impl Machine {
    /// Decides a request at `clock`, applies it and appends its entry to `log`. Returns the numbers of the answer; `None`
    /// if nothing was done, and [`Machine::submit`] must decide.
    pub fn submit_plain(&mut self, plain: &Plain<'_>, clock: TimeMs, log: &mut Vec<u8>) -> Option<[i64; 2]> {
        let now = self.now.max(clock);
        let is_due = self.state.deadlines.next().is_some_and(|next| next <= self.state.settled(now));
        if is_due || self.state.unfinished.is_some() {
            return None;
        }
        let sought = match plain.operation() {
            Some(id) => Some(self.seek_plain(id, now)?),
            None => None,
        };
        let movement = accounts::plain::decide(&self.state, plain)?;
        self.now = now;
        self.sequence += 1;
        movement.apply(&mut self.state, plain.amount);
        let answer = movement.answer();
        let draft = &mut self.draft;
        draft.clear();
        let names = plain.put_content(draft);
        let (start, fingerprint) = (draft.len(), xxh3_64(draft.bytes(0..names.end)));
        let operation = plain.operation().map(|id| (id, fingerprint));
        let put_event = |draft: &mut Draft| movement.put_event(names, draft);
        let position = (self.epoch, self.sequence, now);
        let outcome = Entry::draft(draft, position, operation, answer, put_event);
        log.extend_from_slice(draft.bytes(start..draft.len()));
        if let Some(sought) = sought {
            self.remember_plain(sought, fingerprint, &answer, outcome);
        }
        self.state.at = now;
        self.state.forget(now, 1);
        Some(answer)
    }

    /// Decides a command of an order that meets nothing, applies it and appends its entry to `log`. `None` if nothing was
    /// done, and the general way must decide.
    pub(super) fn submit_order(
        &mut self,
        command: &Command,
        operation: Option<(&str, &OperationId, u64)>,
        sought: Option<Sought>,
        log: &mut Vec<u8>,
    ) -> Option<Receipt> {
        #[cfg(test)]
        if self.is_general {
            return None;
        }
        if operation.is_some_and(|(namespace, ..)| namespace.len() > NAMESPACE_BYTES_MAX) {
            return None;
        }
        let (now, epoch) = (self.now, self.epoch);
        let change = markets::plain::decide(&self.state, command, now)?;
        let (events, outcome) = (change.events(), Outcome::applied(change.answer()));
        let (sequence_first, sequence_last) = (self.sequence + 1, self.sequence + u64::from(events));
        self.sequence = sequence_last;
        let draft = &mut self.draft;
        draft.clear();
        let put_events = |draft: &mut Draft| change.put_events(draft);
        let position = (epoch, sequence_first, now);
        let encoded = Entry::draft_several(draft, position, operation, &outcome.facts, (events, put_events));
        log.extend_from_slice(draft.bytes(0..draft.len()));
        change.apply(&mut self.state, now);
        self.state.at = now;
        if let (Some((_, _, fingerprint)), Some(sought)) = (operation, sought) {
            let done = Done { fingerprint, at: now, epoch, sequence_last, events: u32::from(events) };
            let (state, encoded) = (&mut self.state, self.draft.bytes(encoded));
            state.operations.note(sought, &done, Encoded::new(&outcome, encoded));
            let settled = state.settled(now);
            state.operations.forget(&state.settings, settled, FORGOTTEN_PER_EVENT_MAX);
        }
        self.state.forget(now, usize::from(events));
        Some(Receipt { sequence_first, ..self.unlogged(outcome) })
    }

    /// Looks a new ID up that may be used.
    fn seek_plain(&self, id: &[u8], now: TimeMs) -> Option<Sought> {
        let state = &self.state;
        let sought = state.operations.seek("", id);
        let may = sought.is_new()
            && self.age(time_of(id, state.settings.ulid_times), now) == Age::Known
            && state.operations.wait_ms(&state.settings, state.settled(now)).is_none();
        may.then_some(sought)
    }

    /// Stores the answer, which the draft has at `encoded`.
    fn remember_plain(&mut self, sought: Sought, fingerprint: u64, answer: &[i64], encoded: Range<usize>) {
        let (state, at) = (&mut self.state, self.now);
        let done = Done { fingerprint, at, epoch: self.epoch, sequence_last: self.sequence, events: 1 };
        let outcome = Encoded::numbers(answer, self.draft.bytes(encoded));
        state.operations.note(sought, &done, outcome);
        let settled = state.settled(at);
        state.operations.forget(&state.settings, settled, FORGOTTEN_PER_EVENT_MAX);
    }
}
