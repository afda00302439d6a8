//! The orderly end of a server: no more traffic, then answers to everything that was asked, then the engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use scarce_engine::stop::Stop;
use scarce_gateway_http::Http;
use scarce_gateway_resp::Drain;

use crate::pipeline::Pipeline;

/// How long callers of the RESP port are waited for.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// How the ports end.
#[derive(Clone, Default)]
pub(super) struct Ending {
    /// Whether the server ends soon; `/readyz` says so.
    pub(super) is_begun: Arc<AtomicBool>,
    /// The end of the RESP port.
    pub(super) resp: Arc<Drain>,
    /// The HTTP port, until it is ended.
    pub(super) http: Arc<Mutex<Option<Http>>>,
}

impl Ending {
    /// Ends the HTTP port, once requests in progress have their answers, unless it has ended.
    pub(super) fn end_http(&self) {
        let http = self.http.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(http) = http {
            http.shut_down();
        }
    }
}

/// Stops a server.
pub struct Stopper {
    pub(super) ending: Ending,
    /// How long the ports stay open while `/readyz` says that the server ends.
    pub(super) grace: Duration,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) stop: Stop,
}

impl Stopper {
    /// Stops it in order: callers are led away, consumers record their positions, requests in progress are answered, and
    /// the engine ends.
    pub fn stop(&self) {
        self.ending.is_begun.store(true, Ordering::Release);
        let deadline = Instant::now() + self.grace;
        while let Some(left) = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            std::thread::park_timeout(left);
        }
        self.pipeline.stop();
        tracing::info!("consumers have stopped");
        self.ending.end_http();
        if !self.ending.resp.run(END_TIMEOUT) {
            tracing::warn!("some callers still wait for answers; they are told that the outcome is unknown");
        }
        self.stop.request();
    }
}
