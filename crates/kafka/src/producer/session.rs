//! One producer, from its creation until a delivery fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::{FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::error::KafkaError as Source;
use rdkafka::message::{DeliveryResult, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext, PurgeConfig};
use rdkafka::types::RDKafkaErrorCode;
use tokio::sync::Notify;

use super::{Cause, Ticket};
use crate::KafkaError;
use crate::client::Heard;
use crate::topic_id::{Asked, TopicId};

/// How long the producer's thread polls for news at a time.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long it polls at a time during shutdown.
const END_INTERVAL: Duration = Duration::from_millis(10);

/// A message to send.
pub(crate) struct Message<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partition: Option<i32>,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: &'a [u8],
    pub(crate) headers: OwnedHeaders,
}

/// Why a message was not taken.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The queue is full; there is room after the next delivery.
    Full,
    /// This producer will never take it.
    Refused(Cause),
}

/// A producer that works until a delivery fails.
pub(crate) struct Session {
    number: u64,
    producer: Arc<BaseProducer<Deliveries>>,
}

/// The results of deliveries.
pub(crate) struct Deliveries {
    heard: Arc<Heard>,
    /// Whether a delivery failed, so that this producer may send nothing more.
    is_over: AtomicBool,
    /// Whether the producer is no longer used.
    is_left: AtomicBool,
    /// Whether a task waits for room.
    is_full: AtomicBool,
    room: Notify,
}

impl Deliveries {
    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.room.notify_waiters();
    }
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.heard.log(level, facility, text);
    }

    fn error(&self, error: Source, reason: &str) {
        self.heard.error(&error, reason);
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal) {
            self.end();
        }
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Arc<Ticket>;

    fn delivery(&self, delivery: &DeliveryResult<'_>, ticket: Arc<Ticket>) {
        match delivery {
            Ok(_) => ticket.delivered(),
            Err((error, _)) => {
                self.end();
                ticket.failed(1, cause(error));
            }
        }
        if self.is_full.swap(false, Ordering::AcqRel) {
            self.room.notify_waiters();
        }
    }
}

fn cause(error: &Source) -> Cause {
    let is_too_large = error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge);
    Cause { reason: error.to_string(), is_too_large }
}

impl Session {
    pub(super) fn start(
        config: &ClientConfig,
        number: u64,
        heard: Arc<Heard>,
    ) -> Result<Arc<Self>, KafkaError> {
        let deliveries = Deliveries {
            heard,
            is_over: AtomicBool::new(false),
            is_left: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            room: Notify::new(),
        };
        let producer = BaseProducer::from_config_and_context(config, deliveries);
        let producer = Arc::new(producer.map_err(KafkaError::of_settings)?);
        let served = producer.clone();
        let name = "kafka-producer";
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || serve(&served));
        thread.map_err(|source| KafkaError::Thread { name, source })?;
        Ok(Arc::new(Self { number, producer }))
    }

    /// Its number, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether it can send nothing more.
    pub(crate) fn is_over(&self) -> bool {
        self.deliveries().is_over.load(Ordering::Acquire)
    }

    fn deliveries(&self) -> &Deliveries {
        self.producer.context()
    }

    /// Queues a message; the ticket counts it when its delivery succeeds or fails. Messages to one partition
    /// arrive in the order in which they were queued.
    ///
    /// # Errors
    /// When the message is not taken; the ticket does not count it then.
    pub(crate) fn send(&self, message: Message<'_>, ticket: &Arc<Ticket>) -> Result<(), SendError> {
        if self.is_over() {
            let reason = "an earlier delivery failed".to_owned();
            return Err(SendError::Refused(Cause { reason, is_too_large: false }));
        }
        let mut record: BaseRecord<'_, [u8], [u8], Arc<Ticket>> =
            BaseRecord::with_opaque_to(message.topic, ticket.clone())
                .payload(message.value)
                .headers(message.headers);
        record.key = message.key;
        record.partition = message.partition;
        match self.producer.send(record) {
            Ok(()) => Ok(()),
            Err((error, _)) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull) => {
                Err(SendError::Full)
            }
            Err((error, _)) => Err(SendError::Refused(cause(&error))),
        }
    }

    /// Which topic it is: not the same after it was created again. Blocks.
    pub(crate) fn topic_id(&self, topic: &str, timeout: Duration) -> Result<TopicId, Source> {
        let none = Err(Source::MetadataFetch(RDKafkaErrorCode::OperationTimedOut));
        Asked::begin(self.producer.client(), topic, timeout)?.answer(timeout).unwrap_or(none)
    }

    /// Waits until a message was delivered, or the producer is over.
    pub(crate) async fn room(&self) {
        let deliveries = self.deliveries();
        let mut waits = std::pin::pin!(deliveries.room.notified());
        // Registered before the check of the queue, so that no delivery between the two is missed.
        waits.as_mut().enable();
        deliveries.is_full.store(true, Ordering::Release);
        if self.producer.in_flight_count() > 0 && !self.is_over() {
            waits.await;
        }
    }

    /// Gives up all messages in flight: they count as failed.
    pub(crate) fn give_up(&self) {
        self.deliveries().end();
    }
}

/// The thread notices, and stops.
impl Drop for Session {
    fn drop(&mut self) {
        self.deliveries().is_left.store(true, Ordering::Release);
    }
}

/// Serves a producer until nobody else holds it. This thread is the last one to drop it, because that waits
/// for threads of librdkafka.
fn serve(producer: &Arc<BaseProducer<Deliveries>>) {
    let deliveries = producer.context();
    while !deliveries.is_left.load(Ordering::Acquire) {
        producer.poll(POLL_INTERVAL);
        if deliveries.is_over.load(Ordering::Acquire) {
            producer.purge(PurgeConfig::default().queue().inflight());
        }
    }
    while Arc::strong_count(producer) > 1 {
        producer.poll(END_INTERVAL);
    }
}
