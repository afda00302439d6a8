//! Waking what waits, and asking it to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Wakes a port that waits, from any thread.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Asks everything that serves to end.
#[derive(Clone, Default)]
pub struct Stop {
    shared: Arc<StopShared>,
}

#[derive(Default)]
struct StopShared {
    requested: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Stop {
    /// Asks for the end: what was taken is finished, nothing more is.
    pub fn request(&self) {
        self.shared.requested.store(true, Ordering::Release);
        for waker in self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker();
        }
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::Acquire)
    }

    /// Has `waker` called when the end is asked for.
    pub fn add(&self, waker: Waker) {
        self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }
}
