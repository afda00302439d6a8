//! Rows into MySQL and MariaDB.

use scarce_sql::mysql::{BYTES_MAX, ROWS_MAX, arguments};
use scarce_sql::sqlite::floor_power_of_two;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Error};

use super::Dialect;
use super::sql::Statements;
use crate::table::{Cell, Sheet};

pub(super) async fn write(connection: &mut MySqlConnection, sheet: &Sheet) -> Result<(), Error> {
    let mut done = 0;
    while done < sheet.rows() {
        let mut rows = done..done + floor_power_of_two((sheet.rows() - done).min(ROWS_MAX));
        while rows.len() > 1 && bytes(sheet.cells(rows.clone())) > BYTES_MAX {
            rows.end = done + rows.len() / 2;
        }
        let sql = Dialect::MySql.write(sheet.table, sheet.manner, rows.len());
        let values = arguments(sheet.cells(rows.clone()))?;
        sqlx::query_with(AssertSqlSafe(sql), values).execute(&mut *connection).await?;
        done = rows.end;
    }
    Ok(())
}

/// How long the texts among values are.
fn bytes(cells: &[Cell]) -> usize {
    cells.iter().filter_map(Cell::text).map(str::len).sum()
}
