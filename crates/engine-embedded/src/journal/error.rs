use crate::storage::StorageError;

/// Why the journal cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk failed.
    #[error("{}", explained(.0))]
    Storage(#[from] StorageError),

    /// There is no room for another segment. Nothing was written, nothing is broken: try again later.
    #[error(
        "no room for another journal segment of {segment_bytes} bytes; free space on the disk, writes then go on"
    )]
    Full {
        /// Room that is needed.
        segment_bytes: u64,
        /// The call that met the full disk.
        #[source]
        source: StorageError,
    },

    /// There is no file descriptor for another segment. Nothing was written, nothing is broken: try again later.
    #[error(
        "no file descriptor for another journal segment; close connections or raise the limit of open files (ulimit -n, LimitNOFILE), writes then go on"
    )]
    NoDescriptor {
        /// The call that found none.
        #[source]
        source: StorageError,
    },

    /// An earlier write or sync failed. What was appended since the last good sync may or may not be durable.
    #[error(
        "the journal takes no more writes since an earlier failure ({reason}); restart, to recover from what the disk holds"
    )]
    Poisoned {
        /// The failure.
        reason: String,
    },

    /// Bytes that were once durable are damaged.
    #[error(
        "{path} is corrupt at offset {offset}, at sequence {sequence}: {reason}; restore the file from a copy, since what is lost there was acknowledged"
    )]
    Corrupt {
        /// The segment's file.
        path: String,
        /// Where in the file.
        offset: u64,
        /// The first sequence that cannot be read.
        sequence: u64,
        /// What is wrong.
        reason: String,
    },

    /// Segments are missing, or not in the order in which they were written.
    #[error(
        "the journal in {directory} is incomplete: {reason}; restore the missing files from a copy, since they held acknowledged operations"
    )]
    Incomplete {
        /// A path of the journal's directory.
        directory: String,
        /// What is missing.
        reason: String,
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

    /// The caller's sequences leave a gap, overlap, or the epoch went back.
    #[error("frame refused: {reason}; this is a defect of the caller, nothing was written")]
    Misnumbered {
        /// What does not fit.
        reason: String,
    },

    /// The payload does not fit in a frame.
    #[error("a payload of {payload_bytes} bytes exceeds {payload_bytes_max}; split it over several frames")]
    TooLarge {
        /// What was given.
        payload_bytes: u64,
        /// What fits.
        payload_bytes_max: u64,
    },

    /// The sequence is older than what is kept.
    #[error(
        "sequence {sequence} is no longer in the journal, which begins at {first_available}; start from a snapshot"
    )]
    Retired {
        /// What was asked for.
        sequence: u64,
        /// The oldest sequence kept.
        first_available: u64,
    },

    /// A segment was dropped before a copy that follows the journal had read it.
    #[error(
        "{path} is gone, and its sequences from {sequence} on were not read yet: it was not kept any more"
    )]
    Dropped {
        /// The segment's file.
        path: String,
        /// The first sequence that was not read.
        sequence: u64,
    },

    /// The settings make no sense.
    #[error("journal settings refused: {reason}")]
    Settings {
        /// Which and why.
        reason: String,
    },

    /// The receiver of the recovered frames refused one.
    #[error("recovery stopped at sequence {sequence}: the frame at offset {offset} of {path} was refused")]
    Consumer {
        /// First sequence of the refused frame.
        sequence: u64,
        /// The segment's file.
        path: String,
        /// Where in the file.
        offset: u64,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl JournalError {
    /// Whether there is no room for more: writes are refused for now, and the writer lives.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::NoDescriptor { .. })
    }

    /// Whether the writer is dead for good.
    pub fn is_poisoned(&self) -> bool {
        matches!(self, Self::Poisoned { .. })
    }
}

/// What is said of a call that failed. A disk that is full is not broken.
fn explained(error: &StorageError) -> &'static str {
    if error.is_full() {
        "the disk is full; make room, and try again"
    } else {
        "the journal's disk failed; look at the device and the system log before starting again"
    }
}
