//! Work that is repeated, but not more often than an interval allows.

use std::time::{Duration, Instant};

/// Lets work through once per interval; the first time at once.
#[derive(Clone, Debug)]
pub struct Throttle {
    interval: Duration,
    passed_at: Option<Instant>,
}

impl Throttle {
    /// One that lets nothing through until `interval` has passed since the last time.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { interval, passed_at: None }
    }

    /// Whether it is time for the work. If it is, the interval begins again.
    pub fn pass(&mut self) -> bool {
        self.pass_at(Instant::now())
    }

    fn pass_at(&mut self, now: Instant) -> bool {
        let passes = self.passed_at.is_none_or(|at| now.saturating_duration_since(at) >= self.interval);
        if passes {
            self.passed_at = Some(now);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_passes_at_once_and_then_once_per_interval() {
        let (begun, mut throttle) = (Instant::now(), Throttle::new(Duration::from_secs(5)));
        let mut pass = |ms| throttle.pass_at(begun + Duration::from_millis(ms));
        let passed = [0, 0, 4_999, 5_000, 5_001, 9_999, 12_000, 16_999, 17_000].map(&mut pass);
        assert_eq!(passed, [true, false, false, true, false, false, true, false, true]);
    }
}
