//! What a passed deadline ends: before a command on its resource, or by the sweeper.

use super::{Machine, decide};
use crate::command::Command;
use crate::deadlines::RecordKind;
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// The approximate number of ended deadlines in one entry; further ones go into the next.
pub const ENDED_PER_ENTRY: usize = 1_024;

/// Slots of resources, by the kind of record that ends on them.
type Touched = smallvec::SmallVec<[(RecordKind, Slot); 4]>;

impl Machine {
    /// Ends up to `limit` holds and reservations whose deadline has passed by `clock`, and receipts and packets whose
    /// retention is over, those of one event as one. Returns how many.
    pub fn expire(&mut self, limit: usize, clock: TimeMs, log: &mut Vec<u8>) -> usize {
        self.stamp(clock);
        self.finish(log);
        // The events of the previous command are in the log already.
        self.events.clear();
        let mut ended = 0;
        loop {
            // Of an item's receipts more may be due behind those that leave together.
            let due = self.state.deadlines.due(self.settled_now()).take(limit - ended);
            let due: Vec<_> = due.collect();
            for due in &due {
                self.end(due.kind, due.slot, &due.record);
                self.log_ended(ENDED_PER_ENTRY, log);
            }
            ended += due.len();
            if due.is_empty() {
                self.log_ended(1, log);
                return ended;
            }
        }
    }

    /// Ends the passed deadlines of the resources that the commands touch, each resource once. They get
    /// their own entries, which stay even if the commands are refused.
    pub(super) fn end_due_of(&mut self, commands: &[Command], log: &mut Vec<u8>) {
        self.events.clear();
        // Mostly nothing is due anywhere: the sweep ends what is.
        if self.state.deadlines.next().is_none_or(|next| next > self.settled_now()) {
            return;
        }
        for (kind, slot) in self.touched(commands) {
            for record in self.due_of(kind, slot) {
                self.end(kind, slot, &record);
            }
            self.log_ended(ENDED_PER_ENTRY, log);
        }
        self.log_ended(1, log);
    }

    /// The resources that the commands touch and that have deadlines.
    pub(super) fn touched(&self, commands: &[Command]) -> Touched {
        let mut touched = Touched::new();
        for command in commands {
            decide::touched(&self.state, command, &mut |kind, slot| {
                if !touched.contains(&(kind, slot)) {
                    touched.push((kind, slot));
                }
            });
        }
        touched
    }

    /// The records of a resource that are due, up to the number that one command ends.
    pub(super) fn due_of(&self, kind: RecordKind, slot: Slot) -> Vec<Id> {
        let limit = self.state.settings.due_per_command_max;
        let due = self.state.deadlines.due_of(kind, slot, self.settled_now());
        due.take(limit).map(|(_, id)| id.clone()).collect()
    }

    /// Logs the ended records once there are `count` events: the size of an entry is bounded.
    fn log_ended(&mut self, count: usize, log: &mut Vec<u8>) {
        if self.events.len() >= count {
            self.log_events(None, false, None, log);
        }
    }

    pub(super) fn end(&mut self, kind: RecordKind, slot: Slot, record: &Id) {
        let (first, now) = (self.events.len(), self.settled_now());
        match kind {
            RecordKind::Hold => crate::accounts::expire(&self.state, slot, record, &mut self.events),
            RecordKind::Reservation => crate::stock::expire(&self.state, slot, record, &mut self.events),
            RecordKind::Sale => crate::stock::forget_receipts(&self.state, slot, now, &mut self.events),
            RecordKind::Share => crate::packets::forget(&self.state, slot, &mut self.events),
            RecordKind::CouponClaim | RecordKind::Order => {}
        }
        self.evolve_from(first, None);
    }
}
