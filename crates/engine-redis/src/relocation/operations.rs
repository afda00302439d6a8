//! What is remembered of operations, as rows: by the hashes of their IDs, and in the order in which they are forgotten.

use scarce_core::codec::{Input, Wire};
use scarce_core::operations::OldOperation;
use scarce_core::outcome::{Outcome, Value};
use scarce_core::types::TimeMs;

use super::PartitionRows;
use crate::moved::field_of;
use crate::values::to_json;

/// How many IDs an element of the list has at most.
const IDS_PER_ELEMENT: usize = 128;

/// IDs in a row: those of one stamp whose last sequences follow each other.
struct Group {
    at: TimeMs,
    sequence: u64,
    ordinal: u64,
    fields: Vec<String>,
}

impl Group {
    fn goes_on_with(&self, at: TimeMs, sequence: u64) -> bool {
        self.at == at
            && self.sequence + self.fields.len() as u64 == sequence
            && self.fields.len() < IDS_PER_ELEMENT
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.at, self.sequence, self.ordinal, self.fields.join("\n"))
    }
}

/// Takes the operations of a partition, the oldest first.
pub struct OperationRows<'r, 'a> {
    rows: &'r mut PartitionRows<'a>,
    group: Option<Group>,
    taken: u64,
}

impl<'r, 'a> OperationRows<'r, 'a> {
    /// None yet.
    #[must_use]
    pub fn new(rows: &'r mut PartitionRows<'a>) -> Self {
        Self { rows, group: None, taken: 0 }
    }

    /// Takes an operation that would have been made at `made_at` by the clock of today. Gives whether its outcome could be
    /// read.
    #[must_use]
    pub fn take(&mut self, operation: &OldOperation, made_at: TimeMs) -> bool {
        let outcome = operation.outcome.as_ref().and_then(|bytes| Outcome::get(&mut Input::new(bytes)).ok());
        let Some(outcome) = outcome else { return false };
        let field = field_of(operation.key);
        self.rows.row("operations", &field, &receipt(operation, made_at, &outcome));
        let (sequence, ordinal) = (operation.sequence_last, self.taken);
        self.taken += 1;
        match &mut self.group {
            Some(group) if group.goes_on_with(made_at, sequence) => group.fields.push(field),
            group => {
                let new = Group { at: made_at, sequence, ordinal, fields: vec![field] };
                if let Some(full) = group.replace(new) {
                    self.rows.member("operations_by", &full.text());
                }
            }
        }
        true
    }

    /// Ends the list.
    pub fn finish(self) {
        if let Some(last) = self.group {
            self.rows.member("operations_by", &last.text());
        }
    }
}

/// A receipt as the library writes it; see `scripts/log.lua`.
fn receipt(operation: &OldOperation, made_at: TimeMs, outcome: &Outcome) -> String {
    let OldOperation { fingerprint, sequence_last, events, epoch, .. } = operation;
    let facts = to_json(&Value::List(outcome.facts.iter().cloned().collect()));
    let code = outcome.code.number();
    format!("{fingerprint:016x}|{made_at}|{sequence_last}|{events}|{epoch}|{code}|{facts}")
}
