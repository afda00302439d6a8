//! PostgreSQL.

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::{Arguments, AssertSqlSafe, Error, Row};

use crate::{Cell, Column, Kind};

/// Values as the arguments of a statement.
///
/// # Errors
/// When a value cannot be given.
pub fn arguments(cells: &[Cell]) -> Result<PgArguments, Error> {
    let mut arguments = PgArguments::default();
    for cell in cells {
        match cell {
            Cell::Null => arguments.add(None::<i64>),
            Cell::Integer(value) => arguments.add(*value),
            Cell::Text(text) => arguments.add(&**text),
            Cell::Word(word) => arguments.add(*word),
        }
        .map_err(Error::Encode)?;
    }
    Ok(arguments)
}

pub(crate) async fn execute(
    connection: &mut PgConnection,
    sql: String,
    values: &[Cell],
) -> Result<u64, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    Ok(query.execute(connection).await?.rows_affected())
}

pub(crate) async fn fetch(
    connection: &mut PgConnection,
    sql: String,
    values: &[Cell],
    kinds: &[Kind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

/// Runs a statement whose values are the columns of rows, each as an array.
pub(crate) async fn execute_columns(
    connection: &mut PgConnection,
    sql: String,
    columns: &[Column],
    cells: &[Cell],
) -> Result<u64, Error> {
    let mut arguments = PgArguments::default();
    for (at, column) in columns.iter().enumerate() {
        add_column(&mut arguments, column.kind, cells.iter().skip(at).step_by(columns.len()))?;
    }
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
    Ok(query.execute(connection).await?.rows_affected())
}

/// Adds the values of a column as one array.
///
/// # Errors
/// When a value cannot be given.
pub fn add_column<'c>(
    arguments: &mut PgArguments,
    kind: Kind,
    column: impl Iterator<Item = &'c Cell>,
) -> Result<(), Error> {
    match kind {
        Kind::Integer => arguments.add(column.map(Cell::integer).collect::<Vec<_>>()),
        Kind::Text => arguments.add(column.map(Cell::text).collect::<Vec<_>>()),
    }
    .map_err(Error::Encode)
}

/// The values of a row, whose columns are of these kinds.
///
/// # Errors
/// When a column is of another kind.
pub fn cells(row: &PgRow, kinds: &[Kind]) -> Result<Vec<Cell>, Error> {
    let cell = |(at, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            Kind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}
