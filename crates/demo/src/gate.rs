//! Where the crowd waits while the server is down.

use super::server::Doors;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Now {
    /// How many times the server was started.
    life: u64,
    doors: Option<Doors>,
    is_over: bool,
}

/// Tells the crowd each time the server is up again.
#[derive(Default)]
pub(super) struct Gate {
    now: Mutex<Now>,
    changed: Condvar,
}

impl Gate {
    /// The server listens here, in a new life.
    pub(super) fn open(&self, doors: Doors) {
        let mut now = self.lock();
        now.life += 1;
        now.doors = Some(doors);
        self.changed.notify_all();
    }

    /// The server will not be started again; nobody must wait.
    pub(super) fn close(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits for a life of the server after `life`; `None` if there will be none.
    pub(super) fn wait_beyond(&self, life: u64) -> Option<(u64, Doors)> {
        let now = self.lock();
        let waits = |now: &mut Now| now.life <= life && !now.is_over;
        let now = self.changed.wait_while(now, waits).unwrap_or_else(PoisonError::into_inner);
        now.doors.filter(|_| !now.is_over).map(|doors| (now.life, doors))
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
