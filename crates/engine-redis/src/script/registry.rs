//! Scripts by name, for all users of the same servers: their texts are kept in a hash, so that whoever
//! misses one on a server can load it there.

use std::collections::BTreeMap;
use std::sync::Arc;

use redis::FromRedisValue;
use serde_json::{Value as Json, json};

use super::super::connection::Link;
use super::super::failure::failure_of;
use super::super::keys;
use super::super::nodes::Traffic;
use super::{Call, Script, ScriptError, Scripts};

/// A script of the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The script.
    pub script: Script,
    /// Whether it only reads.
    pub is_read_only: bool,
}

/// Where a script was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The server.
    pub server: String,
    /// What it is called by there: a function's name, or a digest.
    pub called_by: String,
}

impl Scripts {
    /// Registers a script under its name, in place of the one before, and loads it on every primary.
    ///
    /// # Errors
    /// When a server refuses it: its text is wrong, for example.
    pub async fn load(&self, script: &Script) -> Result<Vec<Loaded>, ScriptError> {
        let mut loaded = Vec::new();
        let unavailable = |failure: crate::Failure| ScriptError::Unavailable { reason: failure.to_string() };
        for endpoint in self.nodes.primaries().await.map_err(unavailable)? {
            let node = self.nodes.at(&endpoint, Traffic::Calls).await.map_err(unavailable)?;
            script.program.load(self.kind, &node).await.map_err(|error| ScriptError::Failed {
                name: script.name.clone(),
                message: failure_of(&error, &endpoint, &node.user).to_string(),
            })?;
            let called_by = match self.kind {
                super::ScriptKind::Functions => script.function(),
                super::ScriptKind::Evalsha => script.sha(),
            };
            loaded.push(Loaded { server: endpoint.to_string(), called_by: called_by.to_owned() });
        }
        let text = json!({ "body": script.body, "read_only": script.is_read_only }).to_string();
        let mut set = redis::cmd("HSET");
        set.arg(self.registry()).arg(&script.name).arg(text);
        self.ask::<()>(&set).await?;
        Ok(loaded)
    }

    /// The script of a name.
    ///
    /// # Errors
    /// [`ScriptError::Missing`] where there is none.
    pub async fn find(&self, name: &str) -> Result<Registered, ScriptError> {
        let mut get = redis::cmd("HGET");
        get.arg(self.registry()).arg(name);
        let text: Option<String> = self.ask(&get).await?;
        let missing = || ScriptError::Missing { name: name.to_owned() };
        text.and_then(|text| read(name, &text)).ok_or_else(missing)
    }

    /// All scripts, by name.
    ///
    /// # Errors
    /// When the servers cannot be reached.
    pub async fn list(&self) -> Result<Vec<Registered>, ScriptError> {
        let mut get = redis::cmd("HGETALL");
        get.arg(self.registry());
        let texts: BTreeMap<String, String> = self.ask(&get).await?;
        Ok(texts.iter().filter_map(|(name, text)| read(name, text)).collect())
    }

    /// Runs a script by its name, or by its digest where no name is so.
    ///
    /// # Errors
    /// As [`Scripts::run`].
    pub async fn run_named<T: FromRedisValue>(&self, name: &str, call: &Call) -> Result<T, ScriptError> {
        let is_sha = name.len() == 40 && name.bytes().all(|digit| digit.is_ascii_hexdigit());
        match self.find(name).await {
            Ok(found) => self.run(&found.script, call).await,
            Err(ScriptError::Missing { .. }) if is_sha => self.run_sha(name, call).await,
            Err(error) => Err(error),
        }
    }

    fn registry(&self) -> String {
        format!("{}scripts", self.prefix)
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, ScriptError> {
        let slot = keys::slot(self.registry().as_bytes());
        let link = Link::new(Arc::clone(&self.nodes), slot, Traffic::Calls);
        link.send(command).await.map_err(|refused| ScriptError::of(refused, "scripts", slot))
    }
}

fn read(name: &str, text: &str) -> Option<Registered> {
    let json: Json = serde_json::from_str(text).ok()?;
    let is_read_only = json.get("read_only")?.as_bool()?;
    let script = Script::with(name, json.get("body")?.as_str()?, is_read_only).ok()?;
    Some(Registered { script, is_read_only })
}
