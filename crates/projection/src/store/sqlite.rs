//! Writes rows to SQLite.

use scarce_sql::traced;
use scarce_sql::values::arguments;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Error, Sqlite};

use super::Dialect;
use super::sql::Statements;
use crate::table::Sheet;

pub(super) async fn write(connection: &mut SqliteConnection, sheet: &Sheet) -> Result<(), Error> {
    let chunk = |from: usize| from..from + sheet.rows_at_once(Dialect::Sqlite, from);
    let mut rows = chunk(0);
    let mut values = arguments::<Sqlite>(sheet.cells(rows.clone()))?;
    loop {
        let sql = Dialect::Sqlite.write(sheet.table, sheet.manner, rows.len());
        let writing = sqlx::query_with(AssertSqlSafe(traced(sql)), values).execute(&mut *connection);
        if rows.end == sheet.rows() {
            return writing.await.map(drop);
        }
        rows = chunk(rows.end);
        // SQLite writes on a thread of its own; meanwhile this one prepares the next values.
        let next = async { arguments::<Sqlite>(sheet.cells(rows.clone())) };
        let (written, next) = tokio::join!(writing, next);
        written?;
        values = next?;
    }
}
