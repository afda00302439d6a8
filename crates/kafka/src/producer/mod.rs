//! Sending: all partitions share one producer, which is replaced when a delivery fails.
//!
//! A producer numbers its messages, and a broker accepts them only in that order, so what one producer writes
//! to a partition has neither gaps nor duplicates. When a delivery fails, all messages in flight are given up
//! and a new producer continues from a position that is known to be in the topic. Messages of the old
//! producer may still arrive late; they continue what that one wrote, so at any time the partition holds all
//! events up to some position, and some of them twice.

mod session;
mod ticket;

use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::ClientConfig;

pub(crate) use session::{Message, SendError, Session};
pub(crate) use ticket::{Cause, Ticket};

use crate::client::Heard;
use crate::{KafkaError, KafkaSettings};

/// Sends messages. Clones share the producer.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<PublisherShared>,
}

struct PublisherShared {
    config: ClientConfig,
    heard: Arc<Heard>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    sessions: u64,
}

impl Publisher {
    /// A publisher with these settings. It does not connect yet.
    ///
    /// # Errors
    /// When the settings are contradictory.
    pub(crate) fn new(settings: &KafkaSettings) -> Result<Self, KafkaError> {
        let shared =
            PublisherShared { config: settings.producer()?, heard: Arc::default(), state: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The present producer; a new one if there is none that works.
    ///
    /// # Errors
    /// When librdkafka refuses the settings.
    pub(crate) fn session(&self) -> Result<Arc<Session>, KafkaError> {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = state.session.as_ref().filter(|session| !session.is_over()) {
            return Ok(session.clone());
        }
        state.sessions += 1;
        let session = Session::start(&self.shared.config, state.sessions, self.shared.heard.clone())?;
        state.session = Some(session.clone());
        Ok(session)
    }

    /// The last error, which explains why nothing is acknowledged.
    pub(crate) fn heard(&self) -> Option<String> {
        self.shared.heard.last()
    }
}
