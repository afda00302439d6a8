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
    /// The position that it holds and that this log does not have. It gets nothing until it is rebased.
    pub diverged: Option<Position>,
    /// The position of another history from which it was rebased. As long as its own store says so, `confirmed` counts.
    pub abandoned: Option<Position>,
}

impl Consumption {
    /// A consumer that has confirmed nothing yet.
    #[must_use]
    pub fn none(name: ConsumerName) -> Self {
        let confirmed = Position::default();
        Self { name, confirmed, confirmed_at: 0, holder: None, diverged: None, abandoned: None }
    }
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

/// Whether a position is of this log for certain although the log cannot tell any more: the engine knows that the consumer
/// confirmed it, or a later one of the same epoch.
#[must_use]
pub const fn vouches(confirmed: Position, held: Position) -> bool {
    match confirmed.epoch {
        0 => confirmed.sequence == held.sequence,
        epoch => epoch == held.epoch && confirmed.sequence >= held.sequence,
    }
}

/// The failure of a consumer that holds a position which the log does not have.
#[must_use]
pub fn diverged(name: &ConsumerName, partition: u32, held: Position) -> Failure {
    let reason = format!(
        "the consumer '{name}' holds events of partition {partition} up to {held}, which this log does not have: an \
         older copy of the data was put back, a failover lost events, or another server on a copy writes there, too; \
         'scarce consumers rebase {name}' shows what it holds of the other history and sets it onto this one"
    );
    Failure::Unavailable { reason }
}

/// The failure to confirm a position that the log does not have, or no longer has.
#[must_use]
pub fn not_of_this_log(partition: u32, position: Position) -> Failure {
    let reason = format!(
        "partition {partition} has no event {position} that could be confirmed: it was trimmed, or is of another \
         history of the log"
    );
    Failure::Unavailable { reason }
}

/// The failure of changes that are refused because of the slowest consumer.
#[must_use]
pub fn overrun(lag: u64, lag_max: u64) -> Failure {
    let reason = format!(
        "{lag} events wait for the slowest consumer of the log, and {lag_max} may (outflow_lag_max); \
         see why with scarce consumers list"
    );
    Failure::Unavailable { reason }
}

/// How far events may pile up for the slowest consumer, and who is refused when they do.
pub const QUEUE: &str = "outflow";
