//! Operations in slices: records only come at the end and go at the front, so the last of a snapshot is known from its
//! beginning, and those that go are written first.

use super::{Moves, Operations, answer, get_record, put_record};
use crate::codec::Malformed;
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::{Slice, Sliced};
use crate::types::TimeMs;

/// What is left to be written.
#[derive(Debug)]
pub(super) struct FrozenOperations {
    /// The first values, until they are written.
    head: Option<(TimeMs, u64)>,
    /// The place of the next record, and how many are left from there on.
    next: u32,
    left: usize,
    /// Records that went before they could be written.
    gone: Vec<u8>,
    /// Kept until the very end, where it is written.
    moves: Moves,
}

impl Operations {
    /// Keeps the oldest record for a snapshot, if it is about to go and not written yet.
    pub(super) fn save_oldest(&mut self) {
        let Some(frozen) = self.frozen.as_mut().filter(|its| its.left > 0 && its.next == self.first) else {
            return;
        };
        if let Some((identity, details)) = self.records.iter().next() {
            let epoch = self.epochs.get(details.moment.epoch as usize).copied().unwrap_or(0);
            put_record(&identity, &details, epoch, &mut frozen.gone);
        }
        frozen.next = frozen.next.wrapping_add(1);
        frozen.left -= 1;
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
        self.frozen = Some(Box::new(FrozenOperations {
            head: Some((self.forgotten_at, self.records.len() as u64)),
            next: self.first,
            left: self.records.len(),
            gone: Vec::new(),
            moves: self.moves,
        }));
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        let Some(mut frozen) = self.frozen.take() else { return true };
        if let Some((forgotten_at, count)) = frozen.head.take() {
            slice.value(&forgotten_at);
            slice.value(&count);
        }
        let gone = std::mem::take(&mut frozen.gone);
        if !gone.is_empty() {
            slice.row(|out| out.extend_from_slice(&gone));
        }
        let mut records = self.records.iter_from(self.position(frozen.next)).take(frozen.left);
        while slice.has_room()
            && let Some((identity, details)) = records.next()
        {
            slice.row(|out| put_record(&identity, &details, self.epoch_of(details.moment), out));
            frozen.next = frozen.next.wrapping_add(1);
            frozen.left -= 1;
        }
        let is_over = frozen.left == 0;
        self.frozen = Some(frozen);
        is_over
    }

    fn remembered_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |frozen| frozen.gone.len())
    }

    fn thaw(&mut self) {
        self.frozen = None;
    }
}
