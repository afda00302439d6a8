//! Inspects the servers for the doctor. It changes no data; the library is loaded where it is missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, cmd};
use scarce_engine::scripts::ScriptFilling;

use super::address::Topology;
use super::caller::Caller;
use super::deployment::Found;
use super::library::{ClockSource, Library};
use super::nodes::Nodes;
use super::script::{filling_of, registry_key};
use super::server::ServerState;
use super::{RedisError, RedisSettings, deployment, wholeness};

/// How many times a server is asked for nothing, to see how long that takes.
const PINGS: usize = 32;

/// How many of the latest slow commands are looked at.
const SLOW_ENTRIES: usize = 128;

/// What is asked of a server's configuration.
const CONFIG: [&str; 10] = [
    "maxmemory",
    "maxmemory-policy",
    "appendonly",
    "appendfsync",
    "save",
    "timeout",
    "busy-reply-threshold",
    "lua-time-limit",
    "min-replicas-to-write",
    "cluster-require-full-coverage",
];

/// What is tried on behalf of the user, as `ACL DRYRUN` takes it.
const TRIED: [&[&str]; 6] = [
    &["FCALL", "f", "0"],
    &["EVALSHA", "0", "0"],
    &["FUNCTION", "LOAD", "x"],
    &["SCRIPT", "LOAD", "x"],
    &["TIME"],
    &["CONFIG", "GET", "save"],
];

/// A primary, as it was found.
#[derive(Clone, Debug)]
pub struct ServerReport {
    /// Where it is.
    pub address: String,
    /// What it says of itself.
    pub state: ServerState,
    /// Everything else that it says of itself, by the names of `INFO`.
    pub info: BTreeMap<String, String>,
    /// Its configuration; what it does not tell is missing.
    pub config: BTreeMap<String, String>,
    /// How long the latest slow commands took, in microseconds.
    pub slow_us: Vec<u64>,
    /// How long answers to nothing took, in microseconds, in order.
    pub pings_us: Vec<u64>,
    /// How far its clock is ahead of this machine's.
    pub clock_ahead_ms: i64,
    /// What its user may not do, of what the engine does.
    pub forbidden: Vec<String>,
    /// What it says of the cluster, by the names of `CLUSTER INFO`; nothing where it is in none.
    pub cluster: BTreeMap<String, String>,
}

/// A deployment, as it was found.
#[derive(Clone, Debug)]
pub struct DeploymentReport {
    /// Its number of partitions.
    pub partitions: u32,
    /// Its id; nothing where that is damaged.
    pub id: Option<String>,
    /// When it was created, in Unix milliseconds, where that was noted.
    pub created_at: Option<u64>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct InspectReport {
    /// Whether they are one server, watched by sentinels, or a cluster.
    pub topology: Topology,
    /// The primaries.
    pub servers: Vec<ServerReport>,
    /// The deployment, where there is one.
    pub deployment: Option<DeploymentReport>,
    /// What its partitions have lost, a sentence for each that has.
    pub damages: Vec<String>,
    /// How much is registered of scripts.
    pub scripts: ScriptFilling,
}

/// Looks at every primary.
///
/// # Errors
/// When the address is invalid, or a server cannot be reached.
pub fn inspect(settings: &RedisSettings) -> Result<InspectReport, RedisError> {
    let nodes = Arc::new(Nodes::of(settings)?);
    let topology = nodes.address.topology.clone();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RedisError::Threads)?;
    runtime.block_on(async {
        let (mut servers, mut deployment, mut scripts) = (Vec::new(), None, None);
        let key = deployment::key(&settings.prefix);
        let of_scripts = registry_key(&settings.prefix);
        for endpoint in nodes.primaries().await? {
            let (mut connection, state) = nodes.greet(&endpoint, settings.response_timeout).await?;
            // Asked of every server, for only one of a cluster has it.
            deployment = deployment.or(find(&mut connection, &key).await);
            scripts = scripts.or(ask(&mut connection, &["HGETALL", &of_scripts]).await);
            servers.push(look(connection, endpoint.to_string(), state).await);
        }
        let damages = match &deployment {
            Some(its) if its.partitions != settings.partitions => Vec::new(),
            _ => damages(settings, &nodes).await.unwrap_or_else(|error| vec![error.to_string()]),
        };
        let scripts = filling_of(&scripts.unwrap_or_default());
        Ok(InspectReport { topology, servers, deployment, damages, scripts })
    })
}

/// The deployment that a server has.
async fn find(connection: &mut MultiplexedConnection, key: &str) -> Option<DeploymentReport> {
    let fields = ["HMGET", key, "partitions", "deployment_id", "created_at"];
    let (partitions, id, created_at): (Option<u32>, _, _) = ask(connection, &fields).await?;
    partitions.map(|partitions| DeploymentReport { partitions, id, created_at })
}

/// What the partitions have lost.
async fn damages(settings: &RedisSettings, nodes: &Arc<Nodes>) -> Result<Vec<String>, RedisError> {
    let link = deployment::link(&settings.prefix, nodes);
    let id = match deployment::find(&link, &settings.prefix).await? {
        Found::Begun(id) => id,
        Found::Unfinished => return Ok(Vec::new()),
        Found::Nothing => {
            let leftover = wholeness::leftover(&settings.prefix, nodes).await?;
            let orphaned = |key| RedisError::Orphaned { prefix: settings.prefix.clone(), key };
            return Ok(leftover.map(orphaned).iter().map(ToString::to_string).collect());
        }
    };
    let script = match settings.script {
        Some(script) => script,
        None => deployment::script_kind(&link).await?,
    };
    let caller = Caller::new(&Library::new(ClockSource::Server), script);
    Ok(wholeness::damages(settings, nodes, &caller, &id).await?)
}

async fn look(mut connection: MultiplexedConnection, address: String, state: ServerState) -> ServerReport {
    let asked = &mut connection;
    let info: String = ask(asked, &["INFO"]).await.unwrap_or_default();
    let cluster: String = ask(asked, &["CLUSTER", "INFO"]).await.unwrap_or_default();
    let mut config = BTreeMap::new();
    for name in CONFIG {
        config.extend(
            ask::<BTreeMap<String, String>>(asked, &["CONFIG", "GET", name]).await.unwrap_or_default(),
        );
    }
    let slow_us = slow_commands(asked).await;
    let (pings_us, clock_ahead_ms) = (pings(asked).await, clock_ahead_ms(asked).await);
    let forbidden = forbidden(asked).await;
    let (info, cluster) = (fields(&info), fields(&cluster));
    ServerReport { address, state, info, config, slow_us, pings_us, clock_ahead_ms, forbidden, cluster }
}

/// Asks for something; what may not be asked is not known.
async fn ask<T: FromRedisValue>(connection: &mut MultiplexedConnection, words: &[&str]) -> Option<T> {
    let mut command = Cmd::new();
    command.arg(words);
    command.query_async(connection).await.ok()
}

fn fields(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.trim().split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

async fn slow_commands(connection: &mut MultiplexedConnection) -> Vec<u64> {
    let entries: Option<Vec<Vec<redis::Value>>> =
        ask(connection, &["SLOWLOG", "GET", &SLOW_ENTRIES.to_string()]).await;
    let took = |entry: Vec<redis::Value>| redis::from_redis_value(entry.into_iter().nth(2)?).ok();
    entries.unwrap_or_default().into_iter().filter_map(took).collect()
}

async fn pings(connection: &mut MultiplexedConnection) -> Vec<u64> {
    let mut took = Vec::new();
    for _ in 0..PINGS {
        let begun = Instant::now();
        if cmd("PING").query_async::<String>(connection).await.is_ok() {
            took.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
    }
    took.sort_unstable();
    took
}

async fn clock_ahead_ms(connection: &mut MultiplexedConnection) -> i64 {
    let Some((seconds, microseconds)) = ask::<(i64, i64)>(connection, &["TIME"]).await else { return 0 };
    let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis();
    seconds * 1_000 + microseconds / 1_000 - i64::try_from(here).unwrap_or(i64::MAX)
}

async fn forbidden(connection: &mut MultiplexedConnection) -> Vec<String> {
    let Some(user) = ask::<String>(connection, &["ACL", "WHOAMI"]).await else { return Vec::new() };
    let mut forbidden = Vec::new();
    for words in TRIED {
        let tried = [&["ACL", "DRYRUN", &user], words].concat();
        // Older servers, and users who may not try, say nothing that could be believed.
        if let Some(answer) = ask::<String>(connection, &tried).await.filter(|answer| answer != "OK") {
            let command = words[..words.len().min(2)].join(" ");
            forbidden.push(format!("{command}: {answer}"));
        }
    }
    forbidden
}
