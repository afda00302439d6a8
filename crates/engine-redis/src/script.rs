//! Scripts of one's own, run the way the engine runs its library: each where its keys are, on one server or on
//! a cluster, loaded by itself wherever it is missing, never sent twice but where a server has refused it
//! unread.
//!
//! A script is what `EVAL` takes: it sees `KEYS` and `ARGV`, and returns its answer. On servers that have
//! Functions it becomes one, elsewhere it is called by a digest.
//!
//! ```no_run
//! use scarce_engine_redis::script::{Call, Script, Scripts};
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let scripts = Scripts::open(&scarce_engine_redis::RedisSettings::default()).await?;
//! let raise = Script::new("raise_to", "
//!     local now = tonumber(redis.call('GET', KEYS[1]) or '0')
//!     local wanted = tonumber(ARGV[1])
//!     if wanted > now then redis.call('SET', KEYS[1], wanted) end
//!     return math.max(now, wanted)")?;
//! let highest: i64 = scripts.run(&raise, &Call::on("best:{player-7}").argument("120")).await?;
//! # let _ = highest; Ok(()) }
//! ```

mod clients;
mod error;
mod registry;
mod run;
mod text;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use redis::FromRedisValue;

use super::connection::Link;
use super::deployment;
use super::nodes::{Nodes, Traffic};
use super::program::{Program, ScriptKind};
use super::{RedisSettings, keys};
pub(super) use clients::ClientScripts;
pub use error::{Fate, ScriptError};
pub use registry::{Loaded, Registered, Registry};
pub(super) use registry::{filling_of, key as registry_key};
use run::Runs;
use text::Forms;
pub(super) use text::is_raised;

/// The longest name of a script.
const NAME_BYTES_MAX: usize = 64;

/// The longest text of a script.
const BODY_BYTES_MAX: usize = 256 << 10;

/// What stands between a deployment's prefix and a key of a script that clients name: no prefix has it in it, so that none
/// of these is a key of the engine's.
pub(super) const NAMESPACE: char = '~';

/// A script with its name.
#[derive(Clone, Debug)]
pub struct Script {
    name: String,
    body: String,
    is_read_only: bool,
    sha: String,
    program: Program,
}

impl Script {
    /// A script that may write.
    ///
    /// # Errors
    /// When the name is not 1 to 64 letters, digits and underscores.
    pub fn new(name: &str, body: &str) -> Result<Self, ScriptError> {
        Self::with(name, body, false)
    }

    /// A script that only reads; servers hold it to that where they have Functions.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn reader(name: &str, body: &str) -> Result<Self, ScriptError> {
        Self::with(name, body, true)
    }

    fn with(name: &str, body: &str, is_read_only: bool) -> Result<Self, ScriptError> {
        if !is_name(name) {
            return Err(ScriptError::Name { name: name.to_owned() });
        }
        if body.len() > BODY_BYTES_MAX {
            return Err(ScriptError::Size { name: name.to_owned() });
        }
        let Forms { function, functions, script } = Forms::of(name, body, is_read_only);
        let reader = is_read_only.then(|| function.clone());
        let program = Program::new(function, reader, functions, script);
        let sha = redis::Script::new(body).get_hash().to_owned();
        Ok(Self { name: name.to_owned(), body: body.to_owned(), is_read_only, sha, program })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it only reads.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Its text.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The name of the function that it becomes; another one for another text.
    #[must_use]
    pub fn function(&self) -> &str {
        &self.program.function
    }

    /// The digest of its text, by which clients call it.
    #[must_use]
    pub fn sha(&self) -> &str {
        &self.sha
    }
}

/// Whether a text can be the name of a script.
fn is_name(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && (1..=NAME_BYTES_MAX).contains(&text.len())
}

/// What a script is called with.
#[derive(Clone, Debug)]
pub struct Call {
    routing_key: String,
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
}

impl Call {
    /// A call on a key, which also says where it goes.
    #[must_use]
    pub fn on(key: &str) -> Self {
        Self { routing_key: key.to_owned(), keys: vec![key.to_owned()], arguments: Vec::new() }
    }

    /// A call that goes where a key is, without handing it to the script.
    #[must_use]
    pub fn routed(routing_key: &str) -> Self {
        Self { routing_key: routing_key.to_owned(), keys: Vec::new(), arguments: Vec::new() }
    }

    /// With another key. All keys must be in the routing key's slot: give them its `{tag}`.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.keys.push(key.to_owned());
        self
    }

    /// With another argument.
    #[must_use]
    pub fn argument(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.arguments.push(argument.as_ref().to_vec());
        self
    }

    fn slot(&self) -> u16 {
        keys::slot(hashed(&self.routing_key).as_bytes())
    }
}

/// What of a key decides about its slot: what stands in its first braces, if anything does.
fn hashed(key: &str) -> &str {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(tag, _)| tag);
    tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

/// The way of scripts to their servers. Cloning shares the connections.
#[derive(Clone, Debug)]
pub struct Scripts {
    nodes: Arc<Nodes>,
    kind: ScriptKind,
    prefix: String,
    time_limit: Duration,
    runs: Arc<Runs>,
}

impl Scripts {
    /// Connects as the engine does, by the same settings; a call may take as long as `response_timeout`.
    /// To be called within a tokio runtime.
    ///
    /// # Errors
    /// When the servers cannot be reached.
    pub async fn open(settings: &RedisSettings) -> Result<Self, ScriptError> {
        let nodes = Nodes::of(settings).map_err(|error| ScriptError::of_start(&error))?;
        let nodes = Arc::new(nodes);
        let slot = keys::slot(deployment::key(&settings.prefix).as_bytes());
        let link = Link::new(Arc::clone(&nodes), slot, Traffic::Calls);
        let kind = match settings.script {
            Some(kind) => kind,
            None => deployment::script_kind(&link).await.map_err(|error| ScriptError::of_start(&error))?,
        };
        Ok(Self::on(nodes, kind, settings))
    }

    /// On servers that are known already.
    pub(super) fn on(nodes: Arc<Nodes>, kind: ScriptKind, settings: &RedisSettings) -> Self {
        Self {
            nodes,
            kind,
            prefix: settings.prefix.clone(),
            time_limit: settings.response_timeout,
            runs: Arc::default(),
        }
    }

    /// The name in Redis of a key that a client names.
    #[must_use]
    pub fn key_of_client(&self, key: &str) -> String {
        format!("{}{NAMESPACE}{key}", self.prefix)
    }

    /// Runs calls of a script together. They are on the way at the same time, each to its server, so that a
    /// hundred of them cost little more than one; they may be carried out in any order.
    pub async fn run_all<T: FromRedisValue>(
        &self,
        script: &Script,
        calls: &[Call],
    ) -> Vec<Result<T, ScriptError>> {
        join_all(calls.iter().map(|call| self.run(script, call))).await
    }

    /// The way to a call's slot, in which all of its keys must be.
    fn link(&self, call: &Call, traffic: Traffic) -> Result<Link, ScriptError> {
        let slot = call.slot();
        let stray = call.keys.iter().find(|key| keys::slot(hashed(key).as_bytes()) != slot);
        match stray {
            Some(key) => {
                Err(ScriptError::CrossSlot { key: key.clone(), routing_key: call.routing_key.clone() })
            }
            None => Ok(Link::new(Arc::clone(&self.nodes), slot, traffic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_another_slot_are_found_by_their_tag() {
        assert_eq!((hashed("a{b}c"), hashed("a{}c"), hashed("abc")), ("b", "a{}c", "abc"));
        assert_eq!(Call::on("x{t}").slot(), Call::routed("{t}y").slot());
    }

    #[test]
    fn names_are_words() {
        assert!(Script::new("raise_2", "return 1").is_ok());
        for wrong in ["", "a-b", "a b", &"x".repeat(65)] {
            assert!(Script::new(wrong, "return 1").is_err(), "{wrong}");
        }
    }
}
