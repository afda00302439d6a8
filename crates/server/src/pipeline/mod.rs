//! What flows out of this process's engine: each consumer of the log that the settings ask for.
//!
//! ```text
//! engine's log ─┬─▶ sql: tables in SQLite, PostgreSQL, MySQL
//!               ├─▶ kafka: the topic of events
//!               ├─▶ mirror: the state in a Redis for readers
//!               ├─▶ webhooks ─▶ tables ─▶ endpoints of one's own
//!               └─▶ settlement ─▶ tables ─▶ credits in the engine, or a balance system outside
//! engine ◀──▶ commands and outcomes: topics too
//! ```

#[cfg(feature = "kafka")]
mod audit;
mod delivery;
#[cfg_attr(not(feature = "kafka"), path = "without_kafka.rs")]
pub mod kafka;
mod lookup;

use std::sync::{Arc, Mutex, PoisonError};

use scarce_delivery::{Delivery, DeliveryError, Workers};
use scarce_engine::consumers::ConsumerName;
use scarce_engine::random::{self, hex};
use scarce_engine::{Engine, Log};
use scarce_gateway::Limiting;
use scarce_gateway_http::{BackupStatus, CommandCounter, Flows, HealthSeen, Reconciliations};
use scarce_mirror::{Mirror, MirrorError};
use scarce_outflow::{Outflow, Plan, Start};
use scarce_projection::{Projection, ProjectionError, ProjectionOptions};
use scarce_settings::ServerSettings;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Threads of the pipeline; the databases and brokers do most of the work.
const THREADS: usize = 2;

/// How many bytes of log are projected at a time: some 27 000 debits. In a larger batch, more of them change
/// the same rows and index pages, each of which is written once.
const SQL_BATCH_BYTES: u64 = 4 << 20;

/// The consumer name of the projection.
pub const SQL: &str = "sql";

/// The consumer name of the outflow to Kafka.
pub const KAFKA: &str = "kafka";

/// The consumer name of the mirror.
pub const MIRROR: &str = "mirror";

/// How many bytes of log are mirrored at a time: some 2 000 debits, which Redis writes within milliseconds.
const MIRROR_BATCH_BYTES: u64 = 256 << 10;

/// Why the pipeline cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A thread could not be started, or there is no randomness to identify this process.
    #[error("the threads of what flows out could not be started")]
    System(#[from] std::io::Error),
    /// The database cannot be the projection of this deployment.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// Deliveries cannot start.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    /// Kafka is configured, and this binary was built without it.
    #[error(
        "this binary was built without Kafka; take one of the packages, or build it with `cargo build --release --features kafka` (with TLS to the brokers: `--features kafka-tls`)"
    )]
    WithoutKafka,
    /// No Kafka client can be made of the settings.
    #[error("{0}")]
    Kafka(String),
    /// The mirror's settings are invalid.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// A file of the mirror's settings cannot be read.
    #[error("{0}")]
    MirrorFile(String),
    /// There is no database in which to record deliveries.
    #[error("webhooks and settlement need a database; name one with --sql, such as --sql sqlite://scarce.db")]
    NoDatabase,
    /// Calls to a balance system cannot be signed.
    #[error(
        "settlement by a balance system needs a secret to sign with; name its file with --settlement-secret-file"
    )]
    NoSecret,
}

/// The running consumers.
pub struct Pipeline {
    flows: Flows,
    running: Mutex<Option<Running>>,
}

struct Running {
    runtime: Runtime,
    outflows: Vec<Outflow>,
    workers: Vec<Workers>,
    tasks: Vec<JoinHandle<()>>,
    delivery: Option<Delivery>,
    ending: watch::Sender<bool>,
}

impl Pipeline {
    /// Starts every consumer that the settings ask for.
    ///
    /// # Errors
    /// When one cannot be started at all; errors that can be fixed while the server runs are retried.
    pub fn start(
        engine: &Arc<dyn Engine>,
        settings: &ServerSettings,
        limiting: &Arc<Limiting>,
    ) -> Result<Self, PipelineError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("outflow")
            .enable_all()
            .build()?;
        let holder = holder()?;
        let serve = Serve { runtime: &runtime, log: engine.clone(), holder, limiting: limiting.clone() };
        let projection = projection(&**engine, settings)?;
        let mut outflows = Vec::new();
        if let Some(projection) = &projection {
            outflows.push(serve.run(SQL, Start::Beginning, SQL_BATCH_BYTES, |it| projection.consumer(it)));
        }
        if let Some(mirror) = mirror_of(&**engine, settings)? {
            let log: Arc<dyn Log> = engine.clone();
            let consumer = |partition| mirror.consumer(&log, partition, &serve.holder);
            outflows.push(serve.run(MIRROR, Start::Beginning, MIRROR_BATCH_BYTES, consumer));
        }
        let (ending, ended) = watch::channel(false);
        let (mut tasks, commands) = (Vec::new(), CommandCounter::default());
        let (flowing, taking) = kafka::start(&serve, engine, settings, &commands, &ended)?;
        outflows.extend(flowing);
        tasks.extend(taking);
        let (mut workers, health) = (Vec::new(), HealthSeen::default());
        let delivery = delivery::open(&**engine, settings)?;
        if let Some(delivery) = delivery.clone() {
            let (flowing, working) =
                delivery::start(&delivery, &serve, engine, projection.as_ref(), settings)?;
            outflows.extend(flowing);
            workers = working;
            let days = settings.webhooks_retention_days;
            tasks.push(runtime.spawn(delivery::look_after(delivery, days, health.clone(), ended)));
        }
        let statuses_of_workers = workers.iter().flat_map(Workers::statuses).map(Arc::clone).collect();
        let statuses = outflows.iter().flat_map(Outflow::statuses).map(Arc::clone).collect();
        let backup = settings.backup.clone().map(|store| Arc::new(BackupStatus::new(store)));
        let running = Running { runtime, outflows, workers, tasks, delivery: delivery.clone(), ending };
        Ok(Self {
            flows: Flows {
                statuses,
                workers: statuses_of_workers,
                projection,
                delivery,
                commands,
                health,
                reconciliations: Reconciliations::default(),
                backup,
            },
            running: Mutex::new(Some(running)),
        })
    }

    /// The pipeline's state.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Finishes the work in progress, records every consumer's position, and ends. Idempotent.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { runtime, outflows, workers, tasks, delivery, ending }) = running else { return };
        // There is no listener if no commands are consumed.
        let _ = ending.send(true);
        runtime.block_on(async {
            for task in tasks {
                // Its panic was already printed.
                let _ = task.await;
            }
            for outflow in outflows {
                outflow.stop().await;
            }
            for worker in workers {
                worker.stop().await;
            }
            if let Some(delivery) = delivery {
                delivery.close().await;
            }
            if let Some(projection) = &self.flows.projection {
                projection.close().await;
            }
        });
        runtime.shutdown_background();
    }
}

/// The shared parts from which each consumer is started.
struct Serve<'a> {
    runtime: &'a Runtime,
    log: Arc<dyn Log>,
    holder: String,
    /// What commands from elsewhere have to pass.
    #[cfg_attr(not(feature = "kafka"), expect(dead_code, reason = "only Kafka brings commands"))]
    limiting: Arc<Limiting>,
}

impl Serve<'_> {
    fn run<C: scarce_outflow::Consumer>(
        &self,
        name: &'static str,
        start: Start,
        batch_bytes_max: u64,
        make: impl FnMut(u32) -> C,
    ) -> Outflow {
        let name = ConsumerName::parse(name).expect("the names are written here, and are names");
        let plan = Plan { name, holder: self.holder.clone(), start, batch_bytes_max };
        scarce_outflow::run(self.runtime.handle(), self.log.clone(), &plan, make)
    }
}

fn projection(engine: &dyn Engine, settings: &ServerSettings) -> Result<Option<Projection>, ProjectionError> {
    let Some(url) = settings.sql_url() else { return Ok(None) };
    let ids_kept_ms_min = engine.state_settings().window_ms_min;
    let options = ProjectionOptions { ids_kept_ms_min, ..ProjectionOptions::default() };
    let scales = settings.sql_asset_scales.0.iter().map(|its| (its.asset.clone(), its.decimals)).collect();
    let projection = Projection::new(&url, engine.deployment_id(), options)?;
    Ok(Some(projection.with_scales(scales)))
}

/// The mirror of an engine, if there is to be one.
pub(crate) fn mirror_of(
    engine: &dyn Engine,
    settings: &ServerSettings,
) -> Result<Option<Mirror>, PipelineError> {
    let redis = settings.mirror_redis().map_err(PipelineError::MirrorFile)?;
    let mirror = |redis| Mirror::new(&redis, engine.partitions(), engine.deployment_id());
    Ok(redis.map(mirror).transpose()?)
}

/// A unique id that distinguishes this process from others that use the same consumer names.
fn holder() -> Result<String, std::io::Error> {
    let host: String = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .chars()
        .map(|character| if character.is_ascii_graphic() { character } else { '-' })
        .collect();
    Ok(format!("{host}.{}.{}", std::process::id(), hex(&random::bytes::<4>()?)))
}
