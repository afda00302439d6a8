//! How often the clock was moved since operations were remembered.

use crate::pieces::PieceWriter;
use crate::types::TimeMs;

/// How the stamps of older records compare with those of today, once the clock was put forward or back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moves {
    /// How many of the records, from the oldest on, are from before the last move.
    pub(super) count: usize,
    /// By how much the clock was put forward in all.
    pub(super) forward_ms: u64,
    /// Where it was put last.
    pub(super) to_ms: TimeMs,
}

impl Moves {
    pub(super) fn put(&self, out: &mut PieceWriter<'_>) {
        out.count(self.count);
        out.value(&self.forward_ms);
        out.value(&self.to_ms);
    }

    /// When the record at a place would have been made by the clock of today; rather too late than too early.
    pub(super) fn made_at(&self, place: usize, at: TimeMs) -> TimeMs {
        if place < self.count { at.saturating_add(self.forward_ms).min(self.to_ms) } else { at }
    }
}
