//! What clients of Kafka have in common: what they say of themselves.

use std::sync::{Mutex, PoisonError};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError as Source;

/// The most of a text that is kept.
const TEXT_CHARS_MAX: usize = 300;

/// What a client said last of what is wrong, for whoever is to be told why nothing moves.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    last: Mutex<Option<String>>,
}

impl Heard {
    /// What was heard last.
    pub(crate) fn last(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An error of the whole client.
    pub(crate) fn error(&self, reason: &str) {
        self.keep(reason);
    }

    /// A line of the client's log.
    pub(crate) fn log(&self, level: RDKafkaLogLevel, _facility: &str, text: &str) {
        if matches!(
            level,
            RDKafkaLogLevel::Emerg
                | RDKafkaLogLevel::Alert
                | RDKafkaLogLevel::Critical
                | RDKafkaLogLevel::Error
        ) {
            self.keep(text);
        }
    }

    fn keep(&self, text: &str) {
        let text = text.chars().filter(|c| !c.is_control()).take(TEXT_CHARS_MAX).collect();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

/// A client that only notes what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// What it said.
    pub(crate) heard: Heard,
}

impl ClientContext for Plain {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.heard.log(level, facility, text);
    }

    fn error(&self, _error: Source, reason: &str) {
        self.heard.error(reason);
    }
}

impl rdkafka::consumer::ConsumerContext for Plain {}
