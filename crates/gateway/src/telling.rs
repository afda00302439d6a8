//! What is said in the log now and then, however often there is a reason.

use std::sync::atomic::{AtomicU64, Ordering};

use scarce_core::types::TimeMs;

/// It is said at most once in this time.
const EVERY_MS: TimeMs = 1_000;

/// When it was said last, and how often it was not since.
#[derive(Debug, Default)]
pub(crate) struct Telling {
    told_ms: AtomicU64,
    untold: AtomicU64,
}

impl Telling {
    /// How often it was not said, if it may be said now; otherwise it counts as not said.
    pub(crate) fn due(&self, now: TimeMs) -> Option<u64> {
        let told = self.told_ms.load(Ordering::Relaxed);
        // The clock may have been put back.
        let is_due = now.abs_diff(told) >= EVERY_MS;
        if is_due && self.told_ms.compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return Some(self.untold.swap(0, Ordering::Relaxed));
        }
        self.untold.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_without_end_are_one_line_a_second_and_all_are_counted() {
        let telling = Telling::default();
        let told: Vec<_> = (0..25).filter_map(|at| telling.due(1_000_000 + 200 * at)).collect();
        assert_eq!(told, [0, 4, 4, 4, 4]);
        assert_eq!(telling.due(5_000), Some(4), "the clock was put back");
    }
}
