//! What the owner says of itself at the end of a turn.

use std::time::Duration;

use scarce_engine::Throttle;
use scarce_engine::metrics::Levels;

use super::Owner;

/// How often the ids are counted that must not be forgotten yet: that searches among all of them.
pub(super) const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// How many ids must not be forgotten yet, and how often they are counted.
pub(super) struct LockedCount {
    pub(super) count: u64,
    counts: Throttle,
    /// The last sequence when they were counted.
    sequence: u64,
}

impl Default for LockedCount {
    fn default() -> Self {
        Self { count: 0, counts: Throttle::new(COUNT_INTERVAL), sequence: 0 }
    }
}

impl Owner {
    pub(super) fn publish_levels(&mut self) {
        self.count_locked();
        let (state, apart) = (self.machine.state(), self.clock.apart());
        self.memory_share.set(state.record_count() as u64, state.reusable_bytes() as u64);
        let metrics = self.committer.progress.metrics();
        let in_memory = state.operations.in_memory();
        metrics.runs.note_ids(in_memory as u64, self.old.reads());
        metrics.runs.note_overrun(self.old.is_overrun(in_memory));
        let lag = self.due_at().map_or(0, |due| self.machine.now().saturating_sub(due));
        metrics.set_levels(Levels {
            operations: state.operations.len() as u64,
            operations_locked: self.locked.count,
            deadlines: state.deadlines.len() as u64,
            deadline_lag_ms: lag,
            sequence: self.machine.sequence(),
            inbox: self.inbox.depth() as u64,
            outflow_lag: self.consumers.lag(self.machine.sequence()),
            clock_ahead_ms: apart.wall_ahead_ms,
            clock_behind_ms: apart.wall_behind_ms,
            clock_doubted_ms: state.doubted_ms,
        });
    }

    /// Whether ids grow older or are not counted yet: that must be told although nobody asks for anything.
    pub(super) fn has_locked(&self) -> bool {
        self.locked.count > 0 || self.locked.sequence != self.machine.sequence()
    }

    fn count_locked(&mut self) {
        if !self.locked.counts.pass() {
            return;
        }
        self.locked.sequence = self.machine.sequence();
        let now = self.clock.now().max(self.machine.now());
        let state = self.machine.state();
        let count = state.operations.locked_count(&state.settings, state.settled(now));
        self.locked.count = count as u64;
    }
}
