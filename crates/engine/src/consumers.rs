//! Who consumes a partition's log, and how far each has come. The log is kept for the slowest of them.
//!
//! A consumer is known by its name from the first time that it is confirmed until it is forgotten. Several
//! processes may work under one name: the one that holds a partition's lease reads its log, the others wait.

mod name;

use scarce_core::event::Position;
use scarce_core::types::TimeMs;

use crate::engine::Failure;
pub use name::ConsumerName;

/// How far a consumer of a partition's log is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumption {
    /// Who.
    pub name: ConsumerName,
    /// Behind this it needs nothing any more.
    pub confirmed: Position,
    /// When it said so.
    pub confirmed_at: TimeMs,
    /// The holder of the lease, if there is one.
    pub holder: Option<String>,
}

/// Whether a process may take a partition's log under a consumer's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It may.
    Held,
    /// Somebody else does.
    HeldBy(String),
}

/// The failure to learn of a consumer that is not known.
#[must_use]
pub fn unknown(name: &ConsumerName) -> Failure {
    Failure::Unavailable { reason: format!("no consumer '{name}' is known; confirm a position first") }
}

/// How far events may pile up for the slowest consumer, and who is refused when they do.
pub const QUEUE: &str = "outflow";
