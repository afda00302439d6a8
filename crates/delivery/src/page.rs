//! Reading rows, and pages of them.

use scarce_sql::{Cell, Column, ColumnKind};

use crate::{Delivery, DeliveryError};

/// The maximum number of rows of a page.
const LIMIT_MAX: usize = 1_000;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// The values of a row, taken one by one.
pub(crate) struct Taken(std::vec::IntoIter<Cell>);

impl Taken {
    pub(crate) fn new(row: Vec<Cell>) -> Self {
        Self(row.into_iter())
    }

    pub(crate) fn integer(&mut self) -> i64 {
        self.optional().unwrap_or_default()
    }

    pub(crate) fn natural(&mut self) -> u64 {
        u64::try_from(self.integer()).unwrap_or_default()
    }

    pub(crate) fn optional(&mut self) -> Option<i64> {
        self.0.next()?.integer()
    }

    pub(crate) fn time(&mut self) -> Option<u64> {
        self.optional().and_then(|at| u64::try_from(at).ok())
    }

    pub(crate) fn text(&mut self) -> String {
        self.optional_text().unwrap_or_default()
    }

    pub(crate) fn optional_text(&mut self) -> Option<String> {
        self.0.next()?.text().map(str::to_owned)
    }
}

/// The conditions of a query with their values.
#[derive(Default)]
pub(crate) struct Conditions {
    parts: Vec<String>,
    values: Vec<Cell>,
}

impl Conditions {
    pub(crate) fn and(&mut self, condition: &str, value: impl Into<Cell>) {
        self.parts.push(condition.to_owned());
        self.values.push(value.into());
    }

    /// A condition without a value, written exactly as in the condition of an index.
    pub(crate) fn and_literally(&mut self, condition: Option<String>) {
        self.parts.extend(condition);
    }

    pub(crate) fn and_if(&mut self, condition: &str, value: Option<impl Into<Cell>>) {
        if let Some(value) = value {
            self.and(condition, value);
        }
    }
}

impl Delivery {
    /// A page of rows; the first column is the number that orders them.
    pub(crate) async fn page<T>(
        &self,
        (table, id, columns): (&str, &str, &[Column]),
        mut conditions: Conditions,
        (after, limit): (Option<&str>, usize),
        read: impl Fn(Taken) -> T,
    ) -> Result<Page<T>, DeliveryError> {
        if let Some(cursor) = after {
            let refused = || DeliveryError::Cursor { cursor: cursor.to_owned() };
            let number: i64 = cursor.parse().map_err(|_| refused())?;
            conditions.and(&format!("{id} > ?"), number);
        }
        let limit = limit.clamp(1, LIMIT_MAX);
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let kinds: Vec<ColumnKind> = columns.iter().map(|column| column.kind).collect();
        let condition =
            if conditions.parts.is_empty() { "1 = 1".to_owned() } else { conditions.parts.join(" AND ") };
        let sql = format!(
            "SELECT {} FROM {table} WHERE {condition} ORDER BY {id} LIMIT {}",
            names.join(", "),
            limit + 1
        );
        let mut rows = self.store().fetch(&sql, &conditions.values, &kinds).await?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().and_then(|row| row.first()).and_then(Cell::integer);
        let next = last.filter(|_| has_more).map(|number| number.to_string());
        Ok(Page { items: rows.into_iter().map(|row| read(Taken::new(row))).collect(), next })
    }
}
