//! The HTTP port: JSON on the command table, problem documents, events as a stream, health, figures
//! and its own description. It knows engines by their trait only.

mod batch;
mod command;
mod consumers;
mod documents;
mod events;
mod exchange;
mod guard;
mod health;
mod history;
mod metrics;
mod preview;
mod reply;
mod router;
mod server;
mod submit;

use std::sync::Arc;

use scarce_engine::Engine;
use tokio::sync::watch;

use super::Access;
use crate::pipeline::Flows;
pub use metrics::Metrics;
pub use server::{Http, bind};

/// The most bytes of a body.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a request's line and headers.
pub const HEADERS_BYTES_MAX: usize = 16 << 10;

/// What every request of the port knows.
pub struct Shared {
    /// What callers must show.
    pub access: Access,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// What the port and the engine count.
    pub metrics: Metrics,
    /// What flows out of this process and into it.
    pub flows: Flows,
    /// Says when the port is to end.
    pub(crate) ending: watch::Receiver<bool>,
}

/// What handlers are given.
pub(crate) type Context = axum::extract::State<Arc<Shared>>;
