//! The state of consumers, for metrics and for people.

use std::sync::{Mutex, MutexGuard, PoisonError};

use scarce_core::event::Position;
use scarce_engine::consumers::ConsumerName;

/// The state of a consumer of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not started.
    #[default]
    Starting,
    /// It consumes events.
    Running,
    /// Another process consumes the partition.
    Elsewhere {
        /// The name of that process.
        holder: String,
    },
    /// It failed, and retries.
    Troubled {
        /// What is wrong.
        reason: String,
    },
    /// It was stopped.
    Stopped,
}

/// The status of a consumer of one partition.
#[derive(Debug)]
pub struct Status {
    /// Its name.
    pub name: ConsumerName,
    /// Its partition.
    pub partition: u32,
    now: Mutex<(State, Position)>,
}

impl Status {
    pub(crate) fn new(name: ConsumerName, partition: u32) -> Self {
        Self { name, partition, now: Mutex::default() }
    }

    fn now(&self) -> MutexGuard<'_, (State, Position)> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> State {
        self.now().0.clone()
    }

    /// Its position; the beginning, until the position is known.
    #[must_use]
    pub fn position(&self) -> Position {
        self.now().1
    }

    pub(crate) fn set(&self, state: State) {
        self.now().0 = state;
    }

    pub(crate) fn advance(&self, position: Position) {
        *self.now() = (State::Running, position);
    }
}
