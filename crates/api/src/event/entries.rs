//! Reassembles single events into their log entries.

use scarce_core::event::{Entry, Position};

use super::Received;

/// Events are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "partition {partition} goes on at {found} behind {last}; the events between them are gone, so begin anew from a snapshot or from the log itself"
)]
pub struct Gap {
    /// The partition.
    pub partition: u32,
    /// The last event before the gap.
    pub last: Position,
    /// The first event after the gap.
    pub found: Position,
}

/// Reassembles the events of one partition. Duplicate events are ignored, so that a source may repeat
/// itself.
#[derive(Debug, Default)]
pub struct Entries {
    last: Position,
    open: Option<Entry>,
}

impl Entries {
    /// Starts after a position, which must be the end of an entry.
    #[must_use]
    pub fn after(position: Position) -> Self {
        Self { last: position, open: None }
    }

    /// The position after the last event.
    #[must_use]
    pub fn position(&self) -> Position {
        self.last
    }

    /// Takes the next event; returns the entry that it completes.
    ///
    /// # Errors
    /// When events before it are missing. It is not taken then.
    pub fn push(&mut self, received: Received) -> Result<Option<Entry>, Gap> {
        let found = received.position();
        if found <= self.last {
            return Ok(None);
        }
        if !self.follows(&received) {
            return Err(Gap { partition: received.partition, last: self.last, found });
        }
        if self.open.as_ref().is_some_and(|entry| entry.head != received.head) {
            self.open = None;
        }
        self.last = found;
        let entry = self.open.get_or_insert_with(|| Entry {
            head: received.head.clone(),
            outcome: None,
            events: Vec::new(),
        });
        entry.events.push(received.event);
        entry.outcome = received.outcome;
        Ok(if found.sequence == received.entry_last { self.open.take() } else { None })
    }

    /// Whether a new event is the next one. A higher epoch may reuse the sequences that the previous
    /// epoch lost, and an incomplete entry of that epoch is lost too.
    fn follows(&self, received: &Received) -> bool {
        let (found, last) = (received.position(), self.last);
        match &self.open {
            Some(entry) if entry.head == received.head => found.sequence == last.sequence + 1,
            Some(_) if found.epoch == last.epoch => false,
            _ => {
                let is_near = last == Position::default() || found.sequence <= last.sequence + 1;
                is_near && found.sequence == received.head.sequence_first
            }
        }
    }
}
