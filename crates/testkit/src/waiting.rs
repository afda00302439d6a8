//! Waits for conditions, and reads numbers from the environment.

use std::time::{Duration, Instant};

/// The timeout for any condition.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How long to wait between two checks.
pub const LOOK_INTERVAL: Duration = Duration::from_millis(3);

/// A number from the environment.
#[must_use]
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Checks repeatedly until the condition holds.
///
/// # Panics
/// When it takes too long.
pub async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}
