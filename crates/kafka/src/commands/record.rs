//! Outgoing messages: outcomes and dead letters.

use rdkafka::message::{Header, OwnedHeaders};
use scarce_api::message::schemas::{DEAD_LETTER_TYPE, OUTCOME_TYPE};
use scarce_api::message::{Answered, Reason, TopicPosition, outcome};
use scarce_core::outcome::{Outcome, Receipt};
use serde_json::Value;

use super::intake::{Head, Raw};
use crate::KafkaSettings;
use crate::cloud_event::{Attributes, header};
use crate::time::rfc_3339;

/// The sizes to which a value that is too large for its topic is cut, the first and the second time.
const SHRUNK_BYTES: [usize; 2] = [64 << 10, 1 << 10];

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Outcomes, to the partition with the number of the engine's.
    Outcomes(i32),
    /// Dead letters, partitioned by key.
    DeadLetters,
}

/// An outgoing message.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) way: Way,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Vec<u8>,
    pub(crate) headers: OwnedHeaders,
    /// How often it was shrunk.
    shrunk: usize,
}

/// The message of an outcome.
pub(crate) fn of_outcome(
    settings: &KafkaSettings,
    head: &Head,
    decided: &Outcome,
    receipt: Option<&Receipt>,
    source: &TopicPosition,
) -> Record {
    let answered = Answered {
        operation: head.operation.as_str(),
        specs: &head.specs,
        is_atomic: head.is_atomic,
        outcome: decided,
        receipt,
        source,
    };
    let time = receipt.and_then(|receipt| rfc_3339(receipt.at));
    let attributes = Attributes {
        id: &place_id(source),
        source: &settings.source,
        kind: OUTCOME_TYPE,
        time: time.as_deref(),
        subject: head.resource.as_deref(),
    };
    let operation = Header { key: header::OPERATION, value: Some(head.operation.as_str()) };
    let mut headers = attributes.headers(1 + head.correlation.len()).insert(operation);
    for (name, value) in &head.correlation {
        headers = headers.insert(Header { key: name, value: value.as_ref() });
    }
    let key = head.resource.as_deref().unwrap_or(head.operation.as_str());
    Record {
        way: Way::Outcomes(i32::try_from(head.partition).unwrap_or(i32::MAX)),
        key: Some(key.as_bytes().to_vec()),
        // Texts, and integers by name: that always serializes to JSON.
        value: serde_json::to_vec(&outcome(&answered)).unwrap_or_default(),
        headers,
        shrunk: 0,
    }
}

/// The message of a dead letter.
pub(crate) fn of_dead_letter(
    settings: &KafkaSettings,
    raw: &Raw,
    reason: Reason,
    source: TopicPosition,
) -> Record {
    let id = place_id(&source);
    let time = raw.timestamp.and_then(|at| rfc_3339(u64::try_from(at).ok()?));
    let attributes = Attributes {
        id: &id,
        source: &settings.source,
        kind: DEAD_LETTER_TYPE,
        time: time.as_deref(),
        subject: None,
    };
    Record {
        way: Way::DeadLetters,
        key: raw.key.clone(),
        headers: attributes.headers(0),
        value: serde_json::to_vec(&raw.dead_letter(reason, source)).unwrap_or_default(),
        shrunk: 0,
    }
}

/// An id that is the same for every copy of one message's result.
fn place_id(place: &TopicPosition) -> String {
    format!("{}-{}-{}", place.topic, place.partition, place.offset)
}

impl Record {
    /// Shrinks the message so that the topic takes it; `false` if it cannot shrink further.
    pub(crate) fn shrink(&mut self) -> bool {
        let Some(bytes_max) = SHRUNK_BYTES.get(self.shrunk) else { return false };
        self.shrunk += 1;
        let Ok(mut value) = serde_json::from_slice::<Value>(&self.value) else { return false };
        match self.way {
            Way::Outcomes(_) => {
                ["result", "results", "facts"].iter().for_each(|member| value[member] = Value::Null);
            }
            Way::DeadLetters => cut(&mut value, *bytes_max),
        }
        value["truncated"] = Value::Bool(true);
        self.value = serde_json::to_vec(&value).unwrap_or_default();
        true
    }
}

/// Cuts the value to this many bytes; drops the headers only the last time.
fn cut(letter: &mut Value, bytes_max: usize) {
    for (member, step) in [("text", 1), ("base64", 4)] {
        if let Some(Value::String(text)) = letter.pointer_mut(&format!("/value/{member}")) {
            // Base 64 must end after a group of four digits, and a text between two characters.
            let end = text.floor_char_boundary(bytes_max.min(text.len()));
            text.truncate(end - end % step);
        }
    }
    if bytes_max == SHRUNK_BYTES[1] {
        letter["headers"] = Value::Array(Vec::new());
        letter["key"] = Value::Null;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_api::message::{Content, DeadLetter, Stage};

    fn dead_letter(value: &[u8]) -> Record {
        let raw = Raw { value: Some(value.to_vec()), key: Some(b"k".to_vec()), ..Raw::default() };
        let reason =
            Reason { stage: Stage::Json, code: "NOT_JSON".to_owned(), field: None, text: "x".to_owned() };
        let place = TopicPosition { topic: "t".to_owned(), partition: 1, offset: 2 };
        of_dead_letter(&KafkaSettings::new("b"), &raw, reason, place)
    }

    #[test]
    fn what_is_too_large_is_cut_and_says_so() {
        for value in ["数".repeat(300_000).into_bytes(), vec![0xff; 900_000]] {
            let mut record = dead_letter(&value);
            for bytes_max in SHRUNK_BYTES {
                assert!(record.shrink());
                let letter: DeadLetter = serde_json::from_slice(&record.value).expect("a dead letter");
                assert!(letter.truncated && letter.value_bytes == value.len() as u64);
                let rest = letter.value.as_ref().and_then(Content::bytes).expect("bytes");
                assert!(value.starts_with(&rest) && !rest.is_empty(), "{bytes_max}");
                assert!(record.value.len() < bytes_max + 1_000);
            }
            assert!(!record.shrink());
        }
    }
}
