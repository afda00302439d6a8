//! Writes sheets to the database, and reads rows by their keys.

use scarce_sql::Doing;
use sqlx::Error;

use super::sql::Statements;
use super::{Dialect, Link, mysql, postgres, sqlite};
use crate::table::{Cell, ColumnKind, Sheet, Table};

/// How many keys a query has: few enough that MySQL looks each up by the index.
const KEYS_MAX: usize = 256;

/// A connection's operations on tables.
pub(crate) trait Sheets {
    /// Reads the rows of these keys that exist; of each name its last use.
    fn read<'l>(&'l mut self, table: &'static Table, keys: &'l [Vec<Cell>]) -> Doing<'l, Vec<Vec<Cell>>>;

    /// Reads, for each item and serial, the last returned range before it: item, first serial, quantity.
    fn read_returned<'l>(&'l mut self, keys: &'l [Vec<Cell>]) -> Doing<'l, Vec<Vec<Cell>>>;

    /// Writes rows. If a row to change does not exist, that is [`Error::RowNotFound`], unless the database
    /// inserts it by itself.
    fn write<'l>(&'l mut self, sheet: &'l Sheet) -> Doing<'l, ()>;
}

impl Sheets for Link {
    fn read<'l>(&'l mut self, table: &'static Table, keys: &'l [Vec<Cell>]) -> Doing<'l, Vec<Vec<Cell>>> {
        Box::pin(async move {
            let kinds: Vec<ColumnKind> = table.kinds().collect();
            let sql = |dialect: Dialect, keys| dialect.read(table, keys);
            read_by_keys(self, sql, keys, &kinds).await
        })
    }

    fn read_returned<'l>(&'l mut self, keys: &'l [Vec<Cell>]) -> Doing<'l, Vec<Vec<Cell>>> {
        const KINDS: [ColumnKind; 3] = [ColumnKind::Text, ColumnKind::Integer, ColumnKind::Integer];
        Box::pin(read_by_keys(self, <Dialect as Statements>::read_returned, keys, &KINDS))
    }

    fn write<'l>(&'l mut self, sheet: &'l Sheet) -> Doing<'l, ()> {
        Box::pin(async move {
            match self {
                Link::Sqlite(connection) => sqlite::write(connection, sheet).await,
                Link::Postgres(connection) => postgres::write(connection, sheet).await,
                Link::MySql(connection) => mysql::write(connection, sheet).await,
            }
        })
    }
}

async fn read_by_keys(
    link: &mut Link,
    sql: impl Fn(Dialect, usize) -> String,
    keys: &[Vec<Cell>],
    kinds: &[ColumnKind],
) -> Result<Vec<Vec<Cell>>, Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = link.dialect();
    if let Link::Postgres(connection) = link {
        return postgres::read(connection, sql(dialect, keys.len()), keys, kinds).await;
    }
    let mut rows = Vec::new();
    for chunk in keys.chunks(KEYS_MAX) {
        // Few distinct statements, so that prepared ones are reused: the first key is repeated to fill up.
        let count = chunk.len().next_power_of_two();
        let padded = chunk.iter().chain(std::iter::repeat(&chunk[0])).take(count);
        let values: Vec<Cell> = padded.flatten().cloned().collect();
        rows.extend(link.fetch(&sql(dialect, count), &values, kinds).await?);
    }
    Ok(rows)
}
