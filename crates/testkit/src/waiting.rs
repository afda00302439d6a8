//! Waiting for what must happen, and numbers from the environment.

use std::time::{Duration, Instant};

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How long to wait between two looks.
pub const LOOK_INTERVAL: Duration = Duration::from_millis(3);

/// A number from the environment.
#[must_use]
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Looks until it is so.
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
