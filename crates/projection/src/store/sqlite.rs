//! Rows into SQLite.

use scarce_sql::sqlite::{ROWS_MAX, VALUES_MAX, arguments, floor_power_of_two};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Error};

use super::Dialect;
use super::sql::Statements;
use crate::table::Sheet;

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
