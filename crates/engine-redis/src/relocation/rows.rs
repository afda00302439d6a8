//! The rows of a partition, many in a command: written, and in a second turn compared with what is there.

use std::collections::BTreeMap;

use redis::cmd;
use scarce_engine::engine::Failure;
use tokio::runtime::Runtime;

use super::counted_keys;
use crate::RedisError;
use crate::connection::Link;
use crate::keys::{Keys, NAMES};
use crate::records;

/// How many rows one command takes.
const ROWS_PER_COMMAND: usize = 256;

/// What is done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// They are written.
    Write,
    /// They must be there.
    Compare,
}

/// The type of a key with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyType {
    Hash,
    Set,
    List,
}

impl KeyType {
    /// That of a name; nothing where rows are not counted.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "meta" | "log" => None,
            "operations_by" => Some(Self::List),
            "histories" => Some(Self::Hash),
            name if records::find(name).is_some() => Some(Self::Hash),
            _ => Some(Self::Set),
        }
    }

    fn counting(self) -> &'static str {
        match self {
            Self::Hash => "HLEN",
            Self::Set => "ZCARD",
            Self::List => "LLEN",
        }
    }
}

/// How many rows, members and elements each key has, without those that have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(BTreeMap<&'static str, u64>);

impl Sizes {
    /// It as `meta` has it.
    pub(super) fn text(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        words.join(" ")
    }

    /// How many rows a key has.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

/// Rows of one key that wait for a command.
#[derive(Default)]
struct Pending {
    places: Vec<String>,
    texts: Vec<String>,
    /// How many were sent before.
    sent: usize,
}

/// Takes the rows of a partition.
pub struct PartitionRows<'a> {
    runtime: &'a Runtime,
    link: Link,
    keys: Keys,
    purpose: Purpose,
    pending: BTreeMap<&'static str, Pending>,
    /// What the server counted as new.
    added: Sizes,
    failed: Option<RedisError>,
}

impl<'a> PartitionRows<'a> {
    pub(super) fn new(runtime: &'a Runtime, link: Link, keys: Keys, purpose: Purpose) -> Self {
        let (pending, added) = (BTreeMap::new(), Sizes::default());
        Self { runtime, link, keys, purpose, pending, added, failed: None }
    }

    /// Takes a row of a hash.
    pub fn row(&mut self, name: &'static str, place: &str, text: &str) {
        self.take(name, place, Some(text));
    }

    /// Takes a member of an ordered set, or an element of a list.
    pub fn member(&mut self, name: &'static str, member: &str) {
        self.take(name, member, None);
    }

    /// What failed is told at the end; nothing is sent any more then.
    fn take(&mut self, name: &'static str, place: &str, text: Option<&str>) {
        if self.failed.is_some() {
            return;
        }
        let pending = self.pending.entry(name).or_default();
        pending.places.push(place.to_owned());
        pending.texts.extend(text.map(str::to_owned));
        if pending.places.len() == ROWS_PER_COMMAND {
            self.failed = self.send(name).err();
        }
    }

    /// Sends what waits. Gives how many rows each key has, which are as many as were written.
    ///
    /// # Errors
    /// When a server failed, or has something else than was written.
    pub fn finish(mut self) -> Result<Sizes, RedisError> {
        let names: Vec<&'static str> = self.pending.keys().copied().collect();
        for name in names {
            if self.failed.is_none() {
                self.failed = self.send(name).err();
            }
        }
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let mut sizes = Sizes::default();
        for (name, its) in counted_keys() {
            let count: u64 = self.ask(cmd(its.counting()).arg(self.keys.of(name)))?;
            if count > 0 {
                sizes.0.insert(name, count);
            }
        }
        let other = NAMES.iter().find(|name| sizes.of(name) != self.added.of(name));
        match other.filter(|_| self.purpose == Purpose::Write) {
            Some(name) => Err(self.differs(name)),
            None => Ok(sizes),
        }
    }

    fn differs(&self, name: &str) -> RedisError {
        RedisError::Miswritten { key: self.keys.of(name) }
    }

    fn ask<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, RedisError> {
        Ok(self.runtime.block_on(self.link.send(command)).map_err(Failure::from)?)
    }

    fn send(&mut self, name: &'static str) -> Result<(), RedisError> {
        let Some(its) = KeyType::of(name) else { return Err(self.differs(name)) };
        let Some(pending) = self.pending.get_mut(name) else { return Ok(()) };
        let (places, texts) = (std::mem::take(&mut pending.places), std::mem::take(&mut pending.texts));
        let first = pending.sent;
        pending.sent += places.len();
        if places.is_empty() {
            return Ok(());
        }
        match self.purpose {
            Purpose::Write => self.write(name, its, &places, &texts),
            Purpose::Compare => self.compare(name, its, (first, &places), &texts),
        }
    }

    fn write(
        &mut self,
        name: &'static str,
        its: KeyType,
        places: &[String],
        texts: &[String],
    ) -> Result<(), RedisError> {
        let key = self.keys.of(name);
        let added: u64 = match its {
            KeyType::Hash => {
                let mut set = cmd("HSET");
                set.arg(&key);
                places.iter().zip(texts).for_each(|(place, text)| _ = set.arg(place).arg(text));
                self.ask(&set)?
            }
            KeyType::Set => {
                let mut add = cmd("ZADD");
                add.arg(&key);
                places.iter().for_each(|member| _ = add.arg(0).arg(member));
                self.ask(&add)?
            }
            KeyType::List => {
                let _length: u64 = self.ask(cmd("RPUSH").arg(&key).arg(places))?;
                places.len() as u64
            }
        };
        *self.added.0.entry(name).or_default() += added;
        Ok(())
    }

    fn compare(
        &self,
        name: &'static str,
        its: KeyType,
        (first, places): (usize, &[String]),
        texts: &[String],
    ) -> Result<(), RedisError> {
        let key = self.keys.of(name);
        let is_same = match its {
            KeyType::Hash => {
                let found: Vec<Option<String>> = self.ask(cmd("HMGET").arg(&key).arg(places))?;
                let is_so = |(found, text): (&Option<String>, &String)| {
                    found.as_ref().is_some_and(|found| found == text || is_later(name, found, text))
                };
                found.len() == texts.len() && found.iter().zip(texts).all(is_so)
            }
            KeyType::Set => {
                let found: Vec<Option<f64>> = self.ask(cmd("ZMSCORE").arg(&key).arg(places))?;
                found.iter().all(|score| *score == Some(0.0))
            }
            KeyType::List => {
                let last = first + places.len() - 1;
                let found: Vec<String> = self.ask(cmd("LRANGE").arg(&key).arg(first).arg(last))?;
                found == places
            }
        };
        if is_same { Ok(()) } else { Err(self.differs(name)) }
    }
}

/// Whether a row of `operations` is of a later use of its ID: the earlier one is only in line until its time has come.
fn is_later(name: &str, found: &str, text: &str) -> bool {
    let sequence_of = |text: &str| text.split('|').nth(2).and_then(|digits| digits.parse::<u64>().ok());
    name == "operations" && sequence_of(found) > sequence_of(text)
}
