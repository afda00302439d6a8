//! Folding the log's frames into a machine.

use scarce_core::codec::{Input, Malformed};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;

/// Why a frame does not fold.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// The bytes are no entries that this version knows.
    #[error("the log's entries after sequence {sequence} cannot be read; they may be of a newer version")]
    Malformed {
        /// The last sequence that was read.
        sequence: u64,
        /// What is wrong.
        #[source]
        source: Malformed,
    },
    /// An entry does not follow the one before it.
    #[error("the log jumps from sequence {sequence} to {found}; a part of it is missing")]
    Gap {
        /// The last sequence that was read.
        sequence: u64,
        /// The one that came next.
        found: u64,
    },
    /// A snapshot says something else than the log.
    #[error(
        "the digest of the snapshot at sequence {sequence} differs from the state folded since sequence {since}; do not serve this directory, restore it from a copy"
    )]
    Digest {
        /// The snapshot's sequence.
        sequence: u64,
        /// From where the state was folded.
        since: u64,
    },
}

/// Applies the entries of a frame that the machine has not seen.
pub(crate) fn fold(machine: &mut Machine, payload: &[u8]) -> Result<(), FoldError> {
    let mut input = Input::new(payload);
    while !input.is_empty() {
        let sequence = machine.sequence();
        let entry = Entry::read(&mut input).map_err(|source| FoldError::Malformed { sequence, source })?;
        fold_entry(machine, &entry)?;
    }
    Ok(())
}

/// Applies an entry, unless the machine has seen it.
pub(crate) fn fold_entry(machine: &mut Machine, entry: &Entry) -> Result<(), FoldError> {
    let sequence = machine.sequence();
    if entry.sequence_last() <= sequence {
        return Ok(());
    }
    if entry.head.sequence_first != sequence + 1 {
        return Err(FoldError::Gap { sequence, found: entry.head.sequence_first });
    }
    machine.apply(entry);
    Ok(())
}

/// The same for a machine that nobody asks for ids: it keeps none in memory.
pub(crate) fn fold_without_ids(machine: &mut Machine, payload: &[u8]) -> Result<(), FoldError> {
    fold(machine, payload)?;
    machine.let_go(u64::MAX, usize::MAX);
    Ok(())
}
