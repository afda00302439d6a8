//! Shows dead letters, and sends chosen ones as commands again.

use std::sync::Arc;
use std::sync::mpsc;

use rdkafka::Message as _;
use rdkafka::message::{Header, OwnedHeaders};
use scarce_api::message::{Content, DeadLetter, TopicPosition};

use crate::producer::{Cause, Message, Publisher, SendError, Ticket};
use crate::reader::Reader;
use crate::{KafkaError, KafkaSettings};

/// What to do with a dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Leave it as it is.
    Leave,
    /// Send its command again unchanged: the command was not the problem.
    Resend,
    /// Send a corrected command in its place, with its key and its headers.
    ResendAs(Vec<u8>),
    /// Stop without showing further ones.
    Stop,
}

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// How many dead letters were shown.
    pub seen: u64,
    /// How many messages of the topic are not dead letters.
    pub unreadable: u64,
    /// How many commands were sent again and acknowledged.
    pub sent: u64,
    /// How many were chosen to be sent unchanged, but are only kept in part.
    pub incomplete: u64,
}

/// Shows every dead letter, oldest first in each partition, with its offset, and sends the commands of the
/// chosen ones to the topic of commands again. A command that was sent twice is applied once, by its id.
/// Blocks.
/// once, by its id. It blocks.
///
/// # Errors
/// When the brokers do not answer. Commands sent before that may have arrived; sending them again does no
/// harm.
pub fn replay(
    settings: &KafkaSettings,
    choose: &mut dyn FnMut(&TopicPosition, &DeadLetter) -> Choice,
) -> Result<Replayed, KafkaError> {
    let topic = &settings.topics.dead_letters;
    let mut resender = Resender::new(settings)?;
    let (mut replayed, mut failed, mut is_stopped) = (Replayed::default(), None, false);
    let partitions = Reader::new(settings, topic)?.partitions()?;
    for partition in 0..i32::try_from(partitions).unwrap_or(i32::MAX) {
        let reader = Reader::new(settings, topic)?;
        let (begin, end) = reader.bounds(partition)?;
        reader.read(partition, begin, end, &mut |message| {
            let place = TopicPosition { topic: topic.clone(), partition, offset: message.offset() };
            let payload = message.payload().unwrap_or_default();
            let Ok(letter) = serde_json::from_slice::<DeadLetter>(payload) else {
                replayed.unreadable += 1;
                return true;
            };
            replayed.seen += 1;
            let value = match choose(&place, &letter) {
                Choice::Leave => return true,
                Choice::Stop => {
                    is_stopped = true;
                    return false;
                }
                Choice::Resend if letter.truncated => {
                    replayed.incomplete += 1;
                    return true;
                }
                Choice::Resend => letter.value.as_ref().and_then(Content::bytes).unwrap_or_default(),
                Choice::ResendAs(value) => value,
            };
            failed = resender.send(&letter, &value).err();
            failed.is_none()
        })?;
        if is_stopped || failed.is_some() {
            break;
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    replayed.sent = resender.finish()?;
    Ok(replayed)
}

/// Sends commands.
struct Resender<'a> {
    settings: &'a KafkaSettings,
    publisher: Publisher,
    sender: mpsc::Sender<Result<(), Cause>>,
    heard: mpsc::Receiver<Result<(), Cause>>,
    under_way: u64,
    arrived: u64,
}

impl<'a> Resender<'a> {
    fn new(settings: &'a KafkaSettings) -> Result<Self, KafkaError> {
        let publisher = Publisher::new(settings)?;
        let (sender, heard) = mpsc::channel();
        Ok(Self { settings, publisher, sender, heard, under_way: 0, arrived: 0 })
    }

    fn send(&mut self, letter: &DeadLetter, value: &[u8]) -> Result<(), KafkaError> {
        let key = letter.key.as_ref().and_then(Content::bytes);
        loop {
            let session = self.publisher.session()?;
            let sender = self.sender.clone();
            let ticket = Arc::new(Ticket::new(1, move |result| drop(sender.send(result))));
            let message = Message {
                topic: &self.settings.topics.commands,
                partition: None,
                key: key.as_deref(),
                value,
                headers: headers(letter),
            };
            match session.send(message, &ticket) {
                Ok(()) => {
                    self.under_way += 1;
                    return Ok(());
                }
                // At least one message is in progress then.
                Err(SendError::Full) => self.wait()?,
                Err(SendError::Refused(cause)) => return Err(self.failed(&cause.reason)),
            }
        }
    }

    /// Waits until one more message was acknowledged.
    fn wait(&mut self) -> Result<(), KafkaError> {
        let result = self.heard.recv_timeout(self.settings.delivery_timeout());
        match result {
            Ok(Ok(())) => {
                self.under_way -= 1;
                self.arrived += 1;
                Ok(())
            }
            Ok(Err(cause)) => Err(self.failed(&cause.reason)),
            Err(_) => Err(self.failed("no acknowledgement came in time")),
        }
    }

    fn finish(mut self) -> Result<u64, KafkaError> {
        while self.under_way > 0 {
            self.wait()?;
        }
        Ok(self.arrived)
    }

    fn failed(&self, reason: &str) -> KafkaError {
        let heard = self.publisher.heard().map(|heard| format!(" ({heard})")).unwrap_or_default();
        let brokers = self.settings.brokers.clone();
        KafkaError::Unreachable { brokers, reason: format!("{reason}{heard}") }
    }
}

/// The original headers.
fn headers(letter: &DeadLetter) -> OwnedHeaders {
    let headers = OwnedHeaders::new_with_capacity(letter.headers.len());
    letter.headers.iter().fold(headers, |headers, header| {
        let value = header.value.as_ref().and_then(Content::bytes);
        headers.insert(Header { key: &header.name, value: value.as_ref() })
    })
}
