//! Scripts for clients of the ports: only those that are registered, on keys of a namespace of their own. What is
//! registered is kept here, so that a call does not fetch a text.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use redis::Value;
use scarce_engine::engine::Failure;
use scarce_engine::scripts::{
    ScriptAccess, ScriptAnswer, ScriptCall, ScriptFailure, ScriptFilling, ScriptName, ScriptReply,
    ScriptRequest, ScriptRunner, ScriptValue, ScriptVersion,
};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::registry::{Registered, Registry};
use super::{Call, Fate, Script, ScriptError, Scripts};

/// After how long it is looked whether the registry was changed: so long may a script run that was removed.
const REGISTRY_KEPT: Duration = Duration::from_secs(1);

/// The registry, and when it was last known to be current.
type Kept = Option<(Instant, Arc<Registry>)>;

/// Scripts for clients.
#[derive(Clone)]
pub(crate) struct ClientScripts {
    scripts: Scripts,
    access: ScriptAccess,
    runtime: Handle,
    kept: Arc<Mutex<Kept>>,
    /// Besides, so that it can be read while that is.
    filling: Arc<std::sync::Mutex<Option<ScriptFilling>>>,
}

impl ScriptRunner for ClientScripts {
    fn ask(&self, request: ScriptRequest, reply: ScriptReply) {
        let its = self.clone();
        self.runtime.spawn(async move { reply(its.answer(request).await) });
    }

    fn filling(&self) -> Option<ScriptFilling> {
        let its = self.clone();
        // Where it cannot be read, the last figures stand.
        self.runtime.spawn(async move { drop(its.current().await) });
        *self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientScripts {
    pub(crate) fn new(scripts: Scripts, access: ScriptAccess, runtime: Handle) -> Self {
        Self { scripts, access, runtime, kept: Arc::default(), filling: Arc::default() }
    }

    async fn answer(&self, request: ScriptRequest) -> Result<ScriptAnswer, ScriptFailure> {
        let is_change = matches!(request, ScriptRequest::Register { .. } | ScriptRequest::Remove(_));
        if is_change && self.access != ScriptAccess::Manage {
            return Err(ScriptFailure::Forbidden(
                "clients may run scripts, and not register or remove them: use 'scarce scripts', or start the server with --redis-scripts manage",
            ));
        }
        match request {
            ScriptRequest::Run(call) => self.run(&call).await.map(ScriptAnswer::Value),
            ScriptRequest::List => {
                let registry = self.current().await?;
                Ok(ScriptAnswer::Versions(registry.current().map(|found| shown(found)).collect()))
            }
            ScriptRequest::All => {
                let registry = self.current().await?;
                Ok(ScriptAnswer::Versions(registry.all().map(|found| shown(found)).collect()))
            }
            ScriptRequest::Versions(name) => self.versions(&name).await,
            ScriptRequest::Version(name) => self.version(&name).await,
            ScriptRequest::Register { name, body, is_read_only } => {
                let script =
                    if is_read_only { Script::reader(&name, &body) } else { Script::new(&name, &body) };
                let loaded = self.scripts.load(&script.map_err(failure)?).await.map_err(failure)?;
                match loaded.first() {
                    Some(loaded) => self.version(&format!("{name}@{}", loaded.version)).await,
                    None => Err(ScriptFailure::Missing(name)),
                }
            }
            ScriptRequest::Remove(name) => {
                let is_removed = self.scripts.remove(&name).await.map_err(failure)?;
                self.current().await?;
                Ok(ScriptAnswer::Removed(is_removed))
            }
        }
    }

    async fn versions(&self, name: &str) -> Result<ScriptAnswer, ScriptFailure> {
        let registry = self.current().await?;
        let versions: Vec<ScriptVersion> =
            registry.versions(name).into_iter().map(|found| shown(found)).collect();
        if versions.is_empty() {
            Err(ScriptFailure::Missing(name.to_owned()))
        } else {
            Ok(ScriptAnswer::Versions(versions))
        }
    }

    async fn version(&self, name: &str) -> Result<ScriptAnswer, ScriptFailure> {
        let registry = self.current().await?;
        // A text that was registered before there were versions is there under its name alone.
        let found = registry.find(name).or_else(|| {
            let (its, version) = name.split_once('@')?;
            registry.find(its).filter(|found| found.version.to_string() == version)
        });
        let missing = || ScriptFailure::Missing(name.to_owned());
        found.map(|found| ScriptAnswer::Version(shown(found))).ok_or_else(missing)
    }

    async fn run(&self, asked: &ScriptCall) -> Result<ScriptValue, ScriptFailure> {
        let found = self.find(&asked.script).await?;
        if asked.must_only_read && !found.is_read_only {
            let name = found.script.name();
            let reason =
                format!("the script '{name}' may write; call it by FCALL, or register it with --read-only");
            return Err(ScriptFailure::Invalid(reason));
        }
        let mut keys = asked.keys.iter().map(|key| self.scripts.key_of_client(key));
        let call = match keys.next() {
            Some(first) => Call::on(&first),
            // It has no key; its name says where it runs.
            None => Call::routed(found.script.name()),
        };
        let call = keys.fold(call, |call, key| call.key(&key));
        let call = asked.arguments.iter().fold(call, Call::argument);
        self.scripts.run::<Value>(&found.script, &call).await.map(value_of).map_err(failure)
    }

    /// A script of the registry, as it was a second ago at most; one that is missing there is looked for at once.
    async fn find(&self, name: &ScriptName) -> Result<Arc<Registered>, ScriptFailure> {
        let of = |registry: &Registry| match name {
            ScriptName::Named(name) => registry.find(name).cloned(),
            ScriptName::Digest(digest, among) => {
                registry.find_digest(digest).find(|found| among.has(found.script.name())).cloned()
            }
        };
        let kept = self.kept.lock().await.clone();
        let kept = kept.filter(|(at, _)| at.elapsed() < REGISTRY_KEPT);
        if let Some(found) = kept.and_then(|(_, registry)| of(&registry)) {
            return Ok(found);
        }
        let (ScriptName::Named(shown) | ScriptName::Digest(shown, _)) = name;
        of(&*self.current().await?).ok_or_else(|| ScriptFailure::Missing(shown.clone()))
    }

    /// The registry as it is. Texts are read only where it was changed.
    async fn current(&self) -> Result<Arc<Registry>, ScriptFailure> {
        let mut kept = self.kept.lock().await;
        let before = kept.as_ref().map(|(_, registry)| Arc::clone(registry));
        let is_current = match &before {
            Some(registry) => self.scripts.is_current(registry).await.map_err(failure)?,
            None => false,
        };
        let registry = match before.filter(|_| is_current) {
            Some(registry) => registry,
            None => Arc::new(self.scripts.read_registry().await.map_err(failure)?),
        };
        *self.filling.lock().unwrap_or_else(PoisonError::into_inner) = Some(registry.filling());
        *kept = Some((Instant::now(), Arc::clone(&registry)));
        Ok(registry)
    }
}

fn shown(found: &Registered) -> ScriptVersion {
    ScriptVersion {
        name: found.script.name().to_owned(),
        version: found.version,
        is_read_only: found.is_read_only,
        digest: found.script.sha().to_owned(),
        body: found.script.body().to_owned(),
    }
}

fn failure(error: ScriptError) -> ScriptFailure {
    match error {
        ScriptError::Missing { name } => ScriptFailure::Missing(name),
        ScriptError::Failed { message, .. } => ScriptFailure::Failed(message),
        ScriptError::Unavailable { reason } => Failure::Unavailable { reason }.into(),
        ScriptError::Unknown { .. } => ScriptFailure::Unknown(error.to_string()),
        ScriptError::TimedOut { fate: Fate::Killed, .. } => ScriptFailure::Failed(error.to_string()),
        ScriptError::TimedOut { fate: Fate::NotBegun, .. } => {
            Failure::Unavailable { reason: error.to_string() }.into()
        }
        ScriptError::TimedOut { .. } => ScriptFailure::Unknown(error.to_string()),
        ScriptError::Full { .. } => ScriptFailure::Full(error.to_string()),
        ScriptError::Name { .. }
        | ScriptError::Size { .. }
        | ScriptError::CrossSlot { .. }
        | ScriptError::WrongShape { .. } => ScriptFailure::Invalid(error.to_string()),
    }
}

fn value_of(value: Value) -> ScriptValue {
    match value {
        Value::Nil => ScriptValue::Nothing,
        Value::Int(number) => ScriptValue::Integer(number),
        Value::BulkString(bytes) => ScriptValue::Bytes(bytes),
        Value::SimpleString(text) => ScriptValue::Status(text),
        Value::Okay => ScriptValue::Status("OK".to_owned()),
        Value::Array(values) | Value::Set(values) => {
            ScriptValue::List(values.into_iter().map(value_of).collect())
        }
        Value::Map(pairs) => ScriptValue::List(
            pairs.into_iter().flat_map(|(name, value)| [name, value]).map(value_of).collect(),
        ),
        Value::Boolean(is_so) => ScriptValue::Integer(is_so.into()),
        Value::Double(number) => ScriptValue::Bytes(number.to_string().into_bytes()),
        Value::ServerError(error) => {
            ScriptValue::Error(format!("{} {}", error.code(), error.details().unwrap_or_default()))
        }
        other => ScriptValue::Bytes(format!("{other:?}").into_bytes()),
    }
}
