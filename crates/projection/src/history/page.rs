//! Lists, one page at a time.

use serde::Serialize;

use super::record::Record;
use crate::table::{Cell, Column, ColumnKind};
use crate::{Projection, ProjectionError};

/// The maximum number of rows of a page.
pub const LIMIT_MAX: u32 = 1_000;

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// The latest first.
    #[default]
    NewestFirst,
    /// The earliest first.
    OldestFirst,
}

/// Which page of a list to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The maximum number of rows, from 1 to [`LIMIT_MAX`]; other numbers are clamped to this range.
    pub limit: u32,
    /// Where the page begins: the cursor of the previous page, or `None` for the first.
    pub after: Option<String>,
    /// The order; the same for all pages of a list.
    pub order: PageOrder,
}

impl Default for Paging {
    fn default() -> Self {
        Self { limit: 100, after: None, order: PageOrder::default() }
    }
}

/// The rows of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The rows in order.
    pub rows: Vec<T>,
    /// Whether there are further rows.
    pub has_more: bool,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<String>,
}

/// A span of time, in Unix milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// From this time on.
    pub from_ms: Option<i64>,
    /// Before this time.
    pub to_ms: Option<i64>,
}

/// A list to read: its name, its rows and their order.
pub(super) struct List {
    /// Part of its cursors, so that those of other lists are refused.
    pub(super) name: &'static str,
    conditions: Vec<String>,
    values: Vec<Cell>,
    /// The columns that order the rows; together they are unique.
    keys: &'static [Column],
}

impl List {
    pub(super) fn new(name: &'static str, keys: &'static [Column]) -> Self {
        Self { name, conditions: Vec::new(), values: Vec::new(), keys }
    }

    /// Restricts the list to rows that meet a condition; values are marked by `?`.
    pub(super) fn only(mut self, condition: &str, values: impl IntoIterator<Item = Cell>) -> Self {
        self.conditions.push(condition.to_owned());
        self.values.extend(values);
        self
    }

    /// Restricts the list to rows with this value, if there is one.
    pub(super) fn only_if(self, condition: &str, value: Option<impl Into<Cell>>) -> Self {
        match value {
            Some(value) => self.only(condition, [value.into()]),
            None => self,
        }
    }

    /// Reads a page.
    pub(super) async fn read<T: Record>(
        mut self,
        projection: &Projection,
        paging: &Paging,
    ) -> Result<Page<T>, ProjectionError> {
        let limit = paging.limit.clamp(1, LIMIT_MAX);
        if let Some(after) = &paging.after {
            let refused = || ProjectionError::Cursor { cursor: after.clone() };
            let values = self.open(after).ok_or_else(refused)?;
            self.begin_after(&values, paging.order);
        }
        let sql = self.sql::<T>(paging.order, limit);
        let mut rows = projection.store().fetch(&sql, &self.values, &T::kinds()).await?;
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let cursor = rows.last().filter(|_| has_more).map(|row| self.seal::<T>(row));
        Ok(Page { rows: records(projection, rows)?, has_more, cursor })
    }

    fn sql<T: Record>(&self, order: PageOrder, limit: u32) -> String {
        let direction = match order {
            PageOrder::NewestFirst => "DESC",
            PageOrder::OldestFirst => "ASC",
        };
        let order: Vec<String> = self.keys.iter().map(|key| format!("{} {direction}", key.name)).collect();
        let conditions = self.conditions.join(" AND ");
        let condition = if conditions.is_empty() { String::new() } else { format!(" WHERE {conditions}") };
        // One more row than requested shows whether there are more.
        format!("{}{condition} ORDER BY {} LIMIT {}", select::<T>(), order.join(", "), limit + 1)
    }

    /// Restricts the list to rows after the one with these values.
    fn begin_after(&mut self, values: &[Cell], order: PageOrder) {
        let beyond = match order {
            PageOrder::NewestFirst => "<",
            PageOrder::OldestFirst => ">",
        };
        let Some((Column { name: first, .. }, rest)) = self.keys.split_first() else { return };
        // The first column appears twice, so that every database starts there in its index.
        let mut condition = format!("{first} {beyond}= ? AND ({first} {beyond} ?");
        self.values.extend([values[0].clone(), values[0].clone()]);
        let mut equal = first;
        for (at, Column { name: key, .. }) in (1..).zip(rest) {
            condition.push_str(&format!(" OR ({equal} = ? AND ({key} {beyond} ?"));
            self.values.extend([values[at - 1].clone(), values[at].clone()]);
            equal = key;
        }
        condition.push_str(&"))".repeat(rest.len()));
        condition.push(')');
        self.conditions.push(condition);
    }

    /// The cursor after a row: the name of the list and the values of its keys, which have no commas.
    fn seal<T: Record>(&self, row: &[Cell]) -> String {
        let value = |key: &Column| {
            let at = T::COLUMNS.iter().position(|column| column.name == key.name);
            at.map_or_else(String::new, |at| row[at].to_string())
        };
        let values: Vec<String> = self.keys.iter().map(value).collect();
        format!("{}:{}", self.name, values.join(","))
    }

    fn open(&self, cursor: &str) -> Option<Vec<Cell>> {
        let values = cursor.strip_prefix(self.name)?.strip_prefix(':')?;
        let parts: Vec<&str> = values.split(',').collect();
        if parts.len() != self.keys.len() {
            return None;
        }
        let value = |(part, key): (&&str, &Column)| match key.kind {
            ColumnKind::Integer => part.parse().ok().map(Cell::Integer),
            ColumnKind::Text => Some(Cell::from(*part)),
        };
        parts.iter().zip(self.keys).map(value).collect()
    }
}

/// Reads up to `limit` rows that meet a condition, in the order that the condition ends with.
pub(super) async fn find<T: Record>(
    projection: &Projection,
    condition: &str,
    values: &[Cell],
    limit: u32,
) -> Result<Vec<T>, ProjectionError> {
    let sql = format!("{} WHERE {condition} LIMIT {limit}", select::<T>());
    records(projection, projection.store().fetch(&sql, values, &T::kinds()).await?)
}

fn select<T: Record>() -> String {
    let names: Vec<&str> = T::COLUMNS.iter().map(|column| column.name).collect();
    format!("SELECT {} FROM {}", names.join(", "), T::TABLE)
}

fn records<T: Record>(projection: &Projection, rows: Vec<Vec<Cell>>) -> Result<Vec<T>, ProjectionError> {
    let misread = || projection.store().misread(format!("a row of {} has another shape", T::TABLE));
    rows.into_iter().map(|cells| Ok(T::read(cells).ok_or_else(misread)?)).collect()
}
