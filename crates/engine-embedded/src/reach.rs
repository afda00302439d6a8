//! How far back the log reaches, by time.

use scarce_core::event::Entry;
use scarce_core::types::TimeMs;

use crate::EmbeddedError;
use crate::fold::FoldError;
use crate::log::PartitionLog;

/// The entry that has a sequence, or the next one; none where the log ends before.
pub(crate) fn entry_at(
    log: &dyn PartitionLog,
    sequence: u64,
    through: u64,
) -> Result<Option<Entry>, EmbeddedError> {
    let Some(batch) = log.reader().read_from(sequence, through, 1)?.into_iter().next() else {
        return Ok(None);
    };
    let entries = Entry::read_all(&batch).map_err(|source| FoldError::Malformed { sequence, source })?;
    Ok(entries.into_iter().find(|entry| entry.sequence_last() >= sequence))
}

/// The last sequence up to `through` that was logged before `cut`; what comes before the log, where there is none.
pub(crate) fn last_before(log: &dyn PartitionLog, through: u64, cut: TimeMs) -> Result<u64, EmbeddedError> {
    // Everything up to `low` was logged before; of what is above `high` nothing is asked.
    let (mut low, mut high) = (log.first_sequence().saturating_sub(1), through);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match entry_at(log, middle, through)? {
            Some(entry) if entry.head.at < cut => low = entry.sequence_last().clamp(middle, high),
            _ => high = middle - 1,
        }
    }
    Ok(low)
}
