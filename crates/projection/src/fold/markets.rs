//! Applies events to markets and orders.

use scarce_core::command::shapes::Side;
use scarce_core::event::{
    MarketCreated, MarketEvent, OrderCancelled, OrderPlaced, OrderReduced, OrderReplaced, OrderRested,
    OrderTraded,
};
use scarce_core::markets::OrderStatus;
use scarce_core::types::{Id, signed};

use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::{pair, text};
use crate::rows::{MarketRow, MarketStatus, OrderRow, TradeRow};

const TABLE: &str = "orders";
const MARKETS: &str = "markets";

pub(super) fn apply(tables: &mut Tables, event: &MarketEvent, origin: &Origin<'_>) -> Result<(), Mistake> {
    use MarketEvent as E;
    match event {
        E::MarketCreated(created) => create(tables, created, origin),
        E::MarketHalted(halted) => {
            set_status(tables, &halted.market, (MarketStatus::Open, MarketStatus::Halted), origin)
        }
        E::MarketResumed(resumed) => {
            set_status(tables, &resumed.market, (MarketStatus::Halted, MarketStatus::Open), origin)
        }
        E::OrderPlaced(placed) => place(tables, placed, origin),
        E::OrderTraded(traded) => trade(tables, traded, origin),
        E::OrderCancelled(cancelled) => cancel(tables, cancelled, origin),
        E::OrderReduced(reduced) => reduce(tables, reduced, origin),
        E::OrderRested(rested) => rest(tables, rested, origin),
        E::OrderReplaced(replaced) => replace(tables, replaced, origin),
    }
}

fn create(tables: &mut Tables, created: &MarketCreated, origin: &Origin<'_>) -> Result<(), Mistake> {
    let MarketCreated { market, tick, lot, min_quantity, max_quantity } = created;
    origin.row(MARKETS, market).none(tables.markets.get(market.as_str()))?;
    let row = MarketRow {
        market_id: text(market),
        partition_id: origin.partition_id(),
        tick: signed(*tick),
        lot: signed(*lot),
        quantity_min: signed(*min_quantity),
        quantity_max: signed(*max_quantity),
        status: MarketStatus::Open,
        trades: 0,
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
    };
    tables.markets.add(market.as_str().into(), row);
    Ok(())
}

fn set_status(
    tables: &mut Tables,
    market: &Id,
    (before, after): (MarketStatus, MarketStatus),
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row(MARKETS, market);
    let row = spot.found(tables.markets.change(market.as_str()))?;
    spot.same("status", row.status.word(), before.word())?;
    (row.status, row.updated_at_ms) = (after, origin.at_ms);
    Ok(())
}

fn place(tables: &mut Tables, placed: &OrderPlaced, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderPlaced { market, order, owner, side, price, quantity, tif, stp } = placed;
    let market_spot = origin.row(MARKETS, market);
    let found = market_spot.found(tables.markets.get(market.as_str()))?;
    market_spot.same("status", found.status.word(), MarketStatus::Open.word())?;
    let (key, spot) = (pair(market, order), origin.row_of(TABLE, market, order));
    let before = tables.orders.get(&key);
    if let Some(before) = before {
        spot.holds(!before.status.is_live(), || "an order of this name lives".to_owned())?;
    }
    let quantity = signed(*quantity);
    let row = OrderRow {
        market_id: text(market),
        order_id: text(order),
        use_number: before.map_or(1, |before| before.use_number + 1),
        partition_id: origin.partition_id(),
        owner_id: text(owner),
        side: *side,
        price: price.map(signed),
        quantity,
        filled: 0,
        remaining: quantity,
        quantity_placed: quantity,
        tif: *tif,
        stp: *stp,
        status: OrderStatus::Open,
        reason: None,
        first_trade: None,
        last_trade: None,
        operation_id: origin.operation_id(),
        placed_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        ended_at_ms: None,
    };
    tables.orders.add(key, row);
    Ok(())
}

fn trade(tables: &mut Tables, traded: &OrderTraded, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderTraded { market, trade, price, quantity, taker_side, .. } = traded;
    let spot = origin.row(MARKETS, market);
    let row = spot.found(tables.markets.change(market.as_str()))?;
    row.updated_at_ms = origin.at_ms;
    row.trades = row.trades.saturating_add(1);
    spot.same("trade", row.trades, signed(*trade))?;
    let of = |order, owner, side, remaining| Part { order, owner, side, remaining };
    let maker_side = taker_side.opposite();
    fill(
        tables,
        traded,
        &of(&traded.maker_order, &traded.maker_owner, maker_side, traded.maker_remaining),
        origin,
    )?;
    fill(
        tables,
        traded,
        &of(&traded.taker_order, &traded.taker_owner, *taker_side, traded.taker_remaining),
        origin,
    )?;
    tables.trades.push(TradeRow {
        market_id: text(market),
        trade: signed(*trade),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        price: signed(*price),
        quantity: signed(*quantity),
        taker_side: *taker_side,
        maker_order_id: text(&traded.maker_order),
        maker_owner_id: text(&traded.maker_owner),
        taker_order_id: text(&traded.taker_order),
        taker_owner_id: text(&traded.taker_owner),
        operation_id: origin.operation_id(),
        at_ms: origin.at_ms,
    });
    Ok(())
}

/// An order's part in a trade.
struct Part<'a> {
    order: &'a Id,
    owner: &'a Id,
    side: Side,
    remaining: u64,
}

fn fill(
    tables: &mut Tables,
    traded: &OrderTraded,
    part: &Part<'_>,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row_of(TABLE, &traded.market, part.order);
    let row = live(tables, &traded.market, part.order, spot, origin)?;
    let (price, quantity) = (signed(traded.price), signed(traded.quantity));
    spot.same("owner", &*row.owner_id, part.owner.as_str())?;
    spot.same("side", row.side.word(), part.side.word())?;
    let is_maker = part.side != traded.taker_side;
    let is_within = match (row.price, part.side) {
        // The resting order trades at its own price, the incoming one at no worse than its limit.
        (limit, _) if is_maker => limit == Some(price),
        (None, _) => true,
        (Some(limit), Side::Buy) => price <= limit,
        (Some(limit), Side::Sell) => price >= limit,
    };
    spot.holds(is_within, || format!("it trades at {price}, and its price is {:?}", row.price))?;
    row.remaining = row.remaining.saturating_sub(quantity);
    row.filled = row.filled.saturating_add(quantity);
    spot.same("remaining", row.remaining, signed(part.remaining))?;
    let trade = Some(signed(traded.trade));
    (row.first_trade, row.last_trade) = (row.first_trade.or(trade), trade);
    row.status = OrderStatus::PartiallyFilled;
    if row.remaining == 0 {
        (row.status, row.ended_at_ms) = (OrderStatus::Filled, Some(origin.at_ms));
    }
    Ok(())
}

fn cancel(tables: &mut Tables, cancelled: &OrderCancelled, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderCancelled { market, order, owner, remaining, reason } = cancelled;
    let spot = origin.row_of(TABLE, market, order);
    let row = live(tables, market, order, spot, origin)?;
    spot.same("owner", &*row.owner_id, owner.as_str())?;
    spot.same("remaining", row.remaining, signed(*remaining))?;
    (row.status, row.reason) = (OrderStatus::Cancelled, Some(*reason));
    row.ended_at_ms = Some(origin.at_ms);
    Ok(())
}

fn reduce(tables: &mut Tables, reduced: &OrderReduced, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderReduced { market, order, owner, by, remaining, .. } = reduced;
    let spot = origin.row_of(TABLE, market, order);
    let row = live(tables, market, order, spot, origin)?;
    spot.same("owner", &*row.owner_id, owner.as_str())?;
    row.set_remaining(row.remaining.saturating_sub(signed(*by)));
    spot.same("remaining", row.remaining, signed(*remaining))
}

fn rest(tables: &mut Tables, rested: &OrderRested, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderRested { market, order, price, remaining } = rested;
    let spot = origin.row_of(TABLE, market, order);
    let row = live(tables, market, order, spot, origin)?;
    spot.same("remaining", row.remaining, signed(*remaining))?;
    spot.same("price", row.price.unwrap_or(0), signed(*price))
}

fn replace(tables: &mut Tables, replaced: &OrderReplaced, origin: &Origin<'_>) -> Result<(), Mistake> {
    let OrderReplaced { market, order, owner, price, quantity, keeps_priority } = replaced;
    let (price, quantity) = (signed(*price), signed(*quantity));
    let spot = origin.row_of(TABLE, market, order);
    let row = live(tables, market, order, spot, origin)?;
    spot.same("owner", &*row.owner_id, owner.as_str())?;
    let keeps = row.price == Some(price) && quantity < row.remaining;
    spot.same("keeps_priority", keeps, *keeps_priority)?;
    row.price = Some(price);
    row.set_remaining(quantity);
    Ok(())
}

/// The row of an active order, changed in this batch.
fn live<'t>(
    tables: &'t mut Tables,
    market: &Id,
    order: &Id,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut OrderRow, Mistake> {
    let row = spot.found(tables.orders.change(&pair(market, order)))?;
    spot.holds(row.status.is_live(), || format!("the order is {}", row.status.word()))?;
    row.updated_at_ms = origin.at_ms;
    Ok(row)
}

impl OrderRow {
    fn set_remaining(&mut self, remaining: i64) {
        self.remaining = remaining;
        self.quantity = self.filled.saturating_add(remaining);
    }
}
