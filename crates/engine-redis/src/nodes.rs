//! The servers of a deployment: who serves a slot, and connections to them. A few connections for each
//! server carry everything of this process; what blocks gets one of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, RedisConnectionInfo};
use scarce_engine::engine::Failure;

use super::RedisError;
use super::address::{Address, Endpoint, Login, Tls, Topology};
use super::failure::{advice, is_broken};
use super::routes::{self, Routes};
use super::script::NAMESPACE;
use super::server::{self, KEEPING_POLICY, ServerState};
use super::settings::RedisSettings;

/// The longest prefix: every key begins with it, and a file that remembers a deployment is named after it.
const PREFIX_BYTES_MAX: usize = 64;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a busy server may take until it listens: as long as its `busy-reply-threshold`.
const TELL_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer than what they wait for waits may take.
const WAIT_MARGIN: Duration = Duration::from_secs(1);

/// How much longer than it may take the answer to a script is waited for.
const SCRIPT_MARGIN: Duration = Duration::from_secs(60);

/// From when on a connection that was not used is asked whether its server still runs, before it is used. No server
/// restarts faster.
const IDLE_MS: u64 = 20;

/// What a connection is for; what takes long never stands before what is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Calls of the library.
    Calls,
    /// The log, and keys that are read one after the other.
    Reads,
    /// Waiting for replicas and the disk.
    Waits,
    /// Scripts of users: what they do to a connection, by their answers or by the time they take, nothing else notices.
    Scripts,
}

/// A connection to a server that was a primary when it was made.
#[derive(Debug)]
pub struct Node {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Who logged in there.
    pub user: String,
    /// What the server said of itself when the connection was made.
    pub state: ServerState,
    connection: MultiplexedConnection,
    is_broken: AtomicBool,
    made_at: Instant,
    /// When it was used last, in milliseconds since it was made.
    used_ms: AtomicU64,
}

impl Node {
    /// Takes it out of use if it has not been used for a while and its server ended meanwhile: what was sent on it
    /// then, nobody could say whether it had arrived.
    pub(super) async fn check_alive(&self) {
        let now_ms = u64::try_from(self.made_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let used_ms = self.used_ms.swap(now_ms, Ordering::Relaxed);
        if now_ms.saturating_sub(used_ms) < IDLE_MS || self.is_broken.load(Ordering::Relaxed) {
            return;
        }
        let answer: redis::RedisResult<redis::Value> =
            redis::cmd("TIME").query_async(&mut self.connection()).await;
        if answer.is_err_and(|error| is_broken(&error)) {
            self.retire();
        }
    }

    /// Whether it is in use no more.
    pub(super) fn is_retired(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// A handle to send by.
    #[must_use]
    pub fn connection(&self) -> MultiplexedConnection {
        self.connection.clone()
    }

    /// Takes it out of use; requests that were sent on it are still answered.
    pub fn retire(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }
}

/// The connection for one endpoint and traffic. It is locked while it is made, so that it is made once.
type ConnectionCell = Arc<tokio::sync::Mutex<CachedConnection>>;

/// A connection, if there is one.
#[derive(Debug, Default)]
struct CachedConnection {
    node: Option<Arc<Node>>,
    /// When making a connection failed last, and why: callers that waited for it need not retry.
    failed: Option<(Instant, Failure)>,
}

/// All servers.
#[derive(Debug)]
pub struct Nodes {
    /// Where they are, as it was set.
    pub address: Address,
    login: Login,
    tls: Tls,
    response_timeout: Duration,
    routes: Mutex<Routes>,
    cells: Mutex<BTreeMap<(Endpoint, Traffic), ConnectionCell>>,
}

impl Nodes {
    /// Servers to which nothing has been sent yet, and the ways in.
    ///
    /// # Errors
    /// When the address is invalid, or the prefix would put keys into other slots.
    pub fn of(settings: &RedisSettings) -> Result<Self, RedisError> {
        let RedisSettings { url, login, tls, prefix, response_timeout, .. } = settings;
        let address = Address::parse(url).ok_or_else(|| {
            let url = url.rsplit('@').next().unwrap_or_default().to_owned();
            RedisError::Url { url }
        })?;
        if prefix.len() > PREFIX_BYTES_MAX || prefix.contains(['{', '}', NAMESPACE]) {
            return Err(RedisError::Prefix { prefix: prefix.clone() });
        }
        if address.is_tls {
            // Another one may have been chosen before by the program.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let routes = Mutex::new(Routes::new(&address.topology));
        let (login, tls, response_timeout) = (login.clone(), tls.clone(), *response_timeout);
        Ok(Self { address, login, tls, response_timeout, routes, cells: Mutex::default() })
    }

    /// A connection to the server that serves a slot, over the one there is.
    ///
    /// # Errors
    /// When no server serves it, or the server cannot be reached or is not a primary.
    pub async fn of_slot(&self, slot: u16, traffic: Traffic) -> Result<Arc<Node>, Failure> {
        let endpoint = self.endpoint_of(slot).await?;
        match self.at(&endpoint, traffic).await {
            Ok(node) => Ok(node),
            Err(failure) => {
                // Another one may have taken over; who does not know yet is asked again with the next call.
                self.routes().forget(slot, &endpoint);
                let next = self.endpoint_of(slot).await.map_err(|_| failure.clone())?;
                if next == endpoint { Err(failure) } else { self.at(&next, traffic).await }
            }
        }
    }

    /// A connection to a server.
    ///
    /// # Errors
    /// When it cannot be reached or is no primary.
    pub async fn at(&self, endpoint: &Endpoint, traffic: Traffic) -> Result<Arc<Node>, Failure> {
        let key = (endpoint.clone(), traffic);
        let begun = Instant::now();
        let cell = Arc::clone(lock(&self.cells).entry(key).or_default());
        let mut cell = cell.lock().await;
        if let Some(node) = cell.node.as_ref().filter(|node| !node.is_broken.load(Ordering::Relaxed)) {
            return Ok(Arc::clone(node));
        }
        if let Some((_, failure)) = cell.failed.as_ref().filter(|(at, _)| *at >= begun) {
            return Err(failure.clone());
        }
        let before = std::mem::take(&mut *cell);
        let timeout = match traffic {
            // It waits for replicas and for the disk, one after the other.
            Traffic::Waits => 2 * self.response_timeout + WAIT_MARGIN,
            Traffic::Calls | Traffic::Reads => self.response_timeout,
            // Who waits for one has a bound of its own, and must know what became of it after that.
            Traffic::Scripts => self.response_timeout + SCRIPT_MARGIN,
        };
        match self.connect(endpoint, timeout).await {
            Ok(node) => {
                log_connected(endpoint, traffic, &before);
                let node = Arc::new(node);
                cell.node = Some(Arc::clone(&node));
                Ok(node)
            }
            Err(failure) => {
                if before.failed.is_none() {
                    tracing::warn!(server = %endpoint, ?traffic, reason = %failure, "no connection to Redis");
                }
                cell.failed = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }

    /// A connection of one's own to the server that serves a slot, for what blocks it as long as `blocked`.
    ///
    /// # Errors
    /// As [`Self::of_slot`].
    pub async fn own(&self, slot: u16, blocked: Duration) -> Result<Node, Failure> {
        let endpoint = self.endpoint_of(slot).await?;
        let made = self.connect(&endpoint, blocked + self.response_timeout).await;
        if made.is_err() {
            // Another one may have taken over; connections that are there do not show that.
            self.routes().forget(slot, &endpoint);
        }
        made
    }

    /// Notes who serves a slot from now on.
    pub fn note_moved(&self, slot: u16, endpoint: Endpoint) {
        self.routes().note_moved(slot, endpoint);
    }

    /// Notes that a server is a primary no more.
    pub fn note_demoted(&self, slot: u16, node: &Node) {
        node.retire();
        self.retire_all(&node.endpoint);
        self.routes().forget(slot, &node.endpoint);
    }

    /// Asks the sentinels whether another server has become the primary, and leaves the former one.
    pub async fn follow_sentinels(&self) {
        let Topology::Sentinel { service, .. } = &self.address.topology else { return };
        let Ok(found) = self.ask_sentinels(service).await else { return };
        let former = self.routes().note_primary(found.clone());
        if let Some(former) = former.filter(|former| *former != found) {
            self.retire_all(&former);
        }
    }

    /// The servers that serve slots, each once.
    ///
    /// # Errors
    /// When no server answers.
    pub async fn primaries(&self) -> Result<Vec<Endpoint>, Failure> {
        // Finding the server of one slot brings the whole map along.
        let first = self.endpoint_of(0).await?;
        let mut found = self.routes().primaries();
        if found.is_empty() {
            found.push(first);
        }
        Ok(found)
    }

    fn retire_all(&self, endpoint: &Endpoint) {
        lock(&self.cells).retain(|(its, _), cell| {
            if let (true, Ok(cell)) = (its == endpoint, cell.try_lock())
                && let Some(node) = cell.node.as_ref()
            {
                node.retire();
            }
            its != endpoint
        });
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        lock(&self.routes)
    }

    async fn endpoint_of(&self, slot: u16) -> Result<Endpoint, Failure> {
        if let Some(known) = self.routes().of(slot) {
            return Ok(known);
        }
        match &self.address.topology {
            Topology::Standalone(endpoint) => Ok(endpoint.clone()),
            Topology::Sentinel { service, .. } => {
                let found = self.ask_sentinels(service).await?;
                self.routes().note_primary(found.clone());
                Ok(found)
            }
            Topology::Cluster { .. } => self.ask_cluster(slot).await,
        }
    }

    async fn ask_sentinels(&self, service: &str) -> Result<Endpoint, Failure> {
        let mut told = Vec::new();
        let sentinels = self.routes().advisers();
        for sentinel in sentinels {
            match self.ask_sentinel(&sentinel, service).await {
                Ok((primary, others)) => {
                    self.routes().note_advisers(others);
                    return Ok(primary);
                }
                Err(reason) => told.push(format!("{sentinel}: {reason}")),
            }
        }
        let reason = format!("no sentinel names the primary of '{service}' ({})", told.join("; "));
        Err(Failure::Unavailable { reason })
    }

    async fn ask_sentinel(&self, at: &Endpoint, service: &str) -> Result<(Endpoint, Vec<Endpoint>), String> {
        let login = RedisConnectionInfo::default();
        let login = match &self.login.sentinel_password {
            Some(password) => login.set_password(password),
            None => login,
        };
        let mut connection =
            self.open(at, login, [CONNECT_TIMEOUT; 2]).await.map_err(|error| error.to_string())?;
        routes::ask_sentinel(&mut connection, service).await
    }

    async fn ask_cluster(&self, slot: u16) -> Result<Endpoint, Failure> {
        let mut told = Vec::new();
        let nodes = self.routes().advisers();
        for node in nodes {
            match self.ask_map(&node).await {
                Ok(map) => {
                    self.routes().note_map(map);
                    let known = self.routes().of(slot);
                    return known.ok_or_else(|| Failure::Unavailable {
                        reason: format!(
                            "no node of the cluster serves slot {slot}; see redis-cli --cluster check {node}"
                        ),
                    });
                }
                Err(reason) => told.push(format!("{node}: {reason}")),
            }
        }
        let reason = format!("no node of the cluster can be asked ({})", told.join("; "));
        Err(Failure::Unavailable { reason })
    }

    async fn ask_map(&self, at: &Endpoint) -> Result<routes::SlotMap, String> {
        let opened = self.open(at, self.credentials(), [CONNECT_TIMEOUT; 2]).await;
        let mut connection = opened.map_err(|error| error.to_string())?;
        routes::ask_slots(&mut connection, at).await
    }

    /// The user that logs in.
    fn user(&self) -> &str {
        self.login.user.as_deref().unwrap_or("default")
    }

    fn credentials(&self) -> RedisConnectionInfo {
        let mut info = RedisConnectionInfo::default().set_db(self.address.database);
        if let Some(user) = &self.login.user {
            info = info.set_username(user);
        }
        if let Some(password) = &self.login.password {
            info = info.set_password(password);
        }
        info
    }

    /// Asks a server over a connection that is made for it, also while it is busy with a script.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn tell(
        &self,
        endpoint: &Endpoint,
        ask: impl AsyncFnOnce(&mut MultiplexedConnection),
    ) -> redis::RedisResult<()> {
        // A busy server takes no words but the few that are needed, and listens after its own patience only.
        let login = self.credentials().set_db(0).set_skip_set_lib_name();
        let mut connection = self.open(endpoint, login, [TELL_TIMEOUT; 2]).await?;
        ask(&mut connection).await;
        Ok(())
    }

    /// Leaves servers that no longer sync as they did when they were connected to.
    pub async fn check_syncing(&self) {
        let cells: Vec<ConnectionCell> = lock(&self.cells).values().cloned().collect();
        for cell in cells {
            let node = cell.lock().await.node.clone();
            let Some(node) = node.filter(|node| node.state.answers_are_synced()) else { continue };
            if self.look(&node.endpoint).await.is_ok_and(|state| !state.answers_are_synced()) {
                node.retire();
            }
        }
    }

    /// Leaves servers that may drop keys by now, and uses them again when they may not. It is asked on connections that
    /// are there, in a few microseconds of the server's time.
    pub async fn check_eviction(&self) {
        let cells: Vec<ConnectionCell> = {
            let cells = lock(&self.cells);
            let asked = cells.iter().filter(|((_, traffic), _)| *traffic == Traffic::Calls);
            asked.map(|(_, cell)| Arc::clone(cell)).collect()
        };
        for cell in cells {
            let node = cell.try_lock().ok().and_then(|cell| cell.node.clone());
            let Some(node) = node.filter(|node| !node.is_retired()) else { continue };
            let Some(policy) = evicting(&node).await else { continue };
            tracing::error!(
                server = %node.endpoint,
                policy,
                "Redis may drop keys by now, and serves nothing until its maxmemory-policy is noeviction again"
            );
            self.retire_all(&node.endpoint);
        }
    }

    /// What a server says of itself, whether or not it can be used.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn look(&self, endpoint: &Endpoint) -> Result<ServerState, Failure> {
        self.greet(endpoint, CONNECT_TIMEOUT).await.map(|(_, state)| state)
    }

    async fn connect(&self, endpoint: &Endpoint, timeout: Duration) -> Result<Node, Failure> {
        let (connection, state) = self.greet(endpoint, timeout).await?;
        state.check_usable(endpoint)?;
        Ok(Node {
            endpoint: endpoint.clone(),
            user: self.user().to_owned(),
            state,
            connection,
            is_broken: AtomicBool::new(false),
            made_at: Instant::now(),
            used_ms: AtomicU64::new(0),
        })
    }

    /// Connects to a server, and asks what it is.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub(super) async fn greet(
        &self,
        endpoint: &Endpoint,
        timeout: Duration,
    ) -> Result<(MultiplexedConnection, ServerState), Failure> {
        let timeouts = [CONNECT_TIMEOUT, timeout];
        let mut connection = self.open(endpoint, self.credentials(), timeouts).await.map_err(|error| {
            let advice =
                if error.is_io_error() { "; is it running?".into() } else { advice(&error, self.user()) };
            let reason = format!("Redis at {endpoint} cannot be reached: {error}{advice}");
            Failure::Unavailable { reason }
        })?;
        let state = ServerState::ask(&mut connection, endpoint, self.user()).await?;
        Ok((connection, state))
    }

    async fn open(
        &self,
        endpoint: &Endpoint,
        login: RedisConnectionInfo,
        [connect_timeout, response_timeout]: [Duration; 2],
    ) -> redis::RedisResult<MultiplexedConnection> {
        let is_tls = self.address.is_tls;
        let info = endpoint.connection_address(is_tls).into_connection_info()?.set_redis_settings(login);
        let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let client = match is_tls {
            true => Client::build_with_tls(info, self.tls.clone().into())?,
            false => Client::open(info)?,
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(connect_timeout))
            .set_response_timeout(Some(response_timeout));
        client.get_multiplexed_async_connection_with_config(&config).await
    }
}

/// The policy by which a server drops keys, if it does.
async fn evicting(node: &Node) -> Option<String> {
    let info: String = redis::cmd("INFO").arg("memory").query_async(&mut node.connection()).await.ok()?;
    server::policy_of(&info).filter(|policy| *policy != KEEPING_POLICY).map(str::to_owned)
}

fn log_connected(endpoint: &Endpoint, traffic: Traffic, before: &CachedConnection) {
    match &before.failed {
        Some(_) => tracing::info!(server = %endpoint, ?traffic, "connected to Redis again"),
        None => tracing::debug!(server = %endpoint, ?traffic, "connected to Redis"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
