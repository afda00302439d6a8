//! Commands of one partition of the topic on their way to one partition of the engine: in order, one batch at
//! a time, so that commands that the engine could not take are retried before later ones.

use std::collections::VecDeque;
use std::time::Instant;

use scarce_core::command::Envelope;
use scarce_engine::Request;

use super::RETRIES;
use super::intake::{Head, Raw};

/// The maximum number of commands in a batch.
const BATCH_COMMANDS_MAX: usize = 512;

/// The maximum size of a batch in bytes.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// A command for the engine.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) offset: i64,
    pub(crate) head: Head,
    pub(crate) envelope: Envelope,
    pub(crate) raw: Raw,
    /// How often the engine failed to decide it.
    pub(crate) failures: u32,
}

/// Waiting commands, and those that the engine has.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    waiting: VecDeque<Item>,
    flying: Vec<Item>,
    /// How many batches in a row had a command that the engine could not decide.
    failures: u32,
    not_before: Option<Instant>,
}

impl Lane {
    /// Adds a command at the end.
    pub(crate) fn push(&mut self, item: Item) {
        self.waiting.push_back(item);
    }

    /// The next batch for the engine, if it is time.
    pub(crate) fn depart(&mut self, now: Instant) -> Option<Vec<Request>> {
        if !self.flying.is_empty() || self.not_before.is_some_and(|not_before| now < not_before) {
            return None;
        }
        self.not_before = None;
        let mut bytes = 0;
        while self.flying.len() < BATCH_COMMANDS_MAX && bytes < BATCH_BYTES_MAX {
            let Some(item) = self.waiting.pop_front() else { break };
            bytes += item.raw.bytes();
            self.flying.push(item);
        }
        let requests: Vec<Request> =
            self.flying.iter().map(|item| Request::Write(item.envelope.clone())).collect();
        if requests.is_empty() { None } else { Some(requests) }
    }

    /// The commands of the batch that was answered.
    pub(crate) fn arrive(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.flying)
    }

    /// Notes that all of a batch was decided.
    pub(crate) fn succeed(&mut self) {
        self.failures = 0;
    }

    /// Queues some commands of a batch, in order, for a retry after a delay and before all others.
    pub(crate) fn postpone(&mut self, items: Vec<Item>, now: Instant) {
        self.not_before = Some(now + RETRIES.of_try(self.failures));
        self.failures += 1;
        for mut item in items.into_iter().rev() {
            item.failures += 1;
            self.waiting.push_front(item);
        }
    }

    /// Whether the engine failed to decide all of the last batch.
    pub(crate) fn is_held_up(&self) -> bool {
        self.failures > 0
    }

    /// When the lane next has something to do.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.flying.is_empty() && !self.waiting.is_empty())
    }

    /// Whether no command waits and the engine has none.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.flying.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::intake::{Taken, take};

    fn item(offset: i64) -> Item {
        let value = r#"{"command": "ACCOUNT.FREEZE", "arguments": {"account": "a"}, "id": "1"}"#;
        let raw = Raw { value: Some(value.as_bytes().to_vec()), ..Raw::default() };
        let Ok(Taken::Ask(head, envelope)) = take(&raw, 1, &[0; 32]) else { panic!("a command") };
        Item { offset, head, envelope: *envelope, raw, failures: 0 }
    }

    fn offsets(items: &[Item]) -> Vec<i64> {
        items.iter().map(|item| item.offset).collect()
    }

    #[test]
    fn what_could_not_be_decided_goes_again_before_what_came_later() {
        let (mut lane, now) = (Lane::default(), Instant::now());
        (0..4).for_each(|offset| lane.push(item(offset)));
        assert_eq!(lane.depart(now).map(|requests| requests.len()), Some(4));
        lane.push(item(4));
        assert!(lane.depart(now).is_none(), "a batch is with the engine");
        let mut items = lane.arrive();
        let failed = items.split_off(2);
        lane.postpone(failed, now);
        assert!(lane.is_held_up() && lane.depart(now).is_none());
        let later = lane.wake_at().expect("a time");
        assert_eq!(lane.depart(later).map(|requests| requests.len()), Some(3));
        let items = lane.arrive();
        assert_eq!(offsets(&items), [2, 3, 4]);
        assert_eq!(items[0].failures, 1);
        lane.succeed();
        assert!(!lane.is_held_up() && lane.is_idle());
    }

    #[test]
    fn a_batch_is_bounded() {
        let (mut lane, now) = (Lane::default(), Instant::now());
        (0..1_000).for_each(|offset| lane.push(item(offset)));
        assert_eq!(lane.depart(now).map(|requests| requests.len()), Some(BATCH_COMMANDS_MAX));
    }
}
