//! Entries as they lie encoded in a batch.

use scarce_core::codec::{Input, Malformed};
use scarce_core::event::Entry;

use crate::log::LogBatch;

/// Cuts a batch between entries into batches of up to `payload_bytes_max`. An entry that is larger stays whole.
pub(crate) fn pieces(batch: LogBatch<'_>, payload_bytes_max: u64) -> Result<Vec<LogBatch<'_>>, Malformed> {
    let limit = usize::try_from(payload_bytes_max).unwrap_or(usize::MAX);
    let bytes = batch.payload;
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut covered: Option<(u64, u64)> = None;
    let mut input = Input::new(bytes);
    let mut end = 0;
    let piece = |(first_sequence, last_sequence), payload| LogBatch {
        epoch: batch.epoch,
        first_sequence,
        last_sequence,
        payload,
    };
    while !input.is_empty() {
        let entry = Entry::read(&mut input)?;
        let next = bytes.len() - input.len();
        if let Some(sequences) = covered.filter(|_| next - start > limit) {
            pieces.push(piece(sequences, &bytes[start..end]));
            start = end;
            covered = None;
        }
        let first = covered.map_or(entry.head.sequence_first, |(first, _)| first);
        covered = Some((first, entry.sequence_last()));
        end = next;
    }
    if let Some(sequences) = covered {
        pieces.push(piece(sequences, &bytes[start..end]));
    }
    Ok(pieces)
}

/// The entry in `bytes` that ends at a sequence. Those before it are skipped without being decoded, because the same
/// operation may be repeated thousands of times while its batch is being written.
pub(crate) fn find_entry(bytes: &[u8], sequence_last: u64) -> Option<Entry> {
    let mut input = Input::new(bytes);
    let mut found = None;
    while !input.is_empty() {
        let start = bytes.len() - input.len();
        if Entry::skip(&mut input).ok()? > sequence_last {
            break;
        }
        found = Some(start);
    }
    let entry = Entry::read(&mut Input::new(&bytes[found?..])).ok()?;
    (entry.sequence_last() == sequence_last).then_some(entry)
}
