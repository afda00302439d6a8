//! Waits for conditions.

use std::time::{Duration, Instant};

/// The timeout for any condition.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How often to check.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Checks repeatedly until the condition holds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::park_timeout(LOOK_INTERVAL);
    }
}
