//! What flows out of this process' engine: each consumer of the log that the settings ask for.
//!
//! ```text
//! engine's log ─┬─▶ sql: tables in SQLite, PostgreSQL, MySQL
//!               └─▶ kafka: the topic of events
//! engine ◀──▶ commands and outcomes: topics too
//! ```

mod flows;
pub mod kafka;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use flows::Flows;

use scarce_engine::consumers::ConsumerName;
use scarce_engine::random::{self, hex};
use scarce_engine::{Engine, Log};
use scarce_outflow::{Outflow, Plan, Start};
use scarce_projection::{Options, Projection, ProjectionError};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::settings::Settings;

/// Threads that move what flows out; the databases and brokers do most of the work.
const THREADS: usize = 2;

/// How many bytes of log are projected at a time: some thousand events.
const SQL_BATCH_BYTES: u64 = 1 << 20;

/// Under which name the projection is known as a consumer.
pub const SQL: &str = "sql";

/// How many bytes of log go to Kafka at a time.
const KAFKA_BATCH_BYTES: u64 = 1 << 20;

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
}

/// The consumers that run.
pub struct Pipeline {
    flows: Flows,
    running: Mutex<Option<Running>>,
}

struct Running {
    runtime: Runtime,
    outflows: Vec<Outflow>,
    commands: Option<JoinHandle<()>>,
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
        let (mut commands, figures) = (None, Arc::new(OnceLock::new()));
        if let Some(settings_of_kafka) = kafka::settings_of(&**engine, settings) {
            let events = kafka::Events::new(&settings_of_kafka, engine.partitions());
            outflows.push(serve.run(KAFKA, Start::Oldest, KAFKA_BATCH_BYTES, |it| events.consumer(it)));
            if settings.kafka_commands {
                let engine = engine.clone();
                let taking = kafka::take_commands(settings_of_kafka, engine, figures.clone(), ended);
                commands = Some(runtime.spawn(taking));
            }
        }
        let statuses = outflows.iter().flat_map(Outflow::statuses).map(Arc::clone).collect();
        let running = Mutex::new(Some(Running { runtime, outflows, commands, ending }));
        Ok(Self { flows: Flows { statuses, projection, commands: figures }, running })
    }

    /// What flows, to be looked at.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Lets what is under way be taken, notes how far all is, and ends. Once is enough.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { runtime, outflows, commands, ending }) = running else { return };
        // Nobody listens where no commands are taken.
        let _ = ending.send(true);
        runtime.block_on(async {
            if let Some(commands) = commands {
                // What it panicked of was printed.
                let _ = commands.await;
            }
            for outflow in outflows {
                outflow.stop().await;
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
    Projection::new(&url, engine.deployment_id(), Options::default()).map(Some)
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
