//! Messages that wait to be sent, or are being sent. A command is finished when its outcome was acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use scarce_outflow::Backoff;
use tokio::sync::mpsc::UnboundedSender;

use super::RETRIES;
use super::record::{Record, Way};
use super::run::News;
use crate::KafkaSettings;
use crate::producer::{Cause, Message, Publisher, SendError, Session, Ticket};

/// Messages that are sent together, each with the offset of its command.
#[derive(Debug)]
pub(crate) struct Group {
    /// The partition of the topic of commands.
    pub(crate) partition: i32,
    /// The number of that partition's assignment.
    pub(crate) generation: u64,
    pub(crate) records: Vec<(i64, Record)>,
}

/// Groups in the order in which they were added.
pub(crate) struct Outbox {
    settings: Arc<KafkaSettings>,
    publisher: Publisher,
    news: UnboundedSender<News>,
    waiting: BTreeMap<u64, Group>,
    /// By the number of the delivery, so that late news of an abandoned one is ignored.
    under_way: BTreeMap<u64, (u64, Group)>,
    groups: u64,
    sendings: u64,
    backoff: Backoff,
    not_before: Option<Instant>,
}

impl Outbox {
    /// An empty outbox. `news` receives the results of deliveries.
    pub(crate) fn new(
        settings: Arc<KafkaSettings>,
        publisher: Publisher,
        news: UnboundedSender<News>,
    ) -> Self {
        Self {
            settings,
            publisher,
            news,
            waiting: BTreeMap::new(),
            under_way: BTreeMap::new(),
            groups: 0,
            sendings: 0,
            backoff: RETRIES,
            not_before: None,
        }
    }

    /// Adds a group at the end.
    pub(crate) fn push(&mut self, group: Group) {
        if !group.records.is_empty() {
            self.groups += 1;
            self.waiting.insert(self.groups, group);
        }
    }

    /// Drops the groups of a partition that is no longer assigned to this process.
    pub(crate) fn drop_partition(&mut self, partition: i32) {
        self.waiting.retain(|_, group| group.partition != partition);
        self.under_way.retain(|_, (_, group)| group.partition != partition);
    }

    /// When it next has something to do.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.not_before.filter(|_| !self.waiting.is_empty())
    }

    /// Sends waiting groups while there is room.
    pub(crate) fn send(&mut self, now: Instant) {
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return;
        }
        self.not_before = None;
        while let Some((number, group)) = self.waiting.pop_first() {
            let session = match self.publisher.session() {
                Ok(session) => session,
                Err(_) => return self.put_back(number, group, now),
            };
            match self.send_group(&session, number, group) {
                Ok(()) => {}
                Err((group, SendError::Full)) => {
                    self.waiting.insert(number, group);
                    // The deliveries in progress make room, and report when they end.
                    return;
                }
                Err((mut group, SendError::Refused(cause))) => {
                    if !(cause.is_too_large && shrink_largest(&mut group)) {
                        session.give_up();
                    }
                    return self.put_back(number, group, now);
                }
            }
        }
    }

    /// Sends a group; if there is no room for all of it, the rest becomes a group of its own.
    fn send_group(
        &mut self,
        session: &Arc<Session>,
        number: u64,
        mut group: Group,
    ) -> Result<(), (Group, SendError)> {
        self.sendings += 1;
        let (news, sending) = (self.news.clone(), self.sendings);
        // After the end nobody receives this.
        let ticket = Arc::new(Ticket::new(group.records.len(), move |result| {
            drop(news.send(News::Arrived { sending, result }));
        }));
        for at in 0..group.records.len() {
            let sent = session.send(self.message(&group.records[at].1), &ticket);
            let Err(error) = sent else { continue };
            ticket.withdraw(group.records.len() - at);
            if matches!(error, SendError::Full) && at > 0 {
                let (partition, generation) = (group.partition, group.generation);
                let rest = group.records.split_off(at);
                self.under_way.insert(sending, (number, group));
                self.put_first(Group { partition, generation, records: rest });
                return Ok(());
            }
            return Err((group, error));
        }
        self.under_way.insert(sending, (number, group));
        Ok(())
    }

    /// Puts the rest of a group before all waiting ones.
    fn put_first(&mut self, rest: Group) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.groups += 1;
        self.waiting.insert(self.groups, rest);
        while let Some((_, group)) = waiting.pop_first() {
            self.groups += 1;
            self.waiting.insert(self.groups, group);
        }
    }

    fn message<'a>(&'a self, record: &'a Record) -> Message<'a> {
        let topics = &self.settings.topics;
        let (topic, partition) = match record.way {
            Way::Outcomes(partition) => (&topics.outcomes, Some(partition)),
            Way::DeadLetters => (&topics.dead_letters, None),
        };
        Message {
            topic,
            partition,
            key: record.key.as_deref(),
            value: &record.value,
            headers: record.headers.clone(),
        }
    }

    /// Takes the result of a delivery; returns the group if all of it was acknowledged.
    pub(crate) fn hear(&mut self, sending: u64, result: Result<(), Cause>, now: Instant) -> Option<Group> {
        let (number, mut group) = self.under_way.remove(&sending)?;
        match result {
            Ok(()) => {
                self.backoff.reset();
                Some(group)
            }
            Err(cause) => {
                if cause.is_too_large {
                    shrink_largest(&mut group);
                }
                self.put_back(number, group, now);
                None
            }
        }
    }

    fn put_back(&mut self, number: u64, group: Group, now: Instant) {
        self.waiting.insert(number, group);
        self.not_before = Some(now + self.backoff.next_delay());
    }
}

/// Shrinks the largest message of a group; `false` if it cannot shrink further.
fn shrink_largest(group: &mut Group) -> bool {
    let largest = group.records.iter_mut().max_by_key(|(_, record)| record.value.len());
    largest.is_some_and(|(_, record)| record.shrink())
}
