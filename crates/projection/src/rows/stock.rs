//! Rows of stock.

use scarce_core::stock::ReservationStatus;
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(ReservationStatus, StockStatus, MovementKind, AvailabilityKind);

words! {
    /// Whether units are sold.
    StockStatus {
        /// They are, within the item's times, while any are left.
        0 Open = "open",
        /// They are not, permanently.
        1 Closed = "closed",
    }
}

words! {
    /// Why the total changed.
    MovementKind {
        /// They were there from the beginning.
        1 Created = "created",
        /// They were added.
        2 Restocked = "restocked",
        /// It was corrected.
        3 Adjusted = "adjusted",
        /// They were there where the history in these tables begins.
        4 Opening = "opening",
    }
}

row! {
    /// The state of an item.
    StockRow in "stock", key 1 {
        sku: Text,
        partition_id: i64,
        total: i64,
        available: i64,
        reserved: i64,
        sold: i64,
        returned: i64,
        last_serial: i64,
        per_owner_max: Option<i64>,
        status: StockStatus,
        starts_at_ms: Option<i64>,
        ends_at_ms: Option<i64>,
        created_at_ms: i64,
        updated_at_ms: i64,
        sold_out_at_ms: Option<i64>,
        audited_at_ms: Option<i64>,
        closed_at_ms: Option<i64>,
    }
}

row! {
    /// A change to the total number of units.
    MovementRow in "stock_movements", key 2 {
        sku: Text,
        sequence: i64,
        partition_id: i64,
        kind: MovementKind,
        quantity: i64,
        available: i64,
        total: i64,
        reason: Option<Text>,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}

words! {
    /// What changed about whether units are available.
    AvailabilityKind {
        /// None is left.
        1 SoldOut = "sold_out",
        /// Some are available again.
        2 AvailableAgain = "available_again",
    }
}

row! {
    /// The moment at which an item was sold out, or available again.
    AvailabilityRow in "stock_availability", key 2 {
        sku: Text,
        sequence: i64,
        partition_id: i64,
        kind: AvailabilityKind,
        available: i64,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}

row! {
    /// A sale.
    ReceiptRow in "receipts", key 2 {
        sku: Text,
        first_serial: i64,
        partition_id: i64,
        sequence: i64,
        quantity: i64,
        returned: i64,
        owner_id: Text,
        reservation_id: Option<Text>,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}

row! {
    /// Returned units.
    ReturnRow in "stock_returns", key 2 {
        sku: Text,
        first_serial: i64,
        partition_id: i64,
        sequence: i64,
        quantity: i64,
        receipt_serial: i64,
        owner_id: Text,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}

row! {
    /// Reserved units.
    ReservationRow in "reservations", key 3 with uses {
        sku: Text,
        reservation_id: Text,
        use_number: i64,
        partition_id: i64,
        owner_id: Text,
        quantity: i64,
        status: ReservationStatus,
        deadline_ms: i64,
        first_serial: Option<i64>,
        operation_id: Option<Text>,
        placed_at_ms: i64,
        ended_at_ms: Option<i64>,
    }
}
