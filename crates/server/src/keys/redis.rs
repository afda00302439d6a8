//! Keys in a hash of the Redis that keeps the deployment.

use std::collections::BTreeMap;

use scarce_access::{FORMAT_VERSION, Key, KeyError, KeyId, Ring};
use scarce_core::types::TimeMs;
use scarce_engine_redis::callers::{CallerKeys, Change};
use scarce_settings::ServerSettings;
use tokio::runtime::{Builder, Runtime};

use super::KeyStoreError;

/// How often a change is tried again that another one came before.
const TRIES_MAX: u32 = 20;

/// The field that says how the others are written.
const FORMAT: &str = "format";

/// Keys in Redis.
pub struct RedisKeys {
    /// There until it is dropped.
    runtime: Option<Runtime>,
    keys: CallerKeys,
}

/// It may be dropped where nothing may wait for the end of a runtime.
impl Drop for RedisKeys {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl RedisKeys {
    pub(super) fn new(settings: &ServerSettings) -> Result<Self, KeyStoreError> {
        let redis = settings.redis().map_err(KeyStoreError::Redis)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let keys = {
            let _within = runtime.enter();
            CallerKeys::open(&redis).map_err(|error| KeyStoreError::Redis(error.to_string()))?
        };
        Ok(Self { runtime: Some(runtime), keys })
    }

    /// Waits for Redis, on a thread that may wait.
    fn wait<F: Future>(&self, asked: F) -> F::Output {
        self.runtime.as_ref().expect("a runtime until it is dropped").block_on(asked)
    }

    pub(super) fn place(&self) -> String {
        format!("the hash {} in Redis", self.keys.name())
    }

    pub(super) fn load(&self) -> Result<Ring, KeyStoreError> {
        self.read().map(|(ring, _)| ring)
    }

    /// The keys, and the fields that they were read from.
    fn read(&self) -> Result<(Ring, BTreeMap<String, String>), KeyStoreError> {
        let read = self.wait(self.keys.read());
        let mut fields = read.map_err(|failure| KeyStoreError::Redis(failure.to_string()))?;
        let damaged = |error| KeyStoreError::Keys { place: self.place(), error };
        let format = fields.remove(FORMAT);
        if !fields.is_empty() && format.as_deref() != Some(FORMAT_VERSION.to_string().as_str()) {
            let found = format.unwrap_or_else(|| "none".to_owned());
            let what = format!("format {found}; this release reads {FORMAT_VERSION}");
            return Err(damaged(KeyError::Damaged(what)));
        }
        let mut ring = Ring::default();
        for (id, text) in &fields {
            let key = serde_json::from_str(text)
                .map_err(|error| KeyError::Damaged(error.to_string()))
                .and_then(|value| Key::from_json(&value))
                .map_err(damaged)?;
            if key.id.to_string() != *id {
                return Err(damaged(KeyError::Damaged(format!("the field '{id}' holds the key {}", key.id))));
            }
            ring.put(key);
        }
        Ok((ring, fields))
    }

    pub(super) fn change<T>(
        &self,
        mut change: impl FnMut(&mut Ring) -> Result<T, KeyError>,
    ) -> Result<T, KeyStoreError> {
        for _ in 0..TRIES_MAX {
            let (mut ring, before) = self.read()?;
            let done = change(&mut ring)?;
            let mut changes = vec![Change::set(FORMAT, FORMAT_VERSION.to_string())];
            for key in ring.keys() {
                let (id, text) = (key.id.to_string(), key.to_json().to_string());
                let former = before.get(&id);
                if former != Some(&text) {
                    changes.push(Change::exchange(&id, former.cloned().unwrap_or_default(), text));
                }
            }
            let is_done = self.wait(self.keys.change(&changes));
            if is_done.map_err(|failure| KeyStoreError::Redis(failure.to_string()))? {
                return Ok(done);
            }
        }
        Err(KeyStoreError::Redis("others change them all the time; try again".to_owned()))
    }

    pub(super) fn last_uses(&self) -> Result<BTreeMap<KeyId, TimeMs>, KeyStoreError> {
        let read = self.wait(self.keys.read_uses());
        let uses = read.map_err(|failure| KeyStoreError::Redis(failure.to_string()))?;
        Ok(uses.iter().filter_map(|(id, at)| Some((KeyId::parse(id)?, at.parse().ok()?))).collect())
    }

    pub(super) fn note_uses(&self, uses: &BTreeMap<KeyId, TimeMs>) -> Result<(), KeyStoreError> {
        let uses: Vec<_> = uses.iter().map(|(id, at)| (id.to_string(), *at)).collect();
        let noted = self.wait(self.keys.note_uses(&uses));
        noted.map_err(|failure| KeyStoreError::Redis(failure.to_string()))
    }
}
