//! Whether a position belongs to the history that a log has.

use scarce_core::event::{Entry, Position};

use crate::engine::{Failure, Log};

/// What a log says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The log has it, and all that follows.
    Known,
    /// The log had it. Its event was trimmed, and some that follow.
    Passed {
        /// The first sequence that is still there.
        begins_at: u64,
    },
    /// Its event was trimmed, and the epochs that wrote the log are not known so far back: the log alone cannot tell.
    Trimmed {
        /// The first sequence that is still there.
        begins_at: u64,
    },
    /// It is a position of another history: the log ends before it, or has another epoch there.
    Diverged {
        /// What the log has there; where it ends before, its end with epoch 0.
        found: Position,
    },
}

impl Standing {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Passed { .. } => "passed",
            Self::Trimmed { .. } => "unclear",
            Self::Diverged { .. } => "diverged",
        }
    }
}

/// What a log says of a position, by what can be read of it. An epoch of 0 is not compared.
///
/// # Errors
/// When the log cannot be read.
pub fn read<L: Log + ?Sized>(log: &L, partition: u32, position: Position) -> Result<Standing, Failure> {
    let Position { epoch, sequence } = position;
    if sequence == 0 {
        return Ok(Standing::Known);
    }
    let through = log.durable_through(partition)?;
    if through < sequence {
        return Ok(Standing::Diverged { found: Position { epoch: 0, sequence: through } });
    }
    if epoch == 0 {
        return Ok(Standing::Known);
    }
    let begins_at = log.first_sequence(partition)?;
    let is_trimmed = begins_at > sequence;
    // An epoch is of one history, so the event after the position vouches for it if it is of the same epoch.
    let looked_at = if is_trimmed { sequence + 1 } else { sequence };
    if begins_at > looked_at || looked_at > through {
        return by_histories(log, partition, position, begins_at);
    }
    let found = log.entries(partition, looked_at, 1)?.first().map(Entry::end);
    match found {
        Some(found) if found.epoch == epoch => Ok(Standing::Known),
        Some(found) if !is_trimmed => Ok(Standing::Diverged { found }),
        _ => by_histories(log, partition, position, begins_at),
    }
}

/// What is said of a position whose event was trimmed, by the epochs that wrote the log.
fn by_histories<L: Log + ?Sized>(
    log: &L,
    partition: u32,
    position: Position,
    begins_at: u64,
) -> Result<Standing, Failure> {
    let histories = log.histories(partition)?;
    let sequence = position.sequence;
    Ok(match histories.has(position) {
        Some(true) if begins_at <= sequence.saturating_add(1) => Standing::Known,
        Some(true) => Standing::Passed { begins_at },
        Some(false) => {
            Standing::Diverged { found: Position { epoch: histories.epoch_at(sequence), sequence } }
        }
        None => Standing::Trimmed { begins_at },
    })
}
