//! Why the engine does not start.

use scarce_engine::engine::Failure;

use super::settings::KnownDeployment;
use super::{address, server};

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// The address is invalid.
    #[error("'{url}' is no address of a Redis; it must be {}", address::SHAPE)]
    Url {
        /// What was given, without what may be a password.
        url: String,
    },
    /// The server cannot be reached, or refuses.
    #[error(transparent)]
    Server(#[from] Failure),
    /// Braces in a prefix would stand before those of the partitions, and a tilde marks keys of scripts.
    #[error(
        "the prefix '{prefix}' is longer than 64 bytes, or has braces or a tilde in it, which say where a key belongs; choose another one"
    )]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// The number of partitions is fixed.
    #[error(
        "{key} was created with {found} partitions, and {wanted} are asked for; the number is fixed when a deployment is created, so set it back to {found}"
    )]
    Partitions {
        /// The key.
        key: String,
        /// What it was created with.
        found: u32,
        /// What was asked for.
        wanted: u32,
    },
    /// There must be at least one partition.
    #[error("a deployment needs at least one partition; set the number to 1 or more")]
    NoPartition,
    /// The deployment's hash is not one of ours.
    #[error("the key {key} is damaged; restore it from a copy, or choose another prefix")]
    Damaged {
        /// The key.
        key: String,
    },
    /// What is there only shows the state of another engine.
    #[error(
        "{key} belongs to a mirror: it shows the state of the deployment {of} to readers, and a server that decided by it would give \
         everything out twice; choose another redis_prefix or another Redis"
    )]
    Mirror {
        /// The key.
        key: String,
        /// The deployment that it shows.
        of: String,
    },
    /// A deployment that was to move here has not arrived.
    #[error(
        "{key} is not served, because the move that made it was not finished: {from} may not say that it has moved here; give 'scarce migrate' the same command again, which finishes the move or begins it anew"
    )]
    Arriving {
        /// The key.
        key: String,
        /// Where it comes from.
        from: String,
    },
    /// Something is where a deployment is to move.
    #[error(
        "{key} is there already; a deployment moves to a prefix that has nothing: choose another one with --redis-prefix"
    )]
    Occupied {
        /// The key.
        key: String,
    },
    /// A key does not hold what was written to it.
    #[error(
        "{key} does not have what was written to it: see to it that nobody else writes there, and that Redis drops no keys"
    )]
    Miswritten {
        /// The key.
        key: String,
    },
    /// Partitions without their deployment, whose secret and id are lost with it.
    #[error(
        "{key} is there and the deployment is not, so keys behind '{prefix}' were deleted or evicted; restore Redis' data from a copy, or choose another redis_prefix to start anew"
    )]
    Orphaned {
        /// The prefix.
        prefix: String,
        /// A partition's key.
        key: String,
    },
    /// The deployment that is known is not there, nor anything else.
    #[error(
        "Redis has nothing behind '{prefix}', and {} names the deployment {}: its data was lost, or this is another Redis; restore the data, or connect to the Redis that has it; to start anew without balances and operation IDs, {}", known.named_by, known.id, known.remedy
    )]
    Absent {
        /// The prefix.
        prefix: String,
        /// What is known.
        known: Box<KnownDeployment>,
    },
    /// Another deployment is there than the one that is known.
    #[error(
        "Redis has the deployment {found} behind '{prefix}', and {} names {}: its data was replaced, or this is another Redis; connect to the Redis that has it; to go on with {found}, {}", known.named_by, known.id, known.remedy
    )]
    Other {
        /// The prefix.
        prefix: String,
        /// The deployment that is there.
        found: String,
        /// What is known.
        known: Box<KnownDeployment>,
    },
    /// The keys were written by a newer release.
    #[error(
        "{key} has format version {found}, and this release reads up to {supported}; start the newer release that wrote it"
    )]
    Newer {
        /// The key.
        key: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// Other servers of the deployment have another setting that all must have alike.
    #[error(
        "{key} says that the servers of this deployment have {name} {found}, and this one has {wanted}; set it to {found}, or start once with --accept-settings to change it for all of them, and restart the others with {wanted}"
    )]
    Differs {
        /// The key.
        key: String,
        /// The setting.
        name: String,
        /// What the others have.
        found: String,
        /// What this server has.
        wanted: String,
    },
    /// The server drops keys when its memory is full.
    #[error("Redis at {at} {}", server::eviction_refused(policy))]
    Evicts {
        /// Which server.
        at: String,
        /// Its policy.
        policy: String,
    },
    /// The server is too old.
    #[error("Redis at {at} is of version {version}; use 6.2 or newer, or Valkey")]
    Version {
        /// Which server.
        at: String,
        /// Its version.
        version: String,
    },
    /// A server cannot give what is promised.
    #[error("redis_durability is {level}, but Redis at {at} {lack}")]
    Durability {
        /// The level's word.
        level: &'static str,
        /// Which server.
        at: String,
        /// What it lacks, and what to do.
        lack: String,
    },
    /// No randomness for the secret.
    #[error("no random bytes for the deployment's secret; start again once the system has some")]
    Random(#[source] std::io::Error),
    /// A thread could not be started.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
}
