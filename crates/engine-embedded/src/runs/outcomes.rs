//! The outcomes of operations that only the log has, or the receipts that have left it: a run holds them itself.

use scarce_core::codec::Wire;
use scarce_core::event::Entry;
use scarce_core::operations::OldOperation;
use smallvec::SmallVec;

use crate::EmbeddedError;
use crate::fold::FoldError;
use crate::log::{LogReader, PartitionLog};
use crate::receipts::{MovedReceipts, entry_ending_at};

/// How much of the log is read at a time.
const READ_BYTES: u64 = 4 << 20;

/// Reads entries in the order of their sequences.
struct Entries<'a> {
    log: &'a dyn PartitionLog,
    receipts: &'a MovedReceipts,
    reader: Box<dyn LogReader>,
    durable: u64,
    batches: std::vec::IntoIter<Vec<u8>>,
    /// The batch that is being read, and what is left of it.
    batch: Vec<u8>,
    start: usize,
}

impl Entries<'_> {
    fn ending_at(&mut self, sequence: u64) -> Result<Option<Entry>, EmbeddedError> {
        let from_log = if sequence >= self.log.first_sequence() { self.in_log(sequence) } else { Ok(None) };
        match from_log {
            Ok(Some(entry)) => Ok(Some(entry)),
            // It may have left the log since the first look.
            missed => self.receipts.find(sequence)?.map_or(missed, |entry| Ok(Some(entry))),
        }
    }

    fn in_log(&mut self, sequence: u64) -> Result<Option<Entry>, EmbeddedError> {
        if let Some(entry) = self.in_batches(sequence)? {
            return Ok(Some(entry));
        }
        self.batches = self.reader.read_from(sequence, self.durable, READ_BYTES)?.into_iter();
        self.in_batches(sequence)
    }

    fn in_batches(&mut self, sequence: u64) -> Result<Option<Entry>, EmbeddedError> {
        loop {
            let mut rest = &self.batch[self.start..];
            let found = entry_ending_at(&mut rest, sequence);
            self.start = self.batch.len() - rest.len();
            if let Some(entry) = found.map_err(|source| FoldError::Malformed { sequence, source })? {
                return Ok(Some(entry));
            }
            let Some(next) = self.batches.next() else {
                (self.batch, self.start) = (Vec::new(), 0);
                return Ok(None);
            };
            (self.batch, self.start) = (next, 0);
        }
    }
}

/// Reads the outcomes that are missing; the operations come in the order of their sequences, which are durable. An operation that
/// was forgotten meanwhile may have lost its outcome, and stays without.
pub(super) fn fetch(
    log: &dyn PartitionLog,
    receipts: &MovedReceipts,
    durable: u64,
    operations: &mut [OldOperation],
) -> Result<(), EmbeddedError> {
    let (batches, batch, start) = (Vec::new().into_iter(), Vec::new(), 0);
    let mut entries = Entries { log, receipts, reader: log.reader(), durable, batches, batch, start };
    for old in operations.iter_mut().filter(|old| old.outcome.is_none()) {
        let outcome = entries.ending_at(old.sequence_last)?.and_then(|entry| entry.outcome);
        old.outcome = outcome.map(|outcome| SmallVec::from_vec(outcome.to_bytes()));
    }
    Ok(())
}
