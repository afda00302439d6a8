//! MySQL and MariaDB.

use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlRow};
use sqlx::{Arguments, AssertSqlSafe, Error, Row};

use crate::{Cell, Kind};

/// How many rows are written by one statement.
pub const ROWS_MAX: usize = 256;

/// How many bytes of texts one statement carries: servers refuse packets of more than 16 MB or so.
pub const BYTES_MAX: usize = 4 << 20;

/// What does not fit a column is refused, not cut; and readers take no locks that writers of other
/// partitions would wait for.
const SESSION: &str = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), \
                       SESSION transaction_isolation = 'READ-COMMITTED'";

/// The same for MariaDB before 11.1.
const SESSION_BEFORE: &str = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), \
                              SESSION tx_isolation = 'READ-COMMITTED'";

pub(crate) async fn set_up(connection: &mut MySqlConnection) -> Result<(), Error> {
    match sqlx::raw_sql(SESSION).execute(&mut *connection).await {
        Err(Error::Database(_)) => sqlx::raw_sql(SESSION_BEFORE).execute(connection).await.map(drop),
        done => done.map(drop),
    }
}

fn add(arguments: &mut MySqlArguments, cell: &Cell) -> Result<(), Error> {
    match cell {
        Cell::Null => arguments.add(None::<i64>),
        Cell::Integer(value) => arguments.add(*value),
        Cell::Text(text) => arguments.add(&**text),
        Cell::Word(word) => arguments.add(*word),
    }
    .map_err(Error::Encode)
}

/// Values as the arguments of a statement.
///
/// # Errors
/// When a value cannot be given.
pub fn arguments(cells: &[Cell]) -> Result<MySqlArguments, Error> {
    let mut arguments = MySqlArguments::default();
    cells.iter().try_for_each(|cell| add(&mut arguments, cell))?;
    Ok(arguments)
}

pub(crate) async fn execute(
    connection: &mut MySqlConnection,
    sql: String,
    values: &[Cell],
) -> Result<u64, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    Ok(query.execute(connection).await?.rows_affected())
}

pub(crate) async fn fetch(
    connection: &mut MySqlConnection,
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
pub fn cells(row: &MySqlRow, kinds: &[Kind]) -> Result<Vec<Cell>, Error> {
    let cell = |(at, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            Kind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}
