//! Markets, and the orders that live.

use scarce_core::markets::{Market, Order};
use scarce_core::state::State;
use scarce_core::types::{Id, signed};

use super::{Take, Unwanted};
use crate::fold::{Origin, text};
use crate::rows::{MarketRow, MarketStatus, OrderRow};

pub(super) fn put(state: &State, origin: &Origin<'_>, take: Take<'_>) -> Result<(), Unwanted> {
    let markets = &state.markets;
    super::put(take, markets.iter().map(|(id, market)| market_row(id, market, origin)))?;
    let live = markets.orders().filter(|(.., order)| order.status.is_live());
    let row = |(market, name, order): (&Id, &Id, &Order)| {
        let trades = markets.get(market).map_or(0, |market| market.trades);
        order_row((market, name), order, signed(trades), origin)
    };
    super::put(take, live.map(row))
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
