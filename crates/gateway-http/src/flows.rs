//! What flows into the process and out of it, as far as the port shows it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use scarce_core::types::TimeMs;
use scarce_delivery::{Delivery, Health, WorkerStatus};
use scarce_outflow::Status;
use scarce_projection::Projection;

use super::reconciliations::Reconciliations;

/// Counts the commands from Kafka, once the consumer of commands runs.
pub type CommandCounter = Arc<OnceLock<Box<dyn Fn() -> CommandCounts + Send + Sync>>>;

/// The results of the commands from Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// Commands that were applied.
    pub applied: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Of these two, those that were answered from an earlier request with the same id.
    pub replayed: u64,
    /// Messages that became dead letters.
    pub dead: u64,
    /// Messages that the topic removed before they were consumed.
    pub removed: u64,
    /// Commands that were sent to the engine again.
    pub retried: u64,
    /// Commands in progress.
    pub in_flight: u64,
    /// Partitions of the topic that are assigned to this process.
    pub partitions: u64,
}

/// The latest count of waiting deliveries.
#[derive(Clone, Debug, Default)]
pub struct HealthSeen(Arc<Mutex<Option<Health>>>);

impl HealthSeen {
    /// The latest count; `None` if nothing was counted yet.
    #[must_use]
    pub fn last(&self) -> Option<Health> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a count; `None` if there is none just now.
    pub fn note(&self, health: Option<Health>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = health;
    }
}

/// How the shipping of the log to a store of backups is doing.
#[derive(Debug)]
pub struct BackupStatus {
    /// The store.
    pub store: String,
    now: Mutex<BackupLevels>,
}

/// What is known of the shipping of the log to a store of backups.
#[derive(Clone, Debug)]
pub struct BackupLevels {
    /// The last sequence of each partition that is in the store; none until there is a backup.
    pub sequences: Vec<u64>,
    /// When everything that was durable then was seen to be in the store, or the beginning.
    pub covered_at: Instant,
    /// How long before the beginning that was, as a former process noted it.
    pub covered_before: Duration,
    /// When the newest backup was begun, in Unix milliseconds; 0 if none was made yet.
    pub begun_at_ms: TimeMs,
    /// Parts of the log that were put.
    pub parts: u64,
    /// Bytes of log that were put.
    pub bytes: u64,
    /// How often more log waited than may, so that it was not kept any more.
    pub overruns: u64,
    /// Why it cannot go on, and since when, in Unix milliseconds.
    pub trouble: Option<(String, TimeMs)>,
}

impl BackupStatus {
    /// Before anything was done.
    #[must_use]
    pub fn new(store: String) -> Self {
        let now = BackupLevels {
            sequences: Vec::new(),
            covered_at: Instant::now(),
            covered_before: Duration::ZERO,
            begun_at_ms: 0,
            parts: 0,
            bytes: 0,
            overruns: 0,
            trouble: None,
        };
        Self { store, now: Mutex::new(now) }
    }

    /// What is known now.
    #[must_use]
    pub fn levels(&self) -> BackupLevels {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what changed.
    pub fn update(&self, change: impl FnOnce(&mut BackupLevels)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl BackupLevels {
    /// How many events of a partition are not in the store, of those up to a sequence.
    #[must_use]
    pub fn lag_events(&self, partition: u32, sequence: u64) -> u64 {
        sequence.saturating_sub(self.sequences.get(partition as usize).copied().unwrap_or(0))
    }

    /// How much time would be lost with this machine, if there is something that is not in the store.
    #[must_use]
    pub fn lag(&self, has_more: bool) -> Duration {
        if has_more || self.sequences.is_empty() {
            self.covered_at.elapsed().saturating_add(self.covered_before)
        } else {
            Duration::ZERO
        }
    }
}

/// The state of what flows into this process and out of it. Cheap to clone.
#[derive(Clone, Default)]
pub struct Flows {
    /// How each consumer is doing, in each partition.
    pub statuses: Arc<[Arc<Status>]>,
    /// How each worker of deliveries and settlements is doing.
    pub workers: Arc<[Arc<WorkerStatus>]>,
    /// The projection of the log, for queries about what the engine no longer holds.
    pub projection: Option<Projection>,
    /// The database of deliveries and settlements, if there are any.
    pub delivery: Option<Delivery>,
    /// Counts of commands from Kafka, once the first broker has answered.
    pub commands: CommandCounter,
    /// What is waiting for delivery and settlement.
    pub health: HealthSeen,
    /// Whether what flows out, and the engine, agree with the log.
    pub reconciliations: Reconciliations,
    /// How the shipping of the log to a store of backups is doing, if there is one.
    pub backup: Option<Arc<BackupStatus>>,
}
