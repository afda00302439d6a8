//! SQLite.

use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments, AssertSqlSafe, Error, Row};

use crate::{Cell, Kind, Text};

/// How many values a statement takes.
pub const VALUES_MAX: usize = 32_766;

/// How many rows are written by one statement: more gain nothing, and its text becomes long.
pub const ROWS_MAX: usize = 512;

fn add(arguments: &mut SqliteArguments, cell: &Cell) -> Result<(), Error> {
    match cell {
        Cell::Null => arguments.add(None::<i64>),
        Cell::Integer(value) => arguments.add(*value),
        Cell::Text(text) => arguments.add(Text::clone(text)),
        Cell::Word(word) => arguments.add(*word),
    }
    .map_err(Error::Encode)
}

/// Values as the arguments of a statement.
///
/// # Errors
/// When a value cannot be given.
pub fn arguments(cells: &[Cell]) -> Result<SqliteArguments, Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(cells.len(), 0);
    cells.iter().try_for_each(|cell| add(&mut arguments, cell))?;
    Ok(arguments)
}

pub(crate) async fn execute(
    connection: &mut SqliteConnection,
    sql: String,
    values: &[Cell],
) -> Result<u64, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    Ok(query.execute(connection).await?.rows_affected())
}

pub(crate) async fn fetch(
    connection: &mut SqliteConnection,
    sql: String,
    values: &[Cell],
    kinds: &[Kind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

/// The values of a row, whose columns are of these kinds.
///
/// # Errors
/// When a column is of another kind.
pub fn cells(row: &SqliteRow, kinds: &[Kind]) -> Result<Vec<Cell>, Error> {
    let cell = |(at, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            Kind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}

/// The largest power of two that is not above a number from 1 on. Statements for so many rows come in few shapes,
/// so that they are found prepared.
#[must_use]
pub fn floor_power_of_two(number: usize) -> usize {
    1 << number.max(1).ilog2()
}
