//! Writes the events of one partition.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rdkafka::message::{Header, OwnedHeaders};
use scarce_api::event::{Public, public};
use scarce_core::event::Position;
use scarce_outflow::{Batch, Consumer, HeldStretch, TRACEPARENT, Traces, Trouble};
use tokio::sync::oneshot;

use super::beginning::{self, Beginning, Identity};
use super::last;
use super::record::Encoder;
use super::resumed::Resumed;
use crate::KafkaSettings;
use crate::producer::{Cause, Message, Publisher, SendError, Session, Ticket};
use crate::topic_id::TopicId;

/// After this many events other tasks get a turn.
const EVENTS_PER_TURN: usize = 256;

/// A broker forgets a producer that was silent for long: for a day, by default.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// Writes the events of one partition in order; a batch is consumed when the brokers have acknowledged all of
/// it.
pub struct EventWriter {
    settings: Arc<KafkaSettings>,
    publisher: Publisher,
    partition: u32,
    encoder: Encoder,
    /// The last producer that the partition's broker knows, and when it last received a message of it.
    known: Option<(u64, Instant)>,
    /// The end of the topic, once it was looked at: where it has no event, `None` inside.
    last: Option<Option<Position>>,
    identity: Arc<Identity>,
    /// The topic that is written to.
    topic: Option<TopicId>,
    /// Whether it was created again and has nothing of this partition that counts.
    starts_over: bool,
}

impl EventWriter {
    pub(super) fn new(
        settings: Arc<KafkaSettings>,
        publisher: Publisher,
        identity: Arc<Identity>,
        partition: u32,
    ) -> Self {
        let encoder = Encoder::new(&settings.source);
        Self {
            settings,
            publisher,
            partition,
            encoder,
            known: None,
            last: None,
            identity,
            topic: None,
            starts_over: false,
        }
    }

    /// Finds out whether the topic was created again while it was written to.
    async fn check_topic(&self) -> Result<(), Trouble> {
        // Where there is no producer, nothing is written either.
        let Ok(session) = self.publisher.session() else { return Ok(()) };
        let found = self.identity.look(&session, &self.settings.topics.events).await;
        match (found, self.topic) {
            (Some(found), Some(known)) if found != known => Err(self.created_again()),
            _ => Ok(()),
        }
    }

    fn created_again(&self) -> Trouble {
        Trouble::new(format!(
            "the topic '{}' was created again: what partition {} had in it is gone. All that the log still has is written again; \
             its readers must begin again, too",
            self.settings.topics.events, self.partition
        ))
    }

    async fn write(&mut self, events: &[Public<'_>]) -> Result<(), Cause> {
        let session = self
            .publisher
            .session()
            .map_err(|error| Cause { reason: error.to_string(), is_too_large: false })?;
        // A broker that does not know a producer accepts its messages from any sequence number. If several
        // were sent and the first was rejected, the others would be written before it. So the first is sent
        // alone.
        let is_known = self
            .known
            .is_some_and(|(number, heard)| number == session.number() && heard.elapsed() < REMEMBERED);
        let alone = if is_known { 0 } else { events.len().min(1) };
        let (first, rest) = events.split_at(alone);
        for events in [first, rest].into_iter().filter(|events| !events.is_empty()) {
            self.deliver(&session, events).await?;
            self.known = Some((session.number(), Instant::now()));
        }
        Ok(())
    }

    /// Sends events and waits until all of them were acknowledged.
    async fn deliver(&mut self, session: &Session, events: &[Public<'_>]) -> Result<(), Cause> {
        let (sender, done) = oneshot::channel();
        // Nobody receives this if the waiting task is gone.
        let ticket = Arc::new(Ticket::new(events.len(), move |result| drop(sender.send(result))));
        let timeout = self.settings.delivery_timeout();
        for (at, event) in events.iter().enumerate() {
            let headers = self.encode(event);
            let mut headers = Some(headers);
            loop {
                let headers = headers.take().unwrap_or_else(|| self.encode(event));
                match session.send(self.message(headers), &ticket) {
                    Ok(()) => break,
                    Err(SendError::Full) => {
                        if tokio::time::timeout(timeout, session.room()).await.is_err() {
                            session.give_up();
                        }
                    }
                    Err(SendError::Refused(cause)) => {
                        session.give_up();
                        ticket.failed(events.len() - at, cause.clone());
                        return Err(cause);
                    }
                }
            }
            if at % EVENTS_PER_TURN == EVENTS_PER_TURN - 1 {
                tokio::task::yield_now().await;
            }
        }
        wait(session, &ticket, done, timeout).await
    }

    /// Encodes an event, and adds the trace that its operation is part of, if that is known.
    fn encode(&mut self, event: &Public<'_>) -> OwnedHeaders {
        let headers = self.encoder.encode(event);
        let operation = event.head.operation.as_ref();
        match operation.and_then(|its| Traces::of_process().of(&its.namespace, its.id.as_str())) {
            Some(trace) => headers.insert(Header { key: TRACEPARENT, value: Some(trace.as_str()) }),
            None => headers,
        }
    }

    /// Tells readers that the log does not go on from the message before.
    async fn tell(&mut self, resumed: Resumed) -> Result<(), Cause> {
        let failed = |reason| Cause { reason, is_too_large: false };
        let session = self.publisher.session().map_err(|error| failed(error.to_string()))?;
        let (sender, done) = oneshot::channel();
        // Nobody receives this if the waiting task is gone.
        let ticket = Arc::new(Ticket::new(1, move |result| drop(sender.send(result))));
        let (timeout, key, value) = (self.settings.delivery_timeout(), resumed.key(), resumed.value());
        loop {
            let message = Message {
                topic: &self.settings.topics.events,
                partition: Some(i32::try_from(self.partition).unwrap_or(i32::MAX)),
                key: Some(key.as_bytes()),
                value: &value,
                headers: resumed.headers(&self.settings.source),
            };
            match session.send(message, &ticket) {
                Ok(()) => break,
                Err(SendError::Full) => {
                    if tokio::time::timeout(timeout, session.room()).await.is_err() {
                        session.give_up();
                    }
                }
                Err(SendError::Refused(cause)) => return Err(cause),
            }
        }
        wait(&session, &ticket, done, timeout).await?;
        self.known = Some((session.number(), Instant::now()));
        Ok(())
    }

    fn message(&self, headers: rdkafka::message::OwnedHeaders) -> Message<'_> {
        Message {
            topic: &self.settings.topics.events,
            partition: Some(i32::try_from(self.partition).unwrap_or(i32::MAX)),
            key: Some(self.encoder.key.as_bytes()),
            value: &self.encoder.value,
            headers,
        }
    }

    fn trouble(&self, cause: &Cause) -> Trouble {
        let topic = &self.settings.topics.events;
        let advice = if cause.is_too_large {
            "raise max.message.bytes of the topic"
        } else {
            "look at the brokers; it is tried again"
        };
        let heard = self.publisher.heard().map(|heard| format!(" ({heard})")).unwrap_or_default();
        Trouble::new(format!(
            "events of partition {} did not arrive in the topic '{topic}': {}{heard}; {advice}",
            self.partition, cause.reason
        ))
    }
}

/// Waits for the delivery of messages. If none of them is acknowledged for too long, everything that the
/// producer has in flight is given up.
async fn wait(
    session: &Session,
    ticket: &Ticket,
    mut done: oneshot::Receiver<Result<(), Cause>>,
    timeout: Duration,
) -> Result<(), Cause> {
    let mut left = ticket.left();
    loop {
        if let Ok(result) = tokio::time::timeout(timeout, &mut done).await {
            let is_gone = || Cause { reason: "the producer has ended".to_owned(), is_too_large: false };
            return result.unwrap_or_else(|_| Err(is_gone()));
        }
        if ticket.left() == left {
            session.give_up();
            let reason = format!("nothing was acknowledged for {} ms", timeout.as_millis());
            return Err(Cause { reason, is_too_large: false });
        }
        left = ticket.left();
    }
}

impl Consumer for EventWriter {
    /// The position of the last event in the topic: a producer writes without gaps, so all earlier events are
    /// there too, and nothing needs to be repeated after a restart. `None` if the topic has no events.
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        let (settings, partition, known) = (self.settings.clone(), self.partition, self.topic);
        let read = tokio::task::spawn_blocking(move || {
            let beginning = beginning::of(&settings, partition, known)?;
            Ok((beginning, last::position(&settings, partition)?))
        });
        let (Beginning { id, is_in_the_middle }, position) = read
            .await
            .map_err(|_| Trouble::new("reading the last event of the topic was not finished"))?
            .map_err(|reason: String| Trouble::new(reason))?;
        let is_another = self.topic.replace(id).is_some_and(|topic| topic != id);
        if is_in_the_middle || is_another && position.is_none() {
            // Told once. After that it has no position, and gets all that the log has.
            self.starts_over = true;
            return Err(self.created_again());
        }
        self.last = Some(position);
        Ok(position.filter(|_| !self.starts_over))
    }

    fn starts_over(&self) -> bool {
        self.starts_over
    }

    async fn held_after(&mut self, after: Position) -> Result<Vec<HeldStretch>, Trouble> {
        let (settings, partition) = (self.settings.clone(), self.partition);
        let read = move || last::held_after(&settings, partition, after.sequence);
        let read =
            tokio::task::spawn_blocking(read).await.map_err(|error| Trouble::new(error.to_string()))?;
        read.map_err(|error| Trouble::new(last::explained(&error)))
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        if batch.partition != self.partition {
            let text =
                format!("a batch of partition {} came to the writer of {}", batch.partition, self.partition);
            return Err(Trouble::new(text));
        }
        self.check_topic().await?;
        if let Some(last) = self.last
            && let Some(resumed) = Resumed::between(self.partition, last, batch.after)
        {
            self.tell(resumed).await.map_err(|cause| self.trouble(&cause))?;
        }
        // What is there after a failure is looked at again.
        let looked = self.last.take().is_some();
        let events: Vec<Public<'_>> = batch
            .entries
            .iter()
            .flat_map(|entry| public(batch.partition, entry, batch.after.sequence))
            .collect();
        self.write(&events).await.map_err(|cause| self.trouble(&cause))?;
        self.last = looked.then(|| Some(batch.end()));
        self.starts_over = false;
        Ok(())
    }
}
