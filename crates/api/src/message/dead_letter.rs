//! A command that could not be read, or that the engine would never take, with the reason.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::Place;

/// How far a command came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The message as such: its size, its headers.
    Message,
    /// Reading its value as JSON.
    Json,
    /// Reading the operation id.
    Id,
    /// Reading command and arguments.
    Command,
    /// Asking the engine.
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

/// Why a command went no further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// How far it came.
    pub stage: Stage,
    /// A word for programs: [`Reason::CODES`].
    pub code: String,
    /// Which field is wrong, where it is one.
    pub field: Option<String>,
    /// What is wrong, for people.
    pub text: String,
}

impl Reason {
    /// What codes there are.
    pub const CODES: [&'static str; 8] = [
        "EMPTY",
        "TOO_LARGE",
        "STRUCTURED_MODE",
        "NOT_JSON",
        "ID_MISSING",
        "ID_MISMATCH",
        "INVALID",
        "UNAVAILABLE",
    ];
}

/// Bytes, as text where they are text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Text.
    Text(String),
    /// Other bytes.
    Base64(String),
}

impl Content {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    /// The bytes; none where what should be base 64 is not.
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
    /// Its value; a header may have none.
    pub value: Option<Content>,
}

/// A command with the reason why it went no further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetter {
    /// Why.
    pub reason: Reason,
    /// Where it stood.
    pub source: Place,
    /// When it was written there, in Unix milliseconds, where its message says so.
    pub timestamp: Option<i64>,
    /// The message's key.
    pub key: Option<Content>,
    /// The message's headers, in their order.
    pub headers: Vec<Header>,
    /// The message's value.
    pub value: Option<Content>,
    /// How many bytes the value had.
    pub value_bytes: u64,
    /// Whether it stands here in part only, because the whole is more than a topic takes.
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
