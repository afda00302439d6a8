//! Kafka, out and in: an engine's events go to a topic as CloudEvents, and commands come from a topic and are
//! answered in another.
//!
//! - [`EventTopic`] writes the log: a [`Consumer`](scarce_outflow::Consumer) for each partition.
//! - [`events::follow`] reads it back from the topic, for any consumer.
//! - [`audit::AuditTopic`] takes the records of the audit log.
//! - [`Commands`] sends the commands of a topic to the engine.
//!
//! This crate must not know databases, ports, or which engine it uses.
//!
//! Begin reading at [`EventTopic`] for events, at [`Commands`] for commands.

pub mod audit;
mod client;
mod cloud_event;
pub mod commands;
mod error;
pub mod events;
mod membership;
mod producer;
mod reader;
mod settings;
mod time;
mod topic_id;
mod topics;

pub use commands::{Admission, Commands};
pub use error::KafkaError;
pub use events::{EventTopic, EventWriter};
pub use settings::{Compression, KafkaSettings, Topics};
