//! Decisions on sales and returns.

use super::retention::is_receipt_over;
use super::{StockItem, note_availability, owner_key};
use crate::command::table::{StockReturn, StockTake};
use crate::event::{Event, StockReturned, StockTaken};
use crate::facts;
use crate::limits;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{INTEGER_MAX, Id, TimeMs};
use crate::windows::check_times;

/// Sells units at once.
pub fn take(state: &State, command: &StockTake, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockTake { sku, quantity, owner } = command;
    let quantity = quantity.get();
    let (slot, item) = on_sale(state, sku, now)?;
    check_quantity(state, slot, item, quantity, owner)?;
    let (first_serial, available) = (item.serial + 1, item.available - quantity);
    let event = StockTaken {
        sku: sku.clone(),
        owner: owner.clone(),
        quantity,
        first_serial,
        available,
        sold: item.sold + quantity,
    };
    events.push(event.into());
    note_availability(sku, item, available, events);
    Ok(facts![first_serial, available])
}

/// Takes sold units back. Their serials are never used again.
pub fn give_back(state: &State, command: &StockReturn, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockReturn { sku, first, count } = command;
    let (slot, item) = state.stock.existing(sku)?;
    let (first, count) = (first.get(), count.get());
    if is_receipt_over(state, slot, first, now) {
        return Err(Refusal::new(Code::ReceiptExpired, facts![first, count]));
    }
    let (receipt, owner) = sold_range(state, slot, first, count)
        .ok_or_else(|| Refusal::new(Code::UnitsNotSold, facts![first, count]))?;
    let available = item.available + count;
    let event = StockReturned {
        sku: sku.clone(),
        owner: owner.clone(),
        receipt,
        first,
        count,
        available,
        sold: item.sold - count,
    };
    events.push(event.into());
    note_availability(sku, item, available, events);
    Ok(facts![count, available])
}

/// The first serial and the owner of the receipt that contains the whole range, of which nothing was
/// returned yet.
fn sold_range(state: &State, slot: Slot, first: u64, count: u64) -> Option<(u64, &Id)> {
    let ((its_slot, receipt), sale) = state.stock.receipts.range(..=(slot, first)).next_back()?;
    let end = first.checked_add(count)?;
    if *its_slot != slot || end > receipt + sale.count {
        return None;
    }
    let before = state.stock.returned.range((slot, 0)..(slot, end)).next_back();
    let overlaps = before.is_some_and(|((_, returned), count)| returned + count > first);
    if overlaps { None } else { Some((*receipt, &sale.owner)) }
}

/// The item, or the refusal that it is not on sale now.
pub(super) fn on_sale<'a>(state: &'a State, sku: &Id, now: TimeMs) -> Result<(Slot, &'a StockItem), Refusal> {
    let (slot, item) = state.stock.not_closed(sku)?;
    check_times(item.starts_at, item.ends_at, now)?;
    Ok((slot, item))
}

/// Checks that the owner may have `quantity` more, and that enough units and serials are left.
pub(super) fn check_quantity(
    state: &State,
    slot: Slot,
    item: &StockItem,
    quantity: u64,
    owner: &Id,
) -> Result<(), Refusal> {
    if let Some(max) = item.per_owner_max {
        let used = state.stock.owners.used(&owner_key(slot, owner));
        limits::check(used, quantity, max)
            .map_err(|reached| Refusal::new(Code::OwnerLimitReached, facts![reached.used, reached.max]))?;
    }
    if item.available < quantity {
        let code = if item.available == 0 { Code::SoldOut } else { Code::InsufficientStock };
        return Err(Refusal::new(code, facts![item.available, quantity]));
    }
    // Reserved units will need serials too; a confirmation must never run out of serials.
    if item.serial + item.reserved + quantity > INTEGER_MAX {
        return Err(Refusal::new(Code::Overflow, facts!["serial"]));
    }
    Ok(())
}
