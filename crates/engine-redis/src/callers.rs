//! The keys of callers, in a hash without a tag: for all partitions, and for all processes in front of the same servers.
//! What is in its fields is not known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_engine::engine::Failure;

use super::RedisError;
use super::connection::Link;
use super::keys;
use super::nodes::{Nodes, Traffic};
use super::settings::RedisSettings;

/// Sets all fields, if each that is to be exchanged is as it was read.
const CHANGE: &str = "for at = 1, #ARGV, 4 do \
        if ARGV[at] == 'exchange' and (redis.call('HGET', KEYS[1], ARGV[at + 1]) or '') ~= ARGV[at + 2] then return 0 end \
    end \
    for at = 1, #ARGV, 4 do redis.call('HSET', KEYS[1], ARGV[at + 1], ARGV[at + 3]) end \
    return 1";

/// Notes times, none of which goes back.
const NOTE: &str = "for at = 1, #ARGV, 2 do \
        if tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or 0) < tonumber(ARGV[at + 1]) then \
            redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) \
        end \
    end \
    return 1";

/// A change of a field.
#[derive(Clone, Debug)]
pub struct Change([String; 4]);

impl Change {
    /// Whatever was there.
    #[must_use]
    pub fn set(field: &str, text: String) -> Self {
        Self(["set".to_owned(), field.to_owned(), String::new(), text])
    }

    /// Only in place of what was read; of nothing, if that is empty.
    #[must_use]
    pub fn exchange(field: &str, former: String, text: String) -> Self {
        Self(["exchange".to_owned(), field.to_owned(), former, text])
    }
}

/// The keys of callers.
pub struct CallerKeys {
    nodes: Arc<Nodes>,
    prefix: String,
}

impl CallerKeys {
    /// Those of a deployment. To be called within a tokio runtime; nothing is asked yet.
    ///
    /// # Errors
    /// When the settings cannot be used.
    pub fn open(settings: &RedisSettings) -> Result<Self, RedisError> {
        Ok(Self { nodes: Arc::new(Nodes::of(settings)?), prefix: settings.prefix.clone() })
    }

    /// The name of the hash.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}callers", self.prefix)
    }

    fn uses(&self) -> String {
        format!("{}callers_used", self.prefix)
    }

    /// All fields.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn read(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut get = redis::cmd("HGETALL");
        get.arg(self.name());
        self.send(&self.name(), &get).await
    }

    /// Makes all changes or none. Whether they were made: not if a field is no longer as it was read.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn change(&self, changes: &[Change]) -> Result<bool, Failure> {
        let mut change = redis::cmd("EVAL");
        change.arg(CHANGE).arg(1).arg(self.name());
        changes.iter().flat_map(|change| &change.0).for_each(|word| {
            change.arg(word);
        });
        self.send(&self.name(), &change).await
    }

    /// When each key was last shown.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn read_uses(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut get = redis::cmd("HGETALL");
        get.arg(self.uses());
        self.send(&self.uses(), &get).await
    }

    /// Notes when keys were last shown.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn note_uses(&self, uses: &[(String, u64)]) -> Result<(), Failure> {
        let mut note = redis::cmd("EVAL");
        note.arg(NOTE).arg(1).arg(self.uses());
        uses.iter().for_each(|(id, at)| {
            note.arg(id).arg(*at);
        });
        self.send::<bool>(&self.uses(), &note).await.map(|_| ())
    }

    async fn send<T: redis::FromRedisValue>(&self, key: &str, command: &redis::Cmd) -> Result<T, Failure> {
        let link = Link::new(Arc::clone(&self.nodes), keys::slot(key.as_bytes()), Traffic::Calls);
        Ok(link.send(command).await?)
    }
}
