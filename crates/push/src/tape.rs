//! The last updates of a channel, which all its subscribers read at their own pace.

use std::collections::VecDeque;

use bytes::Bytes;
use scarce_core::event::Position;

/// One message of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) last: Position,
    pub(crate) text: Bytes,
    /// It stands for all before it, and does not continue what came before.
    pub(crate) is_snapshot: bool,
}

/// The last updates, as many as there is room for. They are numbered.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    updates: VecDeque<Update>,
    bytes: usize,
    /// The number of the first update that is held, and the sequence behind which it begins.
    begin: u64,
    begin_sequence: u64,
    /// The sequence through which changes were told.
    told: u64,
}

impl Tape {
    /// Begins anew behind a sequence: all who read it before have missed something.
    pub(crate) fn restart(&mut self, sequence: u64) {
        self.begin = self.end() + 1;
        self.updates.clear();
        self.bytes = 0;
        (self.begin_sequence, self.told) = (sequence, sequence);
    }

    /// The sequence with which the next update begins.
    pub(crate) const fn first(&self) -> u64 {
        self.told + 1
    }

    /// The sequence through which changes were told.
    pub(crate) const fn told(&self) -> u64 {
        self.told
    }

    pub(crate) fn push(&mut self, update: Update, bytes_max: usize) {
        self.told = update.last.sequence;
        self.bytes += update.text.len();
        self.updates.push_back(update);
        while self.bytes > bytes_max && self.updates.len() > 1 {
            if let Some(first) = self.updates.pop_front() {
                self.bytes -= first.text.len();
                self.begin += 1;
                self.begin_sequence = first.last.sequence;
            }
        }
    }

    /// The number of the first update that is held.
    pub(crate) const fn begin(&self) -> u64 {
        self.begin
    }

    /// The number of the update that comes next.
    pub(crate) fn end(&self) -> u64 {
        self.begin + self.updates.len() as u64
    }

    /// An update by its number; none if it is not held any more, or has not come yet.
    pub(crate) fn get(&self, number: u64) -> Option<&Update> {
        let at = number.checked_sub(self.begin)?;
        self.updates.get(usize::try_from(at).ok()?)
    }

    /// The number of the first update behind a sequence, if all behind it are held.
    pub(crate) fn number_after(&self, sequence: u64) -> Option<u64> {
        let before = self.updates.partition_point(|update| update.last.sequence <= sequence);
        (sequence >= self.begin_sequence).then_some(self.begin + before as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(sequence: u64, bytes: usize) -> Update {
        let last = Position { epoch: 1, sequence };
        Update { last, text: Bytes::from(vec![b'x'; bytes]), is_snapshot: false }
    }

    #[test]
    fn the_last_updates_are_held_and_who_is_behind_them_is_known() {
        let mut tape = Tape::default();
        tape.restart(10);
        (1..=100).for_each(|at| tape.push(update(10 + 2 * at, 100), 1_000));
        assert_eq!((tape.begin(), tape.end(), tape.first()), (91, 101, 211));
        assert_eq!(tape.number_after(189), None, "what follows it is not held");
        assert_eq!((tape.number_after(190), tape.number_after(191)), (Some(91), Some(91)));
        assert_eq!((tape.number_after(192), tape.number_after(500)), (Some(92), Some(101)));
        assert!(tape.get(90).is_none() && tape.get(101).is_none());
        assert_eq!(tape.get(100).map(|update| update.last.sequence), Some(210));
        tape.push(update(300, 5_000), 1_000);
        assert_eq!((tape.begin(), tape.end()), (101, 102), "one is held in any case");
        tape.restart(400);
        assert!(tape.begin() > 102 && tape.get(102).is_none(), "who had read all is behind, too");
    }
}
