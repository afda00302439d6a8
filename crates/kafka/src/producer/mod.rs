//! Sending: one producer that all partitions share, replaced by a new one when a delivery fails.
//!
//! A producer numbers its messages, and a broker takes them in that order or not at all, so what one producer
//! writes to a partition has neither gaps nor repeats. When a delivery fails, all that is under way is given up
//! and a new producer begins again from a place that is known to be there. What is still on its way from the
//! former one may arrive late; it continues what that one wrote, so at any time the partition holds all up to
//! some place, and some of it twice.

mod session;
mod ticket;

use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::ClientConfig;

pub(crate) use session::{Message, SendError, Session};
pub(crate) use ticket::{Cause, Ticket};

use crate::client::Heard;
use crate::{KafkaError, KafkaSettings};

/// Whoever sends messages has one of these. Clones are the same.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<Shared>,
}

struct Shared {
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
    /// For these settings. Nothing is connected yet.
    ///
    /// # Errors
    /// When they are contradictory.
    pub(crate) fn new(settings: &KafkaSettings) -> Result<Self, KafkaError> {
        let shared = Shared { config: settings.producer()?, heard: Arc::default(), state: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The producer; a new one where there is none that works.
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

    /// What was heard last of why nothing arrives.
    pub(crate) fn heard(&self) -> Option<String> {
        self.shared.heard.last()
    }
}
