//! Conversion of values to and from sqlx's drivers.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments, ColumnIndex, Database, Decode, Encode, Error, Row, Type};

use crate::{Cell, ColumnKind, Text};

/// Values as the arguments of a statement.
///
/// # Errors
/// When the driver does not accept a value.
pub fn arguments<D: Database>(cells: &[Cell]) -> Result<D::Arguments, Error>
where
    i64: for<'v> Encode<'v, D> + Type<D>,
    Option<i64>: for<'v> Encode<'v, D> + Type<D>,
    Text: for<'v> Encode<'v, D> + Type<D>,
    for<'v> &'v str: Encode<'v, D> + Type<D>,
{
    let mut arguments = D::Arguments::default();
    arguments.reserve(cells.len(), 0);
    for cell in cells {
        match cell {
            Cell::Null => arguments.add(None::<i64>),
            Cell::Integer(value) => arguments.add(*value),
            Cell::Text(text) => arguments.add(Text::clone(text)),
            Cell::Word(word) => arguments.add(*word),
        }
        .map_err(Error::Encode)?;
    }
    Ok(arguments)
}

/// Adds the values of a column as one array, as PostgreSQL takes them.
///
/// # Errors
/// When the driver does not accept a value.
pub fn add_column<'c>(
    arguments: &mut PgArguments,
    kind: ColumnKind,
    column: impl Iterator<Item = &'c Cell>,
) -> Result<(), Error> {
    match kind {
        ColumnKind::Integer => arguments.add(column.map(Cell::integer).collect::<Vec<_>>()),
        ColumnKind::Text => arguments.add(column.map(Cell::text).collect::<Vec<_>>()),
    }
    .map_err(Error::Encode)
}

/// The values of a row with columns of these kinds.
///
/// # Errors
/// When a column is of another kind.
pub fn cells<R: Row>(row: &R, kinds: &[ColumnKind]) -> Result<Vec<Cell>, Error>
where
    usize: ColumnIndex<R>,
    i64: for<'v> Decode<'v, R::Database> + Type<R::Database>,
    for<'v> &'v str: Decode<'v, R::Database> + Type<R::Database>,
{
    let cell = |(at, kind): (usize, &ColumnKind)| {
        Ok(match kind {
            ColumnKind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
            ColumnKind::Text => row.try_get::<Option<&str>, _>(at)?.map(Cell::from),
        }
        .unwrap_or(Cell::Null))
    };
    kinds.iter().enumerate().map(cell).collect()
}
