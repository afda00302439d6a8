//! Real servers on free local ports, in temporary folders, which end with their owner: Redis (a single
//! server, a primary with replicas behind sentinels, or a cluster), PostgreSQL, MariaDB, Apache Kafka, and a server of S3.
//!
//! Each server is ready once started. It can be killed like in a crash, stopped, paused, and restarted from
//! its files on the same port. It is killed and its files are removed when it is dropped, and also when its
//! owner ends without dropping it, so tests may keep one in a static.
//!
//! Must not know: anything of Scarce. It starts other people's programs.
//!
//! Tests and benchmarks start all of them. The demonstrations, which are part of the binary, start only Redis
//! and enable only the feature `redis` of this crate. Databases and Kafka are separate features, so that
//! nothing that only tests need is linked into the product.
//!
//! Where to begin: `redis/server.rs` starts one server; `process` is what all have in common.

#![forbid(unsafe_code)]

#[cfg(feature = "sql")]
mod account;
mod error;
mod folder;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "sql")]
mod mariadb;
mod options;
mod ports;
#[cfg(feature = "sql")]
mod postgres;
mod process;
mod program;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "s3")]
mod s3;
#[cfg(feature = "sql")]
mod urls;

use std::time::{Duration, Instant};

pub use error::LaunchError;
#[cfg(feature = "kafka")]
pub use kafka::{Kafka, KafkaOptions};
#[cfg(feature = "sql")]
pub use mariadb::{MariaDb, MariaDbOptions};
pub use options::{ServerKind, ServerOptions};
#[cfg(feature = "sql")]
pub use postgres::{Postgres, PostgresOptions};
pub(crate) use program::Program;
#[cfg(feature = "redis")]
pub use redis::{Cluster, Options, Sentinels, Server};
#[cfg(feature = "s3")]
pub use s3::S3;

/// The timeout for any condition.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to wait between two checks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Checks repeatedly until the condition holds; returns whether it did in time.
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

/// Checks repeatedly until the condition holds; `what` describes it in the error for a timeout.
#[cfg(feature = "redis")]
fn wait_until(what: &str, is_so: impl FnMut() -> bool) -> Result<(), LaunchError> {
    if has_come(is_so) { Ok(()) } else { Err(LaunchError::Late { what: what.to_owned() }) }
}
