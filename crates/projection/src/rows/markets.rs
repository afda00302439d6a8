//! Rows of order books.

use scarce_core::command::shapes::{Side, StpMode, Tif};
use scarce_core::markets::{CancelReason, OrderStatus};
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(Side, Tif, StpMode, OrderStatus, CancelReason, MarketStatus);

words! {
    /// Whether orders trade.
    MarketStatus {
        /// They do.
        0 Open = "open",
        /// Trading is halted.
        1 Halted = "halted",
    }
}

row! {
    /// The state of a market.
    MarketRow in "markets", key 1 {
        market_id: Text,
        partition_id: i64,
        tick: i64,
        lot: i64,
        quantity_min: i64,
        quantity_max: i64,
        status: MarketStatus,
        trades: i64,
        created_at_ms: i64,
        updated_at_ms: i64,
    }
}

row! {
    /// The state of an order.
    OrderRow in "orders", key 3 with uses {
        market_id: Text,
        order_id: Text,
        use_number: i64,
        partition_id: i64,
        owner_id: Text,
        side: Side,
        price: Option<i64>,
        quantity: i64,
        filled: i64,
        remaining: i64,
        quantity_placed: i64,
        tif: Tif,
        stp: StpMode,
        status: OrderStatus,
        reason: Option<CancelReason>,
        first_trade: Option<i64>,
        last_trade: Option<i64>,
        operation_id: Option<Text>,
        placed_at_ms: i64,
        updated_at_ms: i64,
        ended_at_ms: Option<i64>,
    }
}

row! {
    /// A trade between two orders.
    TradeRow in "trades", key 2 {
        market_id: Text,
        trade: i64,
        partition_id: i64,
        sequence: i64,
        price: i64,
        quantity: i64,
        taker_side: Side,
        maker_order_id: Text,
        maker_owner_id: Text,
        taker_order_id: Text,
        taker_owner_id: Text,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}
