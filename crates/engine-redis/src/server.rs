//! What a server says of itself.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use redis::aio::ConnectionLike;
use redis::{RedisResult, cmd};
use scarce_core::outcome::Durability;
use scarce_engine::Throttle;
use scarce_engine::engine::Failure;

use super::RedisError;
use super::address::{Endpoint, Topology};
use super::failure::advice;
use super::nodes::Nodes;

/// The oldest version that is used.
pub const VERSION_MIN: [u32; 2] = [6, 2];

/// How often a start looks whether a server has loaded its data, and how often it says that it waits.
const LOADING_LOOK_EVERY: Duration = Duration::from_millis(200);
const LOADING_TOLD_EVERY: Duration = Duration::from_secs(10);

/// How long a start waits for the nodes of a cluster to agree that one is there again.
const CLUSTER_PATIENCE: Duration = Duration::from_secs(30);

/// The first version that has Functions.
const FUNCTIONS_VERSION: [u32; 2] = [7, 0];

/// The first version that can be asked to wait for its disk.
const WAITAOF_VERSION: [u32; 2] = [7, 2];

/// The policy of a server that drops no keys.
pub(super) const KEEPING_POLICY: &str = "noeviction";

/// When a change gets to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before it is answered.
    Always,
    /// Within a second or two.
    EverySecond,
    /// When the system likes.
    Never,
}

/// What a server said when a connection to it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Which run of the server it is: another one after each restart.
    pub run_id: String,
    /// Redis' or Valkey's version, as `[major, minor]`.
    pub version: [u32; 2],
    /// `master` or `slave`.
    pub role: String,
    /// Whether it still reads its data from disk.
    pub is_loading: bool,
    /// When what it appends to its file gets to disk; nothing where it keeps no such file.
    pub sync: Option<SyncPolicy>,
    /// Whether its keys may move to other servers, as on a cluster.
    pub moves_keys: bool,
    /// How many replicas follow it.
    pub replicas: u32,
    /// What it does when its memory is full; nothing where it does not say.
    pub eviction: Option<String>,
}

impl ServerState {
    /// Asks a server, as a user.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn ask(
        connection: &mut impl ConnectionLike,
        at: &Endpoint,
        user: &str,
    ) -> Result<Self, Failure> {
        let info: String = cmd("INFO").query_async(connection).await.map_err(|error| {
            let advice = advice(&error, user);
            let reason = format!("Redis at {at} does not say what it is: {error}{advice}");
            Failure::Unavailable { reason }
        })?;
        // Who is not allowed to ask, or is asked for what it does not have, is believed to be as it should.
        let pauses = setting(connection, "no-appendfsync-on-rewrite").await.as_deref() == Some("yes");
        let policy = match setting(connection, "appendfsync").await.as_deref() {
            Some("always") if !pauses => SyncPolicy::Always,
            Some("no") => SyncPolicy::Never,
            _ => SyncPolicy::EverySecond,
        };
        let mut state = Self::read(&info, policy);
        if state.eviction.is_none() {
            state.eviction = setting(connection, "maxmemory-policy").await;
        }
        Ok(state)
    }

    fn read(info: &str, policy: SyncPolicy) -> Self {
        let fields: BTreeMap<&str, &str> =
            info.lines().filter_map(|line| line.trim().split_once(':')).collect();
        let text = |name: &str| fields.get(name).map(|value| (*value).to_owned());
        let version = text("valkey_version").or_else(|| text("redis_version")).unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let has_append_only_file = fields.get("aof_enabled") == Some(&"1");
        Self {
            run_id: text("run_id").unwrap_or_default(),
            version: [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)],
            role: text("role").unwrap_or_else(|| "master".to_owned()),
            is_loading: fields.get("loading") == Some(&"1"),
            sync: has_append_only_file.then_some(policy),
            moves_keys: fields.get("cluster_enabled") != Some(&"0"),
            replicas: fields.get("connected_slaves").and_then(|count| count.parse().ok()).unwrap_or(0),
            eviction: policy_of(info).map(str::to_owned),
        }
    }

    /// Whether it may be written to.
    ///
    /// # Errors
    /// When it is a replica, still loading, or may drop keys.
    pub fn check_usable(&self, at: &Endpoint) -> Result<(), Failure> {
        let refused = |what: &str| Err(Failure::Unavailable { reason: format!("Redis at {at} {what}") });
        if self.is_loading {
            return refused("is loading its data; it is used as soon as it is done");
        }
        if self.role != "master" {
            return refused(
                "is a replica; name the primary, or its sentinels, in redis_url, or mirror for a mirror",
            );
        }
        match self.eviction.as_deref() {
            None | Some(KEEPING_POLICY) => Ok(()),
            Some(policy) => refused(&eviction_refused(policy)),
        }
    }

    /// What it lacks to give a level, and what to do.
    #[must_use]
    pub fn lack(&self, level: Durability, replicas: u32) -> Option<String> {
        match level {
            Durability::Replicated if self.replicas < replicas => Some(format!(
                "is followed by {} replicas where redis_replicas asks for {replicas}; add some, or ask for fewer",
                self.replicas
            )),
            Durability::Synced => match self.sync {
                Some(SyncPolicy::Always) => None,
                Some(SyncPolicy::EverySecond) if self.has_waitaof() => None,
                Some(SyncPolicy::EverySecond) => Some(format!("syncs once a second; {SYNC_ADVICE}")),
                Some(SyncPolicy::Never) => Some(format!("leaves syncing to the system; {SYNC_ADVICE}")),
                None => Some("keeps no append-only file; set appendonly yes".to_owned()),
            },
            Durability::Memory | Durability::Replicated => None,
        }
    }

    /// Whether it has Functions. One that does not say its version is believed to be as the others.
    #[must_use]
    pub(super) fn has_functions(&self) -> bool {
        self.version == [0, 0] || self.version >= FUNCTIONS_VERSION
    }

    /// Whether an answer alone says that the change is on disk. Who can be asked is asked.
    pub(super) fn answers_are_synced(&self) -> bool {
        self.sync == Some(SyncPolicy::Always) && !self.has_waitaof()
    }

    /// Whether `WAITAOF` is there, which waits until a change is on disk.
    fn has_waitaof(&self) -> bool {
        self.version >= WAITAOF_VERSION
    }
}

/// What to do about a server that does not sync soon enough.
const SYNC_ADVICE: &str = "set appendfsync always, or everysec with Redis 7.2 or newer";

/// What is wrong with a server that drops keys, and what to do.
pub(super) fn eviction_refused(policy: &str) -> String {
    format!("may drop keys (maxmemory-policy {policy}), and would lose money and stock; set it to noeviction")
}

/// What a server says that it does when its memory is full, in `INFO`.
pub(super) fn policy_of(info: &str) -> Option<&str> {
    info.lines().find_map(|line| line.trim().strip_prefix("maxmemory_policy:"))
}

async fn setting(connection: &mut impl ConnectionLike, name: &str) -> Option<String> {
    let mut get = cmd("CONFIG");
    get.arg("GET").arg(name);
    let found: BTreeMap<String, String> = get.query_async(connection).await.unwrap_or_default();
    found.get(name).cloned()
}

/// What a server says of itself once it has read its data, which may take minutes after a restart.
async fn loaded(nodes: &Nodes, endpoint: &Endpoint) -> Result<ServerState, Failure> {
    let mut told = Throttle::new(LOADING_TOLD_EVERY);
    loop {
        let state = nodes.look(endpoint).await?;
        if !state.is_loading {
            return Ok(state);
        }
        if told.pass() {
            tracing::info!(server = %endpoint, "Redis is loading its data; the start goes on when it is done");
        }
        tokio::time::sleep(LOADING_LOOK_EVERY).await;
    }
}

/// Waits until every primary takes part in its cluster, all of them at one time: one that has just loaded its data does
/// so after a moment, and the others refuse what they serve until they have taken it back. One that does not is told by
/// whatever it is asked next.
async fn joined(nodes: &Nodes, primaries: &[Endpoint]) -> Result<(), Failure> {
    if !matches!(nodes.address.topology, Topology::Cluster { .. }) {
        return Ok(());
    }
    let (begun, mut told) = (Instant::now(), Throttle::new(LOADING_TOLD_EVERY));
    while let Some(endpoint) = outside(nodes, primaries).await? {
        if begun.elapsed() > CLUSTER_PATIENCE {
            break;
        }
        if told.pass() {
            tracing::info!(server = %endpoint, "Redis does not take part in its cluster yet; the start waits for it");
        }
        tokio::time::sleep(LOADING_LOOK_EVERY).await;
    }
    Ok(())
}

/// The first primary that says that its cluster is down.
async fn outside<'a>(nodes: &Nodes, primaries: &'a [Endpoint]) -> Result<Option<&'a Endpoint>, Failure> {
    for endpoint in primaries {
        let (mut connection, _) = nodes.greet(endpoint, CLUSTER_PATIENCE).await?;
        let state: RedisResult<String> = cmd("CLUSTER").arg("INFO").query_async(&mut connection).await;
        if state.is_ok_and(|state| state.contains("cluster_state:fail")) {
            return Ok(Some(endpoint));
        }
    }
    Ok(None)
}

/// Asks every primary whether it can give what is promised. Gives what should be known of those that can.
///
/// # Errors
/// When one cannot be reached or used, or lacks something.
pub(super) async fn check_all(
    nodes: &Nodes,
    level: Durability,
    replicas: u32,
) -> Result<Vec<String>, RedisError> {
    let primaries = nodes.primaries().await?;
    let mut states = Vec::with_capacity(primaries.len());
    for endpoint in &primaries {
        states.push(loaded(nodes, endpoint).await?);
    }
    joined(nodes, &primaries).await?;
    let mut warnings = Vec::new();
    for (endpoint, state) in primaries.iter().zip(states) {
        let at = endpoint.to_string();
        if state.version < VERSION_MIN {
            let [major, minor] = state.version;
            return Err(RedisError::Version { at, version: format!("{major}.{minor}") });
        }
        if state.sync.is_none() {
            warnings.push(format!(
                "Redis at {at} keeps no append-only file: a restart loses what came after its last snapshot, if it makes any"
            ));
        }
        if let Some(policy) = state.eviction.clone().filter(|policy| policy != KEEPING_POLICY) {
            return Err(RedisError::Evicts { at, policy });
        }
        if let Some(lack) = state.lack(level, replicas) {
            return Err(RedisError::Durability { level: level.word(), at, lack });
        }
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.1.0\r\nrun_id:abc\r\n\
                        loading:0\r\naof_enabled:1\r\nrole:slave\r\nconnected_slaves:1\r\n\
                        maxmemory_policy:noeviction\r\n";

    fn refusal(state: &ServerState) -> String {
        let at = Endpoint::Tcp("host".to_owned(), 1);
        state.check_usable(&at).expect_err("it must not be used").to_string()
    }

    #[test]
    fn what_a_server_says_is_read() {
        let mut state = ServerState::read(INFO, SyncPolicy::Always);
        assert_eq!(state.eviction.as_deref(), Some("noeviction"));
        assert_eq!((state.version, state.run_id.as_str(), state.replicas), ([8, 1], "abc", 1));
        assert_eq!(state.sync, Some(SyncPolicy::Always));
        assert!(refusal(&state).contains("host:1 is a replica"));
        state.role = "master".to_owned();
        state.eviction = Some("allkeys-lru".to_owned());
        assert!(refusal(&state).contains("allkeys-lru"));
        assert_eq!(ServerState::read("aof_enabled:0", SyncPolicy::Always).sync, None);
        assert!(state.moves_keys, "who does not say it may be a cluster");
        assert!(!ServerState::read("cluster_enabled:0", SyncPolicy::Always).moves_keys);
    }

    #[test]
    fn a_server_without_functions_is_known_by_its_version() {
        let mut state = ServerState::read(INFO, SyncPolicy::Always);
        let has = [[6, 2], [7, 0], [8, 1], [0, 0]].map(|version| {
            state.version = version;
            state.has_functions()
        });
        assert_eq!(has, [false, true, true, true]);
    }

    #[test]
    fn what_a_level_needs_is_named() {
        let mut state = ServerState::read(INFO, SyncPolicy::EverySecond);
        let lacks = |state: &ServerState| Durability::ALL.map(|level| state.lack(level, 1).is_some());
        assert_eq!(lacks(&state), [false, false, false], "WAITAOF is there");
        state.version = [7, 0];
        state.replicas = 0;
        assert_eq!(lacks(&state), [false, true, true]);
        state.sync = Some(SyncPolicy::Always);
        assert_eq!(lacks(&state), [false, true, false]);
    }
}
