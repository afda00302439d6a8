//! The state of consumers, for metrics, for people and for the log.

use std::sync::{Mutex, MutexGuard, PoisonError};

use scarce_core::event::Position;
use scarce_core::types::TimeMs;
use scarce_engine::clock::wall_ms;
use scarce_engine::consumers::ConsumerName;
use tokio::sync::Notify;

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
        /// Since when it has not made progress, in Unix milliseconds.
        since: TimeMs,
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
    /// Ends the wait for a retry.
    retry: Notify,
}

impl Status {
    pub(crate) fn new(name: ConsumerName, partition: u32) -> Self {
        Self { name, partition, now: Mutex::default(), retry: Notify::new() }
    }

    /// Notes that what kept the consumer from going on is over, because it was rebased: it begins again at once, and says
    /// what is wrong if something still is.
    pub fn end_trouble(&self) {
        let mut now = self.now();
        if !matches!(now.0, State::Troubled { .. }) {
            return;
        }
        let before = std::mem::replace(&mut now.0, State::Starting);
        drop(now);
        self.log_end_of(&before);
        self.retry.notify_one();
    }

    /// Waits until the trouble was ended from outside.
    pub(crate) async fn trouble_ended(&self) {
        self.retry.notified().await;
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

    /// Notes the position that the engine knows, before the consumer itself could be asked.
    pub(crate) fn assume(&self, position: Position) {
        self.now().1 = position;
    }

    pub(crate) fn set(&self, state: State) {
        let before = std::mem::replace(&mut self.now().0, state);
        self.log_end_of(&before);
    }

    /// Notes trouble. It began with the first failure since the last progress.
    pub(crate) fn trouble(&self, reason: String) {
        let mut now = self.now();
        let (since, is_told) = match &now.0 {
            State::Troubled { reason: former, since } => (*since, *former == reason),
            _ => (wall_ms(), false),
        };
        if !is_told {
            let (consumer, partition) = (self.name.as_str(), self.partition);
            tracing::warn!(consumer, partition, reason, "a consumer cannot go on; it retries");
        }
        now.0 = State::Troubled { reason, since };
    }

    /// Notes a position. At the position where trouble began, a retry may fail as the attempt before it did.
    pub(crate) fn advance(&self, position: Position) {
        let mut now = self.now();
        let is_stuck = matches!(now.0, State::Troubled { .. }) && now.1 == position;
        now.1 = position;
        if !is_stuck {
            let before = std::mem::replace(&mut now.0, State::Running);
            drop(now);
            self.log_end_of(&before);
        }
    }

    /// Notes that there is nothing left to consume.
    pub(crate) fn catch_up(&self) {
        self.set(State::Running);
    }

    fn log_end_of(&self, before: &State) {
        if let State::Troubled { since, .. } = before {
            let troubled_ms = wall_ms().saturating_sub(*since);
            let (consumer, partition) = (self.name.as_str(), self.partition);
            tracing::info!(consumer, partition, troubled_ms, "a consumer's trouble has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_lasts_until_there_is_progress_and_keeps_its_beginning() {
        let name = ConsumerName::parse("sql").expect("a name");
        let status = Status::new(name, 0);
        let at = |sequence| Position { epoch: 1, sequence };
        let since = |status: &Status| match status.state() {
            State::Troubled { since, .. } => Some(since),
            _ => None,
        };
        status.advance(at(5));
        status.trouble("the database is away".to_owned());
        let began = since(&status).expect("trouble");
        status.advance(at(5));
        status.trouble("the database is away still".to_owned());
        assert_eq!(since(&status), Some(began), "a retry from the same position is no progress");
        status.advance(at(6));
        assert_eq!(status.state(), State::Running);
        status.trouble("again".to_owned());
        status.end_trouble();
        assert_eq!(status.state(), State::Starting, "a rebase ends it");
        status.trouble("again".to_owned());
        status.catch_up();
        assert_eq!(status.state(), State::Running, "nothing is left to fail at");
    }
}
