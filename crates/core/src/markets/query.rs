//! Queries about markets.

use super::place::{HALTED, OPEN};
use super::tape::Trade;
use super::{Market, visible};
use crate::command::shapes::Side;
use crate::command::table::MarketList;
use crate::facts;
use crate::lists::page;
use crate::outcome::{Code, Refusal, Value, Verdict};
use crate::state::State;
use crate::types::{Id, RowCount, TimeMs};

pub(crate) fn market(state: &State, id: &Id) -> Verdict {
    let (slot, market) = state.markets.existing(id)?;
    let book = state.markets.books.get(slot);
    Ok(facts![
        id,
        status(market),
        market.tick,
        market.lot,
        market.min_quantity,
        market.max_quantity,
        book.best(Side::Buy),
        book.best(Side::Sell),
        book.orders(),
        market.trades,
    ])
}

const fn status(market: &Market) -> &'static str {
    if market.halted { HALTED } else { OPEN }
}

/// Bids and asks, best first, each level as price, quantity, orders; and the sequence of the last event that they show.
pub(crate) fn depth(state: &State, id: &Id, levels: RowCount, sequence: u64) -> Verdict {
    let (slot, _) = state.markets.existing(id)?;
    let rows = |side| {
        let levels = state.markets.books.get(slot).crossing(side, None).take(levels.rows());
        let rows =
            levels.map(|(price, level)| Value::List(facts![price, level.quantity, level.orders].into_vec()));
        rows.collect::<Vec<_>>()
    };
    Ok(facts![rows(Side::Buy), rows(Side::Sell), sequence])
}

/// The last trade, the best prices with their quantities, and the sequence of the last event that they show.
pub(crate) fn ticker(state: &State, id: &Id, sequence: u64) -> Verdict {
    let (slot, market) = state.markets.existing(id)?;
    let last = state.markets.tapes.of(slot).next();
    let best = |side| state.markets.books.get(slot).crossing(side, None).next();
    let mut figures = facts![
        id,
        last.map(|trade| trade.price),
        last.map(|trade| trade.quantity),
        last.map(|trade| trade.taker_side.word()),
        last.map(|trade| trade.at),
    ];
    for side in [Side::Buy, Side::Sell] {
        let (price, quantity) = best(side).map(|(price, level)| (price, level.quantity)).unzip();
        figures.extend(facts![price, quantity]);
    }
    figures.extend(facts![market.trades, sequence]);
    Ok(figures)
}

/// The last trades, latest first: trade, price, quantity, side of the taker, at.
pub(crate) fn trades(state: &State, id: &Id, count: RowCount) -> Verdict {
    let (slot, _) = state.markets.existing(id)?;
    let rows = state.markets.tapes.of(slot).take(count.rows()).map(|trade| {
        let Trade { trade, price, quantity, taker_side, at } = *trade;
        Value::List(facts![trade, price, quantity, taker_side.word(), at].into_vec())
    });
    Ok(facts![rows.collect::<Vec<_>>()])
}

pub(crate) fn order(state: &State, market: &Id, id: &Id, now: TimeMs) -> Verdict {
    let (slot, _) = state.markets.existing(market)?;
    let found = visible(state, slot, id, now).ok_or_else(|| Refusal::new(Code::OrderNotFound, facts![id]))?;
    Ok(facts![
        id,
        &found.owner,
        found.side.word(),
        found.price,
        found.remaining,
        found.filled,
        found.tif.word(),
        found.stp.word(),
        found.status.word(),
        found.reason.map(super::CancelReason::word),
    ])
}

/// A page of markets: market, status, best prices, orders, trades.
pub(crate) fn list(state: &State, list: &MarketList) -> Verdict {
    let markets = &state.markets;
    page(&markets.markets, list.page(), |id, market| {
        let book = markets.markets.find(id).map(|slot| markets.books.get(slot));
        let best = |side| book.and_then(|book| book.best(side));
        let orders = book.map_or(0, |book| book.orders());
        facts![id, status(market), best(Side::Buy), best(Side::Sell), orders, market.trades]
    })
}
