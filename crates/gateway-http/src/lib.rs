//! The HTTP port: JSON for the command table, problem documents, an event stream, health, metrics and its own
//! description.
//!
//! Must not know: an engine other than by its trait, another port, or a setting's name.
//!
//! Where to begin: [`Http`], the running port; `router.rs`, which path leads where.

#![forbid(unsafe_code)]

mod auditing;
mod batch;
mod command;
mod condense;
mod connection;
mod console;
mod consumers;
mod crowded;
mod deliveries;
mod document;
mod documents;
mod events;
mod exchange;
mod flows;
mod framing;
mod guard;
mod health;
mod history;
mod keys;
mod limits;
mod live;
pub mod loading;
mod metrics;
mod negotiation;
mod origin;
mod pace;
mod preview;
mod reader;
mod reconciliations;
mod reply;
mod rooms;
mod router;
mod scripts;
mod server;
mod settings;
mod stream;
mod submit;
mod tail;
mod trace;
mod transport;
mod unparsed;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use scarce_engine::Engine;
use scarce_gateway::Access;
use tokio::sync::watch;

pub use flows::{BackupLevels, BackupStatus, CommandCounter, CommandCounts, Flows, HealthSeen};
pub use keys::{KeyChange, KeyKeeper, KeyTrouble};
pub use metrics::{Measured, Metrics};
pub use reconciliations::{Cause, Figures, Reconciliations, Verdict};
pub use server::{CONNECTIONS_MAX, Http, Served, bind};
pub use settings::SettingsShown;

/// The maximum size of a body in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The maximum size of a request's line and headers in bytes.
pub const HEADERS_BYTES_MAX: usize = 16 << 10;

/// What every request of the port shares.
pub struct HttpShared {
    /// How callers authenticate.
    pub access: Access,
    /// Whether callers reach the port over TLS.
    pub is_tls: bool,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// The metrics of the port and the engine.
    pub metrics: Metrics,
    /// The ends of the logs, for streams of events.
    pub(crate) tails: Arc<tail::Tails>,
    /// The channels that callers subscribe to.
    pub push: Arc<scarce_push::Hub>,
    /// How long a caller may leave a stream of events unread.
    pub stream_unread_max: Duration,
    /// What flows into this process and out of it.
    pub flows: Flows,
    /// The settings in effect, as they are shown.
    pub settings: SettingsShown,
    /// Where the keys of callers are kept.
    pub keys: Arc<dyn KeyKeeper>,
    /// Whether the server ends soon, so that no traffic should be routed to it.
    pub is_ending: Arc<AtomicBool>,
    /// Signals that the port must end.
    pub(crate) ending: watch::Receiver<bool>,
}

/// The state that handlers receive.
pub(crate) type Context = axum::extract::State<Arc<HttpShared>>;
