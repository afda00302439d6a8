//! The plain way of the commonest commands: decided on the bytes of the request, logged straight from the figures.
//! The same as the general way, byte for byte; as soon as anything is unusual it does nothing, and the general way decides.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::Machine;
use super::replay::Age;
use crate::accounts;
use crate::command::plain::Plain;
use crate::draft::Draft;
use crate::event::Entry;
use crate::operations::{Done, Encoded, Sought};
use crate::state::FORGOTTEN_PER_EVENT_MAX;
use crate::types::{TimeMs, time_of};

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
