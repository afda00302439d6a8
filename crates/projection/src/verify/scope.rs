//! What can be compared where a history does not reach back to its beginning.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{number, value};
use crate::table::{Cell, Table};

/// Tables whose rows are of one event each: those of events before the beginning are not known.
const HISTORIES: [&str; 7] = [
    "entries",
    "stock_movements",
    "stock_availability",
    "stock_returns",
    "trades",
    "coupon_claims",
    "clock_moves",
];

/// Tables with rows of records that leave the state after a while, and stay in the tables.
const LEAVING: [&str; 2] = ["packet_claims", "receipts"];

/// Columns that a state does not tell, whatever their table. Times, which it does not tell either, end otherwise. Of a hold
/// only the rest is told, of an order not which trades filled it.
const UNTOLD: [&str; 12] = [
    "sequence",
    "operation_id",
    "reservation_id",
    "redeemed",
    "revoked",
    "exhausted_at_ms",
    "use_number",
    "captured",
    "amount_placed",
    "quantity_placed",
    "first_trade",
    "last_trade",
];

/// Columns of operations that earlier releases did not write.
const DESCRIBING: [&str; 5] = ["event", "resource_id", "event_fields", "command", "arguments"];

/// Which rows are compared. By default all are, with all of their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The last sequence of each partition of which the log only knows what it came to.
    log_begins: BTreeMap<u32, u64>,
    /// The same of the tables.
    tables_begin: BTreeMap<u32, u64>,
    /// Partitions of which the log's state before its beginning is not the log's own: who keeps it may be wrong, too.
    hearsay: BTreeSet<u32>,
    /// The last sequence of each partition up to which operations may lack [`DESCRIBING`], and no moves of the clock are recorded.
    undescribed: BTreeMap<u32, u64>,
    /// Partitions that are not compared.
    left_out: BTreeSet<u32>,
}

impl Scope {
    /// Says that the log knows of a partition, up to a sequence, only what it came to.
    pub fn begin_log(&mut self, partition: u32, sequence: u64) {
        let begins = self.log_begins.entry(partition).or_default();
        *begins = sequence.max(*begins);
    }

    /// Says the same of the tables.
    pub fn begin_tables(&mut self, partition: u32, sequence: u64) {
        let begins = self.tables_begin.entry(partition).or_default();
        *begins = sequence.max(*begins);
    }

    /// Says that what the log of a partition came to before its beginning was learned from someone who may be wrong.
    pub fn doubt(&mut self, partition: u32) {
        self.hearsay.insert(partition);
    }

    /// Says that an earlier release wrote the operations of a partition up to a sequence.
    pub(super) fn leave_undescribed(&mut self, partition: u32, through: u64) {
        self.undescribed.insert(partition, through);
    }

    /// Leaves a partition out.
    pub fn leave_out(&mut self, partition: u32) {
        self.left_out.insert(partition);
    }

    /// Whether a partition is left out.
    #[must_use]
    pub fn leaves_out(&self, partition: u32) -> bool {
        self.left_out.contains(&partition)
    }

    fn begins(&self, table: &Table, row: &[Cell]) -> u64 {
        let Some(partition) = partition(table, row) else { return 0 };
        self.log_begins_of(partition).max(self.tables_begin_of(partition))
    }

    fn log_begins_of(&self, partition: u32) -> u64 {
        self.log_begins.get(&partition).copied().unwrap_or(0)
    }

    fn tables_begin_of(&self, partition: u32) -> u64 {
        self.tables_begin.get(&partition).copied().unwrap_or(0)
    }

    /// Whether a table is not compared at all: where histories begin may differ.
    pub(super) fn is_out(&self, table: &Table) -> bool {
        let mut begins = self.log_begins.values().chain(self.tables_begin.values());
        table.name == "openings" && begins.any(|begins| *begins > 0)
    }

    /// Whether uses of the name of such a row are not counted from the same beginning: only the last use can be compared.
    pub(super) fn counts_last_use(&self, table: &Table, row: &[Cell]) -> bool {
        table.has_uses && self.begins(table, row) > 0
    }

    /// By how many columns of their keys two rows are the same.
    pub(super) fn key_columns(&self, table: &Table, its: &[Cell], made: &[Cell]) -> usize {
        let is_by_name = [its, made].iter().any(|row| self.counts_last_use(table, row));
        if is_by_name { table.lookup().len() } else { table.key_columns }
    }

    /// Whether both sides can know a row that at least one of them has.
    pub(super) fn is_in(&self, table: &Table, its: Option<&[Cell]>, made: Option<&[Cell]>) -> bool {
        let knows = |row: Option<&[Cell]>| row.is_none_or(|row| self.knows(table, row));
        knows(its)
            && knows(made)
            && !self.may_have_left(table, its, made)
            && !self.may_have_ended(table, its, made)
    }

    fn knows(&self, table: &Table, row: &[Cell]) -> bool {
        if partition(table, row).is_some_and(|its| self.left_out.contains(&its)) {
            return false;
        }
        if table.name == "clock_moves" && self.is_of_earlier_release(table, "sequence", row) {
            return false;
        }
        match self.begins(table, row) {
            0 => true,
            begins if table.name == "operations" => {
                number(table, row, "first_sequence").is_none_or(|sequence| sequence > begins)
            }
            begins if HISTORIES.contains(&table.name) => {
                number(table, row, "sequence").is_none_or(|sequence| sequence > begins)
            }
            _ => true,
        }
    }

    /// Whether the other side has no such hold, reservation or order because it began with a state in which that had ended: what
    /// is open is in any state.
    fn may_have_ended(&self, table: &Table, its: Option<&[Cell]>, made: Option<&[Cell]>) -> bool {
        let has_ended =
            |row: &[Cell]| value(table, row, "ended_at_ms").is_some_and(|cell| *cell != Cell::Null);
        match (its, made) {
            (Some(row), None) => self.counts_last_use(table, row) && has_ended(row),
            (None, Some(row)) => {
                let tables_begin = partition(table, row).map_or(0, |its| self.tables_begin_of(its));
                table.has_uses && tables_begin > 0 && has_ended(row)
            }
            _ => false,
        }
    }

    /// Whether the other side has no such row because it began with a state that the record had left.
    fn may_have_left(&self, table: &Table, its: Option<&[Cell]>, made: Option<&[Cell]>) -> bool {
        let (row, begins): (_, fn(&Self, u32) -> u64) = match (its, made) {
            _ if !LEAVING.contains(&table.name) => return false,
            (Some(its), None) => (its, Self::log_begins_of),
            (None, Some(made)) => (made, Self::tables_begin_of),
            _ => return false,
        };
        let begins = partition(table, row).map_or(0, |partition| begins(self, partition));
        number(table, row, "sequence").is_some_and(|sequence| sequence <= begins)
    }

    /// Whether the log tells enough of a row to put it right. Of what was before its beginning it has only a state, and
    /// where that is hearsay, only what is of one event can be relied on.
    pub(super) fn is_repairable(&self, table: &Table, its: Option<&[Cell]>, made: Option<&[Cell]>) -> bool {
        let Some(row) = made.or(its) else { return false };
        let begins = self.begins(table, row);
        let is_behind = number(table, row, "sequence").is_some_and(|sequence| sequence > begins);
        match made {
            _ if begins == 0 => true,
            // Which use of the name it is cannot be known.
            _ if table.has_uses => false,
            // Nobody could make it again.
            None => is_behind,
            Some(_) => {
                let is_hearsay = partition(table, row).is_some_and(|its| self.hearsay.contains(&its));
                !is_hearsay || (HISTORIES.contains(&table.name) && is_behind)
            }
        }
    }

    /// Whether both sides can know a column of a row.
    pub(super) fn compares(&self, table: &Table, column: &str, row: &[Cell]) -> bool {
        if self.is_undescribed(table, column, row) {
            return false;
        }
        let is_untold = || column.ends_with("at_ms") || UNTOLD.contains(&column);
        self.begins(table, row) == 0 || HISTORIES.contains(&table.name) || !is_untold()
    }

    /// Whether an earlier release wrote the row without the column.
    fn is_undescribed(&self, table: &Table, column: &str, row: &[Cell]) -> bool {
        if table.name != "operations" || !DESCRIBING.contains(&column) {
            return false;
        }
        self.is_of_earlier_release(table, "last_sequence", row)
            && value(table, row, column) == Some(&Cell::Null)
    }

    fn is_of_earlier_release(&self, table: &Table, column: &str, row: &[Cell]) -> bool {
        let through = partition(table, row).and_then(|its| self.undescribed.get(&its)).copied();
        number(table, row, column).zip(through).is_some_and(|(its, last)| its <= last)
    }
}

fn partition(table: &Table, row: &[Cell]) -> Option<u32> {
    number(table, row, "partition_id").and_then(|its| u32::try_from(its).ok())
}
