//! Decisions on markets themselves, and on new orders.

use super::book::Book;
use super::sweep::{self, Taker};
use super::visible;
use crate::command::shapes::{OrderPricing, Tif};
use crate::command::table::{MarketCreate, OrderPlace};
use crate::event::{Event, MarketCreated, MarketHalted, MarketResumed, OrderPlaced};
use crate::facts;
use crate::machine::step::Step;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::types::{INTEGER_MAX, Id, TimeMs};

pub(super) const OPEN: &str = "open";
pub(super) const HALTED: &str = "halted";

/// Opens a market.
pub(crate) fn create(state: &State, command: &MarketCreate, events: &mut Vec<Event>) -> Verdict {
    let MarketCreate { market, tick, lot, min_quantity, max_quantity } = command;
    if state.markets.get(market).is_some() {
        return Err(Refusal::new(Code::MarketExists, facts![market]));
    }
    let event = MarketCreated {
        market: market.clone(),
        tick: tick.get(),
        lot: lot.get(),
        min_quantity: min_quantity.get(),
        max_quantity: max_quantity.get(),
    };
    events.push(event.into());
    Ok(facts![OPEN])
}

/// Stops trading. Halting again changes nothing.
pub(crate) fn halt(state: &State, market: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.markets.existing(market)?;
    if !found.halted {
        events.push(MarketHalted { market: market.clone() }.into());
    }
    Ok(facts![HALTED])
}

/// Allows trading again. Resuming again changes nothing.
pub(crate) fn resume(state: &State, market: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.markets.existing(market)?;
    if found.halted {
        events.push(MarketResumed { market: market.clone() }.into());
    }
    Ok(facts![OPEN])
}

/// Places an order, which trades at once as far as one step allows.
pub(crate) fn place(
    state: &State,
    command: &OrderPlace,
    now: TimeMs,
    events: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    let OrderPlace { market, order, owner, side, pricing, quantity, tif, stp } = command;
    let (slot, found) = state.markets.existing(market)?;
    found.check_trading(market)?;
    if visible(state, slot, order, now).is_some() {
        return Err(Refusal::new(Code::OrderExists, facts![order]));
    }
    let (price, tif) = match pricing {
        OrderPricing::Limit(price) => (Some(price.get()), tif.unwrap_or(Tif::Gtc)),
        OrderPricing::Market => (None, tif.unwrap_or(Tif::Ioc)),
    };
    if let Some(price) = price {
        found.check_price(price)?;
    }
    let quantity = quantity.get();
    found.check_quantity(quantity)?;
    let taker = Taker {
        market,
        slot,
        order,
        owner,
        side: *side,
        price,
        tif,
        stp: *stp,
        filled: 0,
        remaining: quantity,
    };
    let book = state.markets.books.get(slot);
    if taker.may_rest() {
        check_room(book.total(*side), quantity)?;
    }
    check_post_only(book, &taker)?;
    if tif == Tif::Fok {
        taker.check_fillable(state)?;
    }
    events.push(placed(&taker));
    Ok(sweep::step(state, taker, &[], events))
}

/// Whether `quantity` more may rest on top of a side's `total`. Checked before the first fill and for the
/// whole order, although less of it may rest: the rest is known only after the sweep, which cannot be
/// rolled back. No level exceeds its side, so levels need no check.
pub(super) fn check_room(total: u64, quantity: u64) -> Result<(), Refusal> {
    if total + quantity > INTEGER_MAX {
        return Err(Refusal::new(Code::Overflow, facts!["quantity"]));
    }
    Ok(())
}

/// Whether a post-only order would rest unchanged; it must not meet an own order either.
pub(super) fn check_post_only(book: &Book, taker: &Taker<'_>) -> Result<(), Refusal> {
    let against = taker.side.opposite();
    if taker.tif == Tif::Post && book.crosses(against, taker.price) {
        return Err(Refusal::new(Code::WouldTake, facts![book.best(against)]));
    }
    Ok(())
}

fn placed(taker: &Taker<'_>) -> Event {
    OrderPlaced {
        market: taker.market.clone(),
        order: taker.order.clone(),
        owner: taker.owner.clone(),
        side: taker.side,
        price: taker.price,
        quantity: taker.remaining,
        tif: taker.tif,
        stp: taker.stp,
    }
    .into()
}
