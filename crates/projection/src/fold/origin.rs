//! An event's position in the log, and the error when it does not fit the rows.

use std::fmt::Display;

use crate::table::Text;

/// An event's position in the log, and the fields that it shares with the others of its entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) partition: u32,
    pub(crate) epoch: i64,
    pub(crate) sequence: i64,
    pub(crate) at_ms: i64,
    /// The caller's id; `None` for deadlines and for callers who gave none.
    pub(crate) operation: Option<&'a Text>,
    /// The event's name.
    pub(crate) event: &'static str,
}

impl<'a> Origin<'a> {
    pub(crate) fn partition_id(&self) -> i64 {
        i64::from(self.partition)
    }

    pub(crate) fn operation_id(&self) -> Option<Text> {
        self.operation.cloned()
    }

    /// A row with a key of one column.
    pub(crate) fn row(&'a self, table: &'static str, key: &'a dyn Display) -> Spot<'a> {
        Spot { origin: self, table, key: (key, None) }
    }

    /// A row with a key of two columns.
    pub(crate) fn row_of(
        &'a self,
        table: &'static str,
        key: &'a dyn Display,
        second: &'a dyn Display,
    ) -> Spot<'a> {
        Spot { origin: self, table, key: (key, Some(second)) }
    }
}

/// An event that does not fit the rows: the log, the rows or this program is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {epoch}.{sequence} of partition {partition}, {event}: in table {table}, {key}: {what}")]
pub(crate) struct Mistake {
    partition: u32,
    epoch: i64,
    sequence: i64,
    event: &'static str,
    table: &'static str,
    key: String,
    what: String,
}

/// The row that an event is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    origin: &'a Origin<'a>,
    table: &'static str,
    key: (&'a dyn Display, Option<&'a dyn Display>),
}

impl Spot<'_> {
    pub(crate) fn mistake(&self, what: String) -> Mistake {
        let Origin { partition, epoch, sequence, event, .. } = *self.origin;
        let key = match self.key {
            (key, None) => key.to_string(),
            (key, Some(second)) => format!("{key} {second}"),
        };
        Mistake { partition, epoch, sequence, event, table: self.table, key, what }
    }

    /// The row, which must exist.
    pub(crate) fn found<R>(&self, row: Option<R>) -> Result<R, Mistake> {
        row.ok_or_else(|| self.mistake("there is no such row, and the event speaks of one".to_owned()))
    }

    /// Checks that there is no such row.
    pub(crate) fn none<R>(&self, row: Option<&R>) -> Result<(), Mistake> {
        match row {
            None => Ok(()),
            Some(_) => Err(self.mistake("there is such a row already, and the event makes one".to_owned())),
        }
    }

    /// Checks that the value from the rows is the one in the event.
    pub(crate) fn same<T: PartialEq + Display + Copy>(
        &self,
        figure: &str,
        expected: T,
        found: T,
    ) -> Result<(), Mistake> {
        if expected == found {
            return Ok(());
        }
        Err(self.mistake(format!("{figure} is {expected} by the rows, and {found} by the event")))
    }

    /// Checks a condition that holds for every such event.
    pub(crate) fn holds(&self, is_so: bool, what: impl FnOnce() -> String) -> Result<(), Mistake> {
        if is_so { Ok(()) } else { Err(self.mistake(what())) }
    }
}
