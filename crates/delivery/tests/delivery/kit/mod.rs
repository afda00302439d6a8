//! Shared parts of the tests: real databases, real engines, real receivers.

mod engine;
mod faults;
mod receiver;

pub use engine::{Bench, PARTITIONS};
pub use faults::{Fault, Faulty};
pub use receiver::{Heard, Receiver, Reply};
pub use scarce_testkit::{
    Database, DatabaseKind, DatabaseServer, LOOK_INTERVAL, PATIENCE, number, wait_until,
};

use std::time::Duration;

use scarce_delivery::{Delivery, DeliveryOptions};
use scarce_sim::random::Random;

/// Short delays, so that many attempts fit into a test, and generous timeouts for a slow machine.
pub fn options() -> DeliveryOptions {
    DeliveryOptions {
        timeout: Duration::from_secs(20),
        request_timeout: Duration::from_secs(10),
        attempts_max: 1_000,
        retry_first: Duration::from_millis(5),
        retry_max: Duration::from_millis(40),
        lease: Duration::from_secs(30),
        poll_interval: Duration::from_millis(10),
        ..DeliveryOptions::default()
    }
}

/// The same with short timeouts, for receivers that never answer and workers that die.
pub fn hasty() -> DeliveryOptions {
    DeliveryOptions {
        request_timeout: Duration::from_millis(300),
        lease: Duration::from_millis(700),
        ..options()
    }
}

/// Opens the database with a bench's deployment.
pub async fn open(database: &Database, bench: &Bench, options: DeliveryOptions) -> Delivery {
    Delivery::open(database.url(), bench.deployment_id(), options).await.expect("the database")
}

/// A random duration up to a limit.
pub fn some_time(random: &mut Random, max_ms: u64) -> Duration {
    Duration::from_millis(1 + random.below(max_ms))
}
