//! A snapshot of one moment, written in slices while commands go on. What it writes is what [`Machine::put_pieces`]
//! would have given at that moment.

use crate::event::Histories;
use crate::pieces::PieceWriter;
use crate::store::{Slice, Sliced};
use crate::types::TimeMs;

use super::Machine;
use super::step::Unfinished;

/// How far a snapshot in slices has come, and what it keeps of the moment that it is of.
#[derive(Debug)]
pub struct Slices {
    has_begun: bool,
    /// How many parts of the state are written, and whether the values before the last parts are.
    done: usize,
    has_values: bool,
    partition: u32,
    /// The leadership.
    pub epoch: u64,
    /// The last event that is in it.
    pub sequence: u64,
    /// The last stamp.
    pub at: TimeMs,
    unfinished: Option<Unfinished>,
    doubted_ms: u64,
    histories: Histories,
}

/// How many parts are written before the last values: all but what has left of stock items and of campaigns.
const PARTS_BEFORE: usize = 19;

impl Machine {
    /// Begins a snapshot of this moment. Only one can be written at a time.
    pub fn begin_slices(&mut self) -> Slices {
        self.state.sliced().for_each(Sliced::freeze);
        Slices {
            has_begun: false,
            done: 0,
            has_values: false,
            partition: self.partition,
            // As of the log: this leadership may not have written anything yet.
            epoch: Some(self.histories.epoch_at(self.sequence))
                .filter(|epoch| *epoch > 0)
                .unwrap_or(self.epoch),
            sequence: self.sequence,
            at: self.state.at,
            unfinished: self.state.unfinished.clone(),
            doubted_ms: self.state.doubted_ms,
            histories: self.histories.clone(),
        }
    }

    /// Appends about `rows_max` more rows. Returns whether those were the last.
    pub fn put_slice(&mut self, slices: &mut Slices, rows_max: u64, out: &mut Vec<u8>) -> bool {
        let mut take = |piece: &[u8]| out.extend_from_slice(piece);
        let mut out = PieceWriter::new(&mut take);
        let is_over = self.put_rows(slices, rows_max, &mut out);
        out.finish();
        is_over
    }

    fn put_rows(&mut self, slices: &mut Slices, rows_max: u64, out: &mut PieceWriter<'_>) -> bool {
        if !std::mem::replace(&mut slices.has_begun, true) {
            out.value(&slices.partition);
            out.value(&slices.epoch);
            out.value(&slices.sequence);
            out.value(&slices.at);
        }
        let mut left = rows_max;
        while left > 0 {
            if slices.done == PARTS_BEFORE && !std::mem::replace(&mut slices.has_values, true) {
                out.value(&slices.unfinished);
                out.value(&slices.doubted_ms);
                self.state.operations.put_frozen_moves(out);
                slices.histories.put(out, slices.sequence);
            }
            let Some(part) = self.state.sliced().nth(slices.done) else {
                return self.state.operations.put_old_slice(&mut Slice::new(out, left));
            };
            let mut slice = Slice::new(out, left);
            if !part.put_slice(&mut slice) {
                return false;
            }
            left = slice.left();
            slices.done += 1;
        }
        false
    }

    /// About how many bytes are remembered because changes overwrote them before they were written.
    pub fn remembered_bytes(&mut self) -> u64 {
        self.state.sliced().map(|part| part.remembered_bytes() as u64).sum()
    }

    /// Ends a snapshot early.
    pub fn end_slices(&mut self) {
        self.state.sliced().for_each(Sliced::thaw);
    }
}
