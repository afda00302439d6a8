//! What is served while memory is short.

use scarce_core::command::Envelope;
use scarce_core::types::TimeMs;

use super::Owner;
use crate::memory::Admitted;

impl Owner {
    /// Whether there is memory for a change.
    pub(super) fn has_memory(&mut self, envelope: &Envelope, now: TimeMs) -> bool {
        match self.memory.admits(envelope) {
            Admitted::Always => true,
            Admitted::WithEffect => {
                self.makes_room(envelope, now)
                    // A duplicate gets the first answer again, and needs no room for its id.
                    || self.machine.recall(envelope, now).is_some()
                    || self.machine.has_effect(envelope, now) && self.memory.take_id()
            }
            Admitted::Never => self.makes_room(envelope, now),
        }
    }

    /// Whether the command's entry forgets more than it adds: only one with an operation id forgets ids that are over,
    /// and only one of a single step adds little.
    fn makes_room(&self, envelope: &Envelope, now: TimeMs) -> bool {
        let is_small = matches!(envelope.commands(), [command] if command.spec().takes_one_step());
        is_small && envelope.common.operation.is_some() && self.machine.can_forget(now)
    }
}
