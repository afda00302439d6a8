//! The owner's clock: what time a turn has, what the log must know of it, and how long nothing is due.

use std::time::Duration;

use scarce_core::types::TimeMs;
use scarce_engine::clock::notice;

use super::Owner;
use super::levels::COUNT_INTERVAL;
use crate::sweep::{FULL_INTERVAL, SweepPace};

/// How often the clock is looked at while something about it is not settled.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

impl Owner {
    /// The time of this turn. What the log must know of the clock is logged first.
    pub(super) fn time(&mut self) -> TimeMs {
        if let Some(now) = self.turn_at {
            return now;
        }
        let mut now = self.clock.now();
        if self.clock.is_unsettled() && self.may_sweep() && self.failure().is_none() {
            while let Some(change) = self.clock.proposal() {
                self.begin_batch();
                self.machine.change_clock(change, &mut self.open);
                tracing::warn!(partition = self.partition(), ?change, "the clock is gone by in another way");
                self.clock.adopt(change);
                now = self.clock.now();
                // What was noted may be ahead of it.
                self.sweep_pace = SweepPace::default();
            }
        }
        self.turn_at = Some(now);
        now
    }

    /// When the next record ends by the stamps' time.
    pub(super) fn due_at(&self) -> Option<TimeMs> {
        let state = self.machine.state();
        state.deadlines.next().map(|due| due.saturating_add(state.doubted_ms))
    }

    /// The last stamp.
    pub(crate) fn last_stamp(&self) -> TimeMs {
        self.machine.now()
    }

    /// How much of the time nothing confirms yet.
    pub(crate) fn doubted_ms(&self) -> u64 {
        self.machine.state().doubted_ms
    }

    /// What is to be known of the clock, if anything.
    pub(crate) fn clock_notice(&self) -> Option<String> {
        let notice = notice(self.clock.apart(), self.doubted_ms())?;
        Some(format!("partition {}: {notice}", self.partition()))
    }

    /// How long there is nothing to do but for what comes from outside.
    pub(crate) fn patience(&mut self) -> Option<Duration> {
        let due = self.patience_for_due();
        let wait = match () {
            () if self.clock.is_unsettled() => CLOCK_INTERVAL,
            () if self.has_locked() => COUNT_INTERVAL,
            () => return due,
        };
        Some(due.map_or(wait, |due| due.min(wait)))
    }

    fn patience_for_due(&mut self) -> Option<Duration> {
        // Without room nothing is swept, and the committer wakes when it has made some.
        if !self.sweeps || !self.has_reserve() {
            return None;
        }
        let due = self.sweep_pace.next(self.due_at()?);
        let wait = self.clock.wait_until(due)?;
        // Nothing wakes the owner when the disk has room again.
        Some(if self.may_sweep() { wait } else { wait.max(FULL_INTERVAL) })
    }
}
