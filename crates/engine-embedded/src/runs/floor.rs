//! Up to where no state that can still be made of the files remembers an operation: runs before that may go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The oldest operations that snapshots remember.
#[derive(Debug, Default)]
pub(crate) struct RunFloor {
    /// By the sequences of snapshots; only of those that were made or read since the start.
    oldest: Mutex<BTreeMap<u64, u64>>,
    floor: AtomicU64,
}

impl RunFloor {
    /// Notes the oldest operation that a snapshot remembers.
    pub(crate) fn note(&self, sequence: u64, oldest: u64) {
        self.oldest.lock().unwrap_or_else(PoisonError::into_inner).insert(sequence, oldest);
    }

    /// Notes the oldest snapshot that is kept. As long as what it remembers is not known, everything stays.
    pub(crate) fn keep_from(&self, sequence: u64) {
        let mut oldest = self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
        *oldest = oldest.split_off(&sequence);
        if let Some(floor) = oldest.get(&sequence) {
            self.floor.fetch_max(*floor, Ordering::Relaxed);
        }
    }

    /// Operations with lower numbers are forgotten in every state.
    pub(super) fn get(&self) -> u64 {
        self.floor.load(Ordering::Relaxed)
    }
}
