//! Decisions on stock items themselves: creating, restocking, adjusting, closing.

use super::note_availability;
use crate::command::table::{StockAdjust, StockCreate, StockRestock};
use crate::event::{Event, StockAdjusted, StockClosed, StockCreated, StockRestocked};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::types::{INTEGER_MAX, Id, Natural, Positive};

/// Puts an item on sale.
pub fn create(state: &State, command: &StockCreate, events: &mut Vec<Event>) -> Verdict {
    let StockCreate { sku, quantity, per_owner_max, starts_at, ends_at } = command;
    if state.stock.get(sku).is_some() {
        return Err(Refusal::new(Code::StockExists, facts![sku]));
    }
    let event = StockCreated {
        sku: sku.clone(),
        quantity: quantity.get(),
        per_owner_max: per_owner_max.map(Positive::get),
        starts_at: starts_at.map(Natural::get),
        ends_at: ends_at.map(Natural::get),
    };
    events.push(event.into());
    Ok(facts![quantity.get()])
}

/// Adds units.
pub fn restock(state: &State, command: &StockRestock, events: &mut Vec<Event>) -> Verdict {
    let StockRestock { sku, quantity } = command;
    let (_, item) = state.stock.not_closed(sku)?;
    let quantity = quantity.get();
    if item.total + quantity > INTEGER_MAX {
        return Err(Refusal::new(Code::Overflow, facts!["total"]));
    }
    let (available, total) = (item.available + quantity, item.total + quantity);
    events.push(StockRestocked { sku: sku.clone(), quantity, available, total }.into());
    note_availability(sku, item, available, events);
    Ok(facts![available, total])
}

/// Corrects the number of units.
pub fn adjust(state: &State, command: &StockAdjust, events: &mut Vec<Event>) -> Verdict {
    let StockAdjust { sku, delta, reason } = command;
    let (_, item) = state.stock.not_closed(sku)?;
    let delta = delta.get();
    let Some(available) = item.available.checked_add_signed(delta) else {
        return Err(Refusal::new(Code::InsufficientStock, facts![item.available, delta.unsigned_abs()]));
    };
    let total = item.total - item.available + available;
    if total > INTEGER_MAX {
        return Err(Refusal::new(Code::Overflow, facts!["total"]));
    }
    let event = StockAdjusted { sku: sku.clone(), delta, reason: reason.0.as_str().into(), available, total };
    events.push(event.into());
    note_availability(sku, item, available, events);
    Ok(facts![available, total])
}

/// Ends sales permanently. Closing again changes nothing.
pub fn close(state: &State, sku: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, item) = state.stock.existing(sku)?;
    if !item.closed {
        events.push(StockClosed { sku: sku.clone() }.into());
    }
    Ok(facts![item.available, item.reserved, item.sold])
}
