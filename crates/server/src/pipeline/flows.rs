//! What the rest of the server sees of what flows.

use std::sync::{Arc, OnceLock};

use scarce_kafka::commands::Figures;
use scarce_outflow::Status;
use scarce_projection::Projection;

use super::HealthSeen;

/// What flows out of this process and into it, to be looked at. Cheap to clone.
#[derive(Clone, Default)]
pub struct Flows {
    /// How each consumer is doing, in each partition.
    pub statuses: Arc<[Arc<Status>]>,
    /// What the log is projected into, to be asked for what the engine no longer holds.
    pub projection: Option<Projection>,
    /// What is counted of commands from Kafka, once the first broker has answered.
    pub commands: Arc<OnceLock<Arc<Figures>>>,
    /// What waits to be delivered and settled.
    pub health: HealthSeen,
}
