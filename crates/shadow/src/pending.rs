//! What a caller has asked and Redis has not answered yet, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, OwnedMutexGuard, OwnedRwLockReadGuard};

use crate::map::Made;

/// A request that is not answered yet.
#[derive(Debug)]
pub(crate) enum Asked {
    /// It is passed on and nothing more.
    Passed,
    /// It is compared, or counted.
    Call(Box<HeldCall>),
}

/// A call, and what is held until it is answered, so that calls of one resource are answered one after the other.
#[derive(Debug)]
pub(crate) struct HeldCall {
    pub(crate) made: Made,
    /// Whether comparing had begun when it was sent.
    pub(crate) is_compared: bool,
    pub(crate) _resources: Vec<OwnedMutexGuard<()>>,
    pub(crate) _gate: OwnedRwLockReadGuard<()>,
}

/// Requests in their order.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    asked: Mutex<VecDeque<Asked>>,
    emptied: Notify,
}

impl Pending {
    pub(crate) fn push(&self, asked: Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push_back(asked);
    }

    /// The request that an answer is to.
    pub(crate) fn pop(&self) -> Option<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Tells who waits for the last answer that it has been passed on.
    pub(crate) fn note_answered(&self) {
        if self.is_empty() {
            self.emptied.notify_one();
        }
    }

    /// Waits until everything is answered. One task waits at most.
    pub(crate) async fn all_answered(&self) {
        while !self.is_empty() {
            self.emptied.notified().await;
        }
    }
}
