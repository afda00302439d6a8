//! What flows out of this process' engine: each consumer of the log that the settings ask for.
//!
//! ```text
//! engine's log ─┬─▶ sql: tables in SQLite, PostgreSQL, MySQL
//!               ├─▶ kafka: the topic of events
//!               ├─▶ webhooks ─▶ tables ─▶ endpoints of one's own
//!               └─▶ settlement ─▶ tables ─▶ credits in the engine, or a balance system outside
//! engine ◀──▶ commands and outcomes: topics too
//! ```

mod delivery;
mod flows;
#[cfg_attr(not(feature = "kafka"), path = "without_kafka.rs")]
pub mod kafka;
mod lookup;

use std::sync::{Arc, Mutex, PoisonError};

pub use delivery::HealthSeen;
pub use flows::{CommandCounter, CommandCounts, Flows};

use scarce_delivery::{DeliveryError, Workers};
use scarce_engine::consumers::ConsumerName;
use scarce_engine::random::{self, hex};
use scarce_engine::{Engine, Log};
use scarce_outflow::{Outflow, Plan, Start};
use scarce_projection::{Projection, ProjectionError, ProjectionOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::settings::Settings;

/// Threads that move what flows out; the databases and brokers do most of the work.
const THREADS: usize = 2;

/// How many bytes of log are projected at a time: some 27 000 debits. The more there are, the more of them change the same
/// rows and pages of an index, each of which is written once.
const SQL_BATCH_BYTES: u64 = 4 << 20;

/// Under which name the projection is known as a consumer.
pub const SQL: &str = "sql";

/// Under which name the outflow to Kafka is known as a consumer.
pub const KAFKA: &str = "kafka";

/// Why nothing can flow out.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A thread could not be started, or there is no randomness to tell this process from others.
    #[error("the threads of what flows out could not be started")]
    System(#[from] std::io::Error),
    /// The database cannot be the projection of this deployment.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// What delivers cannot begin.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    /// Kafka is asked for, and this binary was built without it.
    #[error(
        "this binary was built without Kafka; take one of the packages, or build it with `cargo build --release --features kafka` (with TLS to the brokers: `--features kafka-tls`)"
    )]
    WithoutKafka,
    /// There is nowhere to write down what is to be delivered.
    #[error("webhooks and settlement need a database; name one with --sql, such as --sql sqlite://scarce.db")]
    NoDatabase,
    /// Calls to a balance system cannot be signed.
    #[error(
        "settlement by a balance system needs a secret to sign with; name its file with --settlement-secret-file"
    )]
    NoSecret,
}

/// The consumers that run.
pub struct Pipeline {
    flows: Flows,
    running: Mutex<Option<Running>>,
}

struct Running {
    runtime: Runtime,
    outflows: Vec<Outflow>,
    workers: Vec<Workers>,
    tasks: Vec<JoinHandle<()>>,
    ending: watch::Sender<bool>,
}

impl Pipeline {
    /// Starts every consumer that the settings ask for.
    ///
    /// # Errors
    /// When one cannot be started at all; what can be mended while the server runs is tried again and again.
    pub fn start(engine: &Arc<dyn Engine>, settings: &Settings) -> Result<Self, PipelineError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("outflow")
            .enable_all()
            .build()?;
        let serve = Serve { runtime: &runtime, log: engine.clone(), holder: holder()? };
        let projection = projection(&**engine, settings)?;
        let mut outflows = Vec::new();
        if let Some(projection) = &projection {
            outflows.push(serve.run(SQL, Start::Beginning, SQL_BATCH_BYTES, |it| projection.consumer(it)));
        }
        let (ending, ended) = watch::channel(false);
        let (mut tasks, commands) = (Vec::new(), CommandCounter::default());
        let (flowing, taking) = kafka::start(&serve, engine, settings, &commands, &ended)?;
        outflows.extend(flowing);
        tasks.extend(taking);
        let (mut workers, health) = (Vec::new(), HealthSeen::default());
        if let Some(delivery) = delivery::open(&**engine, settings)? {
            let (flowing, working) =
                delivery::start(&delivery, &serve, engine, projection.as_ref(), settings)?;
            outflows.extend(flowing);
            workers = working;
            let days = settings.webhooks_retention_days;
            tasks.push(runtime.spawn(delivery::look_after(delivery, days, health.clone(), ended)));
        }
        let statuses = outflows.iter().flat_map(Outflow::statuses).map(Arc::clone).collect();
        let running = Mutex::new(Some(Running { runtime, outflows, workers, tasks, ending }));
        Ok(Self { flows: Flows { statuses, projection, commands, health }, running })
    }

    /// What flows, to be looked at.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Lets what is under way be taken, notes how far all is, and ends. Once is enough.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { runtime, outflows, workers, tasks, ending }) = running else { return };
        // Nobody listens where no commands are taken.
        let _ = ending.send(true);
        runtime.block_on(async {
            for task in tasks {
                // What it panicked of was printed.
                let _ = task.await;
            }
            for outflow in outflows {
                outflow.stop().await;
            }
            for worker in workers {
                worker.stop().await;
            }
        });
        runtime.shutdown_background();
    }
}

/// How consumers are served.
struct Serve<'a> {
    runtime: &'a Runtime,
    log: Arc<dyn Log>,
    holder: String,
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

fn projection(engine: &dyn Engine, settings: &Settings) -> Result<Option<Projection>, ProjectionError> {
    let Some(url) = settings.sql_url() else { return Ok(None) };
    let ids_kept_ms_min = engine.state_settings().window_ms_min;
    let options = ProjectionOptions { ids_kept_ms_min, ..ProjectionOptions::default() };
    Projection::new(&url, engine.deployment_id(), options).map(Some)
}

/// What tells this process from others that work under the same names.
fn holder() -> Result<String, std::io::Error> {
    let host: String = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .chars()
        .map(|character| if character.is_ascii_graphic() { character } else { '-' })
        .collect();
    Ok(format!("{host}.{}.{}", std::process::id(), hex(&random::bytes::<4>()?)))
}
