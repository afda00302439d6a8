//! Why a mirror cannot be read or written.

use scarce_engine::Failure;
use scarce_engine_redis::RedisError;

/// Why a mirror cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The address or the prefix is invalid.
    #[error(transparent)]
    Settings(#[from] RedisError),
    /// Redis, or the engine, does not answer or refuses.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// There is a deployment of the engine inside Redis.
    #[error(
        "Redis has the deployment {found} behind '{prefix}', which is no mirror: servers with --engine redis keep their accounts \
         there; choose another --mirror-prefix or another Redis"
    )]
    Deployment {
        /// The prefix.
        prefix: String,
        /// The deployment's ID.
        found: String,
    },
    /// There is the mirror of another deployment.
    #[error(
        "Redis has a mirror of the deployment {found} behind '{prefix}', and this is {own}: if that mirror is no longer wanted, \
         delete its keys; otherwise choose another --mirror-prefix"
    )]
    OtherMirror {
        /// The prefix.
        prefix: String,
        /// Whose mirror it is.
        found: String,
        /// Whose mirror it should be.
        own: String,
    },
    /// The mirror has another number of partitions.
    #[error(
        "the mirror behind '{prefix}' has {found} partitions and the deployment has {own}: it was moved; the server that writes \
         the mirror removes what is there and writes it anew"
    )]
    Partitions {
        /// The prefix.
        prefix: String,
        /// How many the mirror has.
        found: u32,
        /// How many it should have.
        own: u32,
    },
    /// The mirror has another number of partitions, and shows later states.
    #[error(
        "the mirror behind '{prefix}' has {found} partitions, of a later time than this data, which has {own}: this is a copy from \
         before the deployment was moved; stop this server, or if it is the one to go on, delete the mirror's keys or choose \
         another --mirror-prefix"
    )]
    LaterLayout {
        /// The prefix.
        prefix: String,
        /// How many the mirror has.
        found: u32,
        /// How many it should have.
        own: u32,
    },
    /// There are keys of whatever else.
    #[error(
        "the key {key} is there and no mirror is: it is someone else's; choose another --mirror-prefix or another Redis"
    )]
    Foreign {
        /// The key.
        key: String,
    },
    /// The mark of the mirror is no mark.
    #[error("the key {key} is damaged; delete it, and the mirror is written anew")]
    Damaged {
        /// The key.
        key: String,
    },
    /// Another process writes the same mirror.
    #[error(
        "another process ({writer}) writes partition {partition} of this mirror, too: stop one of the two servers, or give one \
         another --mirror-prefix"
    )]
    Contested {
        /// The partition.
        partition: u32,
        /// What the other process calls itself.
        writer: String,
    },
    /// The position was changed while it was written.
    #[error(
        "the mirror of partition {partition} was put back, emptied or set onto its beginning meanwhile; it is compared and written \
         from there"
    )]
    Moved {
        /// The partition.
        partition: u32,
    },
    /// There is no mirror yet.
    #[error("Redis has no mirror behind '{prefix}'; a server writes it with --mirror")]
    Absent {
        /// The prefix.
        prefix: String,
    },
    /// The log does not lead from the state to where the mirror is.
    #[error("the log of partition {partition} does not lead to sequence {sequence}")]
    Log {
        /// The partition.
        partition: u32,
        /// Where it should lead.
        sequence: u64,
    },
    /// It changes faster than it can be read.
    #[error("the mirror changes while it is read; stop the server that writes it, or try again")]
    Unsettled,
}
