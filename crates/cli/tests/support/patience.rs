//! Waiting for what must happen.

use std::time::{Duration, Instant};

/// How long anything may take that must happen.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How often it is looked.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Asks again and again, until the answer is yes.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::park_timeout(LOOK_INTERVAL);
    }
}
