//! Operations.

use super::History;
use super::page::{LIMIT_MAX, find};
use super::record::record;
use crate::ProjectionError;
use crate::table::Cell;

record! {
    /// An operation with its answer.
    Operation of "operations" {
        /// The caller's id.
        operation_id: String,
        /// The namespace of the id; empty if callers are not told apart.
        namespace: String,
        /// The partition that decided it.
        partition_id: i64,
        /// Which operation of this id it is, counted from 1 in the partition: an engine forgets ids after a
        /// while.
        use_number: i64,
        /// The partition's epoch.
        epoch: i64,
        /// Its first event.
        first_sequence: i64,
        /// Its last event.
        last_sequence: i64,
        /// `APPLIED`, or the code of the refusal.
        outcome: String,
        /// The values of the answer in order, or the facts of the refusal by name.
        facts: serde_json::Value,
        /// When.
        at_ms: i64,
    }
}

impl History {
    /// All operations of an id: usually one; more if it was used in several partitions, or reused after it
    /// was forgotten.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn operations(&self, operation_id: &str) -> Result<Vec<Operation>, ProjectionError> {
        let condition = "operation_id = ? ORDER BY namespace, partition_id, use_number";
        find(&self.projection, condition, &[Cell::from(operation_id)], LIMIT_MAX).await
    }
}
