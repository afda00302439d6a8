//! `scarce serve`: opens the ports, starts the engine, and ends cleanly when asked to.

mod embedded;
mod inside;
mod redis;

pub(super) use inside::Inside;

use std::io::{IsTerminal, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_engine::stop::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{Ended, Exit, Failed};
use crate::gateway::Access;
use crate::gateway::http::{self, Http, Metrics};
use crate::gateway::resp::{Shared, bind};
use crate::pipeline::Pipeline;
use crate::settings::{EngineChoice, Password, SettingFlags, Settings};

/// `scarce serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    #[command(flatten)]
    /// What can be set in a file, by variables and by flags.
    pub settings: SettingFlags,
    /// Believe the system's clock although it is far beyond the last stamp of the log.
    #[arg(long)]
    pub accept_clock: bool,
    /// Take the time from `DEBUG.CLOCK` instead of the system: for tests.
    #[arg(long, hide = true)]
    pub manual_clock: bool,
    /// Set what outcomes depend on, as `step_max=2`: for tests.
    #[arg(long = "set", hide = true, value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
}

pub(super) fn run(options: &Serve) -> Ended {
    allow_many_connections();
    let settings = super::config::load(&options.settings)?.settings;
    if let Some(exposed) = settings.exposed() {
        return Err(Failed::text(Exit::Usage, exposed.to_string()));
    }
    let doors = Doors::open(&settings)?;
    let manual_clock = options.manual_clock.then(ManualClock::default);
    let state = state_settings(options, &settings)?;
    match settings.engine {
        EngineChoice::Embedded => embedded::run(options, &settings, doors, state, manual_clock.as_ref()),
        EngineChoice::Redis => redis::run(&settings, doors, state, manual_clock),
    }
}

/// The ports, which are opened before the engine starts, so that one that is taken is told at once.
struct Doors {
    resp: TcpListener,
    http: Option<TcpListener>,
    access: Access,
    started_at: Instant,
}

impl Doors {
    fn open(settings: &Settings) -> Result<Self, Failed> {
        let resp = bind(settings.resp).map_err(|error| {
            let advice = "choose another address with --resp";
            Failed::text(Exit::Failed, format!("cannot listen on {}: {error}; {advice}", settings.resp))
        })?;
        let http = settings.http.map(listen_http).transpose()?;
        let access = Access { password: settings.password.as_ref().map(Password::reveal).map(str::to_owned) };
        Ok(Self { resp, http, access, started_at: Instant::now() })
    }

    /// What the RESP port knows.
    fn shared(&self, engine: Arc<dyn Engine>, manual_clock: Option<ManualClock>) -> Arc<Shared> {
        Arc::new(Shared {
            access: self.access.clone(),
            engine,
            manual_clock,
            connection_ids: AtomicU64::new(1),
            connections_open: AtomicU64::new(0),
            snapshot_runs: Arc::default(),
            started_at: self.started_at,
        })
    }

    /// Begins to serve HTTP, and says that all is ready.
    fn open_up(
        self,
        engine: Arc<dyn Engine>,
        pipeline: &Pipeline,
        place: &str,
    ) -> Result<Option<Http>, Failed> {
        let address = self.resp.local_addr()?;
        let http_address = self.http.as_ref().map(TcpListener::local_addr).transpose()?;
        let http = match self.http {
            Some(listener) => Some(start_http(listener, engine, self.access, pipeline)?),
            None => None,
        };
        announce(address, http_address, place)?;
        Ok(http)
    }
}

fn listen_http(address: SocketAddr) -> Result<TcpListener, Failed> {
    http::bind(address).map_err(|error| {
        let advice = "choose another address with --http, or none with --http off";
        Failed::text(Exit::Failed, format!("cannot listen on {address}: {error}; {advice}"))
    })
}

fn start_http(
    listener: TcpListener,
    engine: Arc<dyn Engine>,
    access: Access,
    pipeline: &Pipeline,
) -> Result<Http, Failed> {
    let metrics = Metrics::new(engine.clone(), pipeline.flows().clone());
    Ok(Http::start(listener, engine, access, metrics, pipeline.flows().clone())?)
}

/// Each connection takes a descriptor, and the usual soft limit is far below what the port serves.
fn allow_many_connections() {
    let limit = getrlimit(Resource::Nofile);
    // Where the system refuses, fewer are served at a time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What outcomes depend on, as it is set.
fn state_of(engine: EngineChoice, settings: &Settings) -> state::StateSettings {
    let usual = match engine {
        EngineChoice::Embedded => state::StateSettings::default(),
        EngineChoice::Redis => scarce_engine_redis::default_state(),
    };
    state::StateSettings {
        operations_max: usize::try_from(settings.operations_max).unwrap_or(usize::MAX),
        ulid_times: settings.ulid_times,
        ..usual
    }
}

/// What outcomes depend on, whatever the engine.
fn state_settings(options: &Serve, settings: &Settings) -> Result<state::StateSettings, Failed> {
    let mut state = state_of(settings.engine, settings);
    for set in &options.sets {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        let refused = |reason| Failed::text(Exit::Usage, format!("--set {set}: {reason}"));
        state.set(name, value).map_err(refused)?;
    }
    Ok(state)
}

/// The first signal asks for a clean end, a second one ends at once.
///
/// What flows out ends before the engine, so that it is noted how far all is.
fn stop_on_signals(stop: Stop, pipeline: Arc<Pipeline>) -> Result<(), Failed> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut asked = signals.forever();
        if asked.next().is_none() {
            return;
        }
        let ending = std::thread::Builder::new().name("ending".to_owned()).spawn(move || {
            pipeline.stop();
            stop.request();
        });
        if ending.is_err() || asked.next().is_some() {
            std::process::exit(i32::from(Exit::Failed as u8));
        }
    })?;
    Ok(())
}

/// The one line on stdout that says the server is ready.
fn announce(address: SocketAddr, http: Option<SocketAddr>, place: &str) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    let http = http.map(|http| format!(", http {http}")).unwrap_or_default();
    writeln!(out, "scarce ready: resp {address}{http}, {place}, pid {}", std::process::id())?;
    out.flush()?;
    if std::io::stderr().is_terminal() {
        let port = address.port();
        writeln!(std::io::stderr(), "try: redis-cli -p {port} STOCK.CREATE sku-1 100")?;
    }
    Ok(())
}
