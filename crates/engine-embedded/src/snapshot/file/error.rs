use crate::storage::StorageError;

/// Why a snapshot cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The disk failed, or is full.
    #[error("the snapshot's disk failed; the older snapshots and the journal are untouched")]
    Storage(#[from] StorageError),

    /// The file is damaged.
    #[error(
        "{path} is corrupt at offset {offset}: {reason}; an older snapshot and the journal after it serve as well"
    )]
    Corrupt {
        /// The file.
        path: String,
        /// Where in the file.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },

    /// The file belongs to another deployment or partition.
    #[error("{path} belongs to {found}, not to {expected}; point to the right data directory")]
    Foreign {
        /// The file.
        path: String,
        /// Whose it is.
        found: String,
        /// Whose it should be.
        expected: String,
    },

    /// The file was written by a newer release.
    #[error(
        "{path} has format version {found}, and this release reads up to {supported}; start the newer release that wrote it"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },

    /// The producer of the payload failed.
    #[error("the snapshot at sequence {sequence} was abandoned while its payload was produced")]
    Payload {
        /// The snapshot's sequence.
        sequence: u64,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// What was read back is not what was written.
    #[error("{path} read back wrong and was removed; look at the device before trusting it")]
    ReadBack {
        /// The file.
        path: String,
        /// What is wrong with it.
        #[source]
        source: Box<SnapshotError>,
    },
}

impl SnapshotError {
    /// Whether the disk is full: nothing is broken, and room cures it.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Storage(error) if error.is_full())
    }
}
