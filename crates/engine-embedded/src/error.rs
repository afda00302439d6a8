//! Why the embedded engine does not start, or stops.

use crate::consumers::RegistryError;
use crate::deployment::DeploymentError;
use crate::fold::FoldError;
use crate::journal::JournalError;
use crate::lock::LockError;
use crate::log::LogError;
use crate::memory::TooLarge;
use crate::receipts::ReceiptsError;
use crate::relocation::MarkError;
use crate::restore::RestoreError;
use crate::runs::RunError;
use crate::snapshot::SnapshotError;
use crate::storage::StorageError;
use scarce_core::machine::regroup::RegroupError;
use scarce_engine::Failure;

/// Why the engine does not start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The data directory is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The deployment's file is unusable.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
    /// The journal is unusable.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The log cannot be read or trimmed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A snapshot is unusable.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Receipts that left the log are unusable.
    #[error(transparent)]
    Receipts(#[from] ReceiptsError),
    /// Operations that left memory are unusable.
    #[error(transparent)]
    Runs(#[from] RunError),
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The list of consumers is unusable.
    #[error(transparent)]
    Consumers(#[from] RegistryError),
    /// The deployment is not served from these files.
    #[error(transparent)]
    Relocation(#[from] MarkError),
    /// Partitions cannot be regrouped.
    #[error(transparent)]
    Regroup(#[from] RegroupError),
    /// What was written is not what went.
    #[error(
        "what was written of partition {partition} does not give the state that was to be written; the disk may be faulty"
    )]
    Miswritten {
        /// Which partition.
        partition: u32,
    },
    /// The data does not fit into memory.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// The log does not fold.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A copy cannot be restored as asked.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// Where consumers stand in the log could not be compared with it.
    #[error("the positions of consumers could not be compared with the log")]
    Positions(#[source] Failure),
    /// There is no randomness to tell a new epoch from others.
    #[error("the system gave no random bytes, which tell this start's history from others")]
    Random(#[source] std::io::Error),
    /// The log is not durable up to where a snapshot would be.
    #[error(
        "the disk is full: what was decided before the snapshot waits for room, and the snapshot would wait for that; make room"
    )]
    NoRoom,
    /// More changed than a snapshot may remember until it is written.
    #[error(
        "rows that changed before they were written took {remembered_kib} KiB of memory, of {max_kib} KiB that --memory-max leaves \
         for them; the disk is too slow for these changes, or --memory-max too low"
    )]
    Outrun {
        /// What they took.
        remembered_kib: u64,
        /// What they may take.
        max_kib: u64,
    },
    /// The engine ends.
    #[error("the engine is ending")]
    Stopped,
    /// A port failed.
    #[error("a port of partition {partition} failed")]
    Port {
        /// Which partition's.
        partition: u32,
        /// The failure.
        #[source]
        source: std::io::Error,
    },
    /// A thread could not be started, or ended by a panic.
    #[error("the thread '{name}' {what}")]
    Thread {
        /// Which thread.
        name: String,
        /// What happened to it.
        what: String,
    },
}

/// An error with everything that caused it, in one line.
pub(crate) fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
