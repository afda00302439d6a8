//! When the next holds and reservations that are due are ended.

use std::time::Duration;

use scarce_core::types::TimeMs;

/// How many records one sweep ends. It takes less than a millisecond, so that no command waits long for it.
pub(crate) const SWEEP_RECORDS_MAX: usize = 512;

/// Sweeps that end all that is due come no closer together than this, so that each ends many records.
const SWEEP_INTERVAL_MS: u64 = 50;

/// How often a full disk is looked at again for what is due.
pub(crate) const FULL_INTERVAL: Duration = Duration::from_millis(200);

/// When the next sweep may come.
#[derive(Debug, Default)]
pub(crate) struct SweepPace {
    not_before: TimeMs,
}

impl SweepPace {
    /// When what is due at `due` is ended.
    pub(crate) fn next(&self, due: TimeMs) -> TimeMs {
        due.max(self.not_before)
    }

    /// Notes how many records a sweep has ended. After a full one more may be due, and the next comes at once, with
    /// commands in between: 200 000 reservations that end together are back within a second.
    pub(crate) fn note_sweep(&mut self, now: TimeMs, ended: usize) {
        let is_full = ended >= SWEEP_RECORDS_MAX;
        self.not_before = if is_full { now } else { now + SWEEP_INTERVAL_MS };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_apart_unless_more_is_due() {
        let mut pace = SweepPace::default();
        assert_eq!(pace.next(1_000), 1_000);
        pace.note_sweep(1_000, 3);
        assert_eq!([pace.next(1_001), pace.next(2_000)], [1_050, 2_000]);
        pace.note_sweep(1_050, SWEEP_RECORDS_MAX);
        assert_eq!(pace.next(1_001), 1_050, "at once");
    }
}
