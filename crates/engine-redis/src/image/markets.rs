//! Markets, their orders and tapes. Books are made from the orders; what the keys hold of books has to be
//! the same.

use std::collections::BTreeMap;

use scarce_core::codec::Malformed;
use scarce_core::command::shapes::{Side, StpMode, Tif};
use scarce_core::markets::tape::Trade;
use scarce_core::markets::{CancelReason, Market, Order, OrderStatus};
use scarce_core::state::State;
use scarce_core::types::Id;
use scarce_engine::engine::Failure;

use super::book::{Figures, KeptBooks};
use super::record::{Damaged, Fields, id};
use super::{Keys, Link, each_member, each_row};

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let (mut kept, mut made) = (KeptBooks::default(), KeptBooks::default());
    let markets = &mut state.markets;
    each_row(link, &keys.of("markets"), |name, fields| {
        let (market, priority, figures) = market(fields)?;
        markets.restore(id(name)?, market, priority);
        kept.put_market(name, figures);
        made.open(name);
        Ok(())
    })
    .await?;
    let mut orders = BTreeMap::new();
    each_row(link, &keys.of("orders"), |name, fields| {
        orders.insert(name.to_owned(), order(fields)?);
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
    each_row(link, &keys.of("tape"), |name, fields| {
        let (market, _) = name.split_once(' ').ok_or(Damaged)?;
        let trade = trade(fields)?;
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
        each_member(link, &keys.of(name), |words| {
            members.insert(words.join(" "));
            Ok(())
        })
        .await?;
    }
    each_row(link, &keys.of("level_totals"), |name, mut fields| {
        kept.levels.insert(name.to_owned(), (fields.number()?, fields.number()?));
        fields.end()
    })
    .await?;
    each_row(link, &keys.of("own_levels"), |name, mut fields| {
        kept.own_levels.insert(name.to_owned(), fields.number()?);
        fields.end()
    })
    .await
}

fn disagreement(keys: &Keys, name: &str, what: &str) -> Failure {
    let key = keys.of(name);
    let reason = format!("{key} does not agree with the orders at '{what}'; restore the keys from a copy");
    Failure::Unavailable { reason }
}

/// A market, the last place in time that an order was given, and what its book comes to.
fn market(mut fields: Fields<'_>) -> Result<(Market, u64, Figures), Damaged> {
    let (tick, lot) = (fields.number()?, fields.number()?);
    let mut market = Market::new(tick, lot, fields.number()?, fields.number()?);
    market.halted = fields.number::<u8>()? == 1;
    market.trades = fields.number()?;
    let priority = fields.number()?;
    let figures =
        Figures { orders: fields.number()?, bids_total: fields.number()?, asks_total: fields.number()? };
    fields.end().map(|()| (market, priority, figures))
}

/// An order, and its place in time where it rests.
fn order(mut fields: Fields<'_>) -> Result<(Order, Option<u64>), Damaged> {
    let owner = fields.id()?;
    let side = fields.word(Side::from_word)?;
    let (price, remaining, filled) = (fields.optional()?, fields.number()?, fields.number()?);
    let (tif, stp) = (fields.word(Tif::from_word)?, fields.word(StpMode::from_word)?);
    let mut order = Order::new(owner, side, price, remaining, tif, stp);
    order.filled = filled;
    order.status = fields.word(OrderStatus::from_word)?;
    order.reason = fields.optional_word(CancelReason::from_word)?;
    order.ended_at = fields.number()?;
    let priority = fields.optional()?;
    fields.end().map(|()| (order, priority))
}

fn trade(mut fields: Fields<'_>) -> Result<Trade, Damaged> {
    let trade = Trade {
        trade: fields.number()?,
        price: fields.number()?,
        quantity: fields.number()?,
        taker_side: fields.word(Side::from_word)?,
        at: fields.number()?,
    };
    fields.end().map(|()| trade)
}
