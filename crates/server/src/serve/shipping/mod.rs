//! Ships the log to a store of backups all the time, on a thread of its own: a backup first, then what is logged.
//!
//! ```text
//! journal's files ─▶ parts of the log, every half second ─▶ store
//!        └─────────▶ a backup from time to time ──────────▶ store; then its log follows
//! ```
//!
//! Segments are kept until the store has them, up to a bound. Nothing here holds up a command.

mod base;
#[allow(dead_code, reason = "used by the next step")]
mod calls;
mod kept;
mod log;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use scarce_backup::{Keys, Vault, store};
use scarce_engine_embedded::Embedded;
use scarce_gateway_http::BackupStatus;
use scarce_outflow::Backoff;
use scarce_settings::ServerSettings;

use super::ServeError;
use base::Bases;
use kept::KeptLog;
use log::Shipper;

/// The first and the longest delay before a retry.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// How long the rest of the log is shipped when the server ends.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The running shipping.
pub(super) struct Shipping {
    stop: Sender<()>,
    thread: JoinHandle<()>,
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
        let store = store::open(&status.store)?;
        let keys = settings.backup_key_file.as_deref().map(Keys::read).transpose()?.unwrap_or_default();
        let vault = Arc::new(Vault { store, keys });
        let (data, full_every_ms) = (settings.data.clone(), settings.backup_full_ms);
        let kept = KeptLog::new(engine.clone(), settings.backup_log_max_mib.saturating_mul(1 << 20));
        let shipper = Shipper {
            bases: Bases::new(vault.clone(), data.clone(), full_every_ms),
            interval: Duration::from_millis(settings.backup_interval_ms),
            shipped_at: None,
            checked_at: None,
            retry_at: None,
            backoff: Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1),
            trouble: None,
            stream: None,
            engine,
            vault,
            data,
            kept,
            status,
        };
        let (stop, stopped) = bounded(0);
        let thread = std::thread::Builder::new().name("backup".to_owned());
        let thread = thread.spawn(move || shipper.run(&stopped))?;
        Ok(Some(Self { stop, thread }))
    }

    /// Ships what is left, and ends. The engine must have ended before.
    pub(super) fn end(self) {
        drop(self.stop);
        // Its panic was already logged.
        let _ = self.thread.join();
    }
}

/// An error with everything that caused it, in one line.
fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("; because {error}"));
        cause = error.source();
    }
    text
}
