//! Whether the topic of commands is still the one that is read. If it is deleted and created again, the client goes on at its old
//! offset as soon as the new topic is longer, and would skip what is before it.

use std::time::{Duration, Instant};

use rdkafka::consumer::{Consumer, StreamConsumer};

use super::positions::Positions;
use crate::membership::Membership;
use crate::topic_id::Asked;

/// How long after one question the next one is.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// How long brokers may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// How often to look for the answer.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Asks now and then which topic it is.
#[derive(Default)]
pub(crate) struct Recreation<'a> {
    asked: Option<Asked<'a>>,
    look_at: Option<Instant>,
}

impl<'a> Recreation<'a> {
    /// Asks, or looks for the answer.
    ///
    /// # Errors
    /// When the topic is another one than that of the positions. Positions must be looked up anew.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        consumer: &'a StreamConsumer<Membership>,
        positions: &Positions,
    ) -> Result<(), String> {
        let Some(known) = positions.topic_id() else { return Ok(()) };
        if self.look_at.is_some_and(|at| now < at) {
            return Ok(());
        }
        self.look_at = Some(now + LOOK_INTERVAL);
        let Some(asked) = &self.asked else {
            self.asked = Asked::begin(consumer.client(), positions.topic(), ANSWER_TIMEOUT).ok();
            return Ok(());
        };
        let Some(answer) = asked.answer(Duration::ZERO) else { return Ok(()) };
        self.asked = None;
        self.look_at = Some(now + ASK_INTERVAL);
        match answer {
            Ok(found) if found != known => Err(positions.created_again()),
            // What keeps brokers from answering is told elsewhere.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// When to look next.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.look_at
    }
}
