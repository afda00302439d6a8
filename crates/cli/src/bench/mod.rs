//! `scarce bench`: load tests a server.

mod report;

use std::io::Write;
use std::sync::atomic::Ordering;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use scarce_load::{Commands, Driven, Driver, Load, LoadError, LoadProgress, Tally, Until, Workload, connect};

use self::report::Report;
use super::args::Target;
use super::call::read_password;
use super::{Ended, Exit, Failed, stop_on_signals};

/// `scarce bench`.
#[derive(Debug, Args)]
pub struct Bench {
    #[command(flatten)]
    /// Which server. What the load needs is made there under bench/, and stays.
    pub target: Target,
    /// What is asked.
    #[arg(long, default_value = "debit", value_name = "LOAD")]
    pub workload: Workload,
    /// How many connections.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub connections: u32,
    /// How many commands may wait for their answers on each connection.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "rate")]
    pub pipeline: u32,
    /// Send so many commands a second, whether or not answers come; latencies count from when each was due.
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// How long.
    #[arg(long, default_value_t = 10, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// How many commands in all, instead of for how long.
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// Give each command an id, so that the server remembers it.
    #[arg(long)]
    pub ids: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl From<LoadError> for Failed {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Client(error) => error.into(),
            LoadError::Unreachable { .. } => Self::text(Exit::Unreachable, error.to_string()),
            LoadError::Refused { .. } => Self::text(Exit::Refused, error.to_string()),
            LoadError::Password { .. } | LoadError::NotDone { .. } => {
                Self::text(Exit::Failed, error.to_string())
            }
        }
    }
}

/// How often to update the displayed speed.
const SHOW_EVERY: Duration = Duration::from_millis(200);

pub(super) fn run(options: &Bench) -> Ended {
    let load = Load {
        workload: options.workload,
        run: new_run(),
        with_ids: options.ids,
        operations: options.operations,
    };
    load.workload.prepare(&mut options.target.connect()?, &load.run, load.operations)?;
    let password = options.target.password_file.as_deref().map(read_password).transpose()?;
    let links = (0..options.connections).map(|_| connect(&options.target.resp, password.as_deref()));
    let links = links.collect::<Result<Vec<_>, _>>()?;
    let progress = LoadProgress { stop: stop_on_signals()?, ..LoadProgress::default() };
    let started_at = Instant::now();
    let driven = std::thread::scope(|scope| {
        let running: Vec<_> = links
            .into_iter()
            .zip(0..)
            .map(|((stream, replies), connection)| {
                let commands = Commands::new(&load, connection);
                let until = until(options, connection, started_at);
                let driver = Driver { stream, replies, commands, until, progress: &progress };
                start(scope, driver, options, connection, started_at)
            })
            .collect();
        show(options, &progress, &running);
        running.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let seconds = started_at.elapsed().as_secs_f64();
    let mut report = Report { options, tally: Tally::new(), seconds, broken: Vec::new() };
    for driven in driven {
        match driven {
            Ok(Driven { tally, broken }) => {
                report.tally.add(&tally);
                report.broken.extend(broken.map(|error| error.to_string()));
            }
            Err(_) => return Err(Failed::text(Exit::Failed, "a thread has panicked")),
        }
    }
    finish(&report)
}

/// A unique name for this run, for ids that cannot be used twice.
fn new_run() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{millis:x}-{:x}", std::process::id())
}

/// The share of one connection.
fn until(options: &Bench, connection: u32, started_at: Instant) -> Until {
    let Some(operations) = options.operations else {
        let at = started_at + Duration::from_secs(options.seconds);
        return Until { operations: u64::MAX, at: Some(at) };
    };
    let (connection, connections) = (u64::from(connection), u64::from(options.connections));
    let more = u64::from(connection < operations % connections);
    Until { operations: operations / connections + more, at: None }
}

fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    driver: Driver<'scope>,
    options: &Bench,
    connection: u32,
    started_at: Instant,
) -> ScopedJoinHandle<'scope, Driven> {
    let (rate, connections) = (options.rate, options.connections);
    let pipeline = usize::try_from(options.pipeline).unwrap_or(1);
    scope.spawn(move || match rate {
        None => driver.closed(pipeline),
        Some(rate) => {
            // The connections take turns, so that together they send at an even rate.
            let step = Duration::from_secs(1) / rate;
            driver.open(started_at + step * connection, Duration::from_secs(1) * connections / rate)
        }
    })
}

/// Shows the speed until all connections are done; indicatif shows it on terminals only.
fn show(options: &Bench, progress: &LoadProgress, running: &[ScopedJoinHandle<'_, Driven>]) {
    let bar = match options.operations {
        Some(operations) => ProgressBar::new(operations),
        None => ProgressBar::new_spinner(),
    };
    let template = match options.operations {
        Some(_) => "{bar:30} {pos}/{len} {eta} {msg}",
        None => "{spinner} {elapsed} {pos} {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let (mut before, mut looked_at) = (0, Instant::now());
    while !running.iter().all(ScopedJoinHandle::is_finished) {
        std::thread::park_timeout(SHOW_EVERY);
        let (answered, now) = (progress.answered.load(Ordering::Relaxed), Instant::now());
        let milliseconds = u64::try_from((now - looked_at).as_millis()).unwrap_or(u64::MAX).max(1);
        bar.set_position(answered);
        bar.set_message(format!("{}/s", (answered - before) * 1_000 / milliseconds));
        (before, looked_at) = (answered, now);
    }
    bar.finish_and_clear();
}

fn finish(report: &Report<'_>) -> Ended {
    let mut out = std::io::stdout().lock();
    if report.options.json {
        writeln!(out, "{}", report.to_json())?;
    } else {
        writeln!(out, "{}", report.to_text())?;
    }
    match report.broken.as_slice() {
        [] if report.tally.outcomes().contains_key("ERR") => Err(Failed::text(
            Exit::Failed,
            "the server did not understand some commands; is it of this release?",
        )),
        [] => Ok(Exit::Done),
        [first, ..] => {
            let text = format!("{} connections broke, the first because: {first}", report.broken.len());
            Err(Failed::text(Exit::Unreachable, text))
        }
    }
}
