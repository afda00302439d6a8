//! What flows into the process and out of it, as far as the port shows it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use scarce_delivery::{Health, WorkerStatus};
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

/// The state of what flows into this process and out of it. Cheap to clone.
#[derive(Clone, Default)]
pub struct Flows {
    /// How each consumer is doing, in each partition.
    pub statuses: Arc<[Arc<Status>]>,
    /// How each worker of deliveries and settlements is doing.
    pub workers: Arc<[Arc<WorkerStatus>]>,
    /// The projection of the log, for queries about what the engine no longer holds.
    pub projection: Option<Projection>,
    /// Counts of commands from Kafka, once the first broker has answered.
    pub commands: CommandCounter,
    /// What is waiting for delivery and settlement.
    pub health: HealthSeen,
    /// Whether what flows out, and the engine, agree with the log.
    pub reconciliations: Reconciliations,
}
