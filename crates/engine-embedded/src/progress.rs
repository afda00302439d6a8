//! How far the log is durable, and whether it takes more: written by the committer, read by every thread.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use scarce_engine::engine::Failure;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::stop::Waker;

use crate::log::LogError;

/// How far the log of a partition is durable, and whether it takes more.
#[derive(Default)]
pub(crate) struct CommitProgress {
    /// The last batch that is durable.
    batch: AtomicU64,
    /// The last sequence that is durable.
    sequence: AtomicU64,
    /// Bytes written since the start; snapshots are planned by them.
    bytes: AtomicU64,
    /// How long the last sync took, in microseconds.
    sync_us: AtomicU64,
    /// Whether the room set aside may be too little for the next batch.
    is_room_low: AtomicBool,
    /// Whether no more room could be set aside, and why.
    is_full: AtomicBool,
    full_reason: Mutex<String>,
    /// Whether a batch waits for room.
    waits_for_room: AtomicBool,
    /// The first sequence that a backup still needs; 0 if none needs any.
    kept_from: AtomicU64,
    /// Bytes of log that were on disk at the start only because a backup needed them.
    surplus_bytes: AtomicU64,
    /// What stands against changes: one look answers for all of it.
    standing: AtomicU8,
    failure: Mutex<Option<String>>,
    moved_to: OnceLock<String>,
    metrics: PartitionMetrics,
    is_watched: AtomicBool,
    watchers: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
}

/// The log takes nothing more.
const FAILED: u8 = 1;

/// Changes wait while the deployment moves.
const RESTING: u8 = 2;

/// The deployment is served elsewhere.
const MOVED: u8 = 4;

impl CommitProgress {
    /// Progress of a log that is durable through a sequence when it is opened.
    pub(crate) fn opened_at(sequence: u64) -> Self {
        Self { sequence: AtomicU64::new(sequence), ..Self::default() }
    }

    /// The number of the last batch that is durable.
    pub(crate) fn batch(&self) -> u64 {
        self.batch.load(Ordering::Acquire)
    }

    /// The last sequence that is durable.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Notes that the log is durable through a sequence, by so many more bytes.
    pub(crate) fn note_durable(&self, sequence: u64, bytes: u64) {
        self.sequence.store(sequence, Ordering::Release);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.metrics.note_commit(bytes);
    }

    /// Notes how long a sync took.
    pub(crate) fn note_sync(&self, took: Duration) {
        self.sync_us.store(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How long the last sync took; no time if there was none.
    pub(crate) fn last_sync(&self) -> Duration {
        Duration::from_micros(self.sync_us.load(Ordering::Relaxed))
    }

    /// Tells the owner that a batch is durable. Nothing of the batch may be used after this.
    pub(crate) fn release_batch(&self, number: u64) {
        self.batch.store(number, Ordering::Release);
    }

    /// Has the log kept from a sequence on, or not kept for a backup any more.
    pub(crate) fn keep_from(&self, sequence: Option<u64>) {
        self.kept_from.store(sequence.unwrap_or(0), Ordering::Release);
    }

    /// Up to here no backup needs the log.
    pub(crate) fn not_kept_through(&self) -> u64 {
        self.kept_from.load(Ordering::Acquire).wrapping_sub(1)
    }

    /// Notes how much log was on disk at the start only because a backup needed it.
    pub(crate) fn note_surplus(&self, bytes: u64) {
        self.surplus_bytes.store(bytes, Ordering::Relaxed);
    }

    /// How much log was on disk at the start only because a backup needed it.
    pub(crate) fn surplus_bytes(&self) -> u64 {
        self.surplus_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn set_room_low(&self, is_low: bool) {
        self.is_room_low.store(is_low, Ordering::Relaxed);
    }

    /// Whether the room set aside may be too little for the next batch.
    pub(crate) fn is_room_low(&self) -> bool {
        self.is_room_low.load(Ordering::Relaxed)
    }

    /// Notes that no more room could be set aside, or that there is room again.
    pub(crate) fn set_full(&self, error: Option<&LogError>) {
        if let Some(error) = error {
            *self.full_reason.lock().unwrap_or_else(PoisonError::into_inner) = error.to_string();
        }
        self.is_full.store(error.is_some(), Ordering::Relaxed);
    }

    /// Notes whether a batch waits for room. Returns whether one did before.
    pub(crate) fn set_waits_for_room(&self, waits: bool) -> bool {
        self.waits_for_room.swap(waits, Ordering::AcqRel)
    }

    /// Whether a batch waits for room, and everything behind it.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.waits_for_room.load(Ordering::Acquire)
    }

    /// Whether writes must be refused because the next batch could find no room.
    pub(crate) fn is_out_of_room(&self) -> bool {
        self.is_room_low() && self.is_full.load(Ordering::Relaxed)
    }

    /// Whether anything may be answered.
    pub(crate) fn check_here(&self) -> Result<(), Failure> {
        if self.standing.load(Ordering::Acquire) & (FAILED | MOVED) == 0 {
            return Ok(());
        }
        if let Some(address) = self.moved_to.get() {
            return Err(Failure::Migrated { address: address.clone() });
        }
        self.failure().map_or(Ok(()), |reason| Err(Failure::Unavailable { reason }))
    }

    /// Whether anything may be logged, as far as room does not matter.
    pub(crate) fn check_changing(&self) -> Result<(), Failure> {
        if self.standing.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        self.check_here()?;
        let reason = "the deployment is moving to other files; send the command again, with the same id";
        Err(Failure::Unavailable { reason: reason.to_owned() })
    }

    /// Lets nothing more be logged, or lets it again.
    pub(crate) fn set_resting(&self, rests: bool) {
        if rests {
            self.standing.fetch_or(RESTING, Ordering::AcqRel);
        } else {
            self.standing.fetch_and(!RESTING, Ordering::AcqRel);
        }
    }

    /// Answers nothing any more but where the deployment is.
    pub(crate) fn move_to(&self, address: &str) {
        self.moved_to.get_or_init(|| address.to_owned());
        self.standing.fetch_or(MOVED, Ordering::AcqRel);
    }

    /// Whether more may be decided.
    pub(crate) fn check_ready(&self) -> Result<(), Failure> {
        self.check_changing()?;
        if self.is_out_of_room() {
            let reason = self.full_reason.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return Err(Failure::Unavailable { reason });
        }
        Ok(())
    }

    /// Why the log takes nothing more until the engine is started again, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        if self.standing.load(Ordering::Acquire) & FAILED == 0 {
            return None;
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends writing for good. Only the first reason is kept; later failures follow from it.
    pub(crate) fn fail(&self, reason: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.standing.fetch_or(FAILED, Ordering::AcqRel);
    }

    pub(crate) fn metrics(&self) -> &PartitionMetrics {
        &self.metrics
    }

    /// Has `wake` called whenever more is durable, until `wake` is dropped elsewhere.
    pub(crate) fn watch(&self, wake: &Waker) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(wake));
        self.is_watched.store(true, Ordering::Release);
    }

    /// Wakes all watchers, and forgets those that are gone.
    pub(crate) fn wake_watchers(&self) {
        if !self.is_watched.load(Ordering::Acquire) {
            return;
        }
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| {
            watcher.upgrade().is_some_and(|wake| {
                wake();
                true
            })
        });
        if watchers.is_empty() {
            self.is_watched.store(false, Ordering::Release);
        }
    }
}
