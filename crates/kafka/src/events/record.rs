//! An event of the log as a message.

use std::fmt::Write as _;

use rdkafka::message::{Header, OwnedHeaders};
use scarce_api::event::Public;
use scarce_api::message::schemas::event_type;
use scarce_core::outcome::Value;
use scarce_core::types::TimeMs;

use crate::cloud_event::{Attributes, header};
use crate::time::rfc_3339;

/// The number of digits of a sequence, so that texts sort like numbers: enough for 2^53.
const SEQUENCE_DIGITS: usize = 16;

/// Encodes events as messages; reuses its buffers from one to the next.
pub(crate) struct Encoder {
    source: String,
    /// The JSON of the event.
    pub(crate) value: Vec<u8>,
    /// The id of the changed resource.
    pub(crate) key: String,
    id: String,
    kind: String,
    sequence: String,
    epoch: String,
    partition: String,
    /// The last stamp, and its text.
    time: (TimeMs, Option<String>),
}

impl Encoder {
    /// An encoder for messages of this source.
    pub(crate) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            value: Vec::new(),
            key: String::new(),
            id: String::new(),
            kind: String::new(),
            sequence: String::new(),
            epoch: String::new(),
            partition: String::new(),
            time: (0, rfc_3339(0)),
        }
    }

    /// Encodes an event: leaves value and key in the buffers, returns the headers.
    pub(crate) fn encode(&mut self, event: &Public<'_>) -> OwnedHeaders {
        self.value.clear();
        // An event consists of texts and integers, and writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.value, event);
        let Public { partition, head, sequence, .. } = *event;
        let subject = event.event.resource();
        set(&mut self.key, format_args!("{}", key(event, subject.as_ref())));
        set(&mut self.id, format_args!("{partition}-{}-{sequence}", head.epoch));
        self.kind = event_type(event.event.spec().name);
        set(&mut self.sequence, format_args!("{sequence:0SEQUENCE_DIGITS$}"));
        set(&mut self.epoch, format_args!("{}", head.epoch));
        set(&mut self.partition, format_args!("{partition}"));
        if self.time.0 != head.at {
            self.time = (head.at, rfc_3339(head.at));
        }
        let attributes = Attributes {
            id: &self.id,
            source: &self.source,
            kind: &self.kind,
            time: self.time.1.as_deref(),
            subject: subject.is_some().then_some(self.key.as_str()),
        };
        [
            (header::SEQUENCE, &self.sequence),
            (header::EPOCH, &self.epoch),
            (header::PARTITION, &self.partition),
        ]
        .into_iter()
        .fold(attributes.headers(3), |headers, (name, value)| {
            headers.insert(Header { key: name, value: Some(value.as_str()) })
        })
    }
}

fn set(text: &mut String, to: std::fmt::Arguments<'_>) {
    text.clear();
    // Writing to a text cannot fail.
    let _ = text.write_fmt(to);
}

/// The id of the resource; for an event without one, that of the operation, so that every message has a key.
fn key(event: &Public<'_>, resource: Option<&Value>) -> String {
    match (resource, &event.head.operation) {
        (Some(resource), _) => resource.to_string(),
        (None, Some(mark)) => mark.id.to_string(),
        (None, None) => event.partition.to_string(),
    }
}
