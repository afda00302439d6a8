//! The Redis engine: the state machine as a library in Lua inside Redis or Valkey, with its log as a stream there.
//!
//! ```text
//! requests → lane: joins what waits → one call: known? due? decide, apply, write, log → answers
//!                                     (scripts/machine.lua, in one slot, all or nothing)
//! EVENTS   → reader: the stream       DIGEST → image: the keys
//! ```
//!
//! The rules are those of `scarce_core`, file by file and function by function; `scripts/README.md` says
//! how they are written there.
//!
//! This crate must not know ports, files, or another engine.
//!
//! Begin reading at [`RedisEngine`]; then `lane.rs` for the way of a request, `scripts/machine.lua` for the rules.

pub mod address;
pub mod call;
pub mod caller;
pub mod callers;
mod clock;
pub mod connection;
pub mod consumers;
pub mod copy;
mod deployment;
mod error;
pub mod failure;
mod image;
pub mod inputs;
pub mod inspect;
pub mod keys;
mod lane;
pub mod library;
mod locked;
pub mod log;
mod moved;
pub mod nodes;
mod partition;
mod parts;
mod preparing;
mod program;
mod reader;
mod recall;
mod receipt;
pub mod records;
pub mod relocation;
pub mod routes;
pub mod script;
pub mod server;
mod settings;
mod settle;
mod shared;
mod status;
mod sweep;
mod trim;
pub mod values;
mod waits;
mod wholeness;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use scarce_core::event::{Entry, Histories, Position};
use scarce_core::state;
use scarce_core::types::TimeMs;
use scarce_engine::Image;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease};
use scarce_engine::engine::{Engine, Failure, Log, Reply, Request, Watch};
use scarce_engine::inputs::InputPosition;
use scarce_engine::metrics::PartitionMetrics;
pub use scarce_engine::scripts::ScriptAccess;
use scarce_engine::scripts::ScriptRunner;
use tokio::runtime::Runtime;

use caller::Caller;
use connection::Link;
use consumers::Consumers;
use deployment::{Deployment, DeploymentGuard};
pub use error::RedisError;
pub use image::read_still;
use keys::Keys;
use lane::Mail;
use library::{ClockSource, Library};
use moved::MovedIds;
use nodes::{Nodes, Traffic};
use partition::{Partition, PartitionContext};
pub use program::ScriptKind;
use script::{ClientScripts, Scripts};
pub use settings::{KnownDeployment, RedisSettings, default_state};
use waits::{Waits, WantedLevels};
use wholeness::Glance;

/// How often it is looked whether the servers are still what they were.
const ATTEND_INTERVAL: Duration = Duration::from_millis(500);

/// How long an engine that stops waits for its lanes to answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The engine.
pub struct RedisEngine {
    settings: RedisSettings,
    deployment_id: String,
    created_at: Option<TimeMs>,
    secret: [u8; 32],
    consumers: Consumers,
    nodes: Arc<Nodes>,
    waits: Arc<Waits>,
    /// What was found at the start and should be known.
    pub warnings: Vec<String>,
    partitions: Vec<Partition>,
    moved: Option<Arc<MovedIds>>,
    scripts: Option<ClientScripts>,
    runtime: Option<Runtime>,
    lanes_ended: crossbeam_channel::Receiver<()>,
}

impl RedisEngine {
    /// Connects to the server and loads or creates the deployment.
    ///
    /// # Errors
    /// When the server cannot be reached or must not be used, or the deployment is another.
    pub fn open(settings: RedisSettings) -> Result<Self, RedisError> {
        let nodes = Arc::new(Nodes::of(&settings)?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("scarce-redis")
            .enable_all()
            .build()
            .map_err(RedisError::Threads)?;
        let link = deployment::link(&settings.prefix, &nodes);
        let (mut warnings, script) = runtime.block_on(async {
            let warnings = server::check_all(&nodes, settings.durability, settings.replicas).await?;
            let script = match settings.script {
                Some(script) => script,
                None => deployment::script_kind(&link).await?,
            };
            Ok::<_, RedisError>((warnings, script))
        })?;
        let caller = Self::caller(&settings, script);
        let deployment = runtime.block_on(deployment::open(&settings, &nodes, &caller))?;
        if deployment.is_new {
            warnings.push(created(&settings.prefix, &deployment.id));
        }
        warnings.extend(deployment.changed.iter().cloned());
        let mut lead = Duration::ZERO;
        if settings.accepts_clock && settings.clock.is_none() {
            lead = runtime.block_on(clock::accept(&settings, &nodes, &caller, &deployment.id))?;
        }
        let mut engine = Self::start(settings, lead, (script, caller), deployment, nodes, runtime);
        engine.warnings = warnings;
        Ok(engine)
    }

    fn caller(settings: &RedisSettings, script: ScriptKind) -> Caller {
        let source = if settings.clock.is_some() { ClockSource::Call } else { ClockSource::Server };
        Caller::new(&Library::new(source), script)
    }

    fn start(
        settings: RedisSettings,
        lead: Duration,
        (script, caller): (ScriptKind, Caller),
        deployment: Deployment,
        nodes: Arc<Nodes>,
        runtime: Runtime,
    ) -> Self {
        let consumers = Consumers::new(script);
        let waits = Arc::new(Waits::new(Arc::clone(&nodes), settings.replicas, settings.response_timeout));
        let (ended, lanes_ended) = crossbeam_channel::bounded(0);
        let deployment_id: Arc<str> = Arc::from(deployment.id.as_str());
        let guard = Arc::new(DeploymentGuard::new(&settings, &nodes, deployment.clone()));
        let moved = deployment.ids_moved_at.map(|at| MovedIds::new(&settings, &deployment.secret, at));
        let moved = moved.map(Arc::new);
        let context = PartitionContext {
            settings: &settings,
            deployment: &deployment_id,
            guard: &guard,
            moved: moved.clone(),
            lead,
            nodes: &nodes,
            caller: &caller,
            glance: &Glance::new(),
            consumers: &consumers,
            waits: &waits,
            runtime: &runtime,
            ended,
        };
        let partitions = (0..settings.partitions).map(|number| Partition::start(number, &context)).collect();
        // Only the lanes hold it open from here on.
        drop(context);
        runtime.spawn(attend(Arc::downgrade(&nodes), Arc::downgrade(&guard)));
        drop(guard);
        let scripts = (settings.scripts != ScriptAccess::Off).then(|| {
            let scripts = Scripts::on(Arc::clone(&nodes), script, &settings);
            ClientScripts::new(scripts, settings.scripts, runtime.handle().clone())
        });
        Self {
            settings,
            deployment_id: deployment.id,
            created_at: deployment.created_at,
            secret: deployment.secret,
            consumers,
            nodes,
            waits,
            warnings: Vec::new(),
            partitions,
            moved,
            scripts,
            runtime: Some(runtime),
            lanes_ended,
        }
    }

    fn partition(&self, partition: u32) -> Result<&Partition, Failure> {
        self.partitions.get(partition as usize).ok_or_else(|| Failure::Unavailable {
            reason: format!("there is no partition {partition}, only 0 to {}", self.settings.partitions - 1),
        })
    }

    /// A partition of which nothing is known to be lost.
    fn whole(&self, partition: u32) -> Result<&Partition, Failure> {
        let found = self.partition(partition)?;
        found.status.check_whole()?;
        Ok(found)
    }

    /// What must have happened to whatever the log shows.
    fn wanted(&self) -> WantedLevels {
        let mut wanted = WantedLevels::default();
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
        let answer = Arc::new(Mutex::new(None));
        let (its, (running, ended)) = (Arc::clone(&answer), mpsc::sync_channel::<()>(1));
        // In a box, and without the answer's type in the channel, so that tasks and channels are compiled once.
        let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let found = question.await;
            *its.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            drop(running);
        });
        runtime.spawn(task);
        // Nothing is ever sent: the task has ended, or it was dropped with the runtime.
        let _ = ended.recv();
        answer.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(stopped)?
    }
}

impl Log for RedisEngine {
    fn partitions(&self) -> u32 {
        self.settings.partitions
    }

    fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    fn deployment_created_at(&self) -> Option<TimeMs> {
        self.created_at
    }

    fn entries(&self, partition: u32, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        let keys = self.whole(partition)?.keys.clone();
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
        let keys = self.whole(partition)?.keys.clone();
        let (link, waits, wanted) = (self.reading(&keys), Arc::clone(&self.waits), self.wanted());
        self.wait(async move {
            let (sequence, node) = reader::last_sequence(&link, &keys).await?;
            waits.wait(&node, &keys, wanted).await?;
            Ok(sequence)
        })
    }

    fn first_sequence(&self, partition: u32) -> Result<u64, Failure> {
        let keys = self.whole(partition)?.keys.clone();
        let link = self.reading(&keys);
        self.wait(async move { reader::first_sequence(&link, &keys).await })
    }

    fn epoch(&self, partition: u32) -> Result<u64, Failure> {
        let keys = self.whole(partition)?.keys.clone();
        let link = self.reading(&keys);
        self.wait(async move { reader::epoch(&link, &keys).await })
    }

    fn histories(&self, partition: u32) -> Result<Histories, Failure> {
        let keys = self.whole(partition)?.keys.clone();
        let link = self.reading(&keys);
        self.wait(async move { reader::histories(&link, &keys).await })
    }

    fn image(&self, partition: u32) -> Result<Box<dyn Image>, Failure> {
        let imager = Arc::clone(&self.whole(partition)?.imager);
        let (waits, wanted) = (Arc::clone(&self.waits), self.wanted());
        self.wait(async move {
            let (machine, node) = imager.machine().await?;
            waits.wait(&node, &imager.keys, wanted).await?;
            Ok(Box::new(machine) as Box<dyn Image>)
        })
    }

    fn consumers(&self, partition: u32) -> Result<Vec<Consumption>, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let link = self.reading(&keys);
        self.wait(async move { consumers::list(&link, &keys).await })
    }

    fn confirm(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
    ) -> Result<Lease, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, consumers) = (self.reading(&keys), self.consumers.clone());
        let (name, holder) = (name.clone(), holder.to_owned());
        self.wait(async move { consumers.confirm(&link, &keys, &name, &holder, confirmed).await })
    }

    fn lease(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, consumers) = (self.reading(&keys), self.consumers.clone());
        let (name, holder) = (name.clone(), holder.to_owned());
        self.wait(async move { consumers.lease(&link, &keys, &name, &holder, ttl).await })
    }

    fn forget_consumer(&self, partition: u32, name: &ConsumerName) -> Result<bool, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, consumers, name) = (self.reading(&keys), self.consumers.clone(), name.clone());
        self.wait(async move { consumers.forget(&link, &keys, &name).await })
    }

    fn note_divergence(&self, partition: u32, name: &ConsumerName, held: Position) -> Result<(), Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, consumers, name) = (self.reading(&keys), self.consumers.clone(), name.clone());
        self.wait(async move { consumers.note_divergence(&link, &keys, &name, held).await })
    }

    fn rebase_consumer(&self, partition: u32, name: &ConsumerName, to: Position) -> Result<(), Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, consumers, name) = (self.reading(&keys), self.consumers.clone(), name.clone());
        self.wait(async move { consumers.rebase(&link, &keys, &name, to).await })
    }
}

impl Engine for RedisEngine {
    fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    fn state_settings(&self) -> &state::StateSettings {
        &self.settings.state
    }

    fn submit(&self, partition: u32, batch: Vec<Request>, reply: Reply) {
        let count = batch.len();
        let found = match self.partition(partition) {
            Ok(found) => found,
            Err(failure) => return reply(vec![Err(failure); count]),
        };
        if let (true, Some(runtime)) = (parts::is_mixed(&batch), &self.runtime) {
            let way = (self.settings.state.clone(), self.moved.clone());
            runtime.spawn(parts::submit(found.inbox.clone(), way, batch, reply));
            return;
        }
        // Encoded here, on the callers' threads, so that the lane only joins bytes.
        let mail = Mail::new(batch, (&self.settings.state, self.moved.as_deref()), reply);
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

    fn inputs(&self, partition: u32) -> Result<Vec<InputPosition>, Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let link = self.reading(&keys);
        self.wait(async move { inputs::list(&link, &keys).await })
    }

    fn keep_inputs(&self, partition: u32, positions: &[InputPosition]) -> Result<(), Failure> {
        let keys = self.partition(partition)?.keys.clone();
        let (link, positions) = (self.reading(&keys), positions.to_vec());
        self.wait(async move { inputs::keep(&link, &keys, &positions).await })
    }

    fn check_ready(&self, partition: u32) -> Result<(), Failure> {
        let status = &self.partition(partition)?.status;
        status.check_ready()?;
        status.metrics.levels().check_ids(self.settings.state.operations_max)
    }

    fn scripts(&self) -> Result<&dyn ScriptRunner, &'static str> {
        let off = "scripts are off; start the server with --redis-scripts run, and register them with 'scarce scripts load'";
        self.scripts.as_ref().map(|scripts| scripts as &dyn ScriptRunner).ok_or(off)
    }

    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure> {
        self.partition(partition).map(|found| &found.status.metrics)
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

/// What is said of a deployment that was created: where there should have been one, this is the last moment to stop.
fn created(prefix: &str, id: &str) -> String {
    format!(
        "a new deployment {id} was created now, because Redis had none behind '{prefix}': it knows no earlier data and no earlier operation ids; if there was data before, stop the servers, and restore it"
    )
}

/// Looks again and again whether the sentinels name another primary, so that one that only seems to be it is left
/// soon; whether servers still sync as they did, and still keep every key; and whether the deployment is still there.
async fn attend(nodes: Weak<Nodes>, guard: Weak<DeploymentGuard>) {
    let mut turns = tokio::time::interval(ATTEND_INTERVAL);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let Some(nodes) = nodes.upgrade() else { return };
        nodes.follow_sentinels().await;
        nodes.check_eviction().await;
        nodes.check_syncing().await;
        if let Some(guard) = guard.upgrade() {
            guard.look().await;
        }
    }
}
