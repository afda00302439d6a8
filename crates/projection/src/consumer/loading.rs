//! Loads the rows that a batch will use and that are not cached.

use sqlx::Error;

use crate::fold::tables::{Tables, each_shelf};
use crate::rows::OperationRow;
use crate::shelf::{Shelf, key_of};
use crate::store::{Link, Sheets};
use crate::table::{Cell, ColumnKind, Row};

/// Loads them, with one query for each table.
pub(super) async fn load(link: &mut Link, tables: &mut Tables, partition: u32) -> Result<(), Error> {
    each_shelf!(tables, shelf => load_shelf(link, shelf).await?);
    load_returned(link, tables).await?;
    load_uses(link, tables, partition).await
}

async fn load_shelf<R: Row + Clone>(link: &mut Link, shelf: &mut Shelf<R>) -> Result<(), Error> {
    let wanted = shelf.wanted();
    for cells in link.read(R::TABLE, &wanted).await? {
        let key = key_of(&cells[..R::TABLE.lookup().len()]);
        shelf.take_in(key, read(cells)?);
    }
    Ok(())
}

async fn load_returned(link: &mut Link, tables: &mut Tables) -> Result<(), Error> {
    let wanted = tables.returned.wanted();
    let keys: Vec<Vec<Cell>> =
        wanted.into_iter().map(|(sku, serial)| vec![Cell::Text(sku), serial.into()]).collect();
    for row in link.read_returned(&keys).await? {
        if let [Cell::Text(sku), Cell::Integer(first), Cell::Integer(count)] = row.as_slice() {
            tables.returned.take_in(sku.clone(), *first, *count);
        }
    }
    Ok(())
}

async fn load_uses(link: &mut Link, tables: &mut Tables, partition: u32) -> Result<(), Error> {
    let wanted = tables.uses.wanted();
    if !wanted.is_empty() {
        let sql = "SELECT sequence FROM clock_moves WHERE partition_id = ? ORDER BY sequence DESC LIMIT 1";
        let last = link.fetch(sql, &[Cell::from(i64::from(partition))], &[ColumnKind::Integer]).await?;
        let last = last.first().and_then(|row| row.first()?.integer());
        last.into_iter().for_each(|sequence| tables.uses.note_move(sequence));
    }
    for cells in link.read(OperationRow::TABLE, &wanted).await? {
        let key = key_of(&cells[..OperationRow::TABLE.lookup().len()]);
        tables.uses.take_in(key, &read(cells)?);
    }
    Ok(())
}

/// Converts values to a row.
fn read<R: Row>(cells: Vec<Cell>) -> Result<R, Error> {
    let shown: Vec<String> = cells.iter().map(ToString::to_string).collect();
    R::read(cells).ok_or_else(|| Error::ColumnDecode {
        index: R::TABLE.name.to_owned(),
        source: format!("a row is ({})", shown.join(", ")).into(),
    })
}
