//! `scarce serve`: recovers the deployment, opens the port, and ends cleanly when asked to.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use scarce_core::state;
use scarce_engine::clock::ManualClock;
use scarce_engine::embedded::{self, ClockChoice, Port, RecoveryProgress, Settings, Stop};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::args::Serve;
use super::call::read_password;
use super::{Ended, Exit, Failed};
use crate::gateway::resp::{Access, Reactor, Shared, bind};

pub(super) fn run(options: &Serve) -> Ended {
    allow_many_connections();
    let password = options.password_file.as_deref().map(read_password).transpose()?;
    check_exposure(options.resp, password.is_some())?;
    let listener = bind(options.resp).map_err(|error| {
        Failed::text(
            Exit::Failed,
            format!("cannot listen on {}: {error}; choose another address with --resp", options.resp),
        )
    })?;
    let address = listener.local_addr()?;
    let manual_clock = options.manual_clock.then(ManualClock::default);
    let settings = settings(options, manual_clock.clone())?;
    let started_at = Instant::now();
    let recovered = recover(options, &settings)?;
    let access = Access { password };
    let mut shared = None;
    let (_engine, running) = recovered.start(|_, engine| {
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
    announce(address, options)?;
    running.join()?;
    Ok(Exit::Done)
}

/// Each connection takes a descriptor, and the usual soft limit is far below what the port serves.
fn allow_many_connections() {
    let limit = getrlimit(Resource::Nofile);
    // Where the system refuses, fewer are served at a time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Without a password only this machine is served.
fn check_exposure(address: SocketAddr, has_password: bool) -> Result<(), Failed> {
    if address.ip().is_loopback() || has_password {
        return Ok(());
    }
    let message = format!(
        "{address} can be reached from outside, but there is no password; give --password-file, or listen on 127.0.0.1"
    );
    Err(Failed::text(Exit::Usage, message))
}

fn settings(options: &Serve, manual_clock: Option<ManualClock>) -> Result<Settings, Failed> {
    let mut state = state::Settings {
        operations_max: usize::try_from(options.operations_max).unwrap_or(usize::MAX),
        ulid_times: options.ulid_times,
        ..state::Settings::default()
    };
    for set in &options.sets {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        let refused = |reason| Failed::text(Exit::Usage, format!("--set {set}: {reason}"));
        state.set(name, value).map_err(refused)?;
    }
    Ok(Settings {
        partitions: options.partitions,
        state,
        segment_bytes: options.segment_mib << 20,
        snapshot_bytes: options.snapshot_mib << 20,
        clock: match manual_clock {
            Some(clock) => ClockChoice::Manual(clock),
            None => ClockChoice::System { accept_leap: options.accept_clock },
        },
        ..Settings::default()
    })
}

fn recover(options: &Serve, settings: &Settings) -> Result<embedded::Recovered, Failed> {
    let style = ProgressStyle::with_template("recovering {bar:40} {bytes}/{total_bytes} {bytes_per_sec}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let recovered = embedded::open(&options.data, settings, &mut |progress: RecoveryProgress| {
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
fn announce(address: SocketAddr, options: &Serve) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "scarce ready: resp {address}, data {}, pid {}",
        options.data.display(),
        std::process::id()
    )?;
    out.flush()?;
    if std::io::stderr().is_terminal() {
        let port = address.port();
        writeln!(std::io::stderr(), "try: redis-cli -p {port} STOCK.CREATE sku-1 100")?;
    }
    Ok(())
}
