//! Reads a topic from an offset up to its present end, without a consumer group.

use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError as Source;
use rdkafka::message::BorrowedMessage;
use rdkafka::topic_partition_list::TopicPartitionListElem;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Message as _, Offset, TopicPartitionList};

use crate::client::Plain;
use crate::topic_id::{Asked, TopicId};
use crate::{KafkaError, KafkaSettings};

/// The timeout of requests to brokers.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The timeout of one request, after which it is looked whether the brokers refuse the login.
const ASK_TIMEOUT: Duration = Duration::from_secs(1);

/// Errors after which an answer may still come.
const PENDING: [RDKafkaErrorCode; 3] = [
    RDKafkaErrorCode::OperationTimedOut,
    RDKafkaErrorCode::BrokerTransportFailure,
    RDKafkaErrorCode::AllBrokersDown,
];

/// How long to poll for a message at a time.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Reads one topic.
pub(crate) struct Reader {
    brokers: String,
    topic: String,
    consumer: BaseConsumer<Plain>,
}

impl Reader {
    /// A reader of a topic. It does not connect yet.
    pub(crate) fn new(settings: &KafkaSettings, topic: &str) -> Result<Self, KafkaError> {
        let consumer = settings.reader()?.create_with_context(Plain::default());
        let (brokers, topic) = (settings.brokers.clone(), topic.to_owned());
        Ok(Self { brokers, topic, consumer: consumer.map_err(KafkaError::of_settings)? })
    }

    /// The first offset of a partition and its present end.
    pub(crate) fn bounds(&self, partition: i32) -> Result<(i64, i64), KafkaError> {
        self.ask("tell the bounds", |timeout| self.consumer.fetch_watermarks(&self.topic, partition, timeout))
    }

    /// The offsets that the consumer group has committed, of those partitions that have one.
    pub(crate) fn committed(&self, partitions: &[i32]) -> Result<Vec<(i32, i64)>, KafkaError> {
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let mut asked = TopicPartitionList::new();
        for partition in partitions {
            asked.add_partition(&self.topic, *partition);
        }
        let found = self.ask("tell the group's offsets", |timeout| {
            self.consumer.committed_offsets(asked.clone(), timeout)
        })?;
        let offset = |its: &TopicPartitionListElem<'_>| match its.offset() {
            Offset::Offset(next) => Some((its.partition(), next)),
            _ => None,
        };
        Ok(found.elements().iter().filter_map(offset).collect())
    }

    /// Which topic it is: not the same after it was created again.
    pub(crate) fn topic_id(&self) -> Result<TopicId, KafkaError> {
        let none = Err(Source::MetadataFetch(RDKafkaErrorCode::OperationTimedOut));
        self.ask("tell the topic's identity", |timeout| {
            let asked = Asked::begin(self.consumer.client(), &self.topic, timeout)?;
            asked.answer(timeout).unwrap_or_else(|| none.clone())
        })
    }

    /// How many partitions the topic has; 0 if it does not exist.
    pub(crate) fn partitions(&self) -> Result<usize, KafkaError> {
        let asked = |timeout| self.consumer.fetch_metadata(Some(&self.topic), timeout);
        let metadata = self.ask("tell the partitions", asked)?;
        Ok(metadata
            .topics()
            .first()
            .filter(|topic| topic.error().is_none())
            .map_or(0, |topic| topic.partitions().len()))
    }

    /// Shows every message of a partition from one offset to before another, as far as they exist, until
    /// `show` returns `false`.
    pub(crate) fn read(
        &self,
        partition: i32,
        from: i64,
        to: i64,
        show: &mut dyn FnMut(&BorrowedMessage<'_>) -> bool,
    ) -> Result<(), KafkaError> {
        if from >= to {
            return Ok(());
        }
        self.seek(partition, from)?;
        while let Some(message) = self.next(partition, to)? {
            if !show(&message) || message.offset() + 1 == to {
                break;
            }
        }
        Ok(())
    }

    /// Begins to read a partition at an offset.
    pub(crate) fn seek(&self, partition: i32, from: i64) -> Result<(), KafkaError> {
        let mut place = TopicPartitionList::new();
        let failed = |source| self.failed("give the messages", source);
        place.add_partition_offset(&self.topic, partition, Offset::Offset(from)).map_err(failed)?;
        self.consumer.assign(&place).map_err(failed)
    }

    /// The next message of the partition before an offset; `None` if there is none up to its end.
    pub(crate) fn next(&self, partition: i32, to: i64) -> Result<Option<BorrowedMessage<'_>>, KafkaError> {
        let failed = |source| self.failed("give the messages", source);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            match self.consumer.poll(POLL_INTERVAL) {
                Some(Ok(message)) => return Ok(Some(message).filter(|message| message.offset() < to)),
                Some(Err(Source::PartitionEOF(its))) if its == partition => return Ok(None),
                // Errors that are not fatal are retried until the timeout.
                Some(Err(source @ Source::MessageConsumptionFatal(_))) => return Err(failed(source)),
                Some(Err(_)) | None if Instant::now() < deadline => {}
                Some(Err(source)) => return Err(failed(source)),
                None => return Err(self.unreachable()),
            }
        }
    }

    /// Asks the brokers until they answer. In between, what the client reports is heard: brokers that refuse the login
    /// would otherwise look as if there were none.
    fn ask<T>(
        &self,
        what: &'static str,
        ask: impl Fn(Duration) -> Result<T, Source>,
    ) -> Result<T, KafkaError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let source = match ask(ASK_TIMEOUT) {
                Ok(answer) => return Ok(answer),
                Err(source) => source,
            };
            // For its errors; a message of an earlier reading is of no use any more.
            drop(self.consumer.poll(Duration::ZERO));
            let is_refused = self.consumer.context().heard.refused().is_some();
            let is_pending = source.rdkafka_error_code().is_some_and(|code| PENDING.contains(&code));
            if is_refused || !is_pending || Instant::now() >= deadline {
                return Err(self.failed(what, source));
            }
        }
    }

    fn failed(&self, what: &'static str, source: Source) -> KafkaError {
        if let Some(reason) = self.consumer.context().heard.refused() {
            return KafkaError::LoginRefused { brokers: self.brokers.clone(), reason };
        }
        if self.consumer.context().heard.last().is_some() {
            return self.unreachable();
        }
        KafkaError::Request { what, topic: self.topic.clone(), source }
    }

    fn unreachable(&self) -> KafkaError {
        let heard = self.consumer.context().heard.last();
        KafkaError::Unreachable {
            brokers: self.brokers.clone(),
            reason: heard.unwrap_or_else(|| "no answer came in time".to_owned()),
        }
    }
}
