//! Markets, and the orders that live.

use scarce_core::markets::{Market, Order};
use scarce_core::types::{Id, signed};

use super::Opening;
use crate::fold::{Origin, text};
use crate::rows::{MarketRow, MarketStatus, OrderRow};

impl Opening<'_> {
    pub(super) fn put_market(&mut self, id: &Id, market: &Market) {
        self.put(market_row(id, market, &self.origin));
    }

    pub(super) fn put_order(&mut self, (id, market): (&Id, &Market), name: &Id, order: &Order) {
        if order.status.is_live() {
            self.put(order_row((id, name), order, signed(market.trades), &self.origin));
        }
    }
}

fn market_row(id: &Id, market: &Market, origin: &Origin<'_>) -> MarketRow {
    MarketRow {
        market_id: text(id),
        partition_id: origin.partition_id(),
        tick: signed(market.tick),
        lot: signed(market.lot),
        quantity_min: signed(market.min_quantity),
        quantity_max: signed(market.max_quantity),
        status: if market.halted { MarketStatus::Halted } else { MarketStatus::Open },
        trades: signed(market.trades),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
    }
}

/// The trades of an order that is filled in part are among those before; which they were is not known.
fn order_row((market, name): (&Id, &Id), order: &Order, trades: i64, origin: &Origin<'_>) -> OrderRow {
    let quantity = signed(order.filled.saturating_add(order.remaining));
    let has_traded = order.filled > 0;
    OrderRow {
        market_id: text(market),
        order_id: text(name),
        use_number: 1,
        partition_id: origin.partition_id(),
        owner_id: text(&order.owner),
        side: order.side,
        price: order.price.map(signed),
        quantity,
        filled: signed(order.filled),
        remaining: signed(order.remaining),
        quantity_placed: quantity,
        tif: order.tif,
        stp: order.stp,
        status: order.status,
        reason: None,
        first_trade: has_traded.then_some(1),
        last_trade: has_traded.then_some(trades),
        operation_id: None,
        placed_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        ended_at_ms: None,
    }
}
