//! Items with an opening quantity, open reservations, and every sale and return, which the engine keeps.

use scarce_core::stock::{Forgotten, Receipt, Reservation, ReservationStatus, StockItem};
use scarce_core::types::{Id, signed};

use super::Opening;
use crate::fold::{Origin, text};
use crate::rows::{MovementKind, ReceiptRow, ReservationRow, ReturnRow, StockRow, StockStatus};
use crate::table::Text;

/// The reason on the opening quantity of an item of whose receipts the oldest had left the engine's memory: its receipts
/// here do not come to what it sold.
const RECEIPTS_FORGOTTEN: &str = "receipts_forgotten";

impl Opening<'_> {
    pub(super) fn put_item(&mut self, sku: &Id, item: &StockItem, left: &Forgotten) {
        let row = stock_row(sku, item, &self.origin);
        let reason = (left.through_serial > 0).then(|| Text::from(RECEIPTS_FORGOTTEN));
        let movement = row.movement(MovementKind::Opening, signed(item.total), reason, &self.origin);
        self.put(row);
        self.put(movement);
    }

    pub(super) fn put_receipt(&mut self, sku: &Id, first: u64, receipt: &Receipt) {
        self.put(receipt_row(sku, first, receipt, &self.origin));
    }

    pub(super) fn put_return(&mut self, sku: &Id, (first, count): (u64, u64), sale: (u64, &Receipt)) {
        self.put(return_row((sku, first, count, sale), &self.origin));
    }

    pub(super) fn put_reservation(&mut self, sku: &Id, name: &Id, reservation: &Reservation) {
        if reservation.status == ReservationStatus::Open {
            self.put(reservation_row(sku, name, reservation, &self.origin));
        }
    }
}

fn stock_row(sku: &Id, item: &StockItem, origin: &Origin<'_>) -> StockRow {
    StockRow {
        sku: text(sku),
        partition_id: origin.partition_id(),
        total: signed(item.total),
        available: signed(item.available),
        reserved: signed(item.reserved),
        sold: signed(item.sold),
        returned: signed(item.returned),
        last_serial: signed(item.serial),
        per_owner_max: item.per_owner_max.map(signed),
        status: if item.closed { StockStatus::Closed } else { StockStatus::Open },
        starts_at_ms: item.starts_at.map(signed),
        ends_at_ms: item.ends_at.map(signed),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        sold_out_at_ms: None,
        audited_at_ms: None,
        closed_at_ms: item.closed.then_some(origin.at_ms),
    }
}

/// A sale has kept its own time and operation, but not the reservation that it came from.
fn receipt_row(sku: &Id, first: u64, receipt: &Receipt, origin: &Origin<'_>) -> ReceiptRow {
    ReceiptRow {
        sku: text(sku),
        first_serial: signed(first),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        quantity: signed(receipt.count),
        returned: signed(receipt.returned),
        owner_id: text(&receipt.owner),
        reservation_id: None,
        operation_id: Some(Text::from(receipt.operation.as_str())).filter(|id| !id.is_empty()),
        at_ms: signed(receipt.at),
    }
}

/// Returns of neighboring units are one range here.
fn return_row(
    (sku, first, count, (receipt, sale)): (&Id, u64, u64, (u64, &Receipt)),
    origin: &Origin<'_>,
) -> ReturnRow {
    ReturnRow {
        sku: text(sku),
        first_serial: signed(first),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        quantity: signed(count),
        receipt_serial: signed(receipt),
        owner_id: text(&sale.owner),
        operation_id: None,
        at_ms: origin.at_ms,
    }
}

fn reservation_row(sku: &Id, name: &Id, reservation: &Reservation, origin: &Origin<'_>) -> ReservationRow {
    ReservationRow {
        sku: text(sku),
        reservation_id: text(name),
        use_number: 1,
        partition_id: origin.partition_id(),
        owner_id: text(&reservation.owner),
        quantity: signed(reservation.quantity),
        status: reservation.status,
        deadline_ms: signed(reservation.deadline),
        first_serial: None,
        operation_id: None,
        placed_at_ms: origin.at_ms,
        ended_at_ms: None,
    }
}
