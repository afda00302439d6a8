//! Which messages of a partition are finished, and so which offset may be committed.

use std::collections::VecDeque;
use std::ops::Range;

/// How far a partition is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The offset after the last finished message.
    pub(crate) next: i64,
    /// That message's mark.
    pub(crate) last: u64,
}

#[derive(Debug)]
struct Begun {
    offset: i64,
    mark: u64,
    is_finished: bool,
}

/// The offsets that were begun, in order.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    begun: VecDeque<Begun>,
    last: Option<i64>,
}

impl Ledger {
    /// Begins an offset, with its message's mark; `false` if it was begun before.
    pub(crate) fn begin(&mut self, offset: i64, mark: u64) -> bool {
        if self.last.is_some_and(|last| offset <= last) {
            return false;
        }
        self.last = Some(offset);
        self.begun.push_back(Begun { offset, mark, is_finished: false });
        true
    }

    /// The offsets between the last one that was begun and another.
    pub(crate) fn skipped_before(&self, offset: i64) -> Option<Range<i64>> {
        self.last.map(|last| last + 1..offset).filter(|skipped| !skipped.is_empty())
    }

    /// Finishes an offset. Returns how far all are finished without an unfinished one before them, if that has
    /// advanced.
    pub(crate) fn finish(&mut self, offset: i64) -> Option<Reached> {
        let at = self.begun.partition_point(|begun| begun.offset < offset);
        if let Some(begun) = self.begun.get_mut(at).filter(|begun| begun.offset == offset) {
            begun.is_finished = true;
        }
        let mut reached = None;
        while let Some(Begun { offset, mark, is_finished: true }) = self.begun.front() {
            reached = Some(Reached { next: offset + 1, last: *mark });
            self.begun.pop_front();
        }
        reached
    }

    /// How many offsets are unfinished, or come after an unfinished one.
    pub(crate) fn open(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_stops_before_what_is_not_done() {
        let mut ledger = Ledger::default();
        for offset in [5, 6, 9, 10] {
            assert!(ledger.begin(offset, 100 + offset.unsigned_abs()));
        }
        assert_eq!(ledger.finish(6), None);
        assert_eq!(ledger.finish(10), None);
        assert_eq!(ledger.finish(5), Some(Reached { next: 7, last: 106 }));
        assert_eq!(ledger.finish(5), None);
        assert_eq!(ledger.open(), 2);
        assert_eq!(ledger.finish(9), Some(Reached { next: 11, last: 110 }));
        assert_eq!(ledger.open(), 0);
    }

    #[test]
    fn offsets_in_between_are_skipped() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.skipped_before(7), None, "nothing is known of what was before");
        assert!(ledger.begin(7, 0));
        assert_eq!(ledger.skipped_before(8), None);
        assert_eq!(ledger.skipped_before(11), Some(8..11));
        assert_eq!(ledger.skipped_before(5), None);
    }

    #[test]
    fn what_comes_again_is_not_begun_again() {
        let mut ledger = Ledger::default();
        assert!(ledger.begin(5, 0) && !ledger.begin(5, 0) && !ledger.begin(4, 0) && ledger.begin(7, 0));
    }
}
