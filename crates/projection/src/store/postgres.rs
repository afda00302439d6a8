//! Writes rows to PostgreSQL, and reads them by their keys.

use scarce_sql::traced;
use scarce_sql::values::{add_column, cells};
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::{AssertSqlSafe, Error};

use super::Dialect;
use super::sql::Statements;
use crate::table::{Cell, ColumnKind, Manner, Sheet};

/// The number of new rows from which `COPY` is used rather than `INSERT`: it is cheaper for each row, and
/// needs one more round trip.
const COPY_ROWS_MIN: usize = 16;

/// Reads rows by keys, which are passed column by column.
pub(super) async fn read(
    connection: &mut PgConnection,
    sql: String,
    keys: &[Vec<Cell>],
    kinds: &[ColumnKind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let mut arguments = PgArguments::default();
    for at in 0..keys.first().map_or(0, Vec::len) {
        let column = || keys.iter().filter_map(|key| key.get(at));
        let is_number = |cell: &Cell| matches!(cell, Cell::Integer(_));
        let kind = if column().any(is_number) { ColumnKind::Integer } else { ColumnKind::Text };
        add_column(&mut arguments, kind, column())?;
    }
    let query = sqlx::query_with(AssertSqlSafe(traced(sql)), arguments);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

/// Writes rows; if a row to change does not exist, that is [`Error::RowNotFound`].
pub(super) async fn write(connection: &mut PgConnection, sheet: &Sheet) -> Result<(), Error> {
    if sheet.manner == Manner::Insert && sheet.rows() >= COPY_ROWS_MIN {
        return copy(connection, sheet).await;
    }
    let mut arguments = PgArguments::default();
    for (at, column) in sheet.table.columns.iter().enumerate() {
        add_column(&mut arguments, column.kind, sheet.column(at))?;
    }
    let sql = Dialect::Postgres.write(sheet.table, sheet.manner, sheet.rows());
    let written = sqlx::query_with(AssertSqlSafe(traced(sql)), arguments).execute(connection).await?;
    let is_whole = written.rows_affected() == sheet.rows() as u64;
    if is_whole { Ok(()) } else { Err(Error::RowNotFound) }
}

/// Copies rows in PostgreSQL's binary format.
async fn copy(connection: &mut PgConnection, sheet: &Sheet) -> Result<(), Error> {
    let names: Vec<&str> = sheet.table.columns.iter().map(|column| column.name).collect();
    let sql = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", sheet.table.name, names.join(", "));
    let mut copy = connection.copy_in_raw(&sql).await?;
    let sent = copy.send(binary(sheet)).await.map(drop);
    match sent {
        Ok(()) => copy.finish().await.map(drop),
        Err(error) => {
            // The first error is reported.
            let _ = copy.abort("not all could be sent").await;
            Err(error)
        }
    }
}

/// The rows in the format of `COPY`: a header, each row with its number of fields and each field with its
/// length in front, and a trailer.
fn binary(sheet: &Sheet) -> Vec<u8> {
    let columns = sheet.table.columns.len();
    let cells = sheet.cells(0..sheet.rows());
    let mut out = Vec::with_capacity(32 + cells.len() * 16);
    out.extend_from_slice(b"PGCOPY\n\xff\r\n\0");
    out.extend_from_slice(&[0; 8]);
    let fields = i16::try_from(columns).unwrap_or(i16::MAX);
    for row in cells.chunks_exact(columns) {
        out.extend_from_slice(&fields.to_be_bytes());
        for cell in row {
            match cell {
                Cell::Null => out.extend_from_slice(&NO_FIELD),
                Cell::Integer(value) => put_field(&mut out, &value.to_be_bytes()),
                Cell::Text(text) => put_field(&mut out, text.as_bytes()),
                Cell::Word(word) => put_field(&mut out, word.as_bytes()),
            }
        }
    }
    out.extend_from_slice(&(-1_i16).to_be_bytes());
    out
}

/// The length of a field that is null.
const NO_FIELD: [u8; 4] = (-1_i32).to_be_bytes();

fn put_field(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}
