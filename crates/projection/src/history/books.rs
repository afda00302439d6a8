//! What is compared with outside books: movements by the outside world, and stock of a moment.

use scarce_sql::Dialect;

use super::History;
use super::money::AccountEntry;
use super::page::{LIMIT_MAX, List, Page, Paging, Span};
use crate::ProjectionError;
use crate::table::{Cell, Column, ColumnKind};

/// The units of an item at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitsThen {
    /// The item.
    pub sku: String,
    /// How many were not sold.
    pub unsold: i64,
    /// How many of them were reserved.
    pub reserved: i64,
}

/// What was unsold is what is unsold now without what happened since: so it is right where a history begins late, too, and one
/// statement sees one moment of the tables.
const UNITS: &str = "SELECT s.sku, CAST(s.available + s.reserved \
     - COALESCE((SELECT SUM(m.quantity) FROM stock_movements AS m WHERE m.sku = s.sku AND m.at_ms > ?), 0) \
     + COALESCE((SELECT SUM(r.quantity) FROM receipts AS r WHERE r.sku = s.sku AND r.at_ms > ?), 0) \
     - COALESCE((SELECT SUM(b.quantity) FROM stock_returns AS b WHERE b.sku = s.sku AND b.at_ms > ?), 0) AS @), \
     CAST(COALESCE((SELECT SUM(h.quantity) FROM reservations AS h WHERE h.sku = s.sku AND h.placed_at_ms <= ? \
     AND (h.ended_at_ms IS NULL OR h.ended_at_ms > ?)), 0) AS @) \
     FROM stock AS s WHERE s.sku > ? AND s.created_at_ms <= ? ORDER BY s.sku LIMIT ";

impl History {
    /// What came in from outside of an asset in a partition, or went out.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn outside_entries(
        &self,
        partition: u32,
        asset: &str,
        span: Span,
        paging: &Paging,
    ) -> Result<Page<AccountEntry>, ProjectionError> {
        // One side is outside, so that an event has one row at most; the key's order is followed without sorting.
        List::new("outside", const { &[Column::integer("sequence")] })
            .only("partition_id = ?", [Cell::from(i64::from(partition))])
            .only("counterparty_id IS NULL AND kind <> ?", [Cell::from("opening")])
            .only(
                "(SELECT a.asset FROM accounts AS a WHERE a.account_id = entries.account_id) = ?",
                [asset.into()],
            )
            .only_if("at_ms >= ?", span.from_ms)
            .only_if("at_ms < ?", span.to_ms)
            .read(&self.projection, paging)
            .await
    }

    /// The units of items as they were after everything up to a moment: the first thousand behind an item.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn units_then(&self, at_ms: i64, after: &str) -> Result<Vec<UnitsThen>, ProjectionError> {
        let store = self.projection.store();
        let integer = if store.address().dialect() == Dialect::MySql { "SIGNED" } else { "BIGINT" };
        let sql = format!("{}{LIMIT_MAX}", UNITS.replace('@', integer));
        let at = || Cell::from(at_ms);
        let values = [at(), at(), at(), at(), at(), Cell::from(after), at()];
        let kinds = [ColumnKind::Text, ColumnKind::Integer, ColumnKind::Integer];
        let rows = store.fetch(&sql, &values, &kinds).await?;
        let misread = || store.misread("the units of an item have another shape".to_owned());
        let read = |row: &Vec<Cell>| match row.as_slice() {
            [sku, Cell::Integer(unsold), Cell::Integer(reserved)] => {
                Some(UnitsThen { sku: sku.text()?.to_owned(), unsold: *unsold, reserved: *reserved })
            }
            _ => None,
        };
        rows.iter().map(|row| Ok(read(row).ok_or_else(misread)?)).collect()
    }
}
