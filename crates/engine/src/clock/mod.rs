//! Where stamps come from: a wall clock that cannot step back and must not leap.

mod kernel;
mod note;
mod notice;
mod source;
mod trusted;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scarce_core::types::TimeMs;

pub use note::ClockNote;
pub use notice::notice;
pub use scarce_core::machine::ClockChange;
pub use source::{ManualTimeSource, Reading, SystemTimeSource, TimeSource};
pub use trusted::{ClockStart, GAP_MAX, STEADY_SPAN, TrustedClock};

/// A source of stamps for one partition.
pub trait Clock: Send {
    /// The time now.
    ///
    /// # Errors
    /// When the wall clock leapt forward by more than is believed.
    fn now(&mut self) -> Result<TimeMs, Leap>;

    /// How long to wait at most until the time reaches `at`, or `None` where waiting does not help.
    fn wait_until(&mut self, at: TimeMs) -> Option<Duration>;
}

/// The wall clock leapt forward: every hold would expire if it were believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the clock leapt from {from_ms} to {to_ms} (Unix ms); if it is right now, restart with --accept-clock; if not, set the clock"
)]
pub struct Leap {
    /// The time as it was.
    pub from_ms: TimeMs,
    /// The time as the wall clock has it.
    pub to_ms: TimeMs,
}

/// How far the wall clock may leap while the process runs.
pub const LEAP_RUNNING_MAX: Duration = Duration::from_hours(1);

/// How far beyond the last stamp of the log the clock may be at a start: a process may have been
/// down for weeks, while a clock that is years off is a fault.
pub const LEAP_STARTING_MAX: Duration = Duration::from_hours(24 * 90);

/// The system's clock, carried on by the monotonic one. Where it is ahead of the wall clock it goes
/// on at nine tenths of the speed until the wall clock has caught up.
#[derive(Debug)]
pub struct SystemClock {
    time: Duration,
    read_at: Instant,
    leap_max: Duration,
}

impl SystemClock {
    /// Continues from the last stamp of a log, 0 for a new one.
    #[must_use]
    pub fn after(stamp: TimeMs, accept_leap: bool) -> Self {
        let wall = wall();
        let last = Duration::from_millis(stamp);
        let believed = stamp == 0 || accept_leap || wall <= last + LEAP_STARTING_MAX;
        let time = if believed { wall.max(last) } else { last };
        Self { time, read_at: Instant::now(), leap_max: LEAP_RUNNING_MAX }
    }
}

/// How far the wall clock is from the time that stamps go by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockApart {
    /// How far the wall clock is ahead, and not believed.
    pub wall_ahead_ms: u64,
    /// How far it is behind.
    pub wall_behind_ms: u64,
}

/// What time the system has, for notes that nothing depends on.
pub fn wall_ms() -> TimeMs {
    milliseconds(wall())
}

fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn milliseconds(time: Duration) -> TimeMs {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Clock for SystemClock {
    fn now(&mut self) -> Result<TimeMs, Leap> {
        let (read_at, wall) = (Instant::now(), wall());
        let elapsed = read_at - self.read_at;
        let carried = self.time + elapsed;
        if wall > carried + self.leap_max {
            return Err(Leap { from_ms: milliseconds(carried), to_ms: milliseconds(wall) });
        }
        self.time = if wall < carried { (carried - elapsed / 10).max(wall) } else { wall };
        self.read_at = read_at;
        Ok(milliseconds(self.time))
    }

    fn wait_until(&mut self, at: TimeMs) -> Option<Duration> {
        let now = self.now().ok()?;
        Some(Duration::from_millis(at.saturating_sub(now)))
    }
}

/// A clock that stands still until it is set: for tests that decide what time it is.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    time: Arc<AtomicU64>,
}

impl ManualClock {
    /// Sets the time, for every copy of this clock.
    pub fn set(&self, now: TimeMs) {
        self.time.store(now, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&mut self) -> Result<TimeMs, Leap> {
        Ok(self.time.load(Ordering::SeqCst))
    }

    fn wait_until(&mut self, _at: TimeMs) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_that_steps_back_does_not_turn_time_back() {
        let ahead = milliseconds(wall()) + 60_000;
        let mut clock = SystemClock::after(ahead, false);
        let first = clock.now().expect("no leap");
        assert!(first >= ahead);
        assert!(clock.now().expect("no leap") >= first);
    }

    #[test]
    fn a_leap_is_refused_until_accepted() {
        let long_ago = milliseconds(wall()) - milliseconds(LEAP_STARTING_MAX) - 60_000;
        assert!(SystemClock::after(long_ago, false).now().is_err());
        assert!(SystemClock::after(long_ago, true).now().is_ok());
        assert!(SystemClock::after(0, false).now().is_ok());
    }
}
