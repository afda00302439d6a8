//! Batches, which consumers get.

use scarce_core::event::{Entry, EntryHead, Event, Position};

/// A piece of a partition's log: consecutive entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The partition of the log.
    pub partition: u32,
    /// The position before the batch. The first entry may hold events at or before it, which were consumed
    /// before.
    pub after: Position,
    /// At least one.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The position of the last event.
    #[must_use]
    pub fn end(&self) -> Position {
        self.entries.last().map_or(self.after, Entry::end)
    }

    /// The events that were not consumed before, with their sequences and the heads of their entries.
    pub fn events(&self) -> impl Iterator<Item = (u64, &EntryHead, &Event)> {
        let after = self.after.sequence;
        self.entries.iter().flat_map(move |entry| {
            let numbered = (entry.head.sequence_first..).zip(&entry.events);
            numbered
                .filter(move |(sequence, _)| *sequence > after)
                .map(|(sequence, event)| (sequence, &entry.head, event))
        })
    }
}
