//! A subscriber: its subscriptions, and the messages that it has not taken yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_core::event::Position;
use scarce_engine::stop::Waker;

use super::channel::Asked;
use super::held::{Held, Inner};
use super::hub::{Full, Hub};
use super::mailbox::{Listener, Mailbox};
use super::message::{End, Message};
use super::shares::Share;

/// Who listens to channels. It keeps its place in each, and is woken when one has something new.
pub struct Subscriber {
    hub: Arc<Hub>,
    /// What all with the same key have.
    share: Option<Arc<Share>>,
    mailbox: Arc<Mailbox>,
    subscriptions: BTreeMap<u64, Subscription>,
    ids: BTreeMap<Arc<str>, u64>,
    last_id: u64,
}

/// A subscription.
struct Subscription {
    held: Arc<Held>,
    listener: Arc<Listener>,
    after: Option<Position>,
    conflates: bool,
    /// The number of the update that comes next, once it has begun.
    next: Option<u64>,
    position: Position,
    generation: u64,
}

/// What a subscription has to take.
enum Taken {
    Nothing,
    /// The channel must be read first.
    ToRead,
    Message(Message),
    End(Message),
}

impl Subscriber {
    /// A subscriber without subscriptions, and the key that it showed, if it did. `wake` is called, from any thread, when there is something to take after
    /// [`Subscriber::take_next`] had nothing; it must not block.
    #[must_use]
    pub fn new(hub: Arc<Hub>, key: Option<&str>, wake: Waker) -> Self {
        hub.figures.subscribers.add(1);
        Self {
            share: key.map(|key| hub.shares.of(key)),
            hub,
            mailbox: Mailbox::new(wake),
            subscriptions: BTreeMap::new(),
            ids: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Listens to a channel. A snapshot comes first, or what came after the position that was said. Who listens already goes on
    /// as before.
    ///
    /// # Errors
    /// When there are too many subscriptions.
    pub fn subscribe(&mut self, asked: Asked) -> Result<(), Full> {
        if self.ids.contains_key(asked.channel.name.as_str()) {
            return Ok(());
        }
        self.hub.check_room(self.subscriptions.len(), self.share.as_deref())?;
        let id = self.last_id + 1;
        let listener = Listener::new(self.mailbox.clone(), id);
        let Asked { channel, after, conflates } = asked;
        let held = self.hub.listen(channel, after, &listener, self.share.as_ref())?;
        self.last_id = id;
        self.hub.figures.subscriptions.add(1);
        self.share.iter().for_each(|share| share.subscriptions.add(1));
        self.ids.insert(held.name.clone(), id);
        let (generation, position) = (held.inner().generation(), Position::default());
        let subscription =
            Subscription { held, listener, after, conflates, next: None, position, generation };
        subscription.listener.announce();
        self.subscriptions.insert(id, subscription);
        Ok(())
    }

    /// Listens no more to a channel. Whether it did.
    pub fn unsubscribe(&mut self, name: &str) -> bool {
        let id = self.ids.get(name).copied();
        id.is_some_and(|id| self.remove(id))
    }

    fn remove(&mut self, id: u64) -> bool {
        let Some(subscription) = self.subscriptions.remove(&id) else { return false };
        self.ids.remove(&subscription.held.name);
        subscription.held.inner().leave(&subscription.listener);
        self.hub.figures.subscriptions.subtract(1);
        self.share.iter().for_each(|share| share.subscriptions.subtract(1));
        true
    }

    /// The channels that it listens to.
    pub fn channels(&self) -> impl Iterator<Item = &Arc<str>> {
        self.ids.keys()
    }

    /// How many channels it listens to.
    #[must_use]
    pub fn len(&self) -> usize {
        self.subscriptions.len()
    }

    /// Whether it listens to none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    /// Whether there may be something to take.
    #[must_use]
    pub fn has_next(&self) -> bool {
        !self.mailbox.is_empty()
    }

    /// The next message of any of its channels, in turn.
    pub fn take_next(&mut self) -> Option<Message> {
        while let Some(id) = self.mailbox.next() {
            let Some(subscription) = self.subscriptions.get_mut(&id) else { continue };
            match subscription.take(&self.hub) {
                Taken::Nothing => {}
                Taken::ToRead => self.hub.ask(&subscription.held),
                Taken::Message(message) => {
                    subscription.listener.look_again();
                    self.hub.figures.messages.add(1);
                    return Some(message);
                }
                Taken::End(message) => {
                    self.remove(id);
                    self.hub.figures.cut_offs.add(1);
                    return Some(message);
                }
            }
        }
        None
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let ids: Vec<u64> = self.subscriptions.keys().copied().collect();
        ids.into_iter().for_each(|id| {
            self.remove(id);
        });
        self.hub.figures.subscribers.subtract(1);
    }
}

impl Subscription {
    fn take(&mut self, hub: &Hub) -> Taken {
        self.listener.look();
        let held = self.held.clone();
        let mut inner = held.inner();
        if self.generation != inner.generation() {
            // Nothing leads from what it has to what there is now.
            (self.generation, self.next, self.after) = (inner.generation(), None, None);
        }
        let Some(mut next) = self.next.or_else(|| self.resume(hub, &inner)) else {
            return if inner.is_current { self.begin(&mut inner) } else { Taken::Nothing };
        };
        if next < inner.tape.begin() {
            return if self.conflates { self.skip(hub, &mut inner) } else { self.end() };
        }
        while let Some(update) = inner.tape.get(next) {
            next += 1;
            self.next = Some(next);
            let is_known = update.last.epoch == self.position.epoch
                && update.last.sequence <= self.position.sequence
                && !update.is_snapshot;
            if !is_known {
                self.position = update.last;
                return Taken::Message(self.message(&update.text));
            }
        }
        Taken::Nothing
    }

    /// The number of the update with which it goes on from where its subscriber has come to, if that can be told.
    fn resume(&mut self, hub: &Hub, inner: &Inner) -> Option<u64> {
        if !inner.is_current {
            return None;
        }
        let after = self.after.take()?;
        let next = inner.resume(after.sequence).filter(|_| hub.knows(self.held.partition, after))?;
        (self.next, self.position) = (Some(next), after);
        self.next
    }

    /// Begins with all there is.
    fn begin(&mut self, inner: &mut Inner) -> Taken {
        let Some(snapshot) = self.held.snapshot(inner) else { return Taken::ToRead };
        (self.next, self.position) = (Some(snapshot.next), snapshot.position);
        Taken::Message(self.message(&snapshot.text))
    }

    /// Gets all there is in place of what it has missed.
    fn skip(&mut self, hub: &Hub, inner: &mut Inner) -> Taken {
        hub.figures.conflations.add(1);
        self.begin(inner)
    }

    fn end(&self) -> Taken {
        let text = End::TooSlow.text(&self.held.name);
        Taken::End(Message { channel: self.held.name.clone(), text, position: None })
    }

    fn message(&self, text: &bytes::Bytes) -> Message {
        Message { channel: self.held.name.clone(), text: text.clone(), position: Some(self.position) }
    }
}
