//! Which subscriptions of a subscriber have something to take.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scarce_engine::stop::Waker;

/// The subscriptions of one subscriber that have something to take. Each is in it once at most.
pub(crate) struct Mailbox {
    ready: Mutex<VecDeque<u64>>,
    wake: Waker,
}

impl Mailbox {
    pub(crate) fn new(wake: Waker) -> Arc<Self> {
        Arc::new(Self { ready: Mutex::default(), wake })
    }

    fn ready(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The subscription that has waited for longest.
    pub(crate) fn next(&self) -> Option<u64> {
        self.ready().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready().is_empty()
    }
}

/// A subscription as its channel knows it.
pub(crate) struct Listener {
    mailbox: Arc<Mailbox>,
    id: u64,
    is_ready: AtomicBool,
}

impl Listener {
    pub(crate) fn new(mailbox: Arc<Mailbox>, id: u64) -> Arc<Self> {
        Arc::new(Self { mailbox, id, is_ready: AtomicBool::new(false) })
    }

    /// There is something to take. Its subscriber is woken unless it was before and has not looked since.
    pub(crate) fn announce(&self) {
        if self.is_ready.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut ready = self.mailbox.ready();
        let was_empty = ready.is_empty();
        ready.push_back(self.id);
        drop(ready);
        if was_empty {
            (self.mailbox.wake)();
        }
    }

    /// Its subscriber took something and looks again after its other subscriptions.
    pub(crate) fn look_again(&self) {
        if !self.is_ready.swap(true, Ordering::AcqRel) {
            self.mailbox.ready().push_back(self.id);
        }
    }

    /// Its subscriber looks now: what comes from now on is announced again.
    pub(crate) fn look(&self) {
        self.is_ready.store(false, Ordering::Release);
    }
}
