//! Queries about stock.

use super::StockItem;
use super::reservations::{status_at, visible};
use crate::command::table::StockList;
use crate::facts;
use crate::lists::page;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::types::{Id, TimeMs};

pub(crate) fn item(state: &State, sku: &Id, now: TimeMs) -> Verdict {
    let (_, item) = state.stock.existing(sku)?;
    Ok(facts![
        sku,
        item.total,
        item.available,
        item.reserved,
        item.sold,
        item.returned,
        item.per_owner_max,
        item.starts_at,
        item.ends_at,
        status(item, now),
    ])
}

fn status(item: &StockItem, now: TimeMs) -> &'static str {
    match () {
        () if item.closed => "closed",
        () if item.starts_at.is_some_and(|starts_at| now < starts_at) => "not_started",
        () if item.ends_at.is_some_and(|ends_at| now >= ends_at) => "ended",
        () => "open",
    }
}

/// A page of stock items: sku, total, available, reserved, sold, status.
pub(crate) fn list(state: &State, list: &StockList, now: TimeMs) -> Verdict {
    page(&state.stock.items, list.page(), |sku, item| {
        facts![sku, item.total, item.available, item.reserved, item.sold, status(item, now)]
    })
}

pub(crate) fn reservation(state: &State, sku: &Id, reservation: &Id, now: TimeMs) -> Verdict {
    let found = state
        .stock
        .items
        .find(sku)
        .and_then(|slot| visible(state, slot, reservation, now))
        .ok_or_else(|| Refusal::new(Code::ReservationNotFound, facts![reservation]))?;
    let serial = Some(found.first_serial).filter(|serial| *serial > 0);
    Ok(facts![
        reservation,
        &found.owner,
        found.quantity,
        status_at(found, state.settled(now)).word(),
        found.deadline,
        serial,
    ])
}
