//! What the log says of the clock: it is doubted, confirmed, or put forward or back.

use super::Machine;
use crate::event::{ClockConfirmed, ClockDoubted, ClockEvent, ClockMoved, Event};
use crate::types::TimeMs;

/// A change of the clock beyond the time that has passed. The engine finds it out, the log keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// The clock goes on from a later time, which nothing confirms yet.
    Doubted {
        /// The last time that is beyond doubt.
        from_ms: TimeMs,
        /// From where stamps go on.
        to_ms: TimeMs,
    },
    /// What was doubted is right.
    Confirmed,
    /// The clock is right now, whatever it was before.
    Moved {
        /// The last time by the clock as it was.
        from_ms: TimeMs,
        /// From where stamps go on: later, or earlier.
        to_ms: TimeMs,
    },
}

impl Machine {
    /// Logs a change of the clock and goes by it from now on.
    pub fn change_clock(&mut self, change: ClockChange, log: &mut Vec<u8>) {
        self.finish(log);
        self.events.clear();
        let event: Event = match change {
            ClockChange::Doubted { from_ms, to_ms } => {
                self.stamp(to_ms);
                let by_ms = to_ms.saturating_sub(from_ms);
                ClockDoubted { by_ms, doubted_ms: self.state.doubted_ms.saturating_add(by_ms) }.into()
            }
            ClockChange::Confirmed => ClockConfirmed { confirmed_ms: self.state.doubted_ms }.into(),
            ClockChange::Moved { from_ms, to_ms } => {
                self.now = to_ms;
                ClockMoved { from_ms, to_ms }.into()
            }
        };
        self.events.push(event);
        self.evolve_from(0, None);
        self.log_events(None, false, None, log);
    }

    /// The part of the last stamp that is beyond doubt.
    pub(super) fn settled_now(&self) -> TimeMs {
        self.state.settled(self.now)
    }
}

/// Whether the stamps go on from somewhere else: it is the only event whose stamp may be earlier than the one before.
pub(super) fn is_move(events: &[Event]) -> bool {
    matches!(events, [Event::Clock(ClockEvent::ClockMoved(_)), ..])
}
