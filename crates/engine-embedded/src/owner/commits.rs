//! How what was decided becomes durable: by the committer, or on this thread when nothing else waits.

use std::sync::Arc;
use std::time::Instant;

use super::Owner;
use crate::commit::Commit;

/// Of more commands in a batch, deciding the next ones beside the sync takes longer than two switches between threads.
const COMMANDS_HERE_MAX: u64 = 4;

/// A batch of more bytes is left to the committer, be it of few commands.
const BYTES_HERE_MAX: usize = 16 << 10;

impl Owner {
    /// Whether so little waits for the disk, and for so short a time, that handing it over would take longer than doing
    /// it here.
    pub(crate) fn is_alone(&self) -> bool {
        !self.open.is_empty()
            && self.durable() >= self.handed_over
            && self.open_commands <= COMMANDS_HERE_MAX
            && self.open.len() <= BYTES_HERE_MAX
            && self.begun.is_none()
            && self.inbox.depth() == 0
            && self.committer.is_quick()
    }

    /// Makes the decided batch durable on this thread.
    pub(crate) fn commit_here(&mut self) {
        self.publish_levels();
        let commit = self.close_batch();
        self.committer.commit_here(commit);
    }

    /// Hands the decided batch to the committer, if that one is idle.
    pub(crate) fn seal(&mut self) {
        self.publish_levels();
        if !self.open.is_empty() && self.durable() >= self.handed_over {
            self.hand_over();
        }
    }

    pub(super) fn hand_over(&mut self) {
        let commit = self.close_batch();
        self.committer.hand_over(commit);
    }

    fn close_batch(&mut self) -> Commit {
        self.handed_over += 1;
        let empty = Arc::new(Vec::new());
        let mut next = Arc::try_unwrap(std::mem::replace(&mut self.in_flight, empty)).unwrap_or_default();
        next.clear();
        // What one huge operation took is not kept for ever.
        next.shrink_to(2 * self.commit_bytes_max);
        self.in_flight = Arc::new(std::mem::replace(&mut self.open, next));
        Commit {
            number: self.handed_over,
            epoch: self.machine.epoch(),
            first_sequence: self.open_from,
            last_sequence: self.machine.sequence(),
            bytes: self.in_flight.clone(),
            begun: self.open_begun.take().unwrap_or_else(Instant::now),
            commands: std::mem::take(&mut self.open_commands),
        }
    }
}
