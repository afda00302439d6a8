//! A position in a partition's log from which to read: the same for the journal and for the log in Redis.

use std::sync::Arc;

use scarce_core::event::Position;
use scarce_engine::{Failure, Log, Standing};
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
    /// The log has another history: what was read is no longer true.
    #[error(
        "the log of partition {partition} does not have {after}, which was read; it has {found} there: an older copy of the data was put back, or a failover lost events"
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
    /// A position that is known to be of this log although its event may be trimmed.
    vouched: Option<Position>,
}

impl Cursor {
    /// A cursor after an event; at the beginning if the position is the default. An epoch of 0 is not
    /// checked.
    #[must_use]
    pub fn new(log: Arc<dyn Log>, partition: u32, after: Position) -> Self {
        Self { log, partition, after, epoch_checked: None, vouched: None }
    }

    /// The same, after a position that the engine knows to be of this log: it may have been trimmed.
    #[must_use]
    pub fn vouched(log: Arc<dyn Log>, partition: u32, after: Position) -> Self {
        Self { vouched: Some(after), ..Self::new(log, partition, after) }
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
    /// When the log has another history, does not reach back far enough to tell, or cannot be read.
    pub fn check(&mut self) -> Result<(), CursorError> {
        let (partition, after) = (self.partition, self.after);
        match self.log.standing(partition, after)? {
            Standing::Known => Ok(()),
            Standing::Passed { .. } | Standing::Trimmed { .. } if self.vouched == Some(after) => Ok(()),
            Standing::Passed { begins_at } | Standing::Trimmed { begins_at } => {
                Err(CursorError::Trimmed { partition, after, begins_at })
            }
            Standing::Diverged { found } => Err(CursorError::OtherHistory { partition, after, found }),
        }
    }

    /// Checks that the log still has what follows the cursor.
    ///
    /// # Errors
    /// When it was trimmed, or the log cannot be read.
    pub fn check_kept(&self) -> Result<(), CursorError> {
        self.trimmed()?.map_or(Ok(()), Err)
    }

    /// Reads the next entries, up to about `bytes_max`, and moves past them; `None` at the end of the log.
    ///
    /// # Errors
    /// When the log no longer has the position, or cannot be read.
    pub fn next_batch(&mut self, bytes_max: u64) -> Result<Option<Batch>, CursorError> {
        self.next_batch_up_to(usize::MAX, bytes_max)
    }

    /// The same, but no entries after those that hold `events_max` events.
    ///
    /// # Errors
    /// As [`Cursor::next_batch`].
    pub fn next_batch_up_to(
        &mut self,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Option<Batch>, CursorError> {
        let (partition, after) = (self.partition, self.after);
        let through = self.log.durable_through(partition)?;
        if through < after.sequence {
            self.check()?;
        }
        if through <= after.sequence {
            return Ok(None);
        }
        let entries = match self.log.entries_up_to(partition, after.sequence + 1, events_max, bytes_max) {
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
        self.vouched = Some(self.after);
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
