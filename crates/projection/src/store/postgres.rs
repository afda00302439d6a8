//! PostgreSQL.

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::{Arguments, AssertSqlSafe, Error, Row};

use super::Dialect;
use crate::table::{Cell, Kind, Manner, Sheet};

/// From how many new rows on they are copied in rather than inserted: a copy is cheaper for each row, and
/// needs one exchange more.
const COPY_ROWS_MIN: usize = 16;

fn arguments(cells: &[Cell]) -> Result<PgArguments, Error> {
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

pub(super) async fn execute(
    connection: &mut PgConnection,
    sql: String,
    values: &[Cell],
) -> Result<u64, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    Ok(query.execute(connection).await?.rows_affected())
}

pub(super) async fn fetch(
    connection: &mut PgConnection,
    sql: String,
    values: &[Cell],
    kinds: &[Kind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values)?);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

/// Reads by keys, which are given column by column.
pub(super) async fn read(
    connection: &mut PgConnection,
    sql: String,
    keys: &[Vec<Cell>],
    kinds: &[Kind],
) -> Result<Vec<Vec<Cell>>, Error> {
    let mut arguments = PgArguments::default();
    for at in 0..keys.first().map_or(0, Vec::len) {
        add_column(&mut arguments, keys.iter().filter_map(|key| key.get(at)))?;
    }
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
    query.fetch_all(connection).await?.iter().map(|row| cells(row, kinds)).collect()
}

/// Adds the values of a column as one array.
fn add_column<'c>(
    arguments: &mut PgArguments,
    column: impl Iterator<Item = &'c Cell> + Clone,
) -> Result<(), Error> {
    let is_number = |cell: &Cell| matches!(cell, Cell::Integer(_));
    let added = if column.clone().any(is_number) {
        arguments.add(column.map(Cell::integer).collect::<Vec<_>>())
    } else {
        arguments.add(column.map(Cell::text).collect::<Vec<_>>())
    };
    added.map_err(Error::Encode)
}

fn cells(row: &PgRow, kinds: &[Kind]) -> Result<Vec<Cell>, Error> {
    let cell = |(at, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            Kind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}

pub(super) async fn write(connection: &mut PgConnection, sheet: &Sheet) -> Result<(), Error> {
    if sheet.manner == Manner::Insert && sheet.rows() >= COPY_ROWS_MIN {
        return copy(connection, sheet).await;
    }
    let mut arguments = PgArguments::default();
    for (at, column) in sheet.table.columns.iter().enumerate() {
        match column.kind {
            Kind::Integer => arguments.add(sheet.column(at).map(Cell::integer).collect::<Vec<_>>()),
            Kind::Text => arguments.add(sheet.column(at).map(Cell::text).collect::<Vec<_>>()),
        }
        .map_err(Error::Encode)?;
    }
    let sql = Dialect::Postgres.write(sheet.table, sheet.manner, sheet.rows());
    sqlx::query_with(AssertSqlSafe(sql), arguments).execute(connection).await.map(drop)
}

/// Copies rows in, in PostgreSQL's binary form.
async fn copy(connection: &mut PgConnection, sheet: &Sheet) -> Result<(), Error> {
    let names: Vec<&str> = sheet.table.columns.iter().map(|column| column.name).collect();
    let sql = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", sheet.table.name, names.join(", "));
    let mut copy = connection.copy_in_raw(&sql).await?;
    let sent = copy.send(binary(sheet)).await.map(drop);
    match sent {
        Ok(()) => copy.finish().await.map(drop),
        Err(error) => {
            // What went wrong first is told.
            let _ = copy.abort("not all could be sent").await;
            Err(error)
        }
    }
}

/// The rows as `COPY` reads them: a head, each row with the number of its fields and each field with its
/// length in front, and an end.
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
