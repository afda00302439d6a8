//! Where stamps come from: a clock that follows the wall clock as far as something confirms it.

mod kernel;
mod note;
mod notice;
mod source;
mod trusted;
#[cfg(test)]
mod trusted_tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use scarce_core::machine::ClockChange;
use scarce_core::types::TimeMs;

pub use note::ClockNote;
pub use notice::notice;
pub use source::{ManualTimeSource, Reading, SystemTimeSource, TimeSource};
pub use trusted::{ClockStart, GAP_MAX, LEAP_STARTING_MAX, STEADY_SPAN, TrustedClock};

/// A source of stamps for one partition.
pub trait Clock: Send {
    /// The time now.
    fn now(&mut self) -> TimeMs;

    /// How long to wait at most until the time reaches `at`, or `None` where waiting does not help.
    fn wait_until(&mut self, at: TimeMs) -> Option<Duration>;

    /// What the log must be told before the clock can go by it.
    fn proposal(&mut self) -> Option<ClockChange> {
        None
    }

    /// Goes by a change that the log has been told.
    fn adopt(&mut self, _change: ClockChange) {}

    /// Whether a change may come without any request.
    fn is_unsettled(&self) -> bool {
        false
    }

    /// How far the wall clock is from the time, as it was last seen.
    fn apart(&self) -> ClockApart {
        ClockApart::default()
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
    fn now(&mut self) -> TimeMs {
        self.time.load(Ordering::SeqCst)
    }

    fn wait_until(&mut self, _at: TimeMs) -> Option<Duration> {
        None
    }
}
