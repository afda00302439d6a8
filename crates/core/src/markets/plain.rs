//! Commands of orders that meet nothing: they rest, move, shrink or end, and trade with nobody. Most of a market maker's
//! commands are such. They are decided in one go, with the slots that were found handed on to the change, and logged
//! straight from their figures. What is unusual is left to the general way, which gives the same bytes.

use super::place::check_room;
use super::{CancelReason, Order, OrderStatus, own_live_row};
use crate::command::Command;
use crate::command::shapes::{OrderPricing, Tif};
use crate::command::table::{OrderCancel, OrderPlace, OrderReduce, OrderReplace};
use crate::draft::Draft;
use crate::event::{EventSpec, OrderCancelled, OrderPlaced, OrderReduced, OrderReplaced, OrderRested};
use crate::facts;
use crate::outcome::{Facts, Value};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// A change of one order, and where it is.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    market: &'a Id,
    order: &'a Id,
    owner: &'a Id,
    slot: Slot,
    what: What<'a>,
}

#[derive(Debug)]
enum What<'a> {
    /// The hash is that of its name, which no row has.
    Placed {
        command: &'a OrderPlace,
        price: u64,
        tif: Tif,
        hash: u64,
    },
    Moved {
        row: Slot,
        price: u64,
        quantity: u64,
        filled: u64,
    },
    Reduced {
        row: Slot,
        by: u64,
        remaining: u64,
        status: OrderStatus,
    },
    /// By a cancellation, or by a reduction to nothing.
    Cancelled {
        row: Slot,
        remaining: u64,
        by_reduction: bool,
    },
}

/// What a command does to its order, unless anything stands against it, or anything follows from it.
pub(crate) fn decide<'a>(state: &State, command: &'a Command, now: TimeMs) -> Option<Change<'a>> {
    match command {
        Command::OrderPlace(command) => placed(state, command),
        Command::OrderReplace(command) => moved(state, command, now),
        Command::OrderReduce(command) => reduced(state, command, now),
        Command::OrderCancel(command) => cancelled(state, command, now),
        _ => None,
    }
}

fn placed<'a>(state: &State, command: &'a OrderPlace) -> Option<Change<'a>> {
    let OrderPlace { market, order, owner, side, pricing, quantity, tif, .. } = command;
    let (slot, rules) = state.markets.markets.find_row(market)?;
    let (OrderPricing::Limit(price), tif) = (pricing, tif.unwrap_or(Tif::Gtc)) else { return None };
    let (price, quantity) = (price.get(), quantity.get());
    let hash = state.markets.orders.seek(&(slot, order)).err()?;
    if rules.halted || !matches!(tif, Tif::Gtc | Tif::Post) {
        return None;
    }
    rules.check_price(price).ok()?;
    rules.check_quantity(quantity).ok()?;
    let book = state.markets.books.get(slot);
    check_room(book.total(*side), quantity).ok()?;
    let what = What::Placed { command, price, tif, hash };
    (!book.crosses(side.opposite(), Some(price))).then_some(Change { market, order, owner, slot, what })
}

fn moved<'a>(state: &State, command: &'a OrderReplace, now: TimeMs) -> Option<Change<'a>> {
    let OrderReplace { market, order, owner, price, quantity } = command;
    let (slot, rules) = state.markets.markets.find_row(market)?;
    let (row, found) = own_live_row(state, slot, order, owner, now).ok()?;
    let (price, quantity) = (price.get(), quantity.get());
    let keeps_priority = found.price == Some(price) && quantity < found.remaining;
    if rules.halted || keeps_priority || found.place.is_none() {
        return None;
    }
    rules.check_price(price).ok()?;
    rules.check_quantity(quantity).ok()?;
    let (book, filled) = (state.markets.books.get(slot), found.filled);
    check_room(book.total(found.side) - found.remaining, quantity).ok()?;
    check_room(filled, quantity).ok()?;
    if book.crosses(found.side.opposite(), Some(price)) {
        return None;
    }
    Some(Change { market, order, owner, slot, what: What::Moved { row, price, quantity, filled } })
}

fn reduced<'a>(state: &State, command: &'a OrderReduce, now: TimeMs) -> Option<Change<'a>> {
    let OrderReduce { market, order, owner, by } = command;
    let (slot, rules) = state.markets.markets.find_row(market)?;
    let (row, found) = own_live_row(state, slot, order, owner, now).ok()?;
    let by = by.get();
    let what = if by >= found.remaining {
        What::Cancelled { row, remaining: found.remaining, by_reduction: true }
    } else if by.is_multiple_of(rules.lot) {
        What::Reduced { row, by, remaining: found.remaining - by, status: found.status }
    } else {
        return None;
    };
    Some(Change { market, order, owner, slot, what })
}

fn cancelled<'a>(state: &State, command: &'a OrderCancel, now: TimeMs) -> Option<Change<'a>> {
    let OrderCancel { market, order, owner } = command;
    let slot = state.markets.markets.find(market)?;
    let (row, found) = own_live_row(state, slot, order, owner, now).ok()?;
    let what = What::Cancelled { row, remaining: found.remaining, by_reduction: false };
    Some(Change { market, order, owner, slot, what })
}

impl Change<'_> {
    /// How many events tell of it.
    pub(crate) const fn events(&self) -> u8 {
        match self.what {
            What::Placed { .. } | What::Moved { .. } => 2,
            What::Reduced { .. } | What::Cancelled { .. } => 1,
        }
    }

    /// The values of the answer.
    pub(crate) fn answer(&self) -> Facts {
        let no_fills = Vec::<Value>::new;
        match self.what {
            What::Placed { command, .. } => {
                facts![OrderStatus::Open.word(), 0_u64, command.quantity.get(), no_fills()]
            }
            What::Moved { quantity, filled, .. } => {
                facts![OrderStatus::live(filled).word(), filled, quantity, no_fills()]
            }
            What::Reduced { remaining, status, .. } => facts![status.word(), remaining],
            What::Cancelled { remaining, by_reduction: true, .. } => {
                facts![OrderStatus::Cancelled.word(), remaining]
            }
            What::Cancelled { remaining, by_reduction: false, .. } => facts![remaining],
        }
    }

    /// Appends the events.
    pub(crate) fn put_events(&self, draft: &mut Draft) {
        match self.what {
            What::Placed { command, price, tif, .. } => {
                let quantity = command.quantity.get();
                self.put_names(OrderPlaced::SPEC, draft);
                draft.put([command.side as u8, 1]);
                draft.put_number(price);
                draft.put_number(quantity);
                draft.put([tif as u8, command.stp as u8]);
                self.put_rested(price, quantity, draft);
            }
            What::Moved { price, quantity, .. } => {
                self.put_names(OrderReplaced::SPEC, draft);
                draft.put_number(price);
                draft.put_number(quantity);
                draft.put_byte(u8::from(false));
                self.put_rested(price, quantity, draft);
            }
            What::Reduced { by, remaining, .. } => {
                self.put_names(OrderReduced::SPEC, draft);
                draft.put_number(by);
                draft.put_number(remaining);
                draft.put_byte(u8::from(false));
            }
            What::Cancelled { remaining, .. } => {
                self.put_names(OrderCancelled::SPEC, draft);
                draft.put_number(remaining);
                draft.put_byte(CancelReason::Requested as u8);
            }
        }
    }

    fn put_names(&self, spec: &EventSpec, draft: &mut Draft) {
        draft.put_number(u64::from(spec.number));
        for name in [self.market, self.order, self.owner] {
            draft.put_text(name.as_str().as_bytes());
        }
    }

    fn put_rested(&self, price: u64, quantity: u64, draft: &mut Draft) {
        draft.put_number(u64::from(OrderRested::SPEC.number));
        draft.put_text(self.market.as_str().as_bytes());
        draft.put_text(self.order.as_str().as_bytes());
        draft.put_number(price);
        draft.put_number(quantity);
    }

    /// Changes the state as the events say.
    pub(crate) fn apply(&self, state: &mut State, at: TimeMs) {
        let (slot, markets) = (self.slot, &mut state.markets);
        match self.what {
            What::Placed { command, price, tif, hash } => {
                let OrderPlace { order, owner, side, quantity, stp, .. } = command;
                let record = Order::new(owner.clone(), *side, Some(price), quantity.get(), tif, *stp);
                let row = markets.orders.insert_absent(hash, (slot, order.clone()), record);
                markets.rest_at((slot, row), price, quantity.get());
            }
            What::Moved { row, price, quantity, .. } => markets.requeue((slot, row), price, quantity),
            What::Reduced { row, remaining, .. } => markets.shrink((slot, row), remaining),
            What::Cancelled { row, .. } => {
                super::evolve::end(state, (slot, row), CancelReason::Requested, at);
            }
        }
    }
}
