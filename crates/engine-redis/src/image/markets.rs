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
use super::{Keys, Link, each_member, each_row};
use scarce_engine::engine::Failure;

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let (mut kept, mut made) = (KeptBooks::default(), KeptBooks::default());
    let markets = &mut state.markets;
    each_row(link, keys, "markets", |name, record| {
        let (market, priority, totals) = market(&record)?;
        markets.restore(id(name)?, market, priority);
        kept.put_market(name, totals);
        made.open(name);
        Ok(())
    })
    .await?;
    let mut orders = BTreeMap::new();
    each_row(link, keys, "orders", |name, record| {
        orders.insert(name.to_owned(), order(&record)?);
        Ok(())
    })
    .await?;
    for (key, (order, priority)) in orders {
        let disagreement = || disagreement(keys, "orders", &key);
        let (market, name) = key.split_once(' ').ok_or_else(disagreement)?;
        if let Some(priority) = priority {
            made.rest(market, name, &order, priority).ok_or_else(disagreement)?;
        }
        let (market, name) = (id(market), id(name));
        let (Ok(market), Ok(name)) = (market, name) else { return Err(disagreement()) };
        markets.restore_order(&market, name, order, priority);
    }
    markets.restore_books().map_err(|Malformed| disagreement(keys, "orders", "the resting orders"))?;
    read_tapes(link, keys, state).await?;
    read_books(link, keys, &mut kept).await?;
    match kept.difference(&made) {
        None => Ok(()),
        Some((name, what)) => Err(disagreement(keys, name, &what)),
    }
}

async fn read_tapes(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let mut trades: BTreeMap<(Id, u64), Trade> = BTreeMap::new();
    each_row(link, keys, "tape", |name, record| {
        let (market, _) = words(name)?;
        let trade = trade(&record)?;
        trades.insert((id(market)?, trade.trade), trade);
        Ok(())
    })
    .await?;
    for ((market, _), trade) in trades {
        state.markets.restore_trade(&market, trade);
    }
    Ok(())
}

/// Reads what the keys hold of books beside the orders.
async fn read_books(link: &Link, keys: &Keys, kept: &mut KeptBooks) -> Result<(), Failure> {
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

fn disagreement(keys: &Keys, name: &str, what: &str) -> Failure {
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
