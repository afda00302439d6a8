//! Markets, their orders and tapes. Books are made from the orders; what the keys hold of books has to be
//! the same.

use std::collections::BTreeMap;

use scarce_core::codec::Malformed;
use scarce_core::command::shapes::{Side, StpMode, Tif};
use scarce_core::markets::tape::Trade;
use scarce_core::markets::{CancelReason, Market, Order, OrderStatus};
use scarce_core::state::State;
use scarce_core::types::Id;

use super::book::{BookTotals, KeptBooks};
use super::record::{Damaged, Record, id, words};
use super::scan::{each_member, each_row};
use super::{Keys, Link};
use scarce_engine::engine::Failure;

/// Orders by `market order`, each with its place in time where it rests.
pub(super) type Orders = BTreeMap<String, (Order, Option<u64>)>;

/// Puts a market in, and notes what its record says of its book.
pub(super) fn put(
    state: &mut State,
    kept: &mut KeptBooks,
    name: &str,
    record: &Record<'_>,
) -> Result<(), Damaged> {
    let (market, priority, totals) = market(record)?;
    state.markets.restore(id(name)?, market, priority);
    kept.put_market(name, totals);
    Ok(())
}

/// Notes an order; books are made when all of them are known.
pub(super) fn put_order(orders: &mut Orders, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    orders.insert(name.to_owned(), order(record)?);
    Ok(())
}

/// Puts the orders in, and on the books. Gives the books as they follow from them, or the order that does not fit.
pub(super) fn restore(state: &mut State, orders: Orders, kept: &KeptBooks) -> Result<KeptBooks, String> {
    let mut made = kept.opened();
    for (key, (order, priority)) in orders {
        let (market, name) = key.split_once(' ').ok_or_else(|| key.clone())?;
        if let Some(priority) = priority {
            made.rest(market, name, &order, priority).ok_or_else(|| key.clone())?;
        }
        let (Ok(market), Ok(name)) = (id(market), id(name)) else { return Err(key) };
        state.markets.restore_order(&market, name, order, priority);
    }
    state.markets.restore_books().map_err(|Malformed| "the resting orders".to_owned())?;
    Ok(made)
}

/// The last trades by `market place`. Places are used in turn.
pub(super) type Tapes = BTreeMap<String, Trade>;

/// Notes a trade.
pub(super) fn put_trade(tapes: &mut Tapes, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    tapes.insert(name.to_owned(), trade(record)?);
    Ok(())
}

/// Puts the trades on the tapes in their order.
pub(super) fn restore_tapes(state: &mut State, tapes: Tapes) -> Result<(), Damaged> {
    let mut trades: BTreeMap<(Id, u64), Trade> = BTreeMap::new();
    for (name, trade) in tapes {
        let (market, _) = words(&name)?;
        trades.insert((id(market)?, trade.trade), trade);
    }
    trades.into_iter().for_each(|((market, _), trade)| state.markets.restore_trade(&market, trade));
    Ok(())
}

/// Reads what the keys hold of books beside the orders.
pub(super) async fn read_books(link: &Link, keys: &Keys, kept: &mut KeptBooks) -> Result<(), Failure> {
    for name in ["book", "levels", "own"] {
        let members = kept.members(name);
        each_member(link, keys, name, |words| {
            members.insert(words.join(" "));
            Ok(())
        })
        .await?;
    }
    each_row(link, keys, "level_totals", |name, record| {
        kept.levels.insert(name.to_owned(), (record.number("quantity")?, record.number("orders")?));
        Ok(())
    })
    .await?;
    each_row(link, keys, "own_levels", |name, record| {
        kept.own_levels.insert(name.to_owned(), record.number("quantity")?);
        Ok(())
    })
    .await
}

pub(super) fn disagreement(keys: &Keys, name: &str, what: &str) -> Failure {
    let key = keys.of(name);
    let reason = format!("{key} does not agree with the orders at '{what}'; restore the keys from a copy");
    Failure::Unavailable { reason }
}

/// A market, the last place in time that an order was given, and the totals of its book.
fn market(record: &Record<'_>) -> Result<(Market, u64, BookTotals), Damaged> {
    let (tick, lot) = (record.number("tick")?, record.number("lot")?);
    let mut market = Market::new(tick, lot, record.number("min_quantity")?, record.number("max_quantity")?);
    market.halted = record.flag("halted")?;
    market.trades = record.number("trades")?;
    let totals = BookTotals {
        orders: record.number("orders")?,
        bids_total: record.number("bids_total")?,
        asks_total: record.number("asks_total")?,
    };
    Ok((market, record.number("priority")?, totals))
}

/// An order, and its place in time where it rests.
fn order(record: &Record<'_>) -> Result<(Order, Option<u64>), Damaged> {
    let (owner, side) = (record.id("owner")?, record.word("side", Side::from_word)?);
    let (price, remaining) = (record.optional("price")?, record.number("remaining")?);
    let (tif, stp) = (record.word("tif", Tif::from_word)?, record.word("stp", StpMode::from_word)?);
    let mut order = Order::new(owner, side, price, remaining, tif, stp);
    order.filled = record.number("filled")?;
    order.status = record.word("status", OrderStatus::from_word)?;
    order.reason = record.optional_word("reason", CancelReason::from_word)?;
    order.ended_at = record.number("ended_at")?;
    Ok((order, record.optional("priority")?))
}

fn trade(record: &Record<'_>) -> Result<Trade, Damaged> {
    Ok(Trade {
        trade: record.number("trade")?,
        price: record.number("price")?,
        quantity: record.number("quantity")?,
        taker_side: record.word("taker_side", Side::from_word)?,
        at: record.number("at")?,
    })
}
