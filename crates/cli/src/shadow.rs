//! `scarce shadow`: a proxy in front of a Redis in use that compares the answers of its scripts with those of Scarce.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use scarce_client::ClientError;
use scarce_engine_redis::address::{Address, Endpoint, Topology};
use scarce_shadow::{Begin, CallMap, Proxy, Report, Settings, ShadowError};
use scarce_takeover::Plan;

use super::args::Target;
use super::columns::aligned;
use super::import::{FromRedis, MomentName, SourceFlags, Takeover};
use super::setting_flags::RedisFlags;
use super::{Ended, Exit, Failed, stop_on_signals};

/// How long calls that were answered may take to be compared at the end.
const COMPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many operations of the import may wait for their answers at once.
const WINDOW: u32 = 256;

/// How often the end is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// `scarce shadow`.
#[derive(Debug, Args)]
pub struct Shadow {
    #[command(flatten)]
    /// The Redis in use. Callers log in there themselves, through the proxy.
    pub from: SourceFlags,
    /// Which call means which command of Scarce, and which answer which, in TOML; see the reference.
    #[arg(long, value_name = "FILE")]
    pub calls: PathBuf,
    /// Where callers reach the proxy.
    #[arg(long, default_value = "127.0.0.1:6390", value_name = "ADDR")]
    pub listen: SocketAddr,
    /// The map of keys for 'scarce import redis', by which Scarce is given what the source has when comparing begins.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub map: Option<PathBuf>,
    /// The name of the run of that import.
    #[arg(long, value_name = "NAME")]
    pub run: Option<String>,
    /// For how long the source may hold up its writers while it is read.
    #[arg(long, default_value_t = 5_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub pause_ms: u64,
    /// How long Scarce may be away before comparing is broken off.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub retry_for: u64,
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

impl From<ShadowError> for Failed {
    fn from(error: ShadowError) -> Self {
        let exit = match error {
            ShadowError::Map { .. } => Exit::Usage,
            ShadowError::Listen { .. } => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}

pub(super) fn run(options: &Shadow) -> Ended {
    let text = std::fs::read_to_string(&options.calls).map_err(|error| {
        Failed::text(Exit::Usage, format!("cannot read {}: {error}", options.calls.display()))
    })?;
    let map = CallMap::parse(&text, options.calls.parent().unwrap_or(Path::new(".")))?;
    let upstream = options.upstream()?;
    // Nothing is listened on before Scarce has been seen.
    options.target.connect()?;
    let target = options.target.clone();
    let connect = Box::new(move || target.connect().map_err(|failed| ClientError::Refused(failed.message)));
    let settings = Settings { run: run_name(), patience: Duration::from_secs(options.retry_for) };
    let beginning = Box::new(Beginning { takeover: options.takeover()?, plan: Mutex::default() });
    let stop = stop_on_signals()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let report = runtime.block_on(async {
        let listening = Proxy::listen(options.listen, upstream, map, settings, (beginning, connect));
        let proxy = listening.await?;
        let address = proxy.address()?;
        writeln!(std::io::stdout().lock(), "shadow listens on {address}, in front of {}", options.from.from)?;
        tokio::select! {
            () = proxy.serve() => {}
            () = stopped(&stop) => {}
        }
        compared(&proxy).await;
        Ok::<_, Failed>(proxy.report())
    })?;
    // Callers that are still connected are cut off.
    runtime.shutdown_background();
    print(&report, options.json)
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until what was answered is compared.
async fn compared(proxy: &Proxy) {
    let begun = Instant::now();
    while proxy.report().waiting > 0 && begun.elapsed() < COMPARE_TIMEOUT {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What the IDs of this process' operations begin with; no other process has the same.
fn run_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("shadow-{:x}-{:x}", now.as_nanos(), std::process::id())
}

impl Shadow {
    fn upstream(&self) -> Result<(String, i64), Failed> {
        let address = Address::parse(&self.from.from);
        match address.map(|address| (address.topology, address.database, address.is_tls)) {
            Some((Topology::Standalone(endpoint @ Endpoint::Tcp(..)), database, false)) => {
                Ok((endpoint.to_string(), database))
            }
            _ => {
                let text = format!(
                    "'{}' must be redis://HOST:PORT[/DB]: the proxy stands in front of one server, without TLS",
                    self.from.from
                );
                Err(Failed::text(Exit::Usage, text))
            }
        }
    }

    /// The import by which Scarce is given what the source has.
    fn takeover(&self) -> Result<Option<Takeover>, Failed> {
        let (Some(map), Some(run)) = (&self.map, &self.run) else { return Ok(None) };
        let import = FromRedis {
            from: self.from.clone(),
            map: map.clone(),
            run: Some(run.clone()),
            dry_run: false,
            compare: false,
            moment: MomentName::Pause,
            pause_ms: self.pause_ms,
            plan: None,
            target: self.target.clone(),
            engine: None,
            redis: RedisFlags::default(),
            window: WINDOW,
            retry_for: self.retry_for,
            json: false,
        };
        Takeover::new(import).map(Some)
    }
}

/// Gives Scarce what the source has.
struct Beginning {
    takeover: Option<Takeover>,
    plan: Mutex<Option<Plan>>,
}

impl Begin for Beginning {
    fn read(&self) -> Result<(), String> {
        let Some(takeover) = &self.takeover else { return Ok(()) };
        let plan = takeover.read().map_err(|failed| failed.message)?;
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
        Ok(())
    }

    fn make(&self) -> Result<(), String> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(takeover), Some(plan)) = (&self.takeover, plan) else { return Ok(()) };
        takeover.make(&plan).map_err(|failed| failed.message)
    }
}

fn print(report: &Report, as_json: bool) -> Ended {
    let mut out = std::io::stdout().lock();
    if as_json {
        let text = serde_json::to_string(report).map_err(std::io::Error::from)?;
        writeln!(out, "{text}")?;
    } else {
        for line in lines(report) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(if report.is_equal() { Exit::Done } else { Exit::Broken })
}

fn lines(report: &Report) -> Vec<String> {
    let heading = ["call", "equal", "different"].map(str::to_owned).to_vec();
    let rows = report
        .calls
        .iter()
        .map(|call| vec![call.call.clone(), call.equal.to_string(), call.different.to_string()]);
    let mut lines = aligned([heading].into_iter().chain(rows));
    for (count, what) in [
        (report.not_compared, "calls were made while nothing was compared"),
        (report.in_transactions, "calls within MULTI are not compared"),
        (report.in_other_databases, "calls in other databases are not compared"),
        (report.not_run, "calls were refused by Redis before it ran them"),
        (
            report.unanswered,
            "calls were not answered by Redis and may have been carried out; what follows may differ for that",
        ),
        (report.waiting, "calls were answered and not compared any more"),
    ] {
        if count > 0 {
            lines.push(format!("{count} {what}"));
        }
    }
    lines.extend(report.broken_off.iter().map(|why| format!("comparing was broken off: {why}")));
    for call in &report.calls {
        for difference in &call.differences {
            lines.push(format!("{}: {}", call.call, difference.command));
            let facts = [
                ("Redis", &difference.redis),
                ("expected", &difference.expected),
                ("Scarce", &difference.scarce),
            ];
            lines.extend(facts.map(|(who, what)| format!("  {who}: {what}")));
        }
    }
    lines
}
