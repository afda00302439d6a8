//! Which messages of a partition are finished, and so which offset may be committed.

use std::collections::VecDeque;

/// The offsets that were begun, in order.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    begun: VecDeque<(i64, bool)>,
    last: Option<i64>,
}

impl Ledger {
    /// Begins an offset; `false` if it was begun before.
    pub(crate) fn begin(&mut self, offset: i64) -> bool {
        if self.last.is_some_and(|last| offset <= last) {
            return false;
        }
        self.last = Some(offset);
        self.begun.push_back((offset, false));
        true
    }

    /// Finishes an offset. Returns the offset after those that are finished without an unfinished one before
    /// them, if that has advanced.
    pub(crate) fn finish(&mut self, offset: i64) -> Option<i64> {
        let at = self.begun.partition_point(|(its, _)| *its < offset);
        if let Some((its, is_done)) = self.begun.get_mut(at)
            && *its == offset
        {
            *is_done = true;
        }
        let mut place = None;
        while let Some((offset, true)) = self.begun.front() {
            place = Some(offset + 1);
            self.begun.pop_front();
        }
        place
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
            assert!(ledger.begin(offset));
        }
        assert_eq!(ledger.finish(6), None);
        assert_eq!(ledger.finish(10), None);
        assert_eq!(ledger.finish(5), Some(7));
        assert_eq!(ledger.finish(5), None);
        assert_eq!(ledger.open(), 2);
        assert_eq!(ledger.finish(9), Some(11));
        assert_eq!(ledger.open(), 0);
    }

    #[test]
    fn what_comes_again_is_not_begun_again() {
        let mut ledger = Ledger::default();
        assert!(ledger.begin(5) && !ledger.begin(5) && !ledger.begin(4) && ledger.begin(7));
    }
}
