//! Stock: who got which unit.

use serde::Serialize;

use super::History;
use super::page::{LIMIT_MAX, List, Page, Paging, find};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// A sale: units `first_serial` to `first_serial + quantity − 1`.
    SaleReceipt of "receipts" {
        /// The item.
        sku: String,
        /// The serial of its first unit.
        first_serial: i64,
        /// How many units.
        quantity: i64,
        /// How many of them were returned.
        returned: i64,
        /// The buyer.
        owner_id: String,
        /// The confirmed reservation, if there was one.
        reservation_id: Option<String>,
        /// The operation.
        operation_id: Option<String>,
        /// The partition.
        partition_id: i64,
        /// The event's sequence in the partition.
        sequence: i64,
        /// When.
        at_ms: i64,
    }
}

record! {
    /// Returned units: `first_serial` to `first_serial + quantity − 1`.
    StockReturn of "stock_returns" {
        /// The item.
        sku: String,
        /// The serial of the first unit.
        first_serial: i64,
        /// How many units.
        quantity: i64,
        /// The first serial of the sale that they were part of.
        receipt_serial: i64,
        /// The owner who had bought them.
        owner_id: String,
        /// The operation.
        operation_id: Option<String>,
        /// The event's sequence in its partition.
        sequence: i64,
        /// When.
        at_ms: i64,
    }
}

record! {
    /// Reserved units.
    Reservation of "reservations" {
        /// The item.
        sku: String,
        /// Its name within the item.
        reservation_id: String,
        /// Which reservation of this name it is, counted from 1.
        use_number: i64,
        /// The owner.
        owner_id: String,
        /// How many units.
        quantity: i64,
        /// `open`, `confirmed`, `released` or `expired`.
        status: String,
        /// When it expires.
        deadline_ms: i64,
        /// The first serial sold, once it is confirmed.
        first_serial: Option<i64>,
        /// The operation that placed it.
        operation_id: Option<String>,
        /// When it was placed.
        placed_at_ms: i64,
        /// When it ended.
        ended_at_ms: Option<i64>,
    }
}

record! {
    /// A change to the total number of units.
    StockMovement of "stock_movements" {
        /// The item.
        sku: String,
        /// The event's sequence in its partition.
        sequence: i64,
        /// `created`, `restocked`, `adjusted`, or `opening` for the units that were there where this history begins.
        kind: String,
        /// The change; negative if units were removed.
        quantity: i64,
        /// How many units were available afterwards.
        available: i64,
        /// The total afterwards.
        total: i64,
        /// Why the total was adjusted.
        reason: Option<String>,
        /// The operation.
        operation_id: Option<String>,
        /// When.
        at_ms: i64,
    }
}

record! {
    /// The moment at which an item was sold out, or available again.
    StockAvailability of "stock_availability" {
        /// The item.
        sku: String,
        /// The event's sequence in its partition.
        sequence: i64,
        /// `sold_out` or `available_again`.
        kind: String,
        /// How many units were available then.
        available: i64,
        /// The operation.
        operation_id: Option<String>,
        /// When.
        at_ms: i64,
    }
}

/// A unit with its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unit {
    /// The item.
    pub sku: String,
    /// Its serial.
    pub serial: i64,
    /// The sale that it was part of.
    pub receipt: SaleReceipt,
    /// When it was returned; `None` while its owner has it.
    pub returned_at_ms: Option<i64>,
    /// The returns of that sale, in order, at most a thousand.
    pub returns: Vec<StockReturn>,
}

const SALES: &[Column] = &[Column::integer("at_ms"), Column::text("sku"), Column::integer("first_serial")];
const RESERVED: &[Column] = &[
    Column::integer("placed_at_ms"),
    Column::text("sku"),
    Column::text("reservation_id"),
    Column::integer("use_number"),
];

impl History {
    /// Who got a unit, and whether it was returned; `None` if it was never sold.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unit(&self, sku: &str, serial: i64) -> Result<Option<Unit>, ProjectionError> {
        let condition = "sku = ? AND first_serial <= ? ORDER BY first_serial DESC";
        let found: Vec<SaleReceipt> =
            find(&self.projection, condition, &[Cell::from(sku), serial.into()], 1).await?;
        let holds_it = |sale: &SaleReceipt| (0..sale.quantity).contains(&(serial - sale.first_serial));
        let Some(receipt) = found.into_iter().find(holds_it) else { return Ok(None) };
        let condition = "sku = ? AND first_serial >= ? AND first_serial < ? ORDER BY at_ms, sequence";
        let end = receipt.first_serial.saturating_add(receipt.quantity);
        let values = [Cell::from(sku), receipt.first_serial.into(), end.into()];
        let returns: Vec<StockReturn> = find(&self.projection, condition, &values, LIMIT_MAX).await?;
        let is_it = |back: &&StockReturn| (0..back.quantity).contains(&(serial - back.first_serial));
        let returned_at_ms = returns.iter().find(is_it).map(|back| back.at_ms);
        Ok(Some(Unit { sku: sku.to_owned(), serial, receipt, returned_at_ms, returns }))
    }

    /// An owner's purchases, of one item or of all.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn owner_receipts(
        &self,
        owner_id: &str,
        sku: Option<&str>,
        paging: &Paging,
    ) -> Result<Page<SaleReceipt>, ProjectionError> {
        List::new("receipts", SALES)
            .only("owner_id = ?", [Cell::from(owner_id)])
            .only_if("sku = ?", sku)
            .read(&self.projection, paging)
            .await
    }

    /// An owner's reservations, of one item or of all, in any state.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn owner_reservations(
        &self,
        owner_id: &str,
        sku: Option<&str>,
        paging: &Paging,
    ) -> Result<Page<Reservation>, ProjectionError> {
        List::new("reservations", RESERVED)
            .only("owner_id = ?", [Cell::from(owner_id)])
            .only_if("sku = ?", sku)
            .read(&self.projection, paging)
            .await
    }

    /// When an item was sold out, and available again.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn stock_availability(
        &self,
        sku: &str,
        paging: &Paging,
    ) -> Result<Page<StockAvailability>, ProjectionError> {
        List::new("availability", const { &[Column::integer("sequence")] })
            .only("sku = ?", [Cell::from(sku)])
            .read(&self.projection, paging)
            .await
    }

    /// The changes to an item's total, which explain it.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn stock_movements(
        &self,
        sku: &str,
        paging: &Paging,
    ) -> Result<Page<StockMovement>, ProjectionError> {
        List::new("movements", const { &[Column::integer("sequence")] })
            .only("sku = ?", [Cell::from(sku)])
            .read(&self.projection, paging)
            .await
    }
}
