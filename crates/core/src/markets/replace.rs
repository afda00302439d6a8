//! Decisions that change an order's price and quantity.

use super::place::{check_post_only, check_room};
use super::sweep::{self, Taker};
use super::{Market, Order, own_live};
use crate::command::table::OrderReplace;
use crate::event::{Event, OrderReplaced};
use crate::facts;
use crate::machine::step::Step;
use crate::outcome::{Refusal, Value};
use crate::state::State;
use crate::store::Slot;
use crate::types::TimeMs;

/// Changes an order's price and remaining quantity. At the same price and with less quantity it keeps its
/// priority; otherwise it leaves the book and enters it like a new order, keeping its filled quantity.
pub(crate) fn replace(
    state: &State,
    command: &OrderReplace,
    now: TimeMs,
    events: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    let OrderReplace { market, order, owner, price, quantity } = command;
    let (slot, rules) = state.markets.existing(market)?;
    let found = own_live(state, slot, order, owner, now)?;
    let (price, quantity) = (price.get(), quantity.get());
    let keeps_priority = found.price == Some(price) && quantity < found.remaining;
    if !keeps_priority {
        rules.check_trading(market)?;
    }
    let moved = Taker { price: Some(price), remaining: quantity, ..Taker::of((slot, market), order, found) };
    check(state, (slot, rules), found, &moved)?;
    let replaced = OrderReplaced {
        market: market.clone(),
        order: order.clone(),
        owner: owner.clone(),
        price,
        quantity,
        keeps_priority,
    };
    events.push(replaced.into());
    if keeps_priority {
        let fills = Vec::<Value>::new();
        return Ok(Step::Done(facts![found.status.word(), found.filled, quantity, fills]));
    }
    // The sweep walks the other side of the book, so it does not matter that the order's own entry is
    // still there during this decision.
    Ok(sweep::step(state, moved, &[], events))
}

/// Checks the new price and quantity. The order's own quantity does not count against the range and
/// cannot block the order: a book never crosses itself.
fn check(
    state: &State,
    (slot, rules): (Slot, &Market),
    found: &Order,
    moved: &Taker<'_>,
) -> Result<(), Refusal> {
    if let Some(price) = moved.price {
        rules.check_price(price)?;
    }
    rules.check_quantity(moved.remaining)?;
    let book = state.markets.books.get(slot);
    check_room(book.total(found.side) - found.remaining, moved.remaining)?;
    // An order's total filled quantity must stay an exact integer too.
    check_room(found.filled, moved.remaining)?;
    check_post_only(book, moved)
}
