//! Why a server does not start, or stops.

use std::net::SocketAddr;

use scarce_backup::KeyError;
use scarce_backup::store::StoreError;
use scarce_engine_embedded::EmbeddedError;
use scarce_engine_redis::RedisError;
use scarce_gateway::TlsError;
use scarce_settings::Problem;

use crate::keys::KeyStoreError;
use crate::pipeline::PipelineError;
use crate::relocation::ArrivalError;

/// Why a server does not start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A port is reachable from outside although there is no password and no key.
    #[error("{0}")]
    Exposed(Problem),
    /// A setting that outcomes depend on is invalid.
    #[error("--set {set}: {reason}")]
    Set {
        /// The setting as given.
        set: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The process may have too few open files.
    #[error(
        "the limit of open files is {limit}, and a server with these settings needs {needed} besides its connections; raise it: ulimit -Hn 65536, or LimitNOFILE=65536 in the systemd unit"
    )]
    OpenFiles {
        /// The limit.
        limit: u64,
        /// How many the server needs.
        needed: u64,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {error}; {advice}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// The file of limits of rate cannot be used.
    #[error("the limits of rate in {}: {reason}", path.display())]
    Limits {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file of waiting rooms cannot be used.
    #[error("the waiting rooms in {}: {reason}", path.display())]
    Rooms {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The keys of callers cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyStoreError),
    /// The settings of TLS do not go together.
    #[error("{0}")]
    TlsSettings(&'static str),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The settings of the Redis engine cannot be used.
    #[error("{0}")]
    RedisSettings(String),
    /// What was remembered of the deployment in Redis cannot be used.
    #[error(
        "{} says which deployment is in Redis, and cannot be used: {reason}; restore the file, set redis_deployment to the deployment's id, or start once with --accept-deployment to take what is in Redis now", path.display()
    )]
    Remembered {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The embedded engine failed.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The deployment did not arrive from where it was served.
    #[error(transparent)]
    Arrival(#[from] ArrivalError),
    /// The Redis engine did not start.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The store of backups cannot be what is set.
    #[error(transparent)]
    BackupStore(#[from] StoreError),
    /// The keys of backups cannot be used.
    #[error(transparent)]
    BackupKey(#[from] KeyError),
    /// The log of another engine cannot be shipped.
    #[error(
        "the setting backup is for the engine embedded; back up a Redis with its own means, or leave it out"
    )]
    BackupEngine,
    /// The pipeline cannot start.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// An error of a socket or a thread.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The thread of the RESP port panicked; the panic was printed.
    #[error("the thread of the RESP port failed")]
    PortFailed,
}
