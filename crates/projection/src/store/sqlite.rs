//! SQLite.

use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments, AssertSqlSafe, Error, Row};

use super::Dialect;
use crate::table::{Cell, Kind, Sheet, Text};

/// How many values a statement takes.
const VALUES_MAX: usize = 32_766;

/// How many rows are written by one statement: more gain nothing, and its text becomes long.
const ROWS_MAX: usize = 512;

fn add(arguments: &mut SqliteArguments, cell: &Cell) -> Result<(), Error> {
    match cell {
        Cell::Null => arguments.add(None::<i64>),
        Cell::Integer(value) => arguments.add(*value),
        Cell::Text(text) => arguments.add(Text::clone(text)),
        Cell::Word(word) => arguments.add(*word),
    }
    .map_err(Error::Encode)
}

fn arguments(cells: &[Cell]) -> Result<SqliteArguments, Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(cells.len(), 0);
    cells.iter().try_for_each(|cell| add(&mut arguments, cell))?;
    Ok(arguments)
}

pub(super) async fn execute(
    connection: &mut SqliteConnection,
    sql: String,
    values: &[Cell],
) -> Result<u64, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    Ok(query.execute(connection).await?.rows_affected())
}

pub(super) async fn fetch(
    connection: &mut SqliteConnection,
    sql: String,
    values: &[Cell],
    kinds: &[Kind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

fn cells(row: &SqliteRow, kinds: &[Kind]) -> Result<Vec<Cell>, Error> {
    let cell = |(at, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            Kind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}

pub(super) async fn write(connection: &mut SqliteConnection, sheet: &Sheet) -> Result<(), Error> {
    let rows_max = ROWS_MAX.min(VALUES_MAX / sheet.table.columns.len());
    // Few shapes of a statement, so that it is found prepared.
    let chunk = |from: usize| from..from + floor_power_of_two((sheet.rows() - from).min(rows_max));
    let mut rows = chunk(0);
    let mut values = arguments(sheet.cells(rows.clone()))?;
    loop {
        let sql = Dialect::Sqlite.write(sheet.table, sheet.manner, rows.len());
        let writing = sqlx::query_with(AssertSqlSafe(sql), values).execute(&mut *connection);
        if rows.end == sheet.rows() {
            return writing.await.map(drop);
        }
        rows = chunk(rows.end);
        // SQLite writes on a thread of its own; meanwhile the next values are made ready on this one.
        let next = async { arguments(sheet.cells(rows.clone())) };
        let (written, next) = tokio::join!(writing, next);
        written?;
        values = next?;
    }
}

/// The largest power of two that is not above a number from 1 on.
pub(super) fn floor_power_of_two(number: usize) -> usize {
    1 << number.max(1).ilog2()
}
