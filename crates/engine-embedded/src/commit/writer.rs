//! What makes a batch durable, on the committer's thread or on the owner's: one of them at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_engine::slow::{SlowLog, names_of_entries};

use crate::batch::pieces;
use crate::error::explain;
use crate::log::{LogBatch, LogError, LogWriter};
use crate::progress::CommitProgress;

use super::{Commit, Failed, milliseconds};

/// The writing end of the log, and what is noted of each batch.
pub(super) struct BatchWriter {
    log: Box<dyn LogWriter>,
    progress: Arc<CommitProgress>,
    partition: u32,
    slow: SlowLog,
    /// The number of the last batch that was made durable.
    pub(super) last: u64,
}

impl BatchWriter {
    pub(super) fn new(
        log: Box<dyn LogWriter>,
        progress: Arc<CommitProgress>,
        partition: u32,
        slow: Option<Duration>,
    ) -> Self {
        Self { log, progress, partition, slow: SlowLog::above(slow), last: 0 }
    }

    /// Appends a batch, in pieces if it is larger than the log takes at once. `append` is given each.
    pub(super) fn append(
        &mut self,
        commit: &Commit,
        mut append: impl FnMut(&mut dyn LogWriter, LogBatch<'_>) -> Result<(), LogError>,
    ) -> Result<(), Failed> {
        let whole = commit.batch();
        let payload_bytes_max = self.log.payload_bytes_max();
        if whole.payload.len() as u64 <= payload_bytes_max {
            return Ok(append(&mut *self.log, whole)?);
        }
        for piece in pieces(whole, payload_bytes_max)? {
            append(&mut *self.log, piece)?;
        }
        Ok(())
    }

    /// Appends a batch that the log takes at once. [`LogError::Full`] leaves all as it was.
    pub(super) fn append_whole(&mut self, commit: &Commit) -> Result<(), LogError> {
        self.log.append(commit.batch())
    }

    /// Makes durable what was appended. The batch may be released afterwards, and not before.
    pub(super) fn sync(&mut self, commit: &Commit) -> Result<(), Failed> {
        let begun = Instant::now();
        let through = self.log.sync()?;
        let synced = begun.elapsed();
        self.progress.note_sync(synced);
        self.progress.metrics().syncs.note(synced, 1);
        let waited = commit.begun.elapsed();
        self.progress.metrics().commits.note(waited, commit.commands);
        self.log_if_slow(commit, waited, synced);
        self.progress.note_durable(through, commit.bytes.len() as u64);
        self.progress.set_room_low(self.log.is_room_low());
        self.last = commit.number;
        Ok(())
    }

    /// Syncs what is left, at the end.
    pub(super) fn finish(&mut self) -> Result<(), Failed> {
        self.note_durable()?;
        Ok(self.log.sync().map(drop)?)
    }

    /// Notes in the log how far it is durable.
    pub(super) fn note_durable(&mut self) -> Result<(), Failed> {
        match self.log.note_durable() {
            Err(error) if !error.is_full() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Ends writing for good.
    pub(super) fn fail(&self, error: &(dyn std::error::Error + 'static)) {
        let (partition, reason) = (self.partition, explain(error));
        tracing::error!(partition, reason, "the journal cannot be written; the server ends");
        self.progress.fail(reason);
    }

    fn log_if_slow(&mut self, commit: &Commit, waited: Duration, synced: Duration) {
        if self.slow.is_slow(waited) {
            // The entries tell what the commands were, so that nothing had to be kept for it.
            let slow = &self.progress.metrics().slow_commands;
            slow.note(waited, commit.commands, names_of_entries(&commit.bytes));
        }
        if let Some(untold) = self.slow.note(waited) {
            let (partition, commands) = (self.partition, commit.commands);
            let (waited_ms, sync_ms) = (milliseconds(waited), milliseconds(synced));
            tracing::warn!(
                partition,
                commands,
                waited_ms,
                sync_ms,
                untold,
                "commands waited long for the disk"
            );
        }
    }
}
