//! What the tests have in common: real databases, real engines, real receivers.

mod database;
mod engine;
mod faults;
mod receiver;

pub use database::{Database, Kind, Server};
pub use engine::Bench;
pub use faults::{Fault, Faulty};
pub use receiver::{Heard, Receiver, Reply};

use std::time::{Duration, Instant};

use scarce_delivery::{Delivery, Options};
use scarce_sim::random::Random;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// How long to wait between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(3);

/// Short delays, so that many tries fit into a test, and all the time that a slow machine needs.
pub fn options() -> Options {
    Options {
        timeout: Duration::from_secs(20),
        request_timeout: Duration::from_secs(10),
        attempts_max: 1_000,
        retry_first: Duration::from_millis(5),
        retry_max: Duration::from_millis(40),
        lease: Duration::from_secs(30),
        poll_interval: Duration::from_millis(10),
        ..Options::default()
    }
}

/// The same, where receivers never answer and workers die: nobody waits for long.
pub fn hasty() -> Options {
    Options { request_timeout: Duration::from_millis(300), lease: Duration::from_millis(700), ..options() }
}

/// A number from the environment.
pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Looks until it is so.
pub async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

/// Opens the database of a bench.
pub async fn open(database: &Database, bench: &Bench, options: Options) -> Delivery {
    Delivery::open(database.url(), bench.deployment_id(), options).await.expect("the database")
}

/// A random time up to a bound.
pub fn some_time(random: &mut Random, max_ms: u64) -> Duration {
    Duration::from_millis(1 + random.below(max_ms))
}
