//! Scripts by name, for all users of the same servers: their texts are kept in a hash with all of their versions, so
//! that anyone who misses one on a server can load it there.

use std::collections::BTreeMap;
use std::sync::Arc;

use redis::{FromRedisValue, Value};
use scarce_engine::scripts::ScriptFilling;
use serde_json::{Value as Json, json};

use super::super::connection::Link;
use super::super::failure::failure_of;
use super::super::keys;
use super::super::nodes::{Node, Traffic};
use super::{Call, Script, ScriptError, ScriptKind, Scripts, is_name};

/// The field that says which change was the last one, so that what is kept elsewhere is known to be current. A count would not do: a
/// registry that was put back comes to the same count again with other texts.
const CHANGE: &str = "@change";

/// Whether there is room for a further version: answers which bound it would pass, or nothing.
const ROOM: &str = "local function full(key, name, bytes) \
        local versions, names = 1, redis.call('HEXISTS', key, name) == 1 and 0 or 1 \
        for _, field in ipairs(redis.call('HKEYS', key)) do \
            if field == '@change' then \
            elseif string.find(field, '@', 1, true) then \
                versions, bytes = versions + 1, bytes + redis.call('HSTRLEN', key, field) \
            else names = names + 1 end \
        end \
        local versions_max, bytes_max, names_max = unpack(ARGV, 3, 5) \
        if versions > tonumber(versions_max) then return versions_max .. ' versions' end \
        if bytes > tonumber(bytes_max) then return bytes_max .. ' bytes' end \
        if names > tonumber(names_max) then return names_max .. ' names, with removed ones,' end \
    end ";

/// Registers a text as the next version of a name, unless it is the current one: both are JSON. Numbers of versions are
/// not used again, also after a removal. Nothing is registered where only the room is looked at.
const REGISTER: &str = "local key, name, record = KEYS[1], ARGV[1], cjson.decode(ARGV[2]) \
    local function version_of(its) return its.version or 1 end \
    local text = redis.call('HGET', key, name) \
    local before = text and cjson.decode(text) \
    if before and not before.removed then \
        if before.body == record.body and before.read_only == record.read_only then return version_of(before) end \
        redis.call('HSETNX', key, name .. '@' .. version_of(before), text) \
    end \
    local limit = full(key, name, #ARGV[2]) \
    if limit then return limit end \
    if ARGV[6] == '1' then return 0 end \
    record.version = before and version_of(before) + 1 or 1 \
    text = cjson.encode(record) \
    redis.call('HSET', key, name, text, name .. '@' .. record.version, text) \
    redis.call('HSET', key, '@change', ARGV[#ARGV]) \
    return record.version";

/// Removes a name and its versions; what is left is the number of the last one.
const REMOVE: &str = "local key, name = KEYS[1], ARGV[1] \
    local text = redis.call('HGET', key, name) \
    local before = text and cjson.decode(text) \
    if not before or before.removed then return 0 end \
    for version = 1, before.version or 1 do redis.call('HDEL', key, name .. '@' .. version) end \
    redis.call('HSET', key, name, cjson.encode({ removed = true, version = before.version or 1 })) \
    redis.call('HSET', key, '@change', ARGV[#ARGV]) \
    return 1";

/// A script of the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The script.
    pub script: Script,
    /// Whether it only reads.
    pub is_read_only: bool,
    /// Which version of its name it is.
    pub version: u64,
}

/// Where a script was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The server.
    pub server: String,
    /// What it is called by there: a function's name, or a digest.
    pub called_by: String,
    /// Which version of its name it is.
    pub version: u64,
}

/// All scripts, as they were when they were read.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// The last change until then; empty if there was none.
    change: String,
    /// By name, and by name and version with an `@` between.
    scripts: BTreeMap<String, Arc<Registered>>,
    filling: ScriptFilling,
}

/// How much a registry has, by its fields.
pub(crate) fn filling_of(texts: &BTreeMap<String, String>) -> ScriptFilling {
    let mut filling = ScriptFilling::default();
    for (field, text) in texts.iter().filter(|(field, _)| *field != CHANGE) {
        if field.contains('@') {
            filling.versions += 1;
            filling.bytes += text.len() as u64;
        } else {
            filling.names += 1;
        }
    }
    filling
}

/// The key of the hash that has them.
pub(crate) fn key(prefix: &str) -> String {
    format!("{prefix}scripts")
}

impl Registry {
    fn read(texts: &BTreeMap<String, String>) -> Self {
        let change = texts.get(CHANGE).cloned().unwrap_or_default();
        let read = |(field, text): (&String, &String)| Some((field.clone(), Arc::new(read(field, text)?)));
        Self { change, scripts: texts.iter().filter_map(read).collect(), filling: filling_of(texts) }
    }

    /// How much of what may be registered there is.
    #[must_use]
    pub const fn filling(&self) -> ScriptFilling {
        self.filling
    }

    /// What names the last change of it: no two changes have the same name. Empty where nothing was ever registered.
    #[must_use]
    pub fn last_change(&self) -> &str {
        &self.change
    }

    /// The script of a name, or of a name and version with an `@` between.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Registered>> {
        self.scripts.get(name)
    }

    /// The scripts whose text has a digest, of any version: several names can have the same text.
    pub fn find_digest(&self, digest: &str) -> impl Iterator<Item = &Arc<Registered>> {
        self.scripts.values().filter(move |found| found.script.sha().eq_ignore_ascii_case(digest))
    }

    /// The current version of each name.
    pub fn current(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.scripts.iter().filter(|(field, _)| !field.contains('@')).map(|(_, found)| found)
    }

    /// Every version of each name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Registered>> {
        // A current version is there under its name, and once more under its number, unless that was not counted yet.
        let is_once = |(field, found): &(&String, &Arc<Registered>)| {
            field.contains('@') || !self.scripts.contains_key(&format!("{field}@{}", found.version))
        };
        self.scripts.iter().filter(is_once).map(|(_, found)| found)
    }

    /// Whether a version is the current one of its name.
    #[must_use]
    pub fn is_current(&self, found: &Registered) -> bool {
        self.find(found.script.name()).is_some_and(|current| current.version == found.version)
    }

    /// The versions of a name, the latest one first.
    #[must_use]
    pub fn versions(&self, name: &str) -> Vec<&Arc<Registered>> {
        let of_name = |field: &str| field.split_once('@').is_some_and(|(its, _)| its == name);
        let versions = self.scripts.iter().filter(|(field, _)| of_name(field)).map(|(_, found)| found);
        let mut versions: Vec<&Arc<Registered>> = versions.collect();
        if versions.is_empty() {
            // Registered before there were versions.
            versions.extend(self.find(name));
        }
        versions.sort_unstable_by_key(|found| std::cmp::Reverse(found.version));
        versions
    }
}

impl Scripts {
    /// Registers a script under its name, as its next version, and loads it on every primary.
    ///
    /// # Errors
    /// When a server refuses it: its text is wrong, for example. [`ScriptError::Full`] where there is no room.
    pub async fn load(&self, script: &Script) -> Result<Vec<Loaded>, ScriptError> {
        // What could not be registered is not loaded anywhere.
        self.register(script, true).await?;
        let mut loaded = Vec::new();
        for node in self.primaries().await? {
            let refused = |error| {
                let message = failure_of(&error, &node.endpoint, &node.user).to_string();
                let name = script.name.clone();
                ScriptError::Failed { name, message }.in_lines_of_the_text(&script.name)
            };
            // By itself first: a text that closes the function around it is no script.
            let mut check = redis::cmd("SCRIPT");
            check.arg("LOAD").arg(&script.body);
            check.exec_async(&mut node.connection()).await.map_err(refused)?;
            script.program.load(self.kind, &node).await.map_err(refused)?;
            let called_by = match self.kind.on(&node) {
                ScriptKind::Functions => script.function(),
                ScriptKind::Evalsha => &script.program.sha,
            };
            loaded.push((node.endpoint.to_string(), called_by.to_owned()));
        }
        let version = self.register(script, false).await?;
        let loaded = loaded.into_iter();
        Ok(loaded.map(|(server, called_by)| Loaded { server, called_by, version }).collect())
    }

    /// Registers a script, or only looks whether there is room; gives its version.
    async fn register(&self, script: &Script, only_looks: bool) -> Result<u64, ScriptError> {
        let text = json!({ "body": script.body, "read_only": script.is_read_only }).to_string();
        let mut register = redis::cmd("EVAL");
        register.arg(format!("{ROOM}{REGISTER}")).arg(1).arg(self.registry()).arg(&script.name).arg(text);
        register
            .arg(ScriptFilling::MAX.versions)
            .arg(ScriptFilling::MAX.bytes)
            .arg(ScriptFilling::MAX.names)
            .arg(u8::from(only_looks))
            .arg(self.runs.mark());
        match self.ask(&register).await? {
            Value::Int(version) => Ok(u64::try_from(version).unwrap_or_default()),
            other => {
                let limit = redis::from_redis_value::<String>(other).unwrap_or_default();
                Err(ScriptError::Full { name: script.name.clone(), limit })
            }
        }
    }

    /// Removes a script with all of its versions. Whether there was one. What a call has begun, it ends.
    ///
    /// # Errors
    /// When the servers cannot be reached, or it is no name: a version cannot be removed by itself.
    pub async fn remove(&self, name: &str) -> Result<bool, ScriptError> {
        if !is_name(name) {
            return Err(ScriptError::Name { name: name.to_owned() });
        }
        let registry = self.read_registry().await?;
        let mut remove = redis::cmd("EVAL");
        remove.arg(REMOVE).arg(1).arg(self.registry()).arg(name).arg(self.runs.mark());
        let is_removed = self.ask(&remove).await?;
        for node in self.primaries().await? {
            for found in registry.versions(name) {
                let mut delete = redis::cmd("FUNCTION");
                delete.arg("DELETE").arg(found.script.function());
                // Where it is not loaded, or there are no Functions, there is nothing to delete.
                let _: redis::RedisResult<()> = delete.query_async(&mut node.connection()).await;
            }
        }
        Ok(is_removed)
    }

    async fn primaries(&self) -> Result<Vec<Arc<Node>>, ScriptError> {
        let unavailable = |failure: crate::Failure| ScriptError::Unavailable { reason: failure.to_string() };
        let mut nodes = Vec::new();
        for endpoint in self.nodes.primaries().await.map_err(unavailable)? {
            nodes.push(self.nodes.at(&endpoint, Traffic::Calls).await.map_err(unavailable)?);
        }
        Ok(nodes)
    }

    /// The script of a name, or of a name and version with an `@` between.
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
        let registry = self.read_registry().await?;
        Ok(registry.current().map(|found| Registered::clone(found)).collect())
    }

    /// All scripts with all versions.
    ///
    /// # Errors
    /// When the servers cannot be reached.
    pub async fn read_registry(&self) -> Result<Registry, ScriptError> {
        let mut get = redis::cmd("HGETALL");
        get.arg(self.registry());
        Ok(Registry::read(&self.ask(&get).await?))
    }

    /// Whether the registry was not changed since it was read.
    pub(super) async fn is_current(&self, registry: &Registry) -> Result<bool, ScriptError> {
        let mut get = redis::cmd("HGET");
        get.arg(self.registry()).arg(CHANGE);
        let change: Option<String> = self.ask(&get).await?;
        Ok(change.unwrap_or_default() == registry.change)
    }

    /// Runs a script by its name, or by its digest where no name is so.
    ///
    /// # Errors
    /// As [`Scripts::run`].
    pub async fn run_named<T: FromRedisValue>(&self, name: &str, call: &Call) -> Result<T, ScriptError> {
        match self.find(name).await {
            Ok(found) => self.run(&found.script, call).await,
            Err(missing @ ScriptError::Missing { .. }) => {
                let registry = self.read_registry().await?;
                let found = registry.find_digest(name).next().ok_or(missing)?;
                self.run(&found.script, call).await
            }
            Err(error) => Err(error),
        }
    }

    fn registry(&self) -> String {
        key(&self.prefix)
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, ScriptError> {
        let slot = keys::slot(self.registry().as_bytes());
        let link = Link::new(Arc::clone(&self.nodes), slot, Traffic::Calls);
        link.send(command).await.map_err(|refused| ScriptError::of(refused, "scripts", slot))
    }
}

fn read(field: &str, text: &str) -> Option<Registered> {
    let json: Json = serde_json::from_str(text).ok()?;
    let is_read_only = json.get("read_only")?.as_bool()?;
    let version = json.get("version").map_or(Some(1), Json::as_u64)?;
    let name = field.split_once('@').map_or(field, |(name, _)| name);
    let script = Script::with(name, json.get("body")?.as_str()?, is_read_only).ok()?;
    Some(Registered { script, is_read_only, version })
}
