//! What Kafka clients have in common: the errors that they report.

use std::sync::{Mutex, PoisonError};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError as Source;
use rdkafka::types::RDKafkaErrorCode;

/// The maximum length of a kept text.
const TEXT_CHARS_MAX: usize = 300;

/// The last error that a client reported, to explain why nothing moves.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    last: Mutex<Option<String>>,
    /// Why the brokers refused the login, if that was what they did last.
    refused: Mutex<Option<String>>,
}

impl Heard {
    /// The last error.
    pub(crate) fn last(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the brokers refused the login.
    pub(crate) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An error of the whole client.
    pub(crate) fn error(&self, error: &Source, reason: &str) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Authentication) {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(short(reason));
        }
        self.note(reason);
    }

    /// Something that went wrong on this side.
    pub(crate) fn note(&self, reason: &str) {
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
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(short(text));
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(TEXT_CHARS_MAX).collect()
}

/// A client that only records errors.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// The errors that it reported.
    pub(crate) heard: Heard,
}

impl ClientContext for Plain {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.heard.log(level, facility, text);
    }

    fn error(&self, error: Source, reason: &str) {
        self.heard.error(&error, reason);
    }
}

impl rdkafka::consumer::ConsumerContext for Plain {}
