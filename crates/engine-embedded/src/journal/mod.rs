//! The write-ahead journal of one partition: what is appended and synced here survives.
//!
//! - [`recover`] opens the directory: it hands out the frames after a snapshot, cuts a torn tail or refuses a
//!   corrupt one, and yields the [`JournalWriter`].
//! - [`JournalWriter`] appends frames to preallocated segments, and syncs.
//! - [`Journal`] is what other threads share: it makes [`JournalReader`]s, prepares spare segments, drops old ones.
//! - [`inspect`], [`verify`] and [`read`] look without changing anything; [`copy_through`] makes a copy that ends
//!   earlier.
//!
//! Payloads are opaque here. `docs/journal-format.md` describes the bytes.

pub(crate) mod bytes;
mod catalog;
mod copy;
mod error;
mod extent;
mod frame;
mod handle;
mod inspect;
mod listing;
mod log;
mod reader;
mod recovery;
mod repair;
mod scan;
mod segment;
mod spare;
mod survey;
mod tail;
mod writer;

pub use copy::{Boundary, copy_through};
pub use error::JournalError;
pub use extent::{Evidence, Extent, KnownEnd, LastFrame, extents};
pub use frame::PAYLOAD_BYTES_MAX;
pub use handle::{Journal, Retired};
pub use inspect::{
    Oldest, SegmentState, SegmentSummary, Verification, inspect, newest_payload, oldest, read, verify,
};
pub use reader::{JournalReader, OwnedFrame};
pub use recovery::{RecoveredJournal, RecoveryStart, begin, recover};
pub use segment::FORMAT_VERSION;
pub use survey::{Cut, Frame, JournalProgress, OnFrame, OnProgress, Refusal};
pub use tail::{JournalTail, TailPart};
pub use writer::{Appended, JournalWriter};

/// What a journal needs to know about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// The deployment that owns the files; others are refused.
    pub deployment_id: [u8; 16],
    /// The partition that owns the files; others are refused.
    pub partition: u32,
    /// Bytes of each new segment, a multiple of 4096.
    pub segment_bytes: u64,
    /// One entry of the index in memory is kept for each so many bytes of frames.
    pub index_bytes: u64,
}

impl JournalSettings {
    /// Segments of 64 MiB, an index entry for each 64 KiB.
    pub fn new(deployment_id: [u8; 16], partition: u32) -> Self {
        Self { deployment_id, partition, segment_bytes: 64 << 20, index_bytes: 64 << 10 }
    }

    /// Largest payload of one frame under these settings.
    pub fn payload_bytes_max(&self) -> u64 {
        let room = self.segment_bytes - segment::SEGMENT_HEADER_BYTES - frame::frame_bytes(0);
        room.min(PAYLOAD_BYTES_MAX)
    }

    fn check(&self) -> Result<(), JournalError> {
        let reason = if self.segment_bytes < 2 * segment::SEGMENT_HEADER_BYTES {
            "a segment needs at least 8192 bytes"
        } else if !self.segment_bytes.is_multiple_of(segment::SEGMENT_HEADER_BYTES) {
            "the bytes of a segment must be a multiple of 4096"
        } else if self.index_bytes == 0 {
            "the index needs a distance of at least one byte"
        } else {
            return Ok(());
        };
        Err(JournalError::Settings { reason: reason.to_owned() })
    }
}
