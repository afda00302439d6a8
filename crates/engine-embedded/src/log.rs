//! The log behind an owner, whatever keeps it. The only implementation today is the [`journal`](crate::journal) in
//! a local directory; the owner, the committer and everybody who reads know these traits only.
//!
//! A log has three ends because three kinds of thread use it at the same time: the committer alone writes
//! ([`LogWriter`]), everybody shares one handle ([`PartitionLog`]), and each reader keeps its own position
//! ([`LogReader`]).
//!
//! # What an implementation promises
//!
//! - **Order.** Batches come back in the order in which they were appended, whole, with no gap between their
//!   sequences.
//! - **Durability.** What [`LogWriter::sync`] has answered survives a crash of the process and of the machine.
//!   Nothing is answered as durable before it is.
//! - **No second chance.** After an append or a sync has failed for any reason but [`LogError::Full`], every later
//!   call fails too: what the log then holds is unknown until it is opened again.
//! - **Full is not broken.** [`LogError::Full`] leaves the log as it was. The same append may succeed later.
//! - **Trimming is a floor.** [`PartitionLog::trim`] drops nothing at or after the sequence it is given.
//!
//! Batches are opaque here. Each call carries a whole batch, so that a virtual call costs nothing beside it.

use std::error::Error;

/// A batch of encoded entries, to be appended as one.
#[derive(Clone, Copy, Debug)]
pub struct LogBatch<'a> {
    /// The writer's epoch; it never falls.
    pub epoch: u64,
    /// The first sequence covered: the one after the batch before.
    pub first_sequence: u64,
    /// The last sequence covered.
    pub last_sequence: u64,
    /// The entries.
    pub payload: &'a [u8],
}

/// Why the log cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no room. Nothing was written, nothing is broken.
    #[error(transparent)]
    Full(Box<dyn Error + Send + Sync>),
    /// Anything else. A writer takes nothing more.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl LogError {
    /// Whether the log only lacks room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

/// The writing end. There is one for each log, held by the committer.
pub trait LogWriter: Send {
    /// Appends a batch; it is durable after the next [`LogWriter::sync`].
    ///
    /// # Errors
    /// [`LogError::Full`], or [`LogError::Failed`] for good.
    fn append(&mut self, batch: LogBatch<'_>) -> Result<(), LogError>;

    /// Makes everything appended durable, and answers the last sequence that is.
    ///
    /// # Errors
    /// [`LogError::Failed`], for good.
    fn sync(&mut self) -> Result<u64, LogError>;

    /// The last sequence that is durable.
    fn durable_through(&self) -> u64;

    /// Notes in the log how far it is durable, for the recovery after a crash. Called when there is nothing
    /// else to write; there may be nothing to do.
    ///
    /// # Errors
    /// [`LogError::Full`], or [`LogError::Failed`] for good.
    fn note_durable(&mut self) -> Result<(), LogError>;

    /// The largest payload of one batch.
    fn payload_bytes_max(&self) -> u64;

    /// Whether the room that is set aside may be too little for the next batch, so that it could meet
    /// [`LogError::Full`].
    fn is_room_low(&self) -> bool;
}

/// The log of one partition as all threads share it.
pub trait PartitionLog: Send + Sync {
    /// A reader with a position of its own.
    fn reader(&self) -> Box<dyn LogReader>;

    /// The first sequence that is still kept; of an empty log the one that comes next.
    fn first_sequence(&self) -> u64;

    /// Sets room aside for what comes next, unless that is done. It may take long and is called from a background
    /// thread.
    ///
    /// # Errors
    /// [`LogError::Full`] when there is none; other failures show in [`LogWriter::append`] where they matter.
    fn reserve_room(&self) -> Result<(), LogError>;

    /// The first sequence that [`PartitionLog::trim`] would leave, were it called with this one.
    fn first_after_trim(&self, before_sequence: u64) -> u64;

    /// Bytes that [`PartitionLog::trim`] would drop, were it called with this one.
    fn bytes_before(&self, before_sequence: u64) -> u64;

    /// Drops what lies entirely before `before_sequence`, or less, and answers how many pieces (for the journal,
    /// segments) were dropped. Called only once a verified snapshot covers them and no consumer needs them.
    ///
    /// # Errors
    /// When something could not be dropped.
    fn trim(&self, before_sequence: u64) -> Result<u64, LogError>;
}

/// Reads while the writer appends. It remembers where it stopped, so that reading on is cheap.
pub trait LogReader: Send {
    /// Payloads of batches in order from the one that covers `sequence`, until they reach `bytes_max` together; one
    /// comes in any case. Nothing after `durable_through` is among them. Empty means: nothing there yet.
    ///
    /// `durable_through` must be an answer of [`LogWriter::sync`] that was taken before the call.
    ///
    /// # Errors
    /// When `sequence` was trimmed, or the log is damaged.
    fn read_from(
        &mut self,
        sequence: u64,
        durable_through: u64,
        bytes_max: u64,
    ) -> Result<Vec<Vec<u8>>, LogError>;
}
