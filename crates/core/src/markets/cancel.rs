//! Decisions that cancel or reduce orders. They are allowed while a market is halted.

use super::sweep::cancelled;
use super::{CancelReason, OrderStatus, own_live};
use crate::command::table::{OrderCancel, OrderCancelAll, OrderReduce};
use crate::event::{Event, OrderReduced};
use crate::facts;
use crate::machine::step::{OperationProgress, Step};
use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// Cancels an order. Returns its remaining quantity.
pub(crate) fn cancel(state: &State, command: &OrderCancel, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let OrderCancel { market, order, owner } = command;
    let (slot, _) = state.markets.existing(market)?;
    let remaining = own_live(state, slot, order, owner, now)?.remaining;
    events.push(cancelled(market, order, owner, remaining, CancelReason::Requested));
    Ok(facts![remaining])
}

/// Reduces an order; a reduction by the remaining quantity or more cancels it. Returns status and
/// remaining, which for a cancelled order is the quantity that will never be filled.
pub(crate) fn reduce(state: &State, command: &OrderReduce, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let OrderReduce { market, order, owner, by } = command;
    let (slot, rules) = state.markets.existing(market)?;
    let found = own_live(state, slot, order, owner, now)?;
    let by = by.get();
    if by >= found.remaining {
        events.push(cancelled(market, order, owner, found.remaining, CancelReason::Requested));
        return Ok(facts![OrderStatus::Cancelled.word(), found.remaining]);
    }
    if !by.is_multiple_of(rules.lot) {
        return Err(rules.wrong_quantity(by));
    }
    let remaining = found.remaining - by;
    let reduced = OrderReduced {
        market: market.clone(),
        order: order.clone(),
        owner: owner.clone(),
        by,
        remaining,
        by_self_trade: false,
    };
    events.push(reduced.into());
    Ok(facts![found.status.word(), remaining])
}

/// Cancels all of an owner's orders, oldest first, as many as one step may touch.
pub(crate) fn cancel_all(
    state: &State,
    command: &OrderCancelAll,
    events: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    let OrderCancelAll { market, owner } = command;
    let (slot, _) = state.markets.existing(market)?;
    Ok(cancel_some(state, (slot, market), owner, 0, events))
}

/// Takes the next step; `so_far` orders were cancelled before.
pub(crate) fn go_on_cancelling(
    state: &State,
    market: &Id,
    owner: &Id,
    so_far: u64,
    events: &mut Vec<Event>,
) -> Step {
    match state.markets.markets.find(market) {
        Some(slot) => cancel_some(state, (slot, market), owner, so_far, events),
        None => Step::Done(facts![so_far]),
    }
}

fn cancel_some(
    state: &State,
    (slot, market): (Slot, &Id),
    owner: &Id,
    so_far: u64,
    events: &mut Vec<Event>,
) -> Step {
    let mut count = so_far;
    let orders = &state.markets.orders;
    for (touched, row) in state.markets.books.orders_of(slot, owner).enumerate() {
        if touched >= state.settings.step_max.max(1) {
            let (market, owner) = (market.clone(), owner.clone());
            return Step::More(OperationProgress::CancelAll { market, owner, cancelled: count });
        }
        if let (Some((_, order)), Some(record)) = (orders.key_at(row), orders.at(row)) {
            count += 1;
            events.push(cancelled(market, order, owner, record.remaining, CancelReason::Requested));
        }
    }
    Step::Done(facts![count])
}
