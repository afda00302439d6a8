//! Whether a position belongs to the history that a log has.

use scarce_core::event::{Entry, Position};

use crate::engine::{Failure, Log};

/// What a log says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The log has it.
    Known,
    /// Its event was trimmed, so the log alone cannot tell.
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
        return Ok(Standing::Trimmed { begins_at });
    }
    let found = log.entries(partition, looked_at, 1)?.first().map(Entry::end);
    Ok(match found {
        Some(found) if found.epoch == epoch => Standing::Known,
        Some(found) if !is_trimmed => Standing::Diverged { found },
        _ => Standing::Trimmed { begins_at },
    })
}
