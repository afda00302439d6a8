//! Markets: orders and trades.

use super::History;
use super::page::{LIMIT_MAX, List, Page, Paging, find};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// An order and what became of it.
    MarketOrder of "orders" {
        /// In which market.
        market_id: String,
        /// Its name there.
        order_id: String,
        /// Which order of this name it is, counted from 1.
        use_number: i64,
        /// Whose.
        owner_id: String,
        /// `BUY` or `SELL`.
        side: String,
        /// Its limit; nothing for a market order.
        price: Option<i64>,
        /// What it asks for in all: filled and remaining.
        quantity: i64,
        /// What it has got.
        filled: i64,
        /// What is open; of one that was cancelled, what will never be filled.
        remaining: i64,
        /// What it asked for at first.
        quantity_placed: i64,
        /// `GTC`, `IOC`, `FOK` or `POST`.
        tif: String,
        /// What happens where it meets an order of its owner.
        stp: String,
        /// `open`, `partially_filled`, `filled` or `cancelled`.
        status: String,
        /// Why it was cancelled: `requested`, `unfilled` or `self_trade`.
        reason: Option<String>,
        /// The number of its first trade.
        first_trade: Option<i64>,
        /// The number of its last trade.
        last_trade: Option<i64>,
        /// By which operation it was placed.
        operation_id: Option<String>,
        /// When it was placed.
        placed_at_ms: i64,
        /// When it changed last.
        updated_at_ms: i64,
        /// When it ended.
        ended_at_ms: Option<i64>,
    }
}

record! {
    /// Two orders that met.
    Trade of "trades" {
        /// In which market.
        market_id: String,
        /// Its number there, from 1.
        trade: i64,
        /// The price of the order that rested.
        price: i64,
        /// How many units.
        quantity: i64,
        /// Which side came and took: `BUY` or `SELL`.
        taker_side: String,
        /// The order that rested.
        maker_order_id: String,
        /// Whose it was.
        maker_owner_id: String,
        /// The order that came.
        taker_order_id: String,
        /// Whose it was.
        taker_owner_id: String,
        /// By which operation.
        operation_id: Option<String>,
        /// Where it happened.
        partition_id: i64,
        /// The event's number there.
        sequence: i64,
        /// When.
        at_ms: i64,
    }
}

const ORDERS: &[Column] =
    &[Column::integer("placed_at_ms"), Column::text("order_id"), Column::integer("use_number")];
const TRADES: &[Column] = &[Column::integer("trade")];

impl History {
    /// An owner's orders in a market, whatever became of them.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
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

    /// All orders of a name: usually one; more where the name was used again a day after an order's end.
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
    /// When the database does not answer, or the cursor is not one of this list.
    pub async fn trades(&self, market_id: &str, paging: &Paging) -> Result<Page<Trade>, ProjectionError> {
        List::new("trades", TRADES)
            .only("market_id = ?", [Cell::from(market_id)])
            .read(&self.projection, paging)
            .await
    }

    /// The trades of an order.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
    pub async fn order_trades(
        &self,
        order: &MarketOrder,
        paging: &Paging,
    ) -> Result<Page<Trade>, ProjectionError> {
        let MarketOrder { market_id, order_id, first_trade, last_trade, .. } = order;
        // An order that never traded has none between these.
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
