//! What the rest of the server sees of what flows.

use std::sync::{Arc, OnceLock};

use scarce_outflow::Status;
use scarce_projection::Projection;

use super::HealthSeen;

/// Counts the commands from Kafka, once there is something to count.
pub type CommandCounter = Arc<OnceLock<Box<dyn Fn() -> CommandCounts + Send + Sync>>>;

/// What became of the commands from Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// Commands that were applied.
    pub applied: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Of these two, the ones that were answered by their id again.
    pub replayed: u64,
    /// Messages that became dead letters.
    pub dead: u64,
    /// Commands that were sent to the engine again.
    pub retried: u64,
    /// Commands that were begun and are not done.
    pub in_flight: u64,
    /// Partitions of the topic that are this process'.
    pub partitions: u64,
}

/// What flows out of this process and into it, to be looked at. Cheap to clone.
#[derive(Clone, Default)]
pub struct Flows {
    /// How each consumer is doing, in each partition.
    pub statuses: Arc<[Arc<Status>]>,
    /// What the log is projected into, to be asked for what the engine no longer holds.
    pub projection: Option<Projection>,
    /// What is counted of commands from Kafka, once the first broker has answered.
    pub commands: CommandCounter,
    /// What waits to be delivered and settled.
    pub health: HealthSeen,
}
