//! Markets: orders and trades.

use super::History;
use super::page::{LIMIT_MAX, List, Page, Paging, find};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// An order with its state.
    MarketOrder of "orders" {
        /// The market.
        market_id: String,
        /// Its name in the market.
        order_id: String,
        /// Which order of this name it is, counted from 1.
        use_number: i64,
        /// The owner.
        owner_id: String,
        /// `BUY` or `SELL`.
        side: String,
        /// Its limit; `None` for a market order.
        price: Option<i64>,
        /// Its total quantity: filled and remaining.
        quantity: i64,
        /// The filled quantity.
        filled: i64,
        /// The open quantity; for a cancelled order, the quantity that was not filled.
        remaining: i64,
        /// Its original quantity.
        quantity_placed: i64,
        /// `GTC`, `IOC`, `FOK` or `POST`.
        tif: String,
        /// What happens when it meets an order of the same owner.
        stp: String,
        /// `open`, `partially_filled`, `filled` or `cancelled`.
        status: String,
        /// Why it was cancelled: `requested`, `unfilled` or `self_trade`.
        reason: Option<String>,
        /// The number of its first trade.
        first_trade: Option<i64>,
        /// The number of its last trade.
        last_trade: Option<i64>,
        /// The operation that placed it.
        operation_id: Option<String>,
        /// When it was placed.
        placed_at_ms: i64,
        /// When it last changed.
        updated_at_ms: i64,
        /// When it ended.
        ended_at_ms: Option<i64>,
    }
}

record! {
    /// A trade between two orders.
    Trade of "trades" {
        /// The market.
        market_id: String,
        /// Its number in the market, from 1.
        trade: i64,
        /// The price of the resting order.
        price: i64,
        /// How many units.
        quantity: i64,
        /// The side of the incoming order: `BUY` or `SELL`.
        taker_side: String,
        /// The resting order.
        maker_order_id: String,
        /// Its owner.
        maker_owner_id: String,
        /// The incoming order.
        taker_order_id: String,
        /// Its owner.
        taker_owner_id: String,
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

const ORDERS: &[Column] =
    &[Column::integer("placed_at_ms"), Column::text("order_id"), Column::integer("use_number")];
const TRADES: &[Column] = &[Column::integer("trade")];

impl History {
    /// An owner's orders in a market, in any state.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn owner_orders(
        &self,
        market_id: &str,
        owner_id: &str,
        paging: &Paging,
    ) -> Result<Page<MarketOrder>, ProjectionError> {
        List::new("orders", ORDERS)
            .only("owner_id = ? AND market_id = ?", [Cell::from(owner_id), Cell::from(market_id)])
            .read(&self.projection, paging)
            .await
    }

    /// All orders of a name: usually one; more if the name was reused a day after an order's end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders(&self, market_id: &str, order_id: &str) -> Result<Vec<MarketOrder>, ProjectionError> {
        let condition = "market_id = ? AND order_id = ? ORDER BY use_number";
        find(&self.projection, condition, &[Cell::from(market_id), Cell::from(order_id)], LIMIT_MAX).await
    }

    /// The trades of a market.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn trades(&self, market_id: &str, paging: &Paging) -> Result<Page<Trade>, ProjectionError> {
        List::new("trades", TRADES)
            .only("market_id = ?", [Cell::from(market_id)])
            .read(&self.projection, paging)
            .await
    }

    /// The trades of an order.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn order_trades(
        &self,
        order: &MarketOrder,
        paging: &Paging,
    ) -> Result<Page<Trade>, ProjectionError> {
        let MarketOrder { market_id, order_id, first_trade, last_trade, .. } = order;
        // For an order that never traded, this range is empty.
        let (first, last) = (first_trade.unwrap_or(1), last_trade.unwrap_or(0));
        List::new("fills", TRADES)
            .only("market_id = ?", [Cell::from(market_id.as_str())])
            .only("trade >= ? AND trade <= ?", [first.into(), last.into()])
            .only(
                "(maker_order_id = ? OR taker_order_id = ?)",
                [order_id; 2].map(|id| Cell::from(id.as_str())),
            )
            .read(&self.projection, paging)
            .await
    }
}
