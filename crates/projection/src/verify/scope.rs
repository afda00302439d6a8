//! What can be compared where a history does not reach back to its beginning.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::number;
use crate::table::{Cell, Table};

/// Tables whose rows are of one event each: those of events before the beginning are not known.
const HISTORIES: [&str; 6] =
    ["entries", "stock_movements", "stock_availability", "stock_returns", "trades", "coupon_claims"];

/// Columns that a state does not tell, whatever their table. Times, which it does not tell either, end otherwise.
const UNTOLD: [&str; 6] =
    ["sequence", "operation_id", "reservation_id", "redeemed", "revoked", "exhausted_at_ms"];

/// Which rows are compared. By default all are, with all of their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The last sequence of each partition of which one side only knows what it came to.
    begins: BTreeMap<u32, u64>,
    /// Partitions that are not compared.
    left_out: BTreeSet<u32>,
}

impl Scope {
    /// Says that one of the sides knows of a partition, up to a sequence, only what it came to.
    pub fn begin(&mut self, partition: u32, sequence: u64) {
        let begins = self.begins.entry(partition).or_default();
        *begins = sequence.max(*begins);
    }

    /// Leaves a partition out.
    pub fn leave_out(&mut self, partition: u32) {
        self.left_out.insert(partition);
    }

    fn begins(&self, table: &Table, row: &[Cell]) -> u64 {
        let partition = number(table, row, "partition_id").and_then(|its| u32::try_from(its).ok());
        partition.and_then(|its| self.begins.get(&its)).copied().unwrap_or(0)
    }

    /// Whether a table is not compared at all: where histories begin may differ.
    pub(super) fn is_out(&self, table: &Table) -> bool {
        table.name == "openings" && self.begins.values().any(|begins| *begins > 0)
    }

    /// Whether both sides can know a row.
    pub(super) fn is_in(&self, table: &Table, row: &[Cell]) -> bool {
        if self.begins.is_empty() && self.left_out.is_empty() {
            return true;
        }
        let partition = number(table, row, "partition_id").and_then(|its| u32::try_from(its).ok());
        if partition.is_some_and(|its| self.left_out.contains(&its)) {
            return false;
        }
        match self.begins(table, row) {
            0 => true,
            // Which use of a name it is cannot be known.
            _ if table.has_uses => false,
            begins if HISTORIES.contains(&table.name) => {
                number(table, row, "sequence").is_none_or(|sequence| sequence > begins)
            }
            _ => true,
        }
    }

    /// Whether both sides can know a column of a row.
    pub(super) fn compares(&self, table: &Table, column: &str, row: &[Cell]) -> bool {
        let is_untold = || column.ends_with("at_ms") || UNTOLD.contains(&column);
        self.begins(table, row) == 0 || HISTORIES.contains(&table.name) || !is_untold()
    }
}
