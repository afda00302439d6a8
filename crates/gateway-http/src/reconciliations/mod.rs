//! The reconciliations of this server: the last ones with their reports, and how one is asked for.
//!
//! A thread of the server makes them one after another. It learns here when the next one is due, and tells here how
//! far it is; the port shows that, and asks for one.

mod kept;
mod routes;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scarce_core::types::TimeMs;
use serde_json::Value;

use kept::Kept;
pub use kept::{Cause, Figures, Verdict};
pub(super) use routes::{list, request, show};

/// The reconciliations of a server, as its port and the thread that makes them see them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Reconciliations(Arc<ReconciliationState>);

#[derive(Debug, Default)]
struct ReconciliationState {
    kept: Mutex<Kept>,
    changed: Condvar,
}

impl Reconciliations {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a thread makes them from now on; until then none can be asked for.
    pub fn open(&self) {
        self.kept().is_open = true;
    }

    /// Ends: the one that runs is not kept, and no other begins.
    pub fn close(&self) {
        self.kept().is_open = false;
        self.0.changed.notify_all();
    }

    /// Waits until one is asked for, or until the time is over, if there is one; `None` at the end.
    #[must_use]
    pub fn next(&self, wait: Option<Duration>) -> Option<Cause> {
        let due = wait.map(|wait| Instant::now() + wait);
        let mut kept = self.kept();
        while kept.is_open {
            if kept.is_asked() {
                return Some(Cause::Request);
            }
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Some(Cause::Interval);
            }
            kept = self.wait(kept, left);
        }
        None
    }

    /// Waits for so long, unless it ends; answers whether to go on.
    #[must_use]
    pub fn rest(&self, time: Duration) -> bool {
        let due = Instant::now() + time;
        let mut kept = self.kept();
        while kept.is_open {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            kept = self.wait(kept, Some(left));
        }
        false
    }

    fn wait<'k>(&'k self, kept: MutexGuard<'k, Kept>, time: Option<Duration>) -> MutexGuard<'k, Kept> {
        let changed = &self.0.changed;
        match time {
            None => changed.wait(kept).unwrap_or_else(PoisonError::into_inner),
            Some(time) => changed.wait_timeout(kept, time).unwrap_or_else(PoisonError::into_inner).0,
        }
    }

    /// Begins one; returns its id.
    #[must_use]
    pub fn begin(&self, cause: Cause) -> u64 {
        self.kept().begin(cause, now_ms())
    }

    /// Notes how far the one that runs is.
    pub fn note(&self, doing: &'static str, partition: u32, done: u64) {
        self.kept().note(doing, partition, done);
    }

    /// Ends the one that runs.
    pub fn end(&self, verdict: Verdict, took: Duration) {
        self.kept().end(verdict, now_ms(), took);
    }

    /// What metrics and health say of them.
    #[must_use]
    pub fn figures(&self) -> Figures {
        self.kept().figures.clone()
    }

    /// Asks for one, unless one is waiting or running: that one is returned then, and `false`. `None` if nothing makes
    /// them.
    fn request(&self) -> Option<(Value, bool)> {
        let asked = self.kept().request(now_ms());
        self.0.changed.notify_all();
        asked
    }

    fn list(&self) -> Vec<Value> {
        self.kept().list()
    }

    fn find(&self, id: u64) -> Option<Value> {
        self.kept().find(id)
    }
}

fn now_ms() -> TimeMs {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    TimeMs::try_from(now.as_millis()).unwrap_or(TimeMs::MAX)
}

#[cfg(test)]
mod tests;
