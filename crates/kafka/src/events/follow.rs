//! Back from the topic: its events put together into entries and handed to consumers, for those who have no
//! engine at hand. A consumer that keeps its own position has each event once, whatever comes again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use rdkafka::Message as _;
use rdkafka::Offset;
use rdkafka::consumer::{Consumer as _, StreamConsumer};
use rdkafka::error::KafkaError as Source;
use rdkafka::message::BorrowedMessage;
use scarce_api::event::{self, Entries};
use scarce_core::event::{Entry, Position};
use scarce_outflow::{Backoff, Batch, Consumer, Trouble};
use tokio::sync::watch;

use super::{Following, last};
use crate::cloud_event::{header, text};
use crate::membership::{Change, Membership};
use crate::reader::{ANSWER_TIMEOUT, Reader};
use crate::time::until;
use crate::{KafkaError, KafkaSettings};

/// How many events a batch has at most, more or less.
const EVENTS_MAX: usize = 4_096;

/// How long after trouble it is tried again: first, and at most.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// The source that the events of the topic name: `/scarce/` and a deployment's id; none while it is empty. It blocks.
///
/// # Errors
/// When no broker answers, or there is no such topic.
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

/// The last event of each partition that has any.
pub type Ends = BTreeMap<u32, Position>;

/// Where the topic ends at present. It blocks.
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

/// Takes the events of the topic to a consumer for each partition, which `make` makes, until the end is asked for.
/// They must be of the deployment that the settings name as their source.
/// Processes of one group, as the settings name it, share the partitions.
///
/// # Errors
/// When no client can be made of the settings, or it is beyond repair.
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

/// What is held of a partition of ours.
struct Place<C> {
    consumer: C,
    entries: Entries,
    /// Whole entries that were not taken yet, and the offset behind the last event of them.
    ready: Vec<Entry>,
    offset: i64,
    after: Position,
    /// Whether the topic was read from its beginning already.
    is_rewound: bool,
    state: Reading,
}

/// Whether what comes of a partition follows what its consumer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// It has just come to this process, which reads from the group's note.
    Fresh,
    /// It does.
    Open,
    /// After trouble it does not, until it was sought again.
    Lost,
}

struct Follower<'a, M, C> {
    settings: &'a KafkaSettings,
    topic: &'a str,
    consumer: &'a StreamConsumer<Membership>,
    make: M,
    places: BTreeMap<i32, Place<C>>,
    following: &'a Following,
    ending: watch::Receiver<bool>,
    /// When it is tried again, after trouble.
    retry_at: Option<Instant>,
}

impl<M: FnMut(u32) -> C, C: Consumer> Follower<'_, M, C> {
    async fn run(mut self) -> Result<(), Source> {
        let mut messages = self.consumer.stream();
        let mut backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        while !*self.ending.borrow() {
            let mut ending = self.ending.clone();
            // The messages are looked for also while nothing is taken: otherwise the group would give them to others.
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
                    self.following.change(|now| now.trouble = None);
                }
                Err(trouble) => self.close(trouble, backoff.next_delay()),
            }
        }
        Ok(())
    }

    /// Tells what is wrong, and takes nothing until it is tried again.
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
            // librdkafka goes on by itself.
            Some(Err(error)) => {
                self.following.change(|now| now.trouble = Some(error.to_string()));
                Ok(opened)
            }
        }
    }

    /// What the group said since the last look.
    fn apply_changes(&mut self) {
        for change in self.consumer.context().take_changes() {
            match change {
                Change::Ours(partitions) => {
                    for partition in partitions {
                        let consumer = (self.make)(number(partition));
                        self.places.insert(partition, Place::new(consumer));
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

    /// Has every partition read on from where its consumer is.
    async fn open_all(&mut self) -> Result<(), Trouble> {
        let closed = self.places.iter().filter(|(_, place)| place.state != Reading::Open);
        for partition in closed.map(|(partition, _)| *partition).collect::<Vec<_>>() {
            self.open(partition).await?;
        }
        Ok(())
    }

    /// Asks a consumer where it is.
    async fn know(&mut self, partition: i32) -> Result<(), Trouble> {
        let Some(place) = self.places.get_mut(&partition) else { return Ok(()) };
        place.after = place.consumer.position().await?.unwrap_or_default();
        place.entries = Entries::after(place.after);
        place.ready.clear();
        let after = place.after;
        self.following.advance(number(partition), after);
        Ok(())
    }

    /// Asks a consumer where it is, and reads on from the offset that the group has noted, or from the beginning where
    /// the consumer is not that far: its database may be new, or have been put back.
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
        // Where a partition has just come, the group has begun at its note by itself.
        if place.state == Reading::Lost || is_behind {
            let sought = self.consumer.seek(self.topic, partition, offset, ANSWER_TIMEOUT);
            sought.map_err(|error| unreadable(&error))?;
        }
        place.state = Reading::Open;
        Ok(())
    }

    /// The place of the last event before an offset. Asking blocks, so it is done aside.
    async fn before(&self, partition: i32, offset: i64) -> Result<Option<Position>, Trouble> {
        let settings = self.settings.clone();
        let asked = tokio::task::spawn_blocking(move || last::before(&settings, number(partition), offset));
        asked.await.map_err(|error| Trouble::new(error.to_string()))?.map_err(Trouble::new)
    }

    /// Puts an event where it belongs.
    fn sort_in(&mut self, message: &BorrowedMessage<'_>) -> Result<(), Trouble> {
        // What comes while a partition is lost comes again.
        let place = self.places.get_mut(&message.partition()).filter(|place| place.state == Reading::Open);
        let Some(place) = place else { return Ok(()) };
        // Somebody else's message is no event, and says so by its headers.
        let Some(source) = text(message.headers(), header::SOURCE) else { return Ok(()) };
        if source != self.settings.source {
            return Err(Trouble::new(format!(
                "the topic has events of '{source}' among those of '{}'; give each deployment topics of its own",
                self.settings.source
            )));
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
            return Err(Trouble::new(missing));
        }
        // The group's note may be ahead of the consumer, as after a restore of its database.
        place.is_rewound = true;
        let sought = self.consumer.seek(self.topic, message.partition(), Offset::Beginning, ANSWER_TIMEOUT);
        sought.map_err(|error| unreadable(&error))
    }

    /// Hands over what is whole, and notes how far that is. Whether there was anything.
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
            // One that has just gone cannot be noted, and whoever has it reads again from the note before.
            drop(self.consumer.store_offset(self.topic, *partition, place.offset));
            let after = place.after;
            self.following.advance(number(*partition), after);
        }
        Ok(has_any)
    }
}

impl<C> Place<C> {
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

fn number(partition: i32) -> u32 {
    u32::try_from(partition).unwrap_or(u32::MAX)
}

fn unreadable(error: &Source) -> Trouble {
    Trouble::new(format!("the topic of events cannot be read: {error}; look at the brokers"))
}
