//! `scarce serve`: starts a server, announces that it is ready, and shuts it down cleanly on request.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scarce_engine::clock::ManualClock;
use scarce_engine_embedded::RecoveryProgress;
use scarce_server::logs::Logs;
use scarce_server::serve::{
    Elsewhere, Options, Reloader, ServeError, Server, SettingsShown, Stopper, TakeOver, state_settings,
};
use scarce_settings::{EngineChoice, Loaded, Origin, ServerSettings, Shown, listed};
use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::migrate::{arrive, has_arrived};
use super::restore::Purpose;
use super::setting_flags::SettingFlags;
use super::{Ended, Exit, Failed};

/// How long the settings may take to be read again before that is told.
const RELOAD_USUAL: Duration = Duration::from_secs(10);

/// `scarce serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    #[command(flatten)]
    /// What can be set in a file, by variables and by flags.
    pub settings: SettingFlags,
    /// Say that the system's clock is right now, whether it is ahead of the log's last timestamp or behind it.
    #[arg(long)]
    pub accept_clock: bool,
    /// Say that the deployment in Redis is right, although it is new or not the one that was served before.
    #[arg(long)]
    pub accept_deployment: bool,
    /// Change what all servers of a deployment in Redis must have alike, such as how long receipts are kept, to what this
    /// server has.
    #[arg(long)]
    pub accept_settings: bool,
    /// Take over a deployment from the server that runs on this data directory, in which it is until then.
    #[arg(long, value_name = "DIR")]
    pub migrate_from: Option<PathBuf>,
    /// What callers of that server are told, as host:port; otherwise the address of the RESP port.
    #[arg(long, value_name = "ADDRESS", requires = "migrate_from")]
    pub migrate_address: Option<String>,
    /// Take the time from `DEBUG.CLOCK` instead of the system: for tests.
    #[arg(long, hide = true)]
    pub manual_clock: bool,
    /// Set what outcomes depend on, as `step_max=2`: for tests.
    #[arg(long = "set", hide = true, value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
}

pub(super) fn run(serve: &Serve) -> Ended {
    scarce_gateway::descriptors::raise_limit();
    let loaded = serve.settings.load().map_err(|problems| Failed::text(Exit::Usage, listed(&problems)))?;
    let settings = &loaded.settings;
    let logs = Logs::install(settings.log_format, &settings.log_level);
    log_start(&loaded);
    let options = Options {
        accept_clock: serve.accept_clock,
        accept_deployment: serve.accept_deployment,
        accept_settings: serve.accept_settings,
        manual_clock: serve.manual_clock.then(ManualClock::default),
        sets: serve.sets.clone(),
        shown: SettingsShown::default(),
    };
    options.shown.set(loaded.shown.iter().map(Shown::to_json).collect());
    let started = match &serve.migrate_from {
        Some(from) => take_over(from, serve, settings, &options)?,
        None => start(settings, &options),
    };
    let server = match started {
        Err(error) if error.moved_to().is_some() => return tell_elsewhere(settings, &error),
        started => started?,
    };
    for warning in server.warnings() {
        tracing::warn!("{warning}; see scarce doctor");
    }
    let reload = Reload {
        flags: serve.settings.clone(),
        loaded: loaded.clone(),
        in_effect: loaded.shown.clone(),
        shown: options.shown.clone(),
        logs,
        server: server.reloader(),
    };
    obey_signals(server.stopper(), reload)?;
    announce(&server)?;
    let ended = server.join();
    match &ended {
        Ok(()) => tracing::info!("the server has stopped"),
        Err(error) => tracing::error!(reason = explain(error), "the server has stopped because of a failure"),
    }
    ended?;
    Ok(Exit::Done)
}

fn start(settings: &ServerSettings, options: &Options) -> Result<Server, ServeError> {
    let bar = recovery_bar();
    let started = Server::start(settings, options, &mut |progress: RecoveryProgress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    });
    bar.finish_and_clear();
    started
}

/// Starts with the deployment of another server, which goes on until this one can take its place.
fn take_over(
    from: &Path,
    serve: &Serve,
    settings: &ServerSettings,
    options: &Options,
) -> Result<Result<Server, ServeError>, Failed> {
    if settings.engine != EngineChoice::Embedded {
        let text = "--migrate-from takes over a deployment of the engine embedded, into the engine embedded";
        return Err(Failed::text(Exit::Usage, text));
    }
    if has_arrived(from, &settings.data)? {
        tracing::info!(from = %from.display(), "the deployment has arrived before");
        return Ok(start(settings, options));
    }
    if serve.migrate_address.is_none() && settings.resp.ip().is_unspecified() {
        let text = format!(
            "callers cannot be told {} as the new address; add --migrate-address HOST:PORT",
            settings.resp
        );
        return Err(Failed::text(Exit::Usage, text));
    }
    let state = state_settings(settings, options)?;
    let source = (from, Some(settings.partitions));
    let arrival = arrive(source, &settings.data, Purpose::Serve, &state)?;
    tracing::info!(from = %from.display(), "the deployment was copied, and its server is followed");
    let address = serve.migrate_address.clone();
    Ok(Server::take_over(settings, options, TakeOver { arrival, address }))
}

/// The deployment has left these files: callers are told where it is, until the process is asked to end.
fn tell_elsewhere(settings: &ServerSettings, error: &ServeError) -> Ended {
    let address = error.moved_to().unwrap_or_default();
    let told = Elsewhere::start(settings, address)?;
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    tracing::warn!("{error}");
    let (resp, pid) = (told.resp_address(), std::process::id());
    let http = told.http_address().map(|http| format!(", http {http}")).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "scarce has moved: resp {resp}{http}, to {address}, pid {pid}")?;
    out.flush()?;
    notify(NotifyState::Ready);
    let _ = signals.forever().next();
    notify(NotifyState::Stopping);
    Ok(Exit::Done)
}

/// What runs, and the settings in effect. Secrets are shown as set, and addresses without their passwords.
fn log_start(loaded: &Loaded) {
    loaded.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let given = loaded.shown.iter().filter(|shown| shown.origin != Origin::Default);
    let given = given.filter_map(|shown| Some(format!("{}={}", shown.spec.key, shown.text.as_ref()?)));
    let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
    let settings = given.collect::<Vec<_>>().join(" ");
    let files: Vec<_> = loaded.files.iter().map(|file| file.display().to_string()).collect();
    tracing::info!(version, pid, settings, files = files.join(" "), "the server starts");
}

/// Tells a service manager, if one started the server and waits for that: the variable `NOTIFY_SOCKET` names its socket.
fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager could not be told how the server is; see NOTIFY_SOCKET");
    }
}

/// An error with everything that caused it, in one line.
fn explain(error: &(dyn std::error::Error + 'static)) -> String {
    Failed::new(Exit::Failed, error).message.replace("\n  because", "; because")
}

fn recovery_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("recovering {bar:40} {bytes}/{total_bytes} {bytes_per_sec}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// Reads the settings again while the server runs.
struct Reload {
    flags: SettingFlags,
    loaded: Loaded,
    /// The settings in effect, and where they are shown.
    in_effect: Vec<Shown>,
    shown: SettingsShown,
    logs: Logs,
    server: Reloader,
}

impl Reload {
    /// Reads them once for every word that comes, on threads of their own: a file may never answer.
    fn start(mut self) -> std::io::Result<SyncSender<()>> {
        let (asker, asked) = std::sync::mpsc::sync_channel(1);
        std::thread::Builder::new().name("reloading".to_owned()).spawn(move || {
            for () in asked {
                self.run_observed();
            }
        })?;
        Ok(asker)
    }

    /// Tells when it takes long, and waits on.
    fn run_observed(&mut self) {
        let (done, end) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                self.run();
                drop(done);
            });
            if end.recv_timeout(RELOAD_USUAL) == Err(RecvTimeoutError::Timeout) {
                tracing::error!("a file of the settings does not answer; nothing was changed yet");
            }
        });
    }

    fn run(&mut self) {
        match self.apply() {
            Ok((applied, waiting)) => {
                let applied = applied.join(" ");
                self.server.note("APPLIED", &applied);
                let restart_needed = waiting.join(" ");
                tracing::info!(applied, restart_needed, "the settings were read again");
            }
            Err(reason) => {
                self.server.note("REFUSED", &reason);
                tracing::error!(reason, "the settings could not be read again; nothing was changed");
            }
        }
    }

    /// Applies what can change while the server runs. Names it, and what needs a restart.
    fn apply(&mut self) -> Result<(Vec<&'static str>, Vec<&'static str>), String> {
        let loaded = self.flags.load().map_err(|problems| listed(&problems))?;
        let mut applied = self.server.apply(&loaded.settings).map_err(|error| explain(&error))?;
        let pairs = loaded.shown.iter().zip(&self.loaded.shown);
        let changed = pairs.filter(|(new, old)| new.text != old.text).map(|(new, _)| new.spec.key);
        let (levels, waiting): (Vec<_>, Vec<_>) =
            changed.filter(|key| *key != "password").partition(|key| *key == "log_level");
        self.logs.set_level(&loaded.settings.log_level)?;
        applied.extend(levels);
        let new_ones = loaded.shown.iter().zip(&mut self.in_effect);
        new_ones.filter(|(new, _)| applied.contains(&new.spec.key)).for_each(|(new, old)| *old = new.clone());
        self.shown.set(self.in_effect.iter().map(Shown::to_json).collect());
        // What needs a restart is named again next time.
        for (old, new) in self.loaded.shown.iter_mut().zip(loaded.shown) {
            if new.spec.key == "log_level" {
                *old = new;
            }
        }
        Ok((applied, waiting))
    }
}

/// SIGHUP reads the settings again. The first other signal requests a clean shutdown, a second one ends the process at
/// once.
fn obey_signals(stopper: Stopper, reload: Reload) -> Result<(), Failed> {
    let reload = reload.start()?;
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut asked = signals.forever().filter(|signal| {
            if *signal == SIGHUP {
                // If one waits already, it will read what is there now.
                let _ = reload.try_send(());
            }
            *signal != SIGHUP
        });
        let Some(signal) = asked.next() else { return };
        let signal = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
        tracing::info!(signal, "the server was asked to stop; a second signal ends it at once");
        notify(NotifyState::Stopping);
        // The clean end begins in another thread, so that a second signal is heard at once.
        let ending = std::thread::Builder::new().name("ending".to_owned()).spawn(move || stopper.stop());
        if ending.is_err() || asked.next().is_some() {
            tracing::warn!("the server ends at once, on a second signal");
            std::process::exit(i32::from(Exit::Failed as u8));
        }
    })?;
    Ok(())
}

/// The one line on stdout that says the server is ready.
fn announce(server: &Server) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    let address = server.resp_address();
    let http = server.http_address().map(|http| format!(", http {http}")).unwrap_or_default();
    let (state_at, pid) = (server.state_at(), std::process::id());
    tracing::info!(
        resp = %address,
        http = server.http_address().map(tracing::field::display),
        state = state_at,
        "the server is ready"
    );
    writeln!(out, "scarce ready: resp {address}{http}, {state_at}, pid {pid}")?;
    out.flush()?;
    notify(NotifyState::Ready);
    if std::io::stderr().is_terminal() {
        let port = address.port();
        writeln!(std::io::stderr(), "try: redis-cli -p {port} STOCK.CREATE sku-1 100")?;
    }
    Ok(())
}

impl From<ServeError> for Failed {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::System(error) => error.into(),
            ServeError::Redis(error) => error.into(),
            ServeError::Arrival(error) => error.into(),
            ServeError::Exposed(_) | ServeError::Set { .. } | ServeError::TlsSettings(_) => {
                Self::new(Exit::Usage, &error)
            }
            error => Self::new(Exit::Failed, &error),
        }
    }
}
