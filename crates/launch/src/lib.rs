//! Real servers on free ports of this machine, in temporary folders, which end with their owner: Redis (a
//! single one, a primary with replicas behind sentinels, or a cluster), PostgreSQL, MariaDB and
//! Apache Kafka. Demos, tests and benchmarks start them.
//!
//! Each answers when it was started, and can be killed as by a crash, stopped, paused, and started again
//! from its files on the same port. It is killed and its files are removed when it is dropped, and also
//! when its owner ends without dropping it: tests may keep one in a static.

mod account;
mod error;
mod folder;
mod kafka;
mod mariadb;
mod ports;
mod postgres;
mod process;
mod program;
mod random;
mod redis;
mod urls;

use std::time::{Duration, Instant};

pub use error::LaunchError;
pub use kafka::{Kafka, KafkaOptions};
pub use mariadb::{MariaDb, MariaDbOptions};
pub use postgres::{Postgres, PostgresOptions};
pub(crate) use program::Program;
pub use redis::{Cluster, Options, Sentinels, Server};

/// How long anything may take until it is as it should be.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to wait between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Looks until it is so; gives whether it came in time.
fn has_come(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > READY_TIMEOUT {
            return false;
        }
        std::thread::park_timeout(LOOK_INTERVAL);
    }
    true
}

/// Looks until it is so; `what` says what is not so when it does not come.
fn wait_until(what: &str, is_so: impl FnMut() -> bool) -> Result<(), LaunchError> {
    if has_come(is_so) { Ok(()) } else { Err(LaunchError::Late { what: what.to_owned() }) }
}
