//! Ships the log to a store of backups all the time: a backup first, then what is logged.
//!
//! ```text
//! journal's files ─▶ parts of the log, every half second ─▶ store      a thread, with one for its calls
//!        └─────────▶ a backup from time to time ──────────▶ store      a thread for each, with one for their calls
//! what waits, what is wrong, the end                                   a thread that never calls the store
//! ```
//!
//! Segments are kept until the store has them, up to a bound. Nothing here holds up a command, and a store that does not
//! answer holds up neither the bound nor the end.

mod base;
mod calls;
mod kept;
mod log;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use scarce_backup::store::{self, Store};
use scarce_backup::{Keys, Vault};
use scarce_engine_embedded::Embedded;
use scarce_gateway_http::BackupStatus;
use scarce_settings::ServerSettings;

use super::ServeError;
use base::{Bases, Making};
use calls::{CalledStore, Calls};
use kept::KeptLog;
use log::{IDLE_INTERVAL, Shipper};
use watch::Watcher;

/// The first and the longest delay before a retry.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// How long a store may take for an answer before that is reported.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How long the rest of the log is shipped when the server ends.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The running shipping.
pub(super) struct Shipping {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What the settings say of it.
struct Plan {
    data: PathBuf,
    interval: Duration,
    full_every_ms: u64,
    log_bytes_max: u64,
    /// A call of the store that takes longer is reported.
    answer_max: Duration,
    /// How often it is looked whether the store still has what was put.
    check_interval: Duration,
    end_timeout: Duration,
}

/// What those who call the store and the one who never does share.
struct ShippingState {
    engine: Arc<Embedded>,
    status: Arc<BackupStatus>,
    kept: Mutex<KeptLog>,
    /// The backup that is being made.
    making: Mutex<Option<Making>>,
    /// Why the store gets nothing, as far as it has answered.
    trouble: Mutex<Option<String>>,
    log_calls: Arc<Calls>,
    base_calls: Arc<Calls>,
}

impl Shipping {
    /// Starts it, if the settings name a store.
    pub(super) fn start(
        settings: &ServerSettings,
        engine: Option<&Arc<Embedded>>,
        status: Option<Arc<BackupStatus>>,
    ) -> Result<Option<Self>, ServeError> {
        let Some(status) = status else { return Ok(None) };
        let engine = engine.ok_or(ServeError::BackupEngine)?.clone();
        let keys = || settings.backup_key_file.as_deref().map(Keys::read).transpose();
        let plan = Plan {
            data: settings.data.clone(),
            interval: Duration::from_millis(settings.backup_interval_ms),
            full_every_ms: settings.backup_full_ms,
            log_bytes_max: settings.backup_log_max_mib.saturating_mul(1 << 20),
            answer_max: ANSWER_MAX,
            check_interval: IDLE_INTERVAL,
            end_timeout: END_TIMEOUT,
        };
        // Two, because what one of them still has to settle is no matter of the other.
        let stores = [store::open(&status.store)?.into(), store::open(&status.store)?.into()];
        let keys = [keys()?.unwrap_or_default(), keys()?.unwrap_or_default()];
        Self::begin(plan, engine, status, stores, keys).map(Some)
    }

    fn begin(
        plan: Plan,
        engine: Arc<Embedded>,
        status: Arc<BackupStatus>,
        [log_store, base_store]: [Arc<dyn Store>; 2],
        [log_keys, base_keys]: [Keys; 2],
    ) -> Result<Self, ServeError> {
        let (store, log_calls) = CalledStore::start(log_store, "backup-log-io")?;
        let log_vault = Vault { store: Box::new(store), keys: log_keys };
        let (store, base_calls) = CalledStore::start(base_store, "backup-base-io")?;
        let base_vault = Vault { store: Box::new(store), keys: base_keys };
        let kept = Mutex::new(KeptLog::new(engine.clone(), plan.log_bytes_max));
        let (making, trouble) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(ShippingState { engine, status, kept, making, trouble, log_calls, base_calls });
        let bases = Bases::new(shared.clone(), base_vault, plan.data.clone(), plan.full_every_ms);
        let times = (plan.answer_max, plan.end_timeout);
        let shipper = Shipper::new(shared.clone(), log_vault, bases, plan);
        let (stop, stopped) = bounded(0);
        let watcher = Watcher::start(shared, shipper, times)?;
        let thread = std::thread::Builder::new().name("backup".to_owned());
        let thread = thread.spawn(move || watcher.run(&stopped))?;
        Ok(Self { stop, thread })
    }

    /// Ships what is left, and ends, also where the store does not answer. The engine must have ended before.
    pub(super) fn end(self) {
        drop(self.stop);
        // Its panic was already logged.
        let _ = self.thread.join();
    }
}

impl ShippingState {
    fn kept(&self) -> MutexGuard<'_, KeptLog> {
        lock(&self.kept)
    }

    /// Ends the making of the backup that is being made, before its next piece.
    fn abandon(&self, reason: &str) {
        if let Some(making) = &*lock(&self.making) {
            making.abandon(reason);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error with everything that caused it, in one line. What an error says of its cause is not said again.
fn explain(error: &dyn std::error::Error) -> String {
    let mut text = one_line(error);
    let mut cause = error.source();
    while let Some(error) = cause {
        let its = one_line(error);
        if !text.contains(&its) {
            text.push_str(&format!("; because {its}"));
        }
        cause = error.source();
    }
    text
}

fn one_line(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    text.split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether two texts say the same of different attempts, which have durations, counts and names of their own.
fn is_same_reason(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let words =
            text.split([' ', '<', '>']).filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    one == other || words(one) == words(other)
}
