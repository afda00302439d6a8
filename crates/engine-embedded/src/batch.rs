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

/// Appends the entries of a batch from the one that holds `sequence` on to `entries`, until there are `events_max` events.
/// Those before are skipped without being decoded, because a reader of few events may come many times for one batch.
pub(crate) fn read_entries(
    bytes: &[u8],
    sequence: u64,
    events_max: usize,
    events: &mut usize,
    entries: &mut Vec<Entry>,
) -> Result<(), Malformed> {
    let (mut start, mut ahead) = (0, Input::new(bytes));
    while !ahead.is_empty() {
        let at = bytes.len() - ahead.len();
        if Entry::skip(&mut ahead)? > sequence {
            break;
        }
        start = at;
    }
    let mut input = Input::new(&bytes[start..]);
    while !input.is_empty() && *events < events_max {
        let entry = Entry::read(&mut input)?;
        if entry.sequence_last() >= sequence {
            *events += entry.events.len();
            entries.push(entry);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use scarce_core::command::{Body, Command, Envelope, table};
    use scarce_core::machine::Machine;
    use scarce_core::state::StateSettings;

    use super::*;

    /// A batch of 100 entries with one event each.
    fn batch() -> Vec<u8> {
        let mut machine = Machine::new(StateSettings::default(), 0);
        let mut log = Vec::new();
        for at in 0..100 {
            let name = format!("a{at}");
            let spec = table::find(b"ACCOUNT.OPEN").expect("a command");
            let (command, common) = Command::parse(spec, &[name.as_bytes(), b"EUR"]).expect("well-formed");
            let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("no cut");
            machine.submit(&envelope, 1_000, &mut log);
        }
        log
    }

    #[test]
    fn no_more_is_decoded_than_is_wanted() {
        let whole = batch();
        let read = |bytes: &[u8], sequence, events_max| {
            let (mut events, mut entries) = (0, Vec::new());
            read_entries(bytes, sequence, events_max, &mut events, &mut entries).expect("entries");
            entries.iter().map(Entry::sequence_last).collect::<Vec<_>>()
        };
        assert_eq!(read(&whole, 98, usize::MAX), [98, 99, 100]);
        assert_eq!(read(&whole, 1, 2), [1, 2]);
        assert_eq!(read(&whole, 50, 3), [50, 51, 52]);
        // What lies behind is not even looked at: it may be nonsense.
        let mut input = Input::new(&whole);
        (0..53).for_each(|_| drop(Entry::read(&mut input).expect("an entry")));
        let mut torn = whole[..whole.len() - input.len()].to_vec();
        torn.extend([0xff; 64]);
        assert_eq!(read(&torn, 50, 3), [50, 51, 52]);
    }
}
