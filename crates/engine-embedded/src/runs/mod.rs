//! Remembered operations that left memory: in runs on disk, each in the order of keys and with a filter in memory, so that an
//! id that is not there is mostly not looked for.

mod file;
mod filter;
mod floor;
mod merge;
mod record;
mod writer;

use crate::storage::StorageError;

/// Why runs cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The disk failed, or is full.
    #[error("the disk failed for a run of operation ids")]
    Storage(#[from] StorageError),
    /// The file is damaged, newer than this release, or of another partition.
    #[error(
        "{path} {reason}; duplicates of the operations in it cannot be told from new ones: restore it from a backup"
    )]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Not all of them are there.
    #[error(
        "partition {partition} remembers operations {from} to {to}, and no file in {path} has them; duplicates of these cannot be \
         told from new ones: restore the runs (ids-*.run) from a backup"
    )]
    Missing {
        /// Which partition.
        partition: u32,
        /// Its directory.
        path: String,
        /// The first number, and the last one.
        from: u64,
        /// The last one.
        to: u64,
    },
    /// They are of another history than the log.
    #[error(
        "{path} has operations that the journal does not have; do not serve this directory, restore it from a backup as a whole"
    )]
    Foreign {
        /// The file.
        path: String,
    },
}
