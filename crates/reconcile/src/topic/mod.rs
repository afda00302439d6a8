//! A copy of the log as messages, such as a topic, against the log: complete, in order, and equal.

#![allow(dead_code, reason = "what compares comes with the next steps")]

mod gaps;
mod messages;
mod others;
mod walk;

use scarce_outflow::Trouble;

use crate::ReconcileError;

/// The first offset of a partition, and the one behind its last message.
pub(crate) type Bounds = (i64, i64);

fn failed(trouble: Trouble) -> ReconcileError {
    ReconcileError::Copy { what: trouble.reason }
}
