//! A command that could not be read, or that the engine would never accept, with the reason.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::TopicPosition;

/// The stage that a command reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The message itself: its size, its headers.
    Message,
    /// Reading its value as JSON.
    Json,
    /// Reading the operation id.
    Id,
    /// Reading command and arguments.
    Command,
    /// Submitting to the engine.
    Engine,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Message, Self::Json, Self::Id, Self::Command, Self::Engine];

    /// The word in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Json => "json",
            Self::Id => "id",
            Self::Command => "command",
            Self::Engine => "engine",
        }
    }
}

/// Why a command was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The stage that it reached.
    pub stage: Stage,
    /// A word for programs: [`Reason::CODES`].
    pub code: String,
    /// The field at fault, if it is a single one.
    pub field: Option<String>,
    /// What is wrong, for people.
    pub text: String,
}

impl Reason {
    /// All codes.
    pub const CODES: [&'static str; 10] = [
        "EMPTY",
        "TOO_LARGE",
        "STRUCTURED_MODE",
        "NOT_JSON",
        "ID_MISSING",
        "ID_MISMATCH",
        "INVALID",
        "NOT_ADMITTED",
        "ID_EXPIRED",
        "UNAVAILABLE",
    ];
}

/// Bytes, shown as text if they are text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Text.
    Text(String),
    /// Other bytes.
    Base64(String),
}

impl Content {
    /// From these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    /// The bytes; `None` if the base64 is invalid.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
        }
    }
}

/// A header of the command's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<Content>,
}

/// A rejected command with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetter {
    /// The reason.
    pub reason: Reason,
    /// Its position.
    pub source: TopicPosition,
    /// When it was written there, in Unix milliseconds, if its message says so.
    pub timestamp: Option<i64>,
    /// The message's key.
    pub key: Option<Content>,
    /// The message's headers, in their order.
    pub headers: Vec<Header>,
    /// The message's value.
    pub value: Option<Content>,
    /// The length of the value in bytes.
    pub value_bytes: u64,
    /// Whether the value is truncated here, because all of it would be too large for a topic.
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_they_are() {
        for bytes in [&b"{\"a\": 1}"[..], "中文".as_bytes(), &[0xff, 0, 1], b""] {
            assert_eq!(Content::of(bytes).bytes().as_deref(), Some(bytes));
        }
        assert_eq!(Content::Base64("%".to_owned()).bytes(), None);
    }

    #[test]
    fn stages_are_written_as_their_words() {
        for stage in Stage::ALL {
            assert_eq!(serde_json::to_value(stage).expect("JSON"), stage.word());
        }
    }
}
