//! The topic as it is, message by message, to be compared with the log.

use rdkafka::Message as _;
use rdkafka::message::{BorrowedMessage, Headers};
use scarce_api::event::public;
use scarce_api::message::schemas::RESUMED_TYPE;
use scarce_core::event::{Entry, Position};
use scarce_outflow::{CopiedMessage, LogCopy, Meaning, TRACEPARENT, Trouble};
use serde_json::Value;

use super::last::{Mark, explained};
use super::record::Encoder;
use crate::cloud_event::{header, text};
use crate::reader::Reader;
use crate::{KafkaError, KafkaSettings};

/// The topic of events, read only.
pub struct TopicCopy {
    topic: String,
    source: String,
    reader: Reader,
    encoder: Encoder,
    /// The partition that is read, the next offset, and before which it ends.
    place: (i32, i64, i64),
}

impl TopicCopy {
    /// The topic that the settings name. It is not connected to yet.
    ///
    /// # Errors
    /// When no client can be created with the settings.
    pub fn new(settings: &KafkaSettings) -> Result<Self, KafkaError> {
        let topic = settings.topics.events.clone();
        Ok(Self {
            reader: Reader::new(settings, &topic)?,
            topic,
            source: settings.source.clone(),
            encoder: Encoder::new(&settings.source),
            place: (0, 0, 0),
        })
    }
}

impl LogCopy for TopicCopy {
    fn name(&self) -> String {
        format!("the topic '{}'", self.topic)
    }

    fn partitions(&mut self) -> Result<u32, Trouble> {
        let count = self.reader.partitions().map_err(|error| trouble(&error))?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn bounds(&mut self, partition: u32) -> Result<(i64, i64), Trouble> {
        self.reader.bounds(number(partition)).map_err(|error| trouble(&error))
    }

    fn seek(&mut self, partition: u32, from: i64, to: i64) -> Result<(), Trouble> {
        self.place = (number(partition), from, to);
        if from >= to {
            return Ok(());
        }
        self.reader.seek(number(partition), from).map_err(|error| trouble(&error))
    }

    fn next(&mut self) -> Result<Option<CopiedMessage>, Trouble> {
        let (partition, next, to) = self.place;
        // The last message was given: the end of the partition need not be waited for.
        if next >= to {
            return Ok(None);
        }
        let message = self.reader.next(partition, to).map_err(|error| trouble(&error))?;
        self.place.1 = message.as_ref().map_or(to, |message| message.offset() + 1);
        Ok(message.map(|message| copied(&message, &self.source)))
    }

    fn expected(&mut self, partition: u32, entry: &Entry) -> Vec<CopiedMessage> {
        let encoder = &mut self.encoder;
        let message = |event| {
            let headers = listed(&encoder.encode(&event));
            let position = Position { epoch: event.head.epoch, sequence: event.sequence };
            CopiedMessage {
                offset: -1,
                meaning: Meaning::Event(position),
                subject: event.event.resource().is_some().then(|| encoder.key.clone()),
                key: Some(encoder.key.clone().into_bytes()),
                value: Some(encoder.value.clone()),
                headers,
            }
        };
        public(partition, entry, 0).map(message).collect()
    }
}

fn copied(message: &BorrowedMessage<'_>, source: &str) -> CopiedMessage {
    CopiedMessage {
        offset: message.offset(),
        meaning: meaning(message, source),
        subject: text(message.headers(), header::SUBJECT).map(str::to_owned),
        key: message.key().map(<[u8]>::to_vec),
        value: message.payload().map(<[u8]>::to_vec),
        headers: message.headers().map(listed).unwrap_or_default(),
    }
}

fn listed(headers: &impl Headers) -> Vec<(String, String)> {
    let value = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    // The trace is known only to the process that wrote the message.
    let own = headers.iter().filter(|its| its.key != TRACEPARENT);
    own.map(|its| (its.key.to_owned(), value(its.value))).collect()
}

fn meaning(message: &BorrowedMessage<'_>, source: &str) -> Meaning {
    let headers = message.headers();
    let named = text(headers, header::SOURCE);
    let foreign = || Meaning::Foreign { source: named.map(str::to_owned) };
    if named != Some(source) {
        return foreign();
    }
    if text(headers, header::TYPE) == Some(RESUMED_TYPE) {
        return resumed(message).unwrap_or_else(foreign);
    }
    match Mark::of(message).filter(|mark| number(mark.partition) == message.partition()) {
        Some(mark) => Meaning::Event(mark.position),
        None => foreign(),
    }
}

fn resumed(message: &BorrowedMessage<'_>) -> Option<Meaning> {
    let value: Value = serde_json::from_slice(message.payload()?).ok()?;
    let number = |name: &str| value["after"][name].as_u64();
    let after = Position { epoch: number("epoch")?, sequence: number("sequence")? };
    let is_its = value["partition"].as_i64() == Some(message.partition().into());
    is_its.then_some(Meaning::Resumed { after, is_beginning: value["left"].is_null() })
}

fn number(partition: u32) -> i32 {
    i32::try_from(partition).unwrap_or(i32::MAX)
}

fn trouble(error: &KafkaError) -> Trouble {
    Trouble::new(explained(error))
}
