//! Real Redis servers on free ports of this machine, in temporary folders, which end with their owner:
//! a single one, a primary with replicas behind sentinels, or a cluster. Demos, tests and benchmarks
//! start them.

mod cluster;
mod sentinels;
mod server;

use std::time::{Duration, Instant};

pub use cluster::Cluster;
pub use sentinels::Sentinels;
pub use server::{Options, Server};

/// How long anything may take until it is as it should be.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to wait between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Why servers do not run as they should.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program is not there, or cannot be started.
    #[error("{program} cannot be started; install redis-server (Debian: apt-get install redis-server)")]
    Program {
        /// Its name or path.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The server ended at once; what it printed last.
    #[error("redis-server ended at its start: {output}")]
    Ended {
        /// The end of its log.
        output: String,
    },
    /// What was waited for did not come.
    #[error("{what} within {} s", READY_TIMEOUT.as_secs())]
    Late {
        /// What is not so.
        what: String,
    },
    /// A folder, a port or a signal.
    #[error("the system refused")]
    System(#[from] std::io::Error),
    /// A server answered with an error.
    #[error("the server refused")]
    Server(#[from] redis::RedisError),
}

/// Looks until it is so.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<(), LaunchError> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > READY_TIMEOUT {
            return Err(LaunchError::Late { what: what.to_owned() });
        }
        std::thread::park_timeout(LOOK_INTERVAL);
    }
    Ok(())
}
