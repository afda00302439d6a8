//! Markets, orders, the tape, and what the orders come to in the books.

use scarce_core::deadlines::RecordKind;
use scarce_core::markets::tape::TRADES_KEPT;
use scarce_core::state::State;
use scarce_core::types::Id;

use super::{Item, Maybe, RowName, flag, join, pair, put_ended, put_name};
use crate::books::{Books, Resting};

pub(super) fn put_order(state: &State, market: &Id, name: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.markets.order(market, name) else { return };
    let text = join(&[
        &its.owner,
        &its.side.word(),
        &Maybe(its.price),
        &its.remaining,
        &its.filled,
        &its.tif.word(),
        &its.stp.word(),
        &its.status.word(),
        &Maybe(its.reason.map(|reason| reason.word())),
        &its.ended_at,
        &Maybe(its.priority()),
    ]);
    out.push(Item::Row("orders", pair(market, name), text));
    if !its.status.is_live() {
        put_ended(its.ended_at, RecordKind::Order, market, name, out);
    }
    if let (Some(resting), Some(priority)) = (Resting::of(its), its.priority()) {
        let Resting { side, rank, owner, .. } = resting;
        out.push(Item::Member("book", format!("{market} {side} {rank:016} {priority:016} {name}")));
        out.push(Item::Member("own", format!("{market} {owner} {priority:016} {name}")));
    }
}

pub(super) fn put_market(state: &State, books: &Books, id: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.markets.get(id) else { return };
    let totals = books.totals(id);
    let text = join(&[
        &its.tick,
        &its.lot,
        &its.min_quantity,
        &its.max_quantity,
        &flag(its.halted),
        &its.trades,
        &its.priority(),
        &totals.orders,
        &totals.bids,
        &totals.asks,
    ]);
    out.push(Item::Row("markets", id.to_string(), text));
    put_name("market", id, out);
}

/// Where a trade stands on the tape, whose places are used in turn.
pub(crate) fn place_of(trade: u64) -> u64 {
    trade % TRADES_KEPT as u64
}

pub(super) fn put_trade(state: &State, market: &Id, place: u64, out: &mut Vec<Item>) {
    let mut trades = state.markets.last_trades(market);
    let Some(its) = trades.find(|trade| place_of(trade.trade) == place) else { return };
    let text = join(&[&its.trade, &its.price, &its.quantity, &its.taker_side.word(), &its.at]);
    out.push(Item::Row("tape", pair(market, &place), text));
}

pub(super) fn put_level(books: &Books, (market, side, rank): (&Id, &'static str, u64), out: &mut Vec<Item>) {
    let Some(level) = books.level(market, side, rank) else { return };
    let name = format!("{market} {side} {rank:016}");
    out.push(Item::Row("level_totals", name.clone(), join(&[&level.quantity, &level.orders])));
    out.push(Item::Member("levels", name));
}

pub(super) fn put_own_level(
    books: &Books,
    (market, owner, side, rank): (&Id, &Id, &'static str, u64),
    out: &mut Vec<Item>,
) {
    let Some(level) = books.own_level(market, owner, side, rank) else { return };
    out.push(Item::Row(
        "own_levels",
        format!("{market} {owner} {side} {rank:016}"),
        level.quantity.to_string(),
    ));
}

pub(super) fn each(state: &State, books: &Books, take: &mut impl FnMut(RowName)) {
    let markets = &state.markets;
    for (id, _) in markets.iter() {
        take(RowName::Market(id.clone()));
        let places = markets.last_trades(id).map(|trade| place_of(trade.trade));
        places.for_each(|place| take(RowName::Trade(id.clone(), place)));
    }
    markets.orders().for_each(|(market, name, _)| take(RowName::Order(market.clone(), name.clone())));
    books.each(take);
}
