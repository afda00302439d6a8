//! Operations in slices: records only come at the end and go at the front, so the last of a snapshot is known from its
//! beginning, and those that go are written first.

use std::collections::VecDeque;

use super::{Moves, Operations, answer, get_record, put_record};
use crate::codec::Malformed;
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::{Slice, Sliced};
use crate::types::TimeMs;

/// How many records are kept at once when the oldest goes: each time the records before it must be read, back to a mark.
const KEPT_AHEAD: usize = 64;

/// How many bytes of kept records are written at once.
const GONE_BYTES: usize = 64 << 10;

/// What is left to be written.
#[derive(Debug)]
pub(super) struct FrozenOperations {
    /// The first values, until they are written.
    head: Option<(TimeMs, u64)>,
    /// The place of the next record, and how many are left from there on.
    next: u32,
    left: usize,
    /// Records that went before they could be written, or will soon, in pieces that are written one by one.
    gone: VecDeque<Vec<u8>>,
    /// Kept until the very end, where it is written.
    moves: Moves,
}

impl FrozenOperations {
    /// Where the next record that goes is kept.
    fn last_gone(&mut self) -> &mut Vec<u8> {
        if self.gone.back().is_none_or(|last| last.len() >= GONE_BYTES) {
            self.gone.push_back(Vec::new());
        }
        let last = self.gone.len() - 1;
        &mut self.gone[last]
    }
}

impl Operations {
    /// Keeps the oldest record for a snapshot, if it is about to go and not written yet.
    pub(super) fn save_oldest(&mut self) {
        let Some(frozen) = self.frozen.as_mut().filter(|its| its.left > 0 && its.next == self.first) else {
            return;
        };
        for (identity, details) in self.records.iter().take(frozen.left.min(KEPT_AHEAD)) {
            let epoch = self.epochs.get(details.moment.epoch as usize).copied().unwrap_or(0);
            put_record(&identity, &details, epoch, frozen.last_gone());
            frozen.next = frozen.next.wrapping_add(1);
            frozen.left -= 1;
        }
    }

    /// Appends how the clock was moved when this was frozen.
    pub(crate) fn put_frozen_moves(&mut self, out: &mut PieceWriter<'_>) {
        let moves = self.frozen.take().map_or(self.moves, |frozen| frozen.moves);
        moves.put(out);
    }
}

impl Operations {
    /// The sequences of receipts that are in the log, in ascending order, from what [`Operations::put`] wrote.
    pub(crate) fn skim(input: &mut PieceReader<'_>) -> Result<Vec<u64>, Malformed> {
        let (_, count): (TimeMs, u64) = input.value()?;
        let mut in_log = Vec::new();
        for _ in 0..count {
            let record = input.row(get_record)?;
            if record.outcome.as_slice() == answer::TOO_LARGE {
                in_log.push(record.moment.sequence_last);
            }
        }
        Ok(in_log)
    }
}

impl Sliced for Operations {
    fn freeze(&mut self) {
        self.old.freeze();
        self.frozen = Some(Box::new(FrozenOperations {
            head: Some((self.forgotten_at, self.records.len() as u64)),
            next: self.first,
            left: self.records.len(),
            gone: VecDeque::new(),
            moves: self.moves,
        }));
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        let Some(mut frozen) = self.frozen.take() else { return true };
        if let Some((forgotten_at, count)) = frozen.head.take() {
            slice.value(&forgotten_at);
            slice.value(&count);
        }
        while slice.has_room()
            && let Some(piece) = frozen.gone.pop_front()
        {
            slice.row(|out| out.extend_from_slice(&piece));
        }
        let mut records = self.records.iter_from(self.position(frozen.next)).take(frozen.left);
        while slice.has_room()
            && let Some((identity, details)) = records.next()
        {
            slice.row(|out| put_record(&identity, &details, self.epoch_of(details.moment), out));
            frozen.next = frozen.next.wrapping_add(1);
            frozen.left -= 1;
        }
        let is_over = frozen.left == 0 && frozen.gone.is_empty();
        self.frozen = Some(frozen);
        is_over
    }

    fn remembered_bytes(&self) -> usize {
        let gone = |frozen: &FrozenOperations| frozen.gone.iter().map(Vec::capacity).sum::<usize>();
        self.frozen.as_ref().map_or(0, |frozen| gone(frozen)) + self.old.remembered_bytes()
    }

    fn thaw(&mut self) {
        self.frozen = None;
        self.old.thaw();
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Encoded;
    use super::super::records::{Identity, Moment};
    use super::*;
    use crate::codec::Wire;
    use crate::facts;
    use crate::outcome::Outcome;

    const COUNT: u64 = 20_000;

    fn frozen() -> Operations {
        let mut operations = Operations::new(7);
        for number in 0..COUNT {
            let outcome = Outcome::applied(facts![number]);
            let identity = Identity { key: [number, !number], fingerprint: number };
            let moment = Moment { at: number, sequence_last: number, epoch: 0 };
            operations.records.push(identity, moment, 1, Encoded::new(&outcome, &outcome.to_bytes()));
        }
        operations.freeze();
        operations
    }

    /// The next slice, and whether it was the last.
    fn slice(operations: &mut Operations, rows: u64) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
        let mut out = PieceWriter::new(&mut take);
        let is_over = operations.put_slice(&mut Slice::new(&mut out, rows));
        out.finish();
        (bytes, is_over)
    }

    #[test]
    fn records_that_go_are_written_in_pieces() {
        let (expected, is_over) = slice(&mut frozen(), u64::MAX);
        assert!(is_over);
        let (mut operations, mut written, mut longest) = (frozen(), Vec::new(), 0);
        for number in 0..COUNT {
            operations.drop_oldest();
            if number == COUNT / 3 {
                written.extend(slice(&mut operations, 10).0);
            }
        }
        loop {
            let (bytes, is_over) = slice(&mut operations, 1_000);
            longest = longest.max(bytes.len());
            written.extend(bytes);
            if is_over {
                break;
            }
        }
        assert!(written == expected, "records of the moment, each once and in order");
        assert!(longest < 2 * GONE_BYTES, "{longest} bytes in a slice of a thousand rows");
    }
}
