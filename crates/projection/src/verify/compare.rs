//! Two databases, row by row in the order of the keys.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use sqlx::Error;

use crate::rows::TABLES;
use crate::store::Link;
use crate::table::{Cell, ColumnKind, Table};
use crate::verify::{Repaired, Scope};

/// How many rows are read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// What a row is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPlace {
    /// Of which partition.
    pub partition: Option<u32>,
    /// The event that made it, where the table says so.
    pub sequence: Option<u64>,
    /// Of which account, item, campaign, coupon or market.
    pub resource: Option<String>,
}

/// A row that differs, or one column of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The table.
    pub table: &'static str,
    /// The key of the row: its values, with spaces in between.
    pub key: String,
    /// The column that differs; `None` for a row that only one side has.
    pub column: Option<&'static str>,
    /// What the tables have; `None` for a missing row.
    pub tables: Option<String>,
    /// What the log says; `None` for a row that it does not make.
    pub log: Option<String>,
    /// What the row is of.
    pub place: RowPlace,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How many rows the log makes.
    pub rows: u64,
    /// How many rows are missing, unexpected or changed.
    pub wrong_rows: u64,
    /// The first differences.
    pub differences: Vec<Difference>,
    /// How many rows of each table were compared with nothing, since the log no longer tells what they must be.
    pub unproved: BTreeMap<&'static str, u64>,
}

/// Compares every table, as long as it shall go on, and puts rows right where that is wanted.
pub(super) async fn compare(
    tables: &mut Link,
    log: &mut Link,
    (scope, limit): (&Scope, usize),
    go_on: &mut dyn FnMut(u64) -> bool,
    mut repaired: Option<&mut Repaired>,
) -> Result<Compared, Error> {
    let (mut compared, mut told) = (Compared::default(), 0);
    for table in TABLES.iter().filter(|table| !scope.is_out(table)) {
        let (mut left, mut right) = (Rows::new(table, scope), Rows::new(table, scope));
        loop {
            let (its, made) = (left.peek(tables).await?, right.peek(log).await?);
            let order = match (its, made) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(its), Some(made)) => order(scope.key_columns(table, its, made), its, made),
            };
            let its = left.next_if(order.is_le());
            let made = right.next_if(order.is_ge());
            let (its, made) = (its.as_deref(), made.as_deref());
            if scope.is_in(table, its, made) {
                compared.note(table, its, made, (scope, limit));
                // Behind what was read of this table: the pages that follow are not touched.
                if let Some(repaired) = &mut repaired {
                    repaired.put(tables, table, (its, made), scope).await?;
                }
            } else {
                compared.leave(table, u64::from(its.is_some()));
            }
            if compared.rows >= told + ROWS_AT_ONCE as u64 {
                told = compared.rows;
                if !go_on(told) {
                    return Ok(compared);
                }
            }
        }
        compared.leave(table, left.earlier_uses);
    }
    Ok(compared)
}

impl Compared {
    /// How many rows the log does not prove, in words.
    #[must_use]
    pub fn unproved_text(&self) -> Option<String> {
        let counts: Vec<String> =
            self.unproved.iter().map(|(table, count)| format!("{count} in {table}")).collect();
        (!counts.is_empty()).then(|| {
            format!("the log does not reach back far enough to prove these rows: {}", counts.join(", "))
        })
    }

    fn leave(&mut self, table: &'static Table, count: u64) {
        if count > 0 {
            *self.unproved.entry(table.name).or_default() += count;
        }
    }

    fn note(
        &mut self,
        table: &'static Table,
        its: Option<&[Cell]>,
        made: Option<&[Cell]>,
        (scope, limit): (&Scope, usize),
    ) {
        self.rows += u64::from(made.is_some());
        if its == made {
            return;
        }
        let some = its.or(made).unwrap_or_default();
        let found = match (its, made) {
            (Some(its), Some(made)) => {
                let columns = table.columns.iter().zip(its).zip(made);
                let other = columns
                    .filter(|((column, its), made)| its != made && scope.compares(table, column.name, some));
                let values = |its: &Cell, made: &Cell| (Some(its.to_string()), Some(made.to_string()));
                other.map(|((column, its), made)| (Some(column.name), values(its, made))).collect()
            }
            _ => vec![(None, (its.map(|row| shown(table, row)), made.map(|row| shown(table, row))))],
        };
        if found.is_empty() {
            return;
        }
        self.wrong_rows += 1;
        let key: Vec<String> = some.iter().take(table.key_columns).map(Cell::to_string).collect();
        let (key, place) = (key.join(" "), RowPlace::of(table, some));
        let room = limit.saturating_sub(self.differences.len());
        self.differences.extend(found.into_iter().take(room).map(|(column, (tables, log))| Difference {
            table: table.name,
            key: key.clone(),
            column,
            tables,
            log,
            place: place.clone(),
        }));
    }
}

impl RowPlace {
    /// What a row is of, by the names of its columns.
    fn of(table: &Table, row: &[Cell]) -> Self {
        const RESOURCES: [&str; 6] =
            ["account_id", "sku", "campaign_id", "coupon_id", "market_id", "resource_id"];
        let integer = |name: &str| number(table, row, name);
        Self {
            partition: integer("partition_id").and_then(|partition| u32::try_from(partition).ok()),
            sequence: integer("sequence").or_else(|| integer("last_sequence")),
            resource: RESOURCES.iter().find_map(|name| value(table, row, name)?.text().map(str::to_owned)),
        }
    }
}

/// The value of a column.
pub(super) fn value<'r>(table: &Table, row: &'r [Cell], name: &str) -> Option<&'r Cell> {
    row.get(table.columns.iter().position(|column| column.name == name)?)
}

/// The value of a column of integers.
pub(super) fn number(table: &Table, row: &[Cell], name: &str) -> Option<u64> {
    value(table, row, name)?.integer().and_then(|value| u64::try_from(value).ok())
}

/// The values of a row beside its key, by their columns.
fn shown(table: &Table, row: &[Cell]) -> String {
    let values = table.columns.iter().zip(row).skip(table.key_columns);
    let named = values.filter(|(_, cell)| **cell != Cell::Null);
    named.map(|(column, cell)| format!("{}={cell}", column.name)).collect::<Vec<_>>().join(" ")
}

/// The order of two rows by so many columns of their keys. Texts are ordered as bytes, as every database does here.
fn order(columns: usize, left: &[Cell], right: &[Cell]) -> Ordering {
    let cells = left.iter().zip(right).take(columns);
    let each = cells.map(|(left, right)| match (left.text(), right.text()) {
        (Some(left), Some(right)) => left.as_bytes().cmp(right.as_bytes()),
        _ => left.integer().cmp(&right.integer()),
    });
    each.fold(Ordering::Equal, Ordering::then)
}

/// The rows of a table in the order of its key, a page at a time. Where uses of names are not counted from the same beginning,
/// only the last use of each name.
struct Rows<'s> {
    table: &'static Table,
    scope: &'s Scope,
    page: VecDeque<Vec<Cell>>,
    /// The key of the last row that was read.
    after: Option<Vec<Cell>>,
    has_more: bool,
    /// How many rows were passed over because a later use of their name followed.
    earlier_uses: u64,
}

impl<'s> Rows<'s> {
    fn new(table: &'static Table, scope: &'s Scope) -> Self {
        Self { table, scope, page: VecDeque::new(), after: None, has_more: true, earlier_uses: 0 }
    }

    async fn peek(&mut self, link: &mut Link) -> Result<Option<&[Cell]>, Error> {
        self.fill(link, 1).await?;
        while self.page.front().is_some_and(|row| self.scope.counts_last_use(self.table, row)) {
            self.fill(link, 2).await?;
            let name = self.table.lookup().len();
            let is_used_again = self.page.get(1).is_some_and(|next| next[..name] == self.page[0][..name]);
            if !is_used_again {
                break;
            }
            self.page.pop_front();
            self.earlier_uses += 1;
        }
        Ok(self.page.front().map(Vec::as_slice))
    }

    /// Reads until so many rows are there, if the table has them.
    async fn fill(&mut self, link: &mut Link, rows: usize) -> Result<(), Error> {
        while self.page.len() < rows && self.has_more {
            let kinds: Vec<ColumnKind> = self.table.kinds().collect();
            let (sql, values) = self.statement();
            let read = link.fetch(&sql, &values, &kinds).await?;
            self.has_more = read.len() == ROWS_AT_ONCE;
            self.after = read.last().map(|row| row[..self.table.key_columns].to_vec()).or(self.after.take());
            self.page.extend(read);
        }
        Ok(())
    }

    fn next_if(&mut self, is_due: bool) -> Option<Vec<Cell>> {
        if is_due { self.page.pop_front() } else { None }
    }

    fn statement(&self) -> (String, Vec<Cell>) {
        let columns: Vec<&str> = self.table.columns.iter().map(|column| column.name).collect();
        let key: Vec<&str> = self.table.key().iter().map(|column| column.name).collect();
        let (condition, values) =
            self.after.as_ref().map_or_else(Default::default, |after| behind(&key, after));
        let sql = format!(
            "SELECT {} FROM {}{condition} ORDER BY {} LIMIT {ROWS_AT_ONCE}",
            columns.join(", "),
            self.table.name,
            key.join(", ")
        );
        (sql, values)
    }
}

/// The condition that a row comes after a key. The first column appears twice, so that every database starts there
/// in its index.
fn behind(key: &[&str], after: &[Cell]) -> (String, Vec<Cell>) {
    let mut values = vec![after[0].clone()];
    let mut choices = Vec::with_capacity(key.len());
    for at in 0..key.len() {
        let equal: Vec<String> = key[..at].iter().map(|name| format!("{name} = ?")).collect();
        values.extend_from_slice(&after[..=at]);
        choices.push([&equal[..], &[format!("{} > ?", key[at])]].concat().join(" AND "));
    }
    (format!(" WHERE {} >= ? AND ({})", key[0], choices.join(" OR ")), values)
}
