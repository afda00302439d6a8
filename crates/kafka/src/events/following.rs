//! The state of a process that follows the topic of events, for metrics and people.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use scarce_core::event::Position;

/// The state of a process that follows the topic.
#[derive(Debug, Default)]
pub struct Following {
    now: Mutex<Levels>,
}

/// A snapshot of that state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// The position of the last consumed event, by partition; only those of this process.
    pub positions: BTreeMap<u32, Position>,
    /// The trouble, while it lasts.
    pub trouble: Option<String>,
    /// Why the topic alone will never do, if so: it lacks what a consumer needs.
    pub lacking: Option<String>,
}

impl Following {
    /// The present state.
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
