//! How consumers are doing, for metrics and for whoever asks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use scarce_core::event::Position;
use scarce_engine::consumers::ConsumerName;

/// What a consumer does about its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not begun.
    #[default]
    Starting,
    /// It takes what comes.
    Running,
    /// Another process does.
    Elsewhere {
        /// Which one.
        holder: String,
    },
    /// It tries again and again.
    Troubled {
        /// What is wrong.
        reason: String,
    },
    /// It was asked to end.
    Stopped,
}

/// How a consumer of one partition is doing.
#[derive(Debug)]
pub struct Status {
    /// Who.
    pub name: ConsumerName,
    /// Which partition.
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

    /// What it does.
    #[must_use]
    pub fn state(&self) -> State {
        self.now().0.clone()
    }

    /// Behind what it is; the beginning, until that is known.
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
