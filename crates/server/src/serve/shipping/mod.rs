//! Ships the log to a store of backups all the time, on a thread of its own: a backup first, then what is logged.
//!
//! ```text
//! journal's files ─▶ parts of the log, every half second ─▶ store
//!        └─────────▶ a backup from time to time ──────────▶ store; then its log follows
//! ```
//!
//! Segments are kept until the store has them, up to a bound. Nothing here holds up a command.

mod base;
mod kept;

use std::time::Duration;

/// The first and the longest delay before a retry.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// An error with everything that caused it, in one line.
fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("; because {error}"));
        cause = error.source();
    }
    text
}
