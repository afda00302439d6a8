//! The ground truth: the server's log from its first event.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use redis::Value;

use super::stage::named;
use crate::failure::DemoError;
use scarce_client::Info;
use scarce_client::{Client, integer, text};

/// An event of the log.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) epoch: u64,
    /// The timestamp, in milliseconds since the Unix epoch.
    pub(super) at: u64,
    /// The operation id; empty where there was none.
    pub(super) operation: String,
    pub(super) name: String,
    /// It was written after the server was killed.
    pub(super) is_after_kill: bool,
    fields: Vec<Value>,
}

impl Event {
    /// A field.
    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        named(&self.fields, name)
    }

    /// A field that is a number of any sign.
    pub(super) fn signed(&self, name: &str) -> Option<i64> {
        self.find(name).and_then(integer)
    }

    /// A field that is a number of 0 or more.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.signed(name).and_then(|number| u64::try_from(number).ok())
    }

    /// A text field; empty if there is none.
    pub(super) fn text(&self, name: &str) -> String {
        self.find(name).and_then(text).unwrap_or_default()
    }

    /// Replaces the value of a field, for falsification.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        let mut pairs = self.fields.chunks_mut(2);
        if let Some(pair) = pairs.find(|pair| text(&pair[0]).as_deref() == Some(name)) {
            pair[1] = value;
        }
    }
}

/// The effect of an operation: the event's name, and the numbers that its caller is told.
pub(super) type Effect = (String, Vec<i64>);

/// The effects of every operation.
#[derive(Default)]
pub(super) struct Effects(BTreeMap<String, Vec<Effect>>);

impl Effects {
    /// Records an effect, with those of the fields reported to its caller that exist.
    pub(super) fn note(&mut self, event: &Event, fields: &[&str]) {
        self.note_figures(event, fields.iter().filter_map(|name| event.signed(name)).collect());
    }

    /// Records an effect, with the numbers reported to its caller.
    pub(super) fn note_figures(&mut self, event: &Event, figures: Vec<i64>) {
        if !event.operation.is_empty() {
            self.0.entry(event.operation.clone()).or_default().push((event.name.clone(), figures));
        }
    }

    /// Whether an operation had any effect.
    pub(super) fn has_any(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Whether an operation had this effect.
    pub(super) fn has(&self, id: &str, effect: &Effect) -> bool {
        self.0.get(id).is_some_and(|effects| effects.contains(effect))
    }

    /// The operations that had an effect.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// How many operations had more than one.
    pub(super) fn twice(&self) -> usize {
        self.0.values().filter(|effects| effects.len() > 1).count()
    }
}

/// The log as read so far.
#[derive(Default)]
pub(super) struct Log {
    pub(super) events: Vec<Event>,
    /// Sequences that were missing or duplicate.
    pub(super) gaps: u64,
    /// Operations with an event, and whether it precedes the kill.
    pub(super) operations: BTreeMap<String, bool>,
    last: (u64, u64),
    /// The last sequence when the server was back after the kill, if it was killed.
    mark: Option<u64>,
}

/// How long the server may take to say where its log ends, and how often to ask.
const PATIENCE: Duration = Duration::from_secs(60);
const ASK_INTERVAL: Duration = Duration::from_millis(25);

/// How many events to read at a time.
const PAGE: &str = "5000";

impl Log {
    /// An empty log. Events after `mark` were written after the kill. Epochs do not show this, because a
    /// Redis continues in the same epoch when only the server in front of it was killed.
    pub(super) fn marked(mark: Option<u64>) -> Self {
        Self { mark, ..Self::default() }
    }

    /// Reads the log from its beginning to its end.
    ///
    /// # Errors
    /// When the server does not answer as it should.
    pub(super) fn read(client: &mut Client, mark: Option<u64>) -> Result<Self, DemoError> {
        let mut log = Self::marked(mark);
        log.read_on(client)?;
        Ok(log)
    }

    /// Reads the events since the last read.
    ///
    /// # Errors
    /// When the server does not answer as it should.
    pub(super) fn read_on(&mut self, client: &mut Client) -> Result<(), DemoError> {
        loop {
            let (epoch, sequence) = (self.last.0.to_string(), self.last.1.to_string());
            match client.call(&["EVENTS", "0", &epoch, &sequence, "COUNT", PAGE])? {
                Value::Array(events) if events.is_empty() => return Ok(()),
                Value::Array(events) => {
                    for event in events {
                        self.add(event).ok_or_else(|| unreadable("an event", self.last.1 + 1))?;
                    }
                }
                _ => return Err(unreadable("what came after", self.last.1)),
            }
        }
    }

    /// Adds an event; `None` if it cannot be parsed.
    fn add(&mut self, event: Value) -> Option<()> {
        let Value::Array(mut parts) = event else { return None };
        let Some(Value::Array(fields)) = parts.pop() else { return None };
        let [_, epoch, sequence, at, operation, name] = parts.as_slice() else { return None };
        let number = |value| integer(value).and_then(|number| u64::try_from(number).ok());
        let (epoch, sequence) = (number(epoch)?, number(sequence)?);
        self.gaps += u64::from(sequence != self.last.1 + 1 || epoch < self.last.0);
        self.last = (epoch, sequence);
        let is_after_kill = self.mark.is_some_and(|mark| sequence > mark);
        let operation = text(operation).unwrap_or_default();
        if !operation.is_empty() {
            self.operations.entry(operation.clone()).or_insert(!is_after_kill);
        }
        self.events.push(Event {
            epoch,
            at: number(at)?,
            operation,
            name: text(name)?,
            is_after_kill,
            fields,
        });
        Some(())
    }

    /// Folds the events into `begin` with `fold`, which returns `None` if a required field is missing.
    ///
    /// # Errors
    /// When a field is missing.
    pub(super) fn fold<T>(
        &self,
        mut begin: T,
        fold: impl Fn(&mut T, &Event) -> Option<()>,
    ) -> Result<T, DemoError> {
        for event in &self.events {
            fold(&mut begin, event).ok_or_else(|| unreadable(&event.name, event.at))?;
        }
        Ok(begin)
    }

    /// The first sequence after the kill, if there is one.
    pub(super) fn first_after_kill(&self) -> Option<u64> {
        self.mark.map(|mark| mark + 1).filter(|first| *first <= self.last.1)
    }

    /// The events with a name, for falsification.
    pub(super) fn named_mut<'a>(&'a mut self, name: &'a str) -> impl Iterator<Item = &'a mut Event> {
        self.events.iter_mut().filter(move |event| event.name == name)
    }

    /// Inserts a copy of the first event of a name behind it, modified by `change`; for falsification.
    pub(super) fn plant_copy(&mut self, name: &str, change: impl FnOnce(&mut Event)) {
        if let Some(at) = self.events.iter().position(|event| event.name == name) {
            let mut copy = self.events[at].clone();
            change(&mut copy);
            self.events.insert(at + 1, copy);
        }
    }
}

/// The sequence of the last event.
///
/// # Errors
/// When the server does not say.
pub(super) fn last_sequence(client: &mut Client) -> Result<u64, DemoError> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        // A Redis that has just taken over may still be waiting for its replica.
        match Info::ask(client)?.partitions.get(&0).and_then(|extent| extent.last) {
            Some(sequence) => return Ok(sequence),
            None => std::thread::park_timeout(ASK_INTERVAL),
        }
    }
    Err(DemoError::failed("INFO does not show the last sequence of the log"))
}

fn unreadable(what: &str, at: u64) -> DemoError {
    let text = format!(
        "the log has {what} ({at}) that the demonstration cannot read; are server and demonstration of one version?"
    );
    DemoError::failed(text)
}
