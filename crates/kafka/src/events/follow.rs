//! Back from the topic: assembles its events into entries and hands them to consumers, in processes that have
//! no engine. A consumer that stores its own position gets each event once, whatever is repeated.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use rdkafka::Message as _;
use rdkafka::Offset;
use rdkafka::consumer::{Consumer as _, StreamConsumer};
use rdkafka::error::KafkaError as Source;
use rdkafka::message::BorrowedMessage;
use scarce_api::event::{self, Entries};
use scarce_api::message::schemas::RESUMED_TYPE;
use scarce_core::event::{Entry, Position};
use scarce_outflow::{Backoff, Batch, Consumer, Trouble};
use tokio::sync::watch;

use super::{Following, last};
use crate::cloud_event::{header, text};
use crate::membership::{Change, Membership};
use crate::reader::{ANSWER_TIMEOUT, Reader};
use crate::time::until;
use crate::{KafkaError, KafkaSettings};

/// The approximate maximum number of events in a batch.
const EVENTS_MAX: usize = 4_096;

/// The first and the longest delay before a retry after trouble.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// The source of the topic's events: `/scarce/` and a deployment's id; `None` if the topic is empty. Blocks.
///
/// # Errors
/// When no broker answers, or the topic does not exist.
pub fn source(settings: &KafkaSettings) -> Result<Option<String>, KafkaError> {
    let topic = &settings.topics.events;
    let partitions = Reader::new(settings, topic)?.partitions()?;
    for partition in 0..i32::try_from(partitions).unwrap_or(i32::MAX) {
        let reader = Reader::new(settings, topic)?;
        let (begin, end) = reader.bounds(partition)?;
        let mut found = None;
        reader.read(partition, begin, end, &mut |message| {
            found = text(message.headers(), header::SOURCE).map(str::to_owned);
            found.is_none()
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The last event of each partition that has one.
pub type Ends = BTreeMap<u32, Position>;

/// The present end of the topic. Blocks.
///
/// # Errors
/// When no broker answers, or the topic belongs to another deployment than the settings name.
pub fn ends(settings: &KafkaSettings) -> Result<Ends, KafkaError> {
    let topic = &settings.topics.events;
    let mut ends = Ends::new();
    for partition in 0..u32::try_from(Reader::new(settings, topic)?.partitions()?).unwrap_or(u32::MAX) {
        let found = last::position(settings, partition).map_err(|reason| KafkaError::Events { reason })?;
        ends.extend(found.map(|position| (partition, position)));
    }
    Ok(ends)
}

/// Hands the topic's events to a consumer for each partition, which `make` creates, until the end is
/// requested. The events must be from the deployment that the settings name as their source. Processes with
/// the same group in their settings share the partitions.
///
/// # Errors
/// When no client can be created with the settings, or it fails for good.
pub async fn follow<C: Consumer>(
    settings: &KafkaSettings,
    make: impl FnMut(u32) -> C,
    following: &Following,
    ending: watch::Receiver<bool>,
) -> Result<(), KafkaError> {
    let config = settings.group_member()?;
    let created = config.create_with_context(Membership::default());
    let consumer: StreamConsumer<Membership> = created.map_err(KafkaError::of_settings)?;
    let topic = settings.topics.events.as_str();
    let failed = |source| KafkaError::Request { what: "give the events", topic: topic.to_owned(), source };
    consumer.subscribe(&[topic]).map_err(failed)?;
    let follower = Follower {
        settings,
        topic,
        consumer: &consumer,
        make,
        places: BTreeMap::new(),
        following,
        ending,
        retry_at: None,
    };
    follower.run().await.map_err(failed)
}

/// The state of an assigned partition.
struct FollowedPartition<C> {
    consumer: C,
    entries: Entries,
    /// Complete entries that were not consumed yet, and the offset after their last event.
    ready: Vec<Entry>,
    offset: i64,
    after: Position,
    /// Whether the topic was already read from its beginning.
    is_rewound: bool,
    state: Reading,
}

/// Whether the messages of a partition continue from its consumer's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// The partition was just assigned to this process, which reads from the group's committed offset.
    Fresh,
    /// They do.
    Open,
    /// After trouble they do not, until the next seek.
    Lost,
}

struct Follower<'a, M, C> {
    settings: &'a KafkaSettings,
    topic: &'a str,
    consumer: &'a StreamConsumer<Membership>,
    make: M,
    places: BTreeMap<i32, FollowedPartition<C>>,
    following: &'a Following,
    ending: watch::Receiver<bool>,
    /// When to retry after trouble.
    retry_at: Option<Instant>,
}

impl<M: FnMut(u32) -> C, C: Consumer> Follower<'_, M, C> {
    async fn run(mut self) -> Result<(), Source> {
        let mut messages = self.consumer.stream();
        let mut backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        while !*self.ending.borrow() {
            let mut ending = self.ending.clone();
            // The client is polled even while no events are consumed: otherwise the group would reassign the
            // partitions.
            let message = tokio::select! {
                message = messages.next() => message,
                () = self.consumer.context().changed() => None,
                () = until(self.retry_at) => {
                    self.retry_at = None;
                    None
                }
                _ = ending.wait_for(|ending| *ending) => return Ok(()),
            };
            let mut taken = self.take(message).await?;
            for _ in 0..EVENTS_MAX {
                if taken.is_err() {
                    break;
                }
                let Some(message) = messages.next().now_or_never() else { break };
                taken = self.take(message).await?;
            }
            let handed_over = match taken {
                Ok(()) => self.hand_over().await,
                Err(trouble) => Err(trouble),
            };
            match handed_over {
                Ok(false) => {}
                Ok(true) => {
                    backoff.reset();
                    self.following.change(|now| (now.trouble, now.lacking) = (None, None));
                }
                Err(trouble) => self.close(trouble, backoff.next_delay()),
            }
        }
        Ok(())
    }

    /// Reports the trouble, and pauses until the retry.
    fn close(&mut self, trouble: Trouble, delay: Duration) {
        self.following.change(|now| now.trouble = Some(trouble.reason));
        self.retry_at = Some(Instant::now() + delay);
        for place in self.places.values_mut() {
            place.state = Reading::Lost;
            place.ready.clear();
        }
    }

    async fn take(
        &mut self,
        message: Option<Result<BorrowedMessage<'_>, Source>>,
    ) -> Result<Result<(), Trouble>, Source> {
        self.apply_changes();
        let opened = if self.retry_at.is_none() { self.open_all().await } else { Ok(()) };
        match message {
            None => Ok(opened),
            Some(Ok(message)) => Ok(match opened {
                Ok(()) => self.sort_in(&message),
                trouble => trouble,
            }),
            Some(Err(error @ Source::MessageConsumptionFatal(_))) => Err(error),
            // librdkafka recovers by itself.
            Some(Err(error)) => {
                self.following.change(|now| now.trouble = Some(error.to_string()));
                Ok(opened)
            }
        }
    }

    /// Applies the changes of the assignment since the last call.
    fn apply_changes(&mut self) {
        for change in self.consumer.context().take_changes() {
            match change {
                Change::Ours(partitions) => {
                    for partition in partitions {
                        let consumer = (self.make)(number(partition));
                        self.places.insert(partition, FollowedPartition::new(consumer));
                    }
                }
                Change::Others(partitions) => {
                    for partition in partitions {
                        self.places.remove(&partition);
                        self.following.forget(number(partition));
                    }
                }
            }
        }
    }

    /// Makes every partition read from its consumer's position.
    async fn open_all(&mut self) -> Result<(), Trouble> {
        let closed = self.places.iter().filter(|(_, place)| place.state != Reading::Open);
        for partition in closed.map(|(partition, _)| *partition).collect::<Vec<_>>() {
            self.open(partition).await?;
        }
        Ok(())
    }

    /// Asks a consumer for its position.
    async fn know(&mut self, partition: i32) -> Result<(), Trouble> {
        let Some(place) = self.places.get_mut(&partition) else { return Ok(()) };
        place.after = place.consumer.position().await?.unwrap_or_default();
        place.entries = Entries::after(place.after);
        place.ready.clear();
        let after = place.after;
        self.following.advance(number(partition), after);
        Ok(())
    }

    /// Asks a consumer for its position, and reads from the group's committed offset, or from the beginning
    /// if the consumer is behind that: its database may be new, or restored from a backup.
    async fn open(&mut self, partition: i32) -> Result<(), Trouble> {
        self.know(partition).await?;
        let Some(place) = self.places.get_mut(&partition) else { return Ok(()) };
        place.is_rewound = false;
        let after = place.after;
        let committed = self.consumer.committed(ANSWER_TIMEOUT).map_err(|error| unreadable(&error))?;
        let noted = match committed.find_partition(self.topic, partition).map(|its| its.offset()) {
            Some(Offset::Offset(offset)) => Some(offset),
            _ => None,
        };
        let reached = match noted {
            Some(offset) => self.before(partition, offset).await?,
            None => None,
        };
        let is_behind = reached.is_some_and(|reached| reached.sequence > after.sequence);
        let offset = match noted {
            Some(offset) if !is_behind => Offset::Offset(offset),
            _ => Offset::Beginning,
        };
        let Some(place) = self.places.get_mut(&partition) else { return Ok(()) };
        // For a new assignment the client has begun at the committed offset by itself.
        if place.state == Reading::Lost || is_behind {
            let sought = self.consumer.seek(self.topic, partition, offset, ANSWER_TIMEOUT);
            sought.map_err(|error| unreadable(&error))?;
        }
        place.state = Reading::Open;
        Ok(())
    }

    /// The position of the last event before an offset. The request blocks, so it runs on another thread.
    async fn before(&self, partition: i32, offset: i64) -> Result<Option<Position>, Trouble> {
        let settings = self.settings.clone();
        let asked = tokio::task::spawn_blocking(move || last::before(&settings, number(partition), offset));
        asked.await.map_err(|error| Trouble::new(error.to_string()))?.map_err(Trouble::new)
    }

    /// Adds an event to its partition's entries.
    fn sort_in(&mut self, message: &BorrowedMessage<'_>) -> Result<(), Trouble> {
        // Messages that arrive while a partition is lost come again.
        let place = self.places.get_mut(&message.partition()).filter(|place| place.state == Reading::Open);
        let Some(place) = place else { return Ok(()) };
        // Messages of other producers are not events, which their headers show.
        let Some(source) = text(message.headers(), header::SOURCE) else { return Ok(()) };
        if source != self.settings.source {
            return Err(Trouble::new(format!(
                "the topic has events of '{source}' among those of '{}'; give each deployment topics of its own",
                self.settings.source
            )));
        }
        if text(message.headers(), header::TYPE) == Some(RESUMED_TYPE) {
            let resumed = place.resume(message);
            return resumed.map_err(|trouble| lacking(self.following, trouble));
        }
        let where_it_is = || format!("offset {} of partition {}", message.offset(), message.partition());
        let received = event::read(message.payload().unwrap_or_default()).map_err(|error| {
            Trouble::new(format!("the event at {} cannot be read: {error}", where_it_is()))
        })?;
        let begins_late = place.entries.position() == Position::default() && received.head.sequence_first > 1;
        let missing = if begins_late {
            format!(
                "the topic has nothing before {} any more, and this consumer has nothing yet; begin with the engine's \
                 own log, or keep the topic for longer",
                where_it_is()
            )
        } else {
            match place.entries.push(received) {
                Ok(None) => return Ok(()),
                Ok(Some(entry)) => {
                    place.ready.push(entry);
                    place.offset = message.offset();
                    return Ok(());
                }
                Err(gap) => gap.to_string(),
            }
        };
        if place.is_rewound {
            return Err(lacking(self.following, Trouble::new(missing)));
        }
        // The committed offset may be ahead of the consumer, such as after its database was restored.
        place.is_rewound = true;
        let sought = self.consumer.seek(self.topic, message.partition(), Offset::Beginning, ANSWER_TIMEOUT);
        sought.map_err(|error| unreadable(&error))
    }

    /// Hands complete entries to the consumers, and stores the offsets. Returns whether there were any.
    async fn hand_over(&mut self) -> Result<bool, Trouble> {
        let mut has_any = false;
        for (partition, place) in &mut self.places {
            if place.ready.is_empty() {
                continue;
            }
            let entries = std::mem::take(&mut place.ready);
            let batch = Batch { partition: number(*partition), after: place.after, entries };
            place.consumer.consume(&batch).await?;
            has_any = true;
            place.after = batch.end();
            place.is_rewound = false;
            // The offset of a revoked partition cannot be stored; its new owner begins at the last committed
            // one.
            drop(self.consumer.store_offset(self.topic, *partition, place.offset));
            let after = place.after;
            self.following.advance(number(*partition), after);
        }
        Ok(has_any)
    }
}

impl<C> FollowedPartition<C> {
    /// The events that follow are of another history than those that this consumer has, or those before are missing.
    /// Where it has nothing behind that position, it goes on.
    fn resume(&self, message: &BorrowedMessage<'_>) -> Result<(), Trouble> {
        let value: serde_json::Value =
            serde_json::from_slice(message.payload().unwrap_or_default()).unwrap_or_default();
        let number = |name: &str| value["after"][name].as_u64().unwrap_or_default();
        let (epoch, sequence) = (number("epoch"), number("sequence"));
        let own = self.entries.position();
        if own.sequence <= sequence || own.epoch > epoch {
            return Ok(());
        }
        Err(Trouble::new(format!(
            "at offset {} of partition {} the topic says that the log goes on behind {epoch}.{sequence}, and the tables \
             hold events up to {own} of another history; restore a backup from before that, or empty the tables and \
             begin again",
            message.offset(),
            message.partition()
        )))
    }

    fn new(consumer: C) -> Self {
        let (entries, after) = (Entries::default(), Position::default());
        Self {
            consumer,
            entries,
            ready: Vec::new(),
            offset: 0,
            after,
            is_rewound: false,
            state: Reading::Fresh,
        }
    }
}

/// Notes trouble that no retry ends.
fn lacking(following: &Following, trouble: Trouble) -> Trouble {
    following.change(|now| now.lacking = Some(trouble.reason.clone()));
    trouble
}

fn number(partition: i32) -> u32 {
    u32::try_from(partition).unwrap_or(u32::MAX)
}

fn unreadable(error: &Source) -> Trouble {
    Trouble::new(format!("the topic of events cannot be read: {error}; look at the brokers"))
}
