//! Operations.

use scarce_core::types::signed;

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
        /// What it did: the first event of its last entry.
        event: Option<String>,
        /// To what it did that.
        resource_id: Option<String>,
        /// The public fields of that event by name, such as its amount.
        event_fields: Option<serde_json::Value>,
        /// What was asked: the command, as far as that can be told.
        command: Option<String>,
        /// Its arguments by name, as far as the log has them.
        arguments: Option<serde_json::Value>,
    }
}

impl History {
    /// The operations that a partition decided after a sequence, in their order, up to 1 000.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn operations_after(
        &self,
        partition: u32,
        sequence: u64,
    ) -> Result<Vec<Operation>, ProjectionError> {
        let condition = "partition_id = ? AND last_sequence > ? ORDER BY last_sequence, operation_id";
        let values = [Cell::from(i64::from(partition)), Cell::from(signed(sequence))];
        find(&self.projection, condition, &values, LIMIT_MAX).await
    }

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
