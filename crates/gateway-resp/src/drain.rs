//! The orderly end of the RESP port: its threads take no more requests, and callers get the answers that they wait for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scarce_engine::stop::{Stop, Waker};

/// How often the one that ends the port looks whether all are done.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// The end of the port, which all its threads share.
#[derive(Default)]
pub struct Drain {
    stop: Stop,
    threads: AtomicU64,
    done: AtomicU64,
}

impl Drain {
    /// Adds a thread of the port.
    pub(super) fn join(&self, waker: Waker) {
        self.threads.fetch_add(1, Ordering::AcqRel);
        self.stop.add(waker);
    }

    /// Whether no more requests are taken.
    pub(super) fn is_requested(&self) -> bool {
        self.stop.is_requested()
    }

    /// Notes that no caller of a thread waits for an answer any more.
    pub(super) fn note_done(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends the port. Whether all callers had their answers in time.
    #[must_use]
    pub fn run(&self, timeout: Duration) -> bool {
        self.stop.request();
        let deadline = Instant::now() + timeout;
        let is_done = || self.done.load(Ordering::Acquire) >= self.threads.load(Ordering::Acquire);
        while !is_done() && Instant::now() < deadline {
            std::thread::park_timeout(LOOK_INTERVAL);
        }
        is_done()
    }
}
