//! Why a server does not start, or ends.

use std::net::SocketAddr;

use scarce_engine_embedded::EmbeddedError;
use scarce_engine_redis::RedisError;

use crate::pipeline::PipelineError;
use crate::settings::Problem;

/// Why a server does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A port can be reached from outside although there is no password.
    #[error("{0}")]
    Exposed(Problem),
    /// What outcomes depend on cannot be set so.
    #[error("--set {set}: {reason}")]
    Set {
        /// What was asked for.
        set: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {error}; {advice}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// The settings of the Redis engine cannot be used.
    #[error("{0}")]
    RedisSettings(String),
    /// The embedded engine failed.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The Redis engine did not start.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// What flows out cannot be started.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A socket or a thread.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The thread of the RESP port ended by a panic, which was printed.
    #[error("the thread of the RESP port failed")]
    PortFailed,
}
