//! The Redis engine: the state machine as a library of Lua inside Redis or Valkey, and its log as a stream.
//!
//! ```text
//! requests → lane: joins what waits → one call: known? due? decide, apply, write, log → answers
//!                                     (scripts/machine.lua, in one slot, all or nothing)
//! EVENTS   → reader: the stream       DIGEST → image: the keys
//! ```
//!
//! The rules are those of `scarce_core`, file by file and function by function; `scripts/README.md` says
//! how they are written there.

pub mod address;
pub mod call;
pub mod caller;
pub mod connection;
mod deployment;
pub mod failure;
pub mod image;
pub mod inspect;
pub mod keys;
mod lane;
pub mod library;
pub mod log;
pub mod nodes;
mod program;
mod reader;
mod receipt;
pub mod routes;
pub mod script;
pub mod server;
mod settle;
mod sweep;
pub mod values;
mod waits;

use std::future::Future;
use std::sync::{Arc, Weak, mpsc};
use std::time::Duration;

use scarce_core::event::Entry;
use scarce_core::outcome::Durability;
use scarce_core::state;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Sender;

use crate::clock::ManualClock;
use crate::engine::{Engine, Failure, Reply, Request, Watch};
use crate::metrics::PartitionMetrics;

use address::{Address, Login, Tls, Topology};
use caller::Caller;
use connection::Link;
use keys::Keys;
use lane::{Lane, Mail, Shared};
use library::{ClockSource, Library};
use nodes::{Nodes, Traffic};
pub use program::ScriptKind;
use reader::Watchers;
use sweep::Sweeper;
use waits::{Waits, Wanted};

/// How often sentinels are asked for the primary.
const SENTINEL_INTERVAL: Duration = Duration::from_millis(500);

/// How much one step does at most by default: while it does, nobody else is served, and a step should not take
/// longer than a millisecond.
const STEP_MAX: usize = 32;

/// How many packets one step lays ready by default.
const PACKETS_PER_STEP_MAX: usize = 250;

/// How often servers that sync before they answer are asked whether they still do.
const SYNCING_INTERVAL: Duration = Duration::from_secs(1);

/// How long an engine that stops waits for its lanes to answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// The address is none.
    #[error("'{url}' is no address of a Redis; it must be {}", address::SHAPE)]
    Url {
        /// What was given, without what may be a password.
        url: String,
    },
    /// The server cannot be reached, or refuses.
    #[error(transparent)]
    Server(#[from] Failure),
    /// Braces in a prefix would stand before those of the partitions.
    #[error("the prefix '{prefix}' has braces in it, which say where a key belongs; choose one without")]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// The number of partitions is fixed.
    #[error(
        "{key} was created with {found} partitions, and {wanted} are asked for; the number is fixed when a deployment is created, so set it back to {found}"
    )]
    Partitions {
        /// The key.
        key: String,
        /// What it was created with.
        found: u32,
        /// What was asked for.
        wanted: u32,
    },
    /// There must be at least one partition.
    #[error("a deployment needs at least one partition; set the number to 1 or more")]
    NoPartition,
    /// The deployment's hash is not one of ours.
    #[error("the key {key} is damaged; restore it from a copy, or choose another prefix")]
    Damaged {
        /// The key.
        key: String,
    },
    /// The keys were written by a newer release.
    #[error(
        "{key} has format version {found}, and this release reads up to {supported}; start the newer release that wrote it"
    )]
    Newer {
        /// The key.
        key: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// The server drops keys when its memory is full.
    #[error("Redis at {at} {}", server::eviction_refused(policy))]
    Evicts {
        /// Which server.
        at: String,
        /// Its policy.
        policy: String,
    },
    /// The server is too old.
    #[error("Redis at {at} is of version {version}; use 6.2 or newer, or Valkey")]
    Version {
        /// Which server.
        at: String,
        /// Its version.
        version: String,
    },
    /// A server cannot give what is promised.
    #[error("redis_durability is {level}, but Redis at {at} {lack}")]
    Durability {
        /// The level's word.
        level: &'static str,
        /// Which server.
        at: String,
        /// What it lacks, and what to do.
        lack: String,
    },
    /// No randomness for the secret.
    #[error("no random bytes for the deployment's secret; start again once the system has some")]
    Random(#[source] std::io::Error),
    /// A thread could not be started.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
}

/// What may be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the servers are, in one of the forms of [`address::SHAPE`].
    pub url: String,
    /// How one logs in there.
    pub login: Login,
    /// What encrypted connections are checked with.
    pub tls: Tls,
    /// What all keys of the deployment begin with.
    pub prefix: String,
    /// How many partitions; fixed when the deployment is created.
    pub partitions: u32,
    /// What outcomes depend on.
    pub state: state::Settings,
    /// How the library is called; by default as Functions where the server has them.
    pub script: Option<ScriptKind>,
    /// How safe a change must be before it is answered, where a command does not say itself.
    pub durability: Durability,
    /// How many replicas must have what is to be replicated.
    pub replicas: u32,
    /// How long an answer is waited for before it counts as unknown; so long are replicas and disk, too.
    pub response_timeout: Duration,
    /// How many batches may wait for a partition.
    pub inbox_batches_max: usize,
    /// A clock that stands still until it is set, for tests; otherwise the server's.
    pub clock: Option<ManualClock>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1:6379".to_owned(),
            login: Login::default(),
            tls: Tls::default(),
            prefix: "scarce:".to_owned(),
            partitions: 64,
            state: default_state(),
            script: None,
            durability: Durability::Memory,
            replicas: 1,
            response_timeout: Duration::from_secs(5),
            inbox_batches_max: 1_024,
            clock: None,
        }
    }
}

/// What outcomes depend on, by default: as elsewhere, but that steps are shorter.
#[must_use]
pub fn default_state() -> state::Settings {
    state::Settings {
        step_max: STEP_MAX,
        packets_per_step_max: PACKETS_PER_STEP_MAX,
        ..state::Settings::default()
    }
}

struct Partition {
    keys: Keys,
    inbox: Sender<Mail>,
    shared: Arc<Shared>,
    watchers: Arc<Watchers>,
}

/// The engine.
pub struct RedisEngine {
    settings: Settings,
    secret: [u8; 32],
    nodes: Arc<Nodes>,
    waits: Arc<Waits>,
    /// What was found at the start and should be known.
    pub warnings: Vec<String>,
    partitions: Vec<Partition>,
    runtime: Option<Runtime>,
    lanes_ended: crossbeam_channel::Receiver<()>,
}

impl RedisEngine {
    /// Connects to the server and loads or creates the deployment.
    ///
    /// # Errors
    /// When the server cannot be reached or must not be used, or the deployment is another.
    pub fn open(settings: Settings) -> Result<Self, RedisError> {
        let address = Address::parse(&settings.url).ok_or_else(|| {
            let url = settings.url.rsplit('@').next().unwrap_or_default().to_owned();
            RedisError::Url { url }
        })?;
        if settings.prefix.contains(['{', '}']) {
            return Err(RedisError::Prefix { prefix: settings.prefix });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("scarce-redis")
            .enable_all()
            .build()
            .map_err(RedisError::Threads)?;
        let (login, tls) = (settings.login.clone(), settings.tls.clone());
        let nodes = Arc::new(Nodes::new(address, login, tls, settings.response_timeout));
        let slot = keys::slot(deployment::key(&settings.prefix).as_bytes());
        let link = Link::new(Arc::clone(&nodes), slot, Traffic::Reads);
        let (warnings, secret, script) = runtime.block_on(async {
            let warnings = server::check_all(&nodes, settings.durability, settings.replicas).await?;
            let secret = deployment::load_or_create(&link, &settings.prefix, settings.partitions).await?;
            let script = match settings.script {
                Some(script) => script,
                None => deployment::script_kind(&link).await?,
            };
            Ok::<_, RedisError>((warnings, secret, script))
        })?;
        let mut engine = Self::start(settings, script, secret, nodes, runtime);
        engine.warnings = warnings;
        Ok(engine)
    }

    fn start(
        settings: Settings,
        script: ScriptKind,
        secret: [u8; 32],
        nodes: Arc<Nodes>,
        runtime: Runtime,
    ) -> Self {
        let source = if settings.clock.is_some() { ClockSource::Call } else { ClockSource::Server };
        let caller = Caller::new(&Library::new(source), script);
        let waits = Arc::new(Waits::new(Arc::clone(&nodes), settings.replicas, settings.response_timeout));
        let (ended, lanes_ended) = crossbeam_channel::bounded(0);
        let partitions = (0..settings.partitions).map(|partition| {
            let keys = Keys::new(&settings.prefix, partition, settings.partitions);
            let shared = Arc::new(Shared::default());
            let lane = Lane {
                partition,
                keys: keys.clone(),
                settings: settings.state.clone(),
                clock: settings.clock.clone(),
                link: Link::new(Arc::clone(&nodes), keys.slot(), Traffic::Calls),
                reading: Link::new(Arc::clone(&nodes), keys.slot(), Traffic::Reads),
                caller: caller.clone(),
                durability: settings.durability,
                waits: Arc::clone(&waits),
                is_full: false,
                shared: Arc::clone(&shared),
            };
            let (inbox, outlet) = tokio::sync::mpsc::channel(settings.inbox_batches_max.max(1));
            let ended = ended.clone();
            runtime.spawn(async move {
                lane.run(outlet).await;
                drop(ended);
            });
            if settings.clock.is_none() {
                let sweeper = Sweeper {
                    link: Link::new(Arc::clone(&nodes), keys.slot(), Traffic::Reads),
                    keys: keys.clone(),
                    settings: settings.state.clone(),
                    shared: Arc::clone(&shared),
                    inbox: inbox.downgrade(),
                };
                runtime.spawn(sweeper.run());
            }
            Partition { keys, inbox, shared, watchers: Arc::new(Watchers::default()) }
        });
        let partitions = partitions.collect();
        runtime.spawn(check_syncing(Arc::downgrade(&nodes)));
        if matches!(nodes.address.topology, Topology::Sentinel { .. }) {
            runtime.spawn(follow_sentinels(Arc::downgrade(&nodes)));
        }
        Self {
            settings,
            secret,
            nodes,
            waits,
            warnings: Vec::new(),
            partitions,
            runtime: Some(runtime),
            lanes_ended,
        }
    }

    fn partition(&self, partition: u32) -> Result<&Partition, Failure> {
        self.partitions.get(partition as usize).ok_or_else(|| Failure::Unavailable {
            reason: format!("there is no partition {partition}, only 0 to {}", self.settings.partitions - 1),
        })
    }

    /// What must have happened to whatever the log shows.
    fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        wanted.add(self.settings.durability);
        wanted
    }

    /// A way for cursors and questions that are no calls.
    fn reading(&self, keys: &Keys) -> Link {
        Link::new(Arc::clone(&self.nodes), keys.slot(), Traffic::Reads)
    }

    /// Waits for what a task of the engine's own comes to; the caller may be a task of another runtime.
    fn wait<T: Send + 'static>(
        &self,
        question: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let stopped = || Failure::Unavailable { reason: "the engine has stopped".to_owned() };
        let runtime = self.runtime.as_ref().ok_or_else(stopped)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move { drop(sender.send(question.await)) });
        receiver.recv().map_err(|_| stopped())?
    }
}

impl Engine for RedisEngine {
    fn partitions(&self) -> u32 {
        self.settings.partitions
    }

    fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    fn submit(&self, partition: u32, batch: Vec<Request>, reply: Reply) {
        let count = batch.len();
        let found = match self.partition(partition) {
            Ok(found) => found,
            Err(failure) => return reply(vec![Err(failure); count]),
        };
        // Written here, on the callers' threads, so that the lane only joins bytes.
        let mail = Mail::new(batch, &self.settings.state, reply);
        if let Err(refused) = found.inbox.try_send(mail) {
            use tokio::sync::mpsc::error::TrySendError;
            let (mail, failure) = match refused {
                TrySendError::Full(mail) => (mail, Failure::Overloaded { queue: "redis" }),
                TrySendError::Closed(mail) => {
                    (mail, Failure::Unavailable { reason: "the engine has stopped".to_owned() })
                }
            };
            (mail.reply)(vec![Err(failure); count]);
        }
    }

    fn entries(&self, partition: u32, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, waits, wanted) = (self.reading(&keys), Arc::clone(&self.waits), self.wanted());
        self.wait(async move {
            let (entries, node) = reader::entries(&link, &keys, sequence, bytes_max).await?;
            waits.wait(&node, &keys, wanted).await?;
            Ok(entries)
        })
    }

    fn watch(&self, partition: u32, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Watch, Failure> {
        let found = self.partition(partition)?;
        if found.watchers.add(&wake)
            && let Some(runtime) = &self.runtime
        {
            let link = self.reading(&found.keys);
            runtime.spawn(reader::watch(link, found.keys.clone(), Arc::downgrade(&found.watchers)));
        }
        Ok(Watch::new(wake))
    }

    fn durable_through(&self, partition: u32) -> Result<u64, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, waits, wanted) = (self.reading(&keys), Arc::clone(&self.waits), self.wanted());
        self.wait(async move {
            let (sequence, node) = reader::last_sequence(&link, &keys).await?;
            waits.wait(&node, &keys, wanted).await?;
            Ok(sequence)
        })
    }

    fn check_ready(&self, partition: u32) -> Result<(), Failure> {
        self.partition(partition)?.shared.check_ready()
    }

    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure> {
        self.partition(partition).map(|found| &found.shared.metrics)
    }
}

impl Drop for RedisEngine {
    /// Lets the lanes answer what was handed in, and ends.
    fn drop(&mut self) {
        self.partitions.clear();
        // No lane says anything; the last one to end closes the channel.
        let _ = self.lanes_ended.recv_timeout(STOP_TIMEOUT);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Looks again and again whether servers still sync as they did.
async fn check_syncing(nodes: Weak<Nodes>) {
    let mut turns = tokio::time::interval(SYNCING_INTERVAL);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let Some(nodes) = nodes.upgrade() else { return };
        nodes.check_syncing().await;
    }
}

/// Asks the sentinels again and again, so that a primary that only seems to be one is left soon.
async fn follow_sentinels(nodes: Weak<Nodes>) {
    let mut turns = tokio::time::interval(SENTINEL_INTERVAL);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let Some(nodes) = nodes.upgrade() else { return };
        nodes.follow_sentinels().await;
    }
}
