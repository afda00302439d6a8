//! The server's log: a line on stderr for each event, with the time in UTC.
//!
//! Above the level `debug` no event holds data of callers, and none at any level a secret.

use std::fmt;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, reload};

use scarce_settings::{LogFormat, LogLevel};

/// The installed log, whose level can be changed while the server runs.
pub struct Logs {
    filter: reload::Handle<Targets, Registry>,
}

impl Logs {
    /// Starts logging, panics included. Only the first call in a process has an effect.
    #[must_use]
    pub fn install(format: LogFormat, level: &LogLevel) -> Self {
        let (filter, handle) = reload::Layer::new(level.targets());
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_timer(Utc)
            // Where stderr is closed there is nobody to tell that it is.
            .log_internal_errors(false);
        let lines = match format {
            LogFormat::Text => lines.boxed(),
            LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
        };
        // Tests may start several servers in a process; the first log serves them all.
        if tracing_subscriber::registry().with(filter).with(lines).try_init().is_ok() {
            log_panics();
        }
        Self { filter: handle }
    }

    /// Changes the level.
    ///
    /// # Errors
    /// When the log is gone, which happens only as the process ends.
    pub fn set_level(&self, level: &LogLevel) -> Result<(), String> {
        self.filter.reload(level.targets()).map_err(|error| error.to_string())
    }
}

/// A panic is an event too, so that what collects the log gets it in its format.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        let backtrace = match backtrace.status() {
            std::backtrace::BacktraceStatus::Captured => backtrace.to_string(),
            _ => String::new(),
        };
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        tracing::error!(thread, backtrace, "a thread panicked: {panic}");
    }));
}

/// The time in UTC with milliseconds, as in `2026-01-31T08:15:00.250Z`.
struct Utc;

impl FormatTime for Utc {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.3}", jiff::Timestamp::now())
    }
}
