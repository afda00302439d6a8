//! Subscriptions of a connection: `SUBSCRIBE stock.sku-1 …`, as Redis clients know it. Messages are JSON, written once for all
//! subscribers of all ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_gateway::Caller;
use scarce_push::{Asked, ChannelError, Full, Message, Subscriber};

use super::output::Output;
use super::permission::Unfit;
use super::reply::{Protocol, Replies};
use super::session::{Arrival, Arrived, Flow, Session, Turn};

/// While this many bytes wait for a connection, it takes no further messages: they stay where all subscribers share them.
pub(super) const WAITING_BYTES_MAX: usize = 64 << 10;

/// After a request with more channels, other connections have their turn.
const CHANNELS_BETWEEN_OTHERS: usize = 16;

/// What a connection in RESP2 may send while it has subscriptions, as in Redis.
const ALLOWED: [&str; 5] = ["SUBSCRIBE", "UNSUBSCRIBE", "PING", "QUIT", "RESET"];

/// The subscriptions of a connection.
pub(super) struct Pushes {
    subscriber: Subscriber,
    /// Each channel as its caller wrote it: clients compare. And the channel of each such text.
    written: BTreeMap<Arc<str>, Arc<str>>,
    names: BTreeMap<Arc<str>, Arc<str>>,
}

/// Why a channel is not subscribed to.
enum Refusal {
    Channel(ChannelError),
    Unfit(Unfit),
    Full(Full),
}

impl Pushes {
    fn new(session: u64, key: Option<&str>, turn: &Turn<'_>) -> Self {
        let (mailbox, token) = (turn.mailbox.clone(), turn.token);
        let wake = move || {
            // The connection's owner may be gone; then nobody listens.
            let _ = mailbox.sender.send(Arrived { token, session, ticket: 0, answer: Arrival::News });
            (mailbox.wake)();
        };
        Self {
            subscriber: Subscriber::new(turn.shared.push.clone(), key, Arc::new(wake)),
            written: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    fn note(&mut self, name: Arc<str>, written: &str) {
        if !self.written.contains_key(&name) {
            let written: Arc<str> = written.into();
            self.names.insert(written.clone(), name.clone());
            self.written.insert(name, written);
        }
    }

    /// Forgets a channel by its name; what its caller wrote.
    fn forget(&mut self, name: &str) -> Option<Arc<str>> {
        let written = self.written.remove(name)?;
        self.names.remove(&written);
        Some(written)
    }

    /// Ends the subscription to a channel as its caller wrote it, or by its name without options.
    fn end(&mut self, written: &str) {
        let name = self.names.get(written).cloned().unwrap_or_else(|| written.into());
        if self.subscriber.unsubscribe(&name) {
            self.forget(&name);
        }
    }
}

impl Session {
    /// Whether it has subscriptions, and its protocol allows nothing else then.
    #[inline]
    pub(super) fn is_subscribed_only(&self) -> bool {
        self.protocol == Protocol::Resp2 && self.subscriptions() > 0
    }

    fn subscriptions(&self) -> usize {
        self.pushes.as_ref().map_or(0, |pushes| pushes.written.len())
    }

    /// Refuses what a connection in RESP2 may not send while it has subscriptions.
    pub(super) fn refuse_subscribed(&self, name: &[u8], turn: &mut Turn<'_>) -> bool {
        let name = String::from_utf8_lossy(name).to_ascii_uppercase();
        if ALLOWED.contains(&name.as_str()) {
            return false;
        }
        let name: String = name.chars().filter(|c| c.is_ascii_graphic()).take(64).collect();
        let text = format!(
            "Can't execute '{name}': only SUBSCRIBE / UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context; use HELLO 3, or another connection"
        );
        self.say(turn, |replies| replies.error("ERR", &text));
        true
    }

    /// `PING` of a connection in RESP2 that has subscriptions.
    pub(super) fn ping_subscribed(&self, text: &[u8], turn: &mut Turn<'_>) {
        self.say(turn, |replies| {
            replies.array(2);
            replies.bulk(b"pong");
            replies.bulk(text);
        });
    }

    /// `SUBSCRIBE channel [channel …]`. Each channel is confirmed or refused by itself.
    pub(super) fn subscribe(&mut self, words: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        for word in words {
            let written = String::from_utf8_lossy(word).into_owned();
            match self.subscribe_to(&written, turn) {
                Ok(()) => self.confirm(b"subscribe", Some(&written), turn),
                Err(Refusal::Channel(error)) => {
                    self.say(turn, |replies| replies.error("ERR", &error.to_string()));
                }
                Err(Refusal::Full(full)) => {
                    self.say(turn, |replies| replies.error("OVERLOADED", &full.to_string()));
                }
                Err(Refusal::Unfit(unfit)) => {
                    self.turn_away(&unfit, turn);
                }
            }
        }
        self.tell_news(turn.output);
        Self::after_channels(words)
    }

    /// How it goes on after these channels, or all if none were named.
    pub(super) const fn after_channels(words: &[&[u8]]) -> Flow {
        match words.len() {
            1..=CHANNELS_BETWEEN_OTHERS => Flow::Continue,
            _ => Flow::Yield,
        }
    }

    fn subscribe_to(&mut self, written: &str, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        let asked = Asked::parse(written).map_err(Refusal::Channel)?;
        let (read, command) = (asked.channel.read, &asked.channel.command);
        self.check(read, command).map_err(|lack| Refusal::Unfit(Unfit::Lacks(lack, "SUBSCRIBE")))?;
        self.count_now(read, command, turn).map_err(|beyond| Refusal::Unfit(Unfit::Beyond(beyond)))?;
        let (id, key) = (self.id, self.caller.as_ref().and_then(Caller::key));
        let pushes = self.pushes.get_or_insert_with(|| Pushes::new(id, key, turn).into());
        let name: Arc<str> = asked.channel.name.as_str().into();
        pushes.subscriber.subscribe(asked).map_err(Refusal::Full)?;
        pushes.note(name, written);
        Ok(())
    }

    /// `UNSUBSCRIBE [channel …]`: without channels, from all.
    pub(super) fn unsubscribe(&mut self, words: &[&[u8]], turn: &mut Turn<'_>) {
        let all =
            || self.pushes.as_ref().map_or(Vec::new(), |pushes| pushes.written.values().cloned().collect());
        let names: Vec<Arc<str>> = match words {
            [] => all(),
            words => words.iter().map(|word| String::from_utf8_lossy(word).into()).collect(),
        };
        if names.is_empty() {
            return self.confirm(b"unsubscribe", None, turn);
        }
        for written in names {
            if let Some(pushes) = &mut self.pushes {
                pushes.end(&written);
            }
            self.confirm(b"unsubscribe", Some(&written), turn);
        }
        if self.subscriptions() == 0 {
            self.pushes = None;
        }
    }

    fn confirm(&self, kind: &[u8], written: Option<&str>, turn: &mut Turn<'_>) {
        let count = i64::try_from(self.subscriptions()).unwrap_or(i64::MAX);
        self.say(turn, |replies| confirmation(replies, kind, written, count));
    }

    /// Ends all subscriptions.
    pub(super) fn drop_subscriptions(&mut self) {
        self.pushes = None;
    }

    /// Whether messages wait for it.
    pub(super) fn has_news(&self) -> bool {
        self.pushes.as_ref().is_some_and(|pushes| pushes.subscriber.has_next())
    }

    /// Takes messages, as long as its caller reads them.
    pub(super) fn tell_news(&mut self, output: &mut Output) {
        let protocol = self.protocol;
        let Some(pushes) = &mut self.pushes else { return };
        while output.bytes() < WAITING_BYTES_MAX
            && let Some(message) = pushes.subscriber.take_next()
        {
            pushes.tell(&message, protocol, output);
        }
    }
}

impl Pushes {
    fn tell(&mut self, message: &Message, protocol: Protocol, output: &mut Output) {
        let Some(written) = self.written.get(&message.channel) else { return };
        output.reply(0, protocol, |replies| {
            replies.push(3);
            replies.bulk(b"message");
            replies.bulk(written.as_bytes());
            replies.bulk(&message.text);
        });
        // Its end was told.
        if message.position.is_none()
            && let Some(written) = self.forget(&message.channel)
        {
            let count = i64::try_from(self.written.len()).unwrap_or(i64::MAX);
            output.reply(0, protocol, |replies| confirmation(replies, b"unsubscribe", Some(&written), count));
        }
    }
}

fn confirmation(replies: &mut Replies<'_>, kind: &[u8], written: Option<&str>, count: i64) {
    replies.push(3);
    replies.bulk(kind);
    match written {
        Some(written) => replies.bulk(written.as_bytes()),
        None => replies.null(),
    }
    replies.integer(count);
}
