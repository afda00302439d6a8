//! Which epochs wrote a log, and where each began. A position whose event was trimmed is compared with them.

use super::Position;
use crate::codec::Malformed;
use crate::pieces::{PieceReader, PieceWriter};

/// How many epochs are remembered. Of positions before the oldest of them nothing is known.
pub const HISTORIES_MAX: usize = 1_024;

/// The first position of each epoch that wrote a log, as far back as that is remembered, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histories {
    firsts: Vec<Position>,
}

impl Histories {
    /// Those of first positions in whatever order. An epoch of 0 stands for some that were not noted.
    #[must_use]
    pub fn of(mut firsts: Vec<Position>) -> Self {
        firsts.sort_unstable_by_key(|first| first.sequence);
        Self { firsts }
    }

    /// Notes the first position of an epoch that is later than those before. One that has no event is left out.
    pub fn note(&mut self, first: Position) {
        if self.firsts.last().is_some_and(|last| last.epoch == first.epoch) {
            return;
        }
        while self.firsts.last().is_some_and(|last| last.sequence >= first.sequence) {
            self.firsts.pop();
        }
        if self.firsts.len() == HISTORIES_MAX {
            self.firsts.remove(0);
        }
        self.firsts.push(first);
    }

    /// Forgets which epoch the last events are of, unless it is this one.
    #[must_use]
    pub fn ending_with(mut self, epoch: u64) -> Self {
        if let Some(last) = self.firsts.last_mut().filter(|last| last.epoch != epoch) {
            last.epoch = 0;
        }
        self
    }

    /// The first position of each epoch, in their order.
    pub fn firsts(&self) -> impl Iterator<Item = Position> + '_ {
        self.firsts.iter().copied()
    }

    /// The first position of the last epoch.
    #[must_use]
    pub fn last(&self) -> Option<Position> {
        self.firsts.last().copied()
    }

    /// The epoch of an event; 0 if it is not known.
    #[must_use]
    pub fn epoch_at(&self, sequence: u64) -> u64 {
        let begun = self.firsts.partition_point(|first| first.sequence <= sequence);
        begun.checked_sub(1).map_or(0, |at| self.firsts[at].epoch)
    }

    /// Whether the log has had a position, which is not beyond its end; `None` if that is not known. Each epoch was written by one
    /// leadership, from one place on.
    #[must_use]
    pub fn has(&self, position: Position) -> Option<bool> {
        match self.epoch_at(position.sequence) {
            0 => {
                let begun = self.firsts.iter().position(|first| first.epoch == position.epoch)?;
                // The oldest may have begun earlier than is known.
                Some(begun == 0)
            }
            found => Some(found == position.epoch),
        }
    }

    /// Appends those that have an event up to a sequence.
    pub(crate) fn put(&self, out: &mut PieceWriter<'_>, through: u64) {
        let count = self.firsts.partition_point(|first| first.sequence <= through);
        out.count(count);
        for first in &self.firsts[..count] {
            out.value(&first.epoch);
            out.value(&first.sequence);
        }
    }

    /// Reads what [`Histories::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode epochs in their order.
    pub(crate) fn load(input: &mut PieceReader<'_>) -> Result<Self, Malformed> {
        let count: u64 = input.value()?;
        let mut firsts: Vec<Position> = Vec::new();
        for _ in 0..count {
            let first = Position { epoch: input.value()?, sequence: input.value()? };
            let rises = |last: &Position| last.epoch < first.epoch && last.sequence < first.sequence;
            if firsts.len() == HISTORIES_MAX || !firsts.last().is_none_or(rises) {
                return Err(Malformed);
            }
            firsts.push(first);
        }
        Ok(Self { firsts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: u64, sequence: u64) -> Position {
        Position { epoch, sequence }
    }

    #[test]
    fn a_position_is_of_the_epoch_that_wrote_there() {
        let mut known = Histories::default();
        // Epoch 5 wrote nothing; 7 follows 3.
        for first in [at(3, 11), at(3, 12), at(5, 21), at(7, 21), at(7, 30)] {
            known.note(first);
        }
        let expected = [
            (at(3, 11), Some(true)),
            (at(3, 20), Some(true)),
            (at(3, 21), Some(false)),
            (at(5, 21), Some(false)),
            (at(7, 21), Some(true)),
            (at(6, 15), Some(false)),
            // Before what is known: the oldest epoch may have begun earlier, a later one has not.
            (at(3, 4), Some(true)),
            (at(7, 4), Some(false)),
            (at(2, 4), None),
        ];
        for (position, has) in expected {
            assert_eq!(known.has(position), has, "{position}");
        }
        assert_eq!(known.last(), Some(at(7, 21)));
    }

    #[test]
    fn nothing_is_said_of_epochs_that_were_not_noted() {
        let known = Histories::of(vec![at(9, 30), at(0, 10), at(3, 1)]);
        assert_eq!(known.has(at(4, 12)), None);
        assert_eq!([known.has(at(3, 9)), known.has(at(9, 29))], [Some(true), Some(false)]);
        let older = known.ending_with(11);
        assert_eq!(
            [older.has(at(9, 30)), older.has(at(11, 30)), older.has(at(3, 9))],
            [None, None, Some(true)]
        );
    }

    #[test]
    fn only_the_newest_are_kept() {
        let mut known = Histories::default();
        let count = HISTORIES_MAX as u64 + 10;
        (1..=count).for_each(|epoch| known.note(at(epoch, epoch * 10)));
        assert_eq!(known.firsts.len(), HISTORIES_MAX);
        assert_eq!([known.has(at(10, 105)), known.has(at(11, 115))], [None, Some(true)]);
        assert_eq!(known.has(at(count, count * 10 + 7)), Some(true));
    }

    #[test]
    fn what_was_put_is_loaded_and_nothing_else() {
        let loaded = |bytes: &[u8]| {
            let mut left = Some(bytes);
            let next =
                &mut |out: &mut Vec<u8>| left.take().map(|bytes| out.extend_from_slice(bytes)).is_some();
            Histories::load(&mut PieceReader::new(next))
        };
        let put = |known: &Histories, through| {
            let mut bytes = Vec::new();
            let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
            let mut out = PieceWriter::new(&mut take);
            known.put(&mut out, through);
            out.finish();
            bytes
        };
        let known = Histories::of(vec![at(3, 1), at(300, 70), at(900, 400)]);
        assert_eq!(loaded(&put(&known, 500)), Ok(known.clone()));
        // The last of them has no event yet.
        assert_eq!(loaded(&put(&known, 399)), Ok(Histories::of(vec![at(3, 1), at(300, 70)])));
        for bad in [vec![at(3, 1), at(3, 2)], vec![at(3, 5), at(4, 5)]] {
            assert_eq!(loaded(&put(&Histories { firsts: bad }, 500)), Err(Malformed));
        }
    }
}
