//! The columns of the rows of histories, by their names in the tables.

/// The type of a member of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer: an amount, a number, a time in Unix milliseconds.
    Integer,
    /// An integer or null.
    OptionalInteger,
    /// A text.
    Text,
    /// A text or null.
    OptionalText,
    /// A nested object or array.
    Json,
}

/// A member of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
}

macro_rules! columns {
    ($($table:ident: $($name:ident $kind:ident),*;)*) => {
        $(pub(super) static $table: &[Column] =
            &[$(Column { name: stringify!($name), kind: Kind::$kind }),*];)*
    };
}

columns! {
    ENTRIES: partition_id Integer, sequence Integer, account_id Text, epoch Integer, kind Text, amount Integer,
        balance Integer, counterparty_id OptionalText, hold_id OptionalText, operation_id OptionalText, at_ms Integer;
    HOLDS: account_id Text, hold_id Text, use_number Integer, amount Integer, captured Integer,
        amount_placed Integer, status Text, deadline_ms OptionalInteger, operation_id OptionalText,
        placed_at_ms Integer, ended_at_ms OptionalInteger;
    OPERATIONS: operation_id Text, namespace Text, partition_id Integer, use_number Integer, epoch Integer,
        first_sequence Integer, last_sequence Integer, outcome Text, facts Json, at_ms Integer,
        event OptionalText, resource_id OptionalText, event_fields Json, command OptionalText, arguments Json;
    RECEIPTS: sku Text, first_serial Integer, quantity Integer, returned Integer, owner_id Text,
        reservation_id OptionalText, operation_id OptionalText, partition_id Integer, sequence Integer, at_ms Integer;
    UNITS: sku Text, serial Integer, receipt Json, returned_at_ms OptionalInteger, returns Json;
    RESERVATIONS: sku Text, reservation_id Text, use_number Integer, owner_id Text, quantity Integer, status Text,
        deadline_ms Integer, first_serial OptionalInteger, operation_id OptionalText, placed_at_ms Integer,
        ended_at_ms OptionalInteger;
    STOCK_MOVEMENTS: sku Text, sequence Integer, kind Text, quantity Integer, available Integer, total Integer,
        reason OptionalText, operation_id OptionalText, at_ms Integer;
    STOCK_AVAILABILITY: sku Text, sequence Integer, kind Text, available Integer, operation_id OptionalText,
        at_ms Integer;
    PACKET_CLAIMS: campaign_id Text, packet Integer, user_id Text, amount Integer, operation_id OptionalText,
        partition_id Integer, sequence Integer, at_ms Integer;
    COUPON_CLAIMS: coupon_id Text, serial Integer, user_id Text, subject Json, status Text,
        deadline_ms OptionalInteger, given_back Json, operation_id OptionalText, partition_id Integer,
        sequence Integer, claimed_at_ms Integer, ended_at_ms OptionalInteger;
    ORDERS: market_id Text, order_id Text, use_number Integer, owner_id Text, side Text, price OptionalInteger,
        quantity Integer, filled Integer, remaining Integer, quantity_placed Integer, tif Text, stp Text, status Text,
        reason OptionalText, first_trade OptionalInteger, last_trade OptionalInteger, operation_id OptionalText,
        placed_at_ms Integer, updated_at_ms Integer, ended_at_ms OptionalInteger;
    TRADES: market_id Text, trade Integer, price Integer, quantity Integer, taker_side Text, maker_order_id Text,
        maker_owner_id Text, taker_order_id Text, taker_owner_id Text, operation_id OptionalText,
        partition_id Integer, sequence Integer, at_ms Integer;
}
