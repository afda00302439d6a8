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

pub mod call;
pub mod connection;
mod deployment;
pub mod image;
pub mod keys;
mod lane;
pub mod library;
pub mod log;
mod reader;
mod receipt;
pub mod values;

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use redis::Client;
use scarce_core::event::Entry;
use scarce_core::state;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Sender, WeakSender};

use crate::clock::ManualClock;
use crate::engine::{Engine, Failure, Reply, Request, Watch};
use crate::metrics::PartitionMetrics;

use call::EXPIRE_MAX;
pub use connection::ScriptKind;
use connection::{Caller, Link};
use keys::Keys;
use lane::{Lane, Mail, Shared};
use library::{ClockSource, Library};
use reader::Watchers;

/// How often each partition's overdue records are ended.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

/// How many requests one sweep makes, each for as many overdue records as one may end.
const SWEEP_REQUESTS: usize = 16;

/// How much one step does at most by default: while it does, nobody else is served, and a step should not take
/// longer than a millisecond.
const STEP_MAX: usize = 32;

/// How many packets one step lays ready by default.
const PACKETS_PER_STEP_MAX: usize = 250;

/// How long an engine that stops waits for its lanes to answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// The address is none.
    #[error("'{url}' is no address of a Redis server; write redis://host:port or redis+unix:///path")]
    Url {
        /// What was given, without its password.
        url: String,
        /// What is wrong.
        #[source]
        source: redis::RedisError,
    },
    /// The server cannot be reached, or refuses.
    #[error(transparent)]
    Server(#[from] Failure),
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
    #[error(
        "Redis may drop keys (maxmemory-policy {policy}), and would lose money and stock; set it to noeviction"
    )]
    Evicts {
        /// Its policy.
        policy: String,
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
    /// Where the server is: `redis://host:port` or `redis+unix:///path`.
    pub url: String,
    /// What all keys of the deployment begin with.
    pub prefix: String,
    /// How many partitions; fixed when the deployment is created.
    pub partitions: u32,
    /// What outcomes depend on.
    pub state: state::Settings,
    /// How the library is called; by default as Functions where the server has them.
    pub script: Option<ScriptKind>,
    /// How long an answer is waited for before it counts as unknown.
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
            prefix: "scarce:".to_owned(),
            partitions: 64,
            state: default_state(),
            script: None,
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
    client: Client,
    partitions: Vec<Partition>,
    /// For cursors and questions that are no calls.
    reading: Arc<Mutex<Link>>,
    runtime: Option<Runtime>,
    lanes_ended: crossbeam_channel::Receiver<()>,
}

impl RedisEngine {
    /// Connects to the server and loads or creates the deployment.
    ///
    /// # Errors
    /// When the server cannot be reached or must not be used, or the deployment is another.
    pub fn open(settings: Settings) -> Result<Self, RedisError> {
        let client = Client::open(settings.url.as_str()).map_err(|source| {
            let url = settings.url.rsplit('@').next().unwrap_or_default().to_owned();
            RedisError::Url { url, source }
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("scarce-redis")
            .enable_all()
            .build()
            .map_err(RedisError::Threads)?;
        let mut link = Link::new(client.clone(), Some(settings.response_timeout));
        let (secret, script) = runtime.block_on(async {
            let secret = deployment::load_or_create(&mut link, &settings.prefix, settings.partitions).await?;
            deployment::check_eviction(&mut link).await?;
            let script = match settings.script {
                Some(script) => script,
                None => deployment::script_kind(&mut link).await?,
            };
            Ok::<_, RedisError>((secret, script))
        })?;
        Ok(Self::start(settings, script, secret, client, link, runtime))
    }

    fn start(
        settings: Settings,
        script: ScriptKind,
        secret: [u8; 32],
        client: Client,
        link: Link,
        runtime: Runtime,
    ) -> Self {
        let source = if settings.clock.is_some() { ClockSource::Call } else { ClockSource::Server };
        let caller = Caller::new(Library::new(source), script);
        let (ended, lanes_ended) = crossbeam_channel::bounded(0);
        let partitions = (0..settings.partitions).map(|partition| {
            let keys = Keys::new(&settings.prefix, partition, settings.partitions);
            let shared = Arc::new(Shared::default());
            let lane = Lane {
                partition,
                keys: keys.clone(),
                settings: settings.state.clone(),
                clock: settings.clock.clone(),
                link: Link::new(client.clone(), Some(settings.response_timeout)),
                caller: caller.clone(),
                shared: Arc::clone(&shared),
            };
            let (inbox, outlet) = tokio::sync::mpsc::channel(settings.inbox_batches_max.max(1));
            let ended = ended.clone();
            runtime.spawn(async move {
                lane.run(outlet).await;
                drop(ended);
            });
            if settings.clock.is_none() {
                runtime.spawn(sweep(inbox.downgrade(), settings.state.clone()));
            }
            Partition { keys, inbox, shared, watchers: Arc::new(Watchers::default()) }
        });
        let partitions = partitions.collect();
        let reading = Arc::new(Mutex::new(link));
        Self { settings, secret, client, partitions, reading, runtime: Some(runtime), lanes_ended }
    }

    fn partition(&self, partition: u32) -> Result<&Partition, Failure> {
        self.partitions.get(partition as usize).ok_or_else(|| Failure::Unavailable {
            reason: format!("there is no partition {partition}, only 0 to {}", self.settings.partitions - 1),
        })
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
        let link = Arc::clone(&self.reading);
        self.wait(async move { reader::entries(&mut *link.lock().await, &keys, sequence, bytes_max).await })
    }

    fn watch(&self, partition: u32, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Watch, Failure> {
        let found = self.partition(partition)?;
        if found.watchers.add(&wake)
            && let Some(runtime) = &self.runtime
        {
            let link = Link::new(self.client.clone(), None);
            runtime.spawn(reader::watch(link, found.keys.clone(), Arc::downgrade(&found.watchers)));
        }
        Ok(Watch::new(wake))
    }

    fn durable_through(&self, partition: u32) -> Result<u64, Failure> {
        let found = self.partition(partition)?;
        let (keys, shared) = (found.keys.clone(), Arc::clone(&found.shared));
        let link = Arc::clone(&self.reading);
        self.wait(async move {
            let sequence = reader::last_sequence(&mut *link.lock().await, &keys).await?;
            Ok(shared.sequence.fetch_max(sequence, Ordering::SeqCst).max(sequence))
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

/// Ends what is overdue on resources that no command touches, until the engine stops.
async fn sweep(inbox: WeakSender<Mail>, settings: state::Settings) {
    let mut turns = tokio::time::interval(SWEEP_INTERVAL);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let Some(inbox) = inbox.upgrade() else { return };
        let batch = (0..SWEEP_REQUESTS).map(|_| Request::Expire(EXPIRE_MAX)).collect();
        if inbox.send(Mail::new(batch, &settings, Box::new(drop))).await.is_err() {
            return;
        }
    }
}
