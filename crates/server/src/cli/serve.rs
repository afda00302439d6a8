//! `scarce serve`: recovers the deployment, opens the port, and ends cleanly when asked to.

use std::io::{IsTerminal, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_engine::embedded::{self, ClockChoice, Port, RecoveryProgress, Stop};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{Ended, Exit, Failed};
use crate::gateway::Access;
use crate::gateway::http::{self, Http, Metrics};
use crate::gateway::resp::{Reactor, Shared, bind};
use crate::settings::{Password, SettingFlags, Settings};

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
    let listener = bind(settings.resp).map_err(|error| {
        Failed::text(
            Exit::Failed,
            format!("cannot listen on {}: {error}; choose another address with --resp", settings.resp),
        )
    })?;
    let address = listener.local_addr()?;
    let manual_clock = options.manual_clock.then(ManualClock::default);
    let engine_settings = engine_settings(options, &settings, manual_clock.clone())?;
    let started_at = Instant::now();
    let recovered = recover(&settings.data, &engine_settings)?;
    let http_listener = settings.http.map(listen_http).transpose()?;
    let http_address = http_listener.as_ref().map(TcpListener::local_addr).transpose()?;
    let access = Access { password: settings.password.as_ref().map(Password::reveal).map(str::to_owned) };
    let mut shared = None;
    let (engine, running) = recovered.start(|_, engine| {
        let shared = shared.get_or_insert_with(|| {
            Arc::new(Shared {
                access: access.clone(),
                engine: engine.clone(),
                manual_clock: manual_clock.clone(),
                connection_ids: AtomicU64::new(1),
                connections_open: AtomicU64::new(0),
                snapshot_runs: Arc::default(),
                started_at,
            })
        });
        Ok(Box::new(Reactor::new(listener.try_clone()?, shared.clone())?) as Box<dyn Port>)
    })?;
    stop_on_signals(running.stop_handle())?;
    let http = match http_listener {
        Some(listener) => Some(start_http(listener, engine, access)?),
        None => None,
    };
    announce(address, http_address, &settings.data)?;
    running.join()?;
    if let Some(http) = http {
        http.shut_down();
    }
    Ok(Exit::Done)
}

fn listen_http(address: SocketAddr) -> Result<TcpListener, Failed> {
    http::bind(address).map_err(|error| {
        let advice = "choose another address with --http, or none with --http off";
        Failed::text(Exit::Failed, format!("cannot listen on {address}: {error}; {advice}"))
    })
}

fn start_http(listener: TcpListener, engine: Arc<dyn Engine>, access: Access) -> Result<Http, Failed> {
    let metrics = Metrics::new(engine.clone());
    Ok(Http::start(listener, engine, access, metrics)?)
}

/// Each connection takes a descriptor, and the usual soft limit is far below what the port serves.
fn allow_many_connections() {
    let limit = getrlimit(Resource::Nofile);
    // Where the system refuses, fewer are served at a time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

fn engine_settings(
    options: &Serve,
    settings: &Settings,
    manual_clock: Option<ManualClock>,
) -> Result<embedded::Settings, Failed> {
    let mut state = state::Settings {
        operations_max: usize::try_from(settings.operations_max).unwrap_or(usize::MAX),
        ulid_times: settings.ulid_times,
        ..state::Settings::default()
    };
    for set in &options.sets {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        let refused = |reason| Failed::text(Exit::Usage, format!("--set {set}: {reason}"));
        state.set(name, value).map_err(refused)?;
    }
    Ok(embedded::Settings {
        partitions: settings.partitions,
        state,
        segment_bytes: settings.segment_mib << 20,
        snapshot_bytes: settings.snapshot_mib << 20,
        clock: match manual_clock {
            Some(clock) => ClockChoice::Manual(clock),
            None => ClockChoice::System { accept_leap: options.accept_clock },
        },
        ..embedded::Settings::default()
    })
}

fn recover(data: &Path, settings: &embedded::Settings) -> Result<embedded::Recovered, Failed> {
    let style = ProgressStyle::with_template("recovering {bar:40} {bytes}/{total_bytes} {bytes_per_sec}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let recovered = embedded::open(data, settings, &mut |progress: RecoveryProgress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    });
    bar.finish_and_clear();
    Ok(recovered?)
}

/// The first signal asks for a clean end, a second one ends at once.
fn stop_on_signals(stop: Stop) -> Result<(), Failed> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if stop.is_requested() {
                std::process::exit(i32::from(Exit::Failed as u8));
            }
            stop.request();
        }
    })?;
    Ok(())
}

/// The one line on stdout that says the server is ready.
fn announce(address: SocketAddr, http: Option<SocketAddr>, data: &Path) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    let http = http.map(|http| format!(", http {http}")).unwrap_or_default();
    writeln!(out, "scarce ready: resp {address}{http}, data {}, pid {}", data.display(), std::process::id())?;
    out.flush()?;
    if std::io::stderr().is_terminal() {
        let port = address.port();
        writeln!(std::io::stderr(), "try: redis-cli -p {port} STOCK.CREATE sku-1 100")?;
    }
    Ok(())
}
