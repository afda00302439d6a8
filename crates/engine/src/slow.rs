//! What is slow, how often that is logged, and the last slow commands.

mod commands;

pub use commands::{SlowCommand, SlowCommands, SlowName, name_of, names_of_entries};

use std::time::{Duration, Instant};

/// No more than one line in this time comes from one place.
const TELL_INTERVAL: Duration = Duration::from_secs(1);

/// Says of one place which of its durations are to be logged as slow.
#[derive(Clone, Debug, Default)]
pub struct SlowLog {
    limit: Option<Duration>,
    told_at: Option<Instant>,
    untold: u64,
}

impl SlowLog {
    /// Durations above the limit are slow; none are without one.
    #[must_use]
    pub const fn above(limit: Option<Duration>) -> Self {
        Self { limit, told_at: None, untold: 0 }
    }

    /// Whether a duration is slow.
    #[must_use]
    pub fn is_slow(&self, took: Duration) -> bool {
        self.limit.is_some_and(|limit| took > limit)
    }

    /// If a duration is to be logged: how many slow ones were left out since the last line.
    pub fn note(&mut self, took: Duration) -> Option<u64> {
        if !self.is_slow(took) {
            return None;
        }
        let now = Instant::now();
        if self.told_at.is_some_and(|told_at| now - told_at < TELL_INTERVAL) {
            self.untold += 1;
            return None;
        }
        self.told_at = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_above_the_limit_is_logged_and_not_too_often() {
        let mut slow = SlowLog::above(Some(Duration::from_millis(10)));
        assert_eq!(slow.note(Duration::from_millis(10)), None);
        assert_eq!(slow.note(Duration::from_millis(11)), Some(0));
        assert_eq!(slow.note(Duration::from_millis(11)), None, "a second has not passed");
        slow.told_at = slow.told_at.map(|at| at - TELL_INTERVAL);
        assert_eq!(slow.note(Duration::from_millis(11)), Some(1));
        assert_eq!(SlowLog::above(None).note(Duration::from_hours(1)), None);
    }
}
