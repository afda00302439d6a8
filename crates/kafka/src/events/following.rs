//! How a process that follows the topic of events is doing, for whoever looks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use scarce_core::event::Position;

/// How a process that follows the topic is doing.
#[derive(Debug, Default)]
pub struct Following {
    now: Mutex<Levels>,
}

/// What is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// The place behind the last event that was taken, by partition; those of this process only.
    pub positions: BTreeMap<u32, Position>,
    /// What is wrong, while it is.
    pub trouble: Option<String>,
}

impl Following {
    /// How it is now.
    #[must_use]
    pub fn levels(&self) -> Levels {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn advance(&self, partition: u32, position: Position) {
        self.change(|now| {
            now.positions.insert(partition, position);
        });
    }

    pub(super) fn forget(&self, partition: u32) {
        self.change(|now| {
            now.positions.remove(&partition);
        });
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Levels)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
