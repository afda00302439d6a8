//! A position in a partition's log from which to read: the same for the journal and for the log in Redis.

use std::sync::Arc;

use scarce_core::event::{Entry, Position};
use scarce_engine::{Failure, Log};
use tokio::task::JoinHandle;

use crate::Batch;

/// Why a cursor cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The log cannot be read at the moment.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// The next events were trimmed.
    #[error(
        "the log of partition {partition} begins at sequence {begins_at}, and what follows {after} is wanted; it was trimmed before this consumer was known"
    )]
    Trimmed {
        /// The partition of the log.
        partition: u32,
        /// The cursor's position.
        after: Position,
        /// The first sequence that is still there.
        begins_at: u64,
    },
    /// The log lost its end, and other events took its sequences: what was read is no longer true.
    #[error(
        "the log of partition {partition} has another history at sequence {}: epoch {}, and what was read there was of epoch {}; a failover lost events that had been read",
        after.sequence, found.epoch, after.epoch
    )]
    OtherHistory {
        /// The partition of the log.
        partition: u32,
        /// The cursor's position.
        after: Position,
        /// The position that the log has there.
        found: Position,
    },
}

/// A position in the log of one partition.
#[derive(Clone)]
pub struct Cursor {
    log: Arc<dyn Log>,
    partition: u32,
    after: Position,
    /// The epoch for which the log is known to continue from `after` without a break.
    epoch_checked: Option<u64>,
}

impl Cursor {
    /// A cursor after an event; at the beginning if the position is the default. An epoch of 0 is not
    /// checked.
    #[must_use]
    pub fn new(log: Arc<dyn Log>, partition: u32, after: Position) -> Self {
        Self { log, partition, after, epoch_checked: None }
    }

    /// The position of the last event that was read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.after
    }

    /// Moves the cursor back to an event that was read: a batch may be consumed in part.
    pub fn set_position(&mut self, after: Position) {
        self.after = after;
    }

    /// Runs work on the cursor that may block on a disk or a server, on a thread that may block, and returns
    /// the cursor.
    pub fn aside<T: Send + 'static>(
        mut self,
        work: impl FnOnce(&mut Self) -> T + Send + 'static,
    ) -> JoinHandle<(Self, T)> {
        tokio::task::spawn_blocking(move || {
            let done = work(&mut self);
            (self, done)
        })
    }

    /// How many events the cursor lags behind the durable end of the log.
    ///
    /// # Errors
    /// When the engine does not know.
    pub fn lag(&self) -> Result<u64, Failure> {
        Ok(self.log.durable_through(self.partition)?.saturating_sub(self.after.sequence))
    }

    /// Checks that the log still has what the cursor has read.
    ///
    /// # Errors
    /// When the log has another history, or cannot be read.
    pub fn check(&mut self) -> Result<(), CursorError> {
        let Position { epoch, sequence } = self.after;
        if sequence == 0 || epoch == 0 {
            return Ok(());
        }
        let through = self.log.durable_through(self.partition)?;
        let found = if through < sequence {
            Some(Position { epoch: 0, sequence: through })
        } else if self.log.first_sequence(self.partition)? > sequence {
            // It was trimmed, so the consumer had confirmed it.
            None
        } else {
            let entries = self.log.entries(self.partition, sequence, 1)?;
            entries.first().map(Entry::end).filter(|end| end.epoch != epoch)
        };
        match found {
            None => Ok(()),
            Some(found) => {
                Err(CursorError::OtherHistory { partition: self.partition, after: self.after, found })
            }
        }
    }

    /// Reads the next entries, up to about `bytes_max`, and moves past them; `None` at the end of the log.
    ///
    /// # Errors
    /// When the log no longer has the position, or cannot be read.
    pub fn next_batch(&mut self, bytes_max: u64) -> Result<Option<Batch>, CursorError> {
        let (partition, after) = (self.partition, self.after);
        let through = self.log.durable_through(partition)?;
        if through < after.sequence {
            self.check()?;
        }
        if through <= after.sequence {
            return Ok(None);
        }
        let entries = match self.log.entries(partition, after.sequence + 1, bytes_max) {
            Ok(entries) => entries,
            Err(failure) => return Err(self.trimmed()?.unwrap_or_else(|| failure.into())),
        };
        let Some(first) = entries.first() else {
            // The log now has events, so this one existed and was trimmed.
            return Err(self.trimmed()?.unwrap_or_else(|| unreadable(partition, after)));
        };
        if first.head.sequence_first > after.sequence + 1 {
            return Err(self.trimmed()?.unwrap_or_else(|| unreadable(partition, after)));
        }
        // A new epoch may begin after the cursor's position, or before it.
        if self.epoch_checked != Some(first.head.epoch) && first.head.epoch != after.epoch {
            self.check()?;
        }
        let batch = Batch { partition, after, entries };
        self.after = batch.end();
        self.epoch_checked = Some(self.after.epoch);
        Ok(Some(batch))
    }

    /// The error if the log was trimmed beyond the cursor.
    fn trimmed(&self) -> Result<Option<CursorError>, Failure> {
        let begins_at = self.log.first_sequence(self.partition)?;
        let (partition, after) = (self.partition, self.after);
        let is_trimmed = begins_at > after.sequence + 1;
        Ok(is_trimmed.then_some(CursorError::Trimmed { partition, after, begins_at }))
    }
}

fn unreadable(partition: u32, after: Position) -> CursorError {
    let reason = format!("the log of partition {partition} has nothing behind {after}, where something was");
    Failure::Unavailable { reason }.into()
}
