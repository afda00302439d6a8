//! What a consumer is given at a time.

use scarce_core::event::{Entry, EntryHead, Event, Position};

/// A piece of a partition's log: entries that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Whose log.
    pub partition: u32,
    /// Behind what it begins. The first entry may hold events at or before it, which were consumed before.
    pub after: Position,
    /// One at least.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The place behind the last event.
    #[must_use]
    pub fn end(&self) -> Position {
        self.entries.last().map_or(self.after, Entry::end)
    }

    /// The events that were not consumed before, with their sequences and what stands in front of their entries.
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
