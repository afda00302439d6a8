//! What is fixed when a deployment is created: its id, its number of partitions and its secret, in a hash of its
//! own; and what watches over that hash while the deployment is served.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use scarce_core::types::TimeMs;
use scarce_engine::engine::Failure;
use scarce_engine::random::{self, hex, unhex};

use super::RedisError;
use super::call::Beginning;
use super::caller::Caller;
use super::connection::{Link, Refused};
use super::keys::{self, Keys};
use super::nodes::{Nodes, Traffic};
use super::program::ScriptKind;
use super::records::{FORMAT_VERSION, MIRROR_OF};
use super::settings::RedisSettings;
use super::shared::SharedSettings;
use super::wholeness;

/// The field that says that all partitions were begun: one without keys has lost them.
const BEGUN: &str = "begun";

/// The field that says when it was created, by the server's clock; releases before this one did not write it.
const CREATED_AT: &str = "created_at";

/// The field that says when the youngest operation was made of those that came with a move; see `moved.rs`.
pub(super) const IDS_MOVED_AT: &str = "ids_moved_at";

/// The field that a hash has instead of an ID while a deployment is on its way here: which move it is.
pub(super) const ARRIVING: &str = "arriving";

/// The field that says then where it comes from.
pub(super) const ARRIVING_FROM: &str = "arriving_from";

/// Creates the hash with all of its fields at once and says when, or leaves the one that there is.
const CREATE: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
    local time = redis.call('TIME') \
    local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000)) \
    redis.call('HSET', KEYS[1], 'created_at', now, unpack(ARGV)) return now";

/// The hash in which it is kept.
pub(super) fn key(prefix: &str) -> String {
    format!("{prefix}deployment")
}

/// The way to it.
pub(super) fn link(prefix: &str, nodes: &Arc<Nodes>) -> Link {
    Link::new(Arc::clone(nodes), keys::slot(key(prefix).as_bytes()), Traffic::Reads)
}

/// What a deployment has for ever.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    /// Its id, in hexadecimal digits.
    pub(super) id: String,
    /// What keys the cuts of its red packets.
    pub(super) secret: [u8; 32],
    partitions: u32,
    /// When it was created, by the server's clock, where that was noted.
    pub(super) created_at: Option<TimeMs>,
    /// When the youngest operation was made of those that came with a move.
    pub(super) ids_moved_at: Option<TimeMs>,
    /// Whether it was created just now.
    pub(super) is_new: bool,
    /// What this start has changed of the settings that all servers have alike.
    pub(super) changed: Vec<String>,
    /// Whether all of its partitions were begun.
    is_begun: bool,
    /// Whether its partitions have an older format.
    is_older: bool,
}

impl Deployment {
    /// One that nobody else has.
    fn random(partitions: u32) -> Result<Self, RedisError> {
        Ok(Self {
            id: hex(&random::bytes::<16>().map_err(RedisError::Random)?),
            secret: random::bytes::<32>().map_err(RedisError::Random)?,
            partitions,
            created_at: None,
            ids_moved_at: None,
            is_new: true,
            changed: Vec::new(),
            is_begun: false,
            is_older: false,
        })
    }

    /// The fields of the hash.
    fn read(key: &str, fields: &BTreeMap<String, String>) -> Result<Self, RedisError> {
        if let Some(of) = fields.get(MIRROR_OF) {
            return Err(RedisError::Mirror { key: key.to_owned(), of: of.clone() });
        }
        if let Some(from) = fields.get(ARRIVING_FROM) {
            return Err(RedisError::Arriving { key: key.to_owned(), from: from.clone() });
        }
        let damaged = || RedisError::Damaged { key: key.to_owned() };
        let field = |name: &str| fields.get(name).ok_or_else(damaged);
        let number = |name: &str| field(name)?.parse::<u32>().map_err(|_| damaged());
        let found = number("format_version")?;
        if found > FORMAT_VERSION {
            return Err(RedisError::Newer { key: key.to_owned(), found, supported: FORMAT_VERSION });
        }
        let id: [u8; 16] = unhex(field("deployment_id")?).ok_or_else(damaged)?;
        Ok(Self {
            id: hex(&id),
            secret: unhex(field("secret")?).ok_or_else(damaged)?,
            partitions: number("partitions")?,
            created_at: fields.get(CREATED_AT).and_then(|text| text.parse().ok()),
            ids_moved_at: fields.get(IDS_MOVED_AT).and_then(|text| text.parse().ok()),
            is_new: false,
            changed: Vec::new(),
            is_begun: fields.contains_key(BEGUN),
            is_older: found < FORMAT_VERSION,
        })
    }

    /// Fails where it is not the one that is known.
    fn check_known(&self, settings: &RedisSettings) -> Result<(), RedisError> {
        match &settings.known {
            Some(known) if known.id != self.id => Err(RedisError::Other {
                prefix: settings.prefix.clone(),
                found: self.id.clone(),
                known: Box::new(known.clone()),
            }),
            _ => Ok(()),
        }
    }

    /// The fields that never change.
    fn fixed(&self) -> [(&'static str, String); 4] {
        [
            ("format_version", FORMAT_VERSION.to_string()),
            ("partitions", self.partitions.to_string()),
            ("deployment_id", self.id.clone()),
            ("secret", hex(&self.secret)),
        ]
    }

    /// What a start may do to partitions that do not say that they are of this deployment.
    pub(super) fn beginning(&self) -> Beginning {
        Beginning { adopts: self.is_older, creates: !self.is_begun }
    }
}

/// Loads the deployment behind a prefix, or creates it where nothing is left of another one; and begins its partitions.
///
/// # Errors
/// When a server cannot be asked, or the deployment is another, damaged or of a newer format.
pub(super) async fn open(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    caller: &Caller,
) -> Result<Deployment, RedisError> {
    if settings.partitions == 0 {
        return Err(RedisError::NoPartition);
    }
    let (link, key) = (link(&settings.prefix, nodes), key(&settings.prefix));
    let mut deployment = match load(&link, &key).await? {
        Some(found) => {
            // It cannot be asked who else serves it: what is known of that may be older than they are.
            if settings.clock.is_none() {
                tokio::time::sleep(settings.start_wait).await;
            }
            found
        }
        None => create(settings, nodes, (&link, &key)).await?,
    };
    deployment.check_known(settings)?;
    if deployment.partitions != settings.partitions {
        let (found, wanted) = (deployment.partitions, settings.partitions);
        return Err(RedisError::Partitions { key, found, wanted });
    }
    let Beginning { adopts, creates } = deployment.beginning();
    if adopts || creates {
        wholeness::begin_all(settings, nodes, caller, &deployment).await?;
        let mut set = redis::cmd("HSET");
        set.arg(&key).arg("format_version").arg(FORMAT_VERSION).arg(BEGUN).arg(1);
        let _count: u64 = ask(&link, &set).await?;
    }
    deployment.changed = SharedSettings::of(settings).agree(&link, &key, settings.accepts_settings).await?;
    Ok(deployment)
}

async fn load(link: &Link, key: &str) -> Result<Option<Deployment>, RedisError> {
    let fields: BTreeMap<String, String> = match link.send(redis::cmd("HGETALL").arg(key)).await {
        Err(refused) if refused.is_of_type() => return Err(RedisError::Damaged { key: key.to_owned() }),
        found => found.map_err(Failure::from)?,
    };
    if fields.is_empty() { Ok(None) } else { Deployment::read(key, &fields).map(Some) }
}

/// Creates it, unless another server is faster: then its deployment is taken.
async fn create(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    (link, key): (&Link, &str),
) -> Result<Deployment, RedisError> {
    let leftover = wholeness::leftover(&settings.prefix, nodes).await?;
    // What was found may be of a deployment that was created since.
    if let Some(found) = load(link, key).await? {
        return Ok(found);
    }
    if let Some(key) = leftover {
        return Err(RedisError::Orphaned { prefix: settings.prefix.clone(), key });
    }
    if let Some(known) = &settings.known {
        return Err(RedisError::Absent { prefix: settings.prefix.clone(), known: Box::new(known.clone()) });
    }
    let made = Deployment::random(settings.partitions)?;
    let mut create = redis::cmd("EVAL");
    create.arg(CREATE).arg(1).arg(key);
    for (name, value) in made.fixed() {
        create.arg(name).arg(value);
    }
    let created_at: Option<TimeMs> = ask(link, &create).await?;
    if created_at.is_some() {
        return Ok(Deployment { created_at, ..made });
    }
    load(link, key).await?.ok_or_else(|| RedisError::Damaged { key: key.to_owned() })
}

/// What is behind a prefix, for the doctor.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A deployment whose partitions are not all begun, or of an older format.
    Unfinished,
    /// A deployment, by its id.
    Begun(String),
}

/// Looks what is there.
///
/// # Errors
/// When a server cannot be asked, or what is there is damaged or of a newer format.
pub(super) async fn find(link: &Link, prefix: &str) -> Result<Found, RedisError> {
    Ok(match load(link, &key(prefix)).await? {
        None => Found::Nothing,
        Some(found) if found.is_begun && !found.is_older => Found::Begun(found.id),
        Some(_) => Found::Unfinished,
    })
}

/// Watches the hash of a deployment that is served.
#[derive(Debug)]
pub(super) struct DeploymentGuard {
    prefix: String,
    deployment: Deployment,
    shared: SharedSettings,
    link: Link,
    /// Why nothing may be served.
    lost: Mutex<Option<Failure>>,
}

impl DeploymentGuard {
    pub(super) fn new(settings: &RedisSettings, nodes: &Arc<Nodes>, deployment: Deployment) -> Self {
        let link = link(&settings.prefix, nodes);
        let shared = SharedSettings::of(settings);
        Self { prefix: settings.prefix.clone(), deployment, shared, link, lost: Mutex::default() }
    }

    /// Fails where the hash was another one when it was looked at last.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    /// Looks at the hash. Fields that are gone are put back, because this server knows them, and no start could do
    /// without; another deployment's are not touched.
    pub(super) async fn look(&self) {
        let fields = match self.fields().await {
            Ok(fields) => fields,
            Err(refused) if refused.is_of_type() => {
                return self.note(Some(self.damage("it is no hash any more")));
            }
            // A server that does not answer is noticed by the partitions.
            Err(_) => return,
        };
        let wanted = self.deployment.fixed();
        let differs = wanted.iter().find_map(|(name, value)| {
            let found = fields.get(*name).filter(|found| *found != value)?;
            Some(format!(
                "its {name} is another one ({})",
                if *name == "secret" { "not shown" } else { found }
            ))
        });
        let is_changed = differs.is_some();
        self.note(differs.map(|what| self.damage(&what)).or_else(|| self.shared.difference(&fields)));
        let is_short = !wanted.iter().all(|(name, _)| fields.contains_key(*name))
            || !fields.contains_key(BEGUN)
            || (self.deployment.ids_moved_at.is_some() && !fields.contains_key(IDS_MOVED_AT))
            || self.shared.is_short(&fields);
        if is_short && !is_changed && self.owns_partitions().await {
            self.put_back(&key(&self.prefix)).await;
        }
    }

    /// Notes why nothing may be served, if there is anything.
    fn note(&self, reason: Option<String>) {
        let lost = reason.map(|reason| Failure::Unavailable { reason });
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = lost;
    }

    /// What is said where the hash is another one.
    fn damage(&self, what: &str) -> String {
        format!(
            "the deployment is damaged and nothing is served, because the key {} was changed while it was used: {what}; restore Redis' data from a copy and it is served again, or start anew under another redis_prefix",
            key(&self.prefix)
        )
    }

    async fn fields(&self) -> Result<BTreeMap<String, String>, Refused> {
        self.link.send(redis::cmd("HGETALL").arg(key(&self.prefix))).await
    }

    /// Whether all partitions are there and say that they are of this deployment.
    async fn owns_partitions(&self) -> bool {
        for number in 0..self.deployment.partitions {
            let keys = Keys::new(&self.prefix, number, self.deployment.partitions);
            let link = Link::new(Arc::clone(&self.link.nodes), keys.slot(), Traffic::Reads);
            let mut get = redis::cmd("HGET");
            get.arg(keys.of("meta")).arg("deployment");
            let found = link.send::<Option<String>>(&get).await;
            if !matches!(found, Ok(Some(id)) if id == self.deployment.id) {
                return false;
            }
        }
        true
    }

    async fn put_back(&self, key: &str) {
        let begun = (BEGUN, "1".to_owned());
        let created_at = self.deployment.created_at.map(|at| (CREATED_AT, at.to_string()));
        let ids_moved_at = self.deployment.ids_moved_at.map(|at| (IDS_MOVED_AT, at.to_string()));
        let known = [begun].into_iter().chain(created_at).chain(ids_moved_at);
        for (name, value) in self.deployment.fixed().into_iter().chain(known).chain(self.shared.fields()) {
            let mut set = redis::cmd("HSETNX");
            set.arg(key).arg(name).arg(value);
            if self.link.send::<bool>(&set).await.is_err() {
                return;
            }
        }
        tracing::warn!(
            key,
            "fields of the deployment were gone, and were put back; find out who deleted them"
        );
    }
}

async fn ask<T: redis::FromRedisValue>(link: &Link, command: &redis::Cmd) -> Result<T, RedisError> {
    Ok(link.send(command).await.map_err(Failure::from)?)
}

/// Functions where the server has them.
pub(super) async fn script_kind(link: &Link) -> Result<ScriptKind, RedisError> {
    let mut list = redis::cmd("FUNCTION");
    list.arg("STATS");
    match link.send::<redis::Value>(&list).await {
        Ok(_) => Ok(ScriptKind::Functions),
        Err(Refused::ByServer { .. }) => Ok(ScriptKind::Evalsha),
        Err(refused) => Err(Failure::from(refused).into()),
    }
}
