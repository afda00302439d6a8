//! Writes rows to MySQL and MariaDB.

use scarce_sql::traced;
use scarce_sql::values::arguments;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Error, MySql};

use super::Dialect;
use super::sql::Statements;
use crate::table::Sheet;

pub(super) async fn write(connection: &mut MySqlConnection, sheet: &Sheet) -> Result<(), Error> {
    let mut done = 0;
    while done < sheet.rows() {
        let rows = done..done + sheet.rows_at_once(Dialect::MySql, done);
        let sql = Dialect::MySql.write(sheet.table, sheet.manner, rows.len());
        let values = arguments::<MySql>(sheet.cells(rows.clone()))?;
        sqlx::query_with(AssertSqlSafe(traced(sql)), values).execute(&mut *connection).await?;
        done = rows.end;
    }
    Ok(())
}
