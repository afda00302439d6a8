//! What wakes an owner. Its port is made after the threads that wake it, so it is set later.

use std::sync::{Arc, Mutex, PoisonError};

use scarce_engine::stop::Waker;

/// Wakes the owner once its port has said how. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct OwnerWaker {
    waker: Arc<Mutex<Option<Waker>>>,
}

impl OwnerWaker {
    pub(crate) fn set(&self, waker: Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker();
        }
    }
}
