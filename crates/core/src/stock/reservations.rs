//! Decisions on reservations: units set aside until confirmed, released or expired.

use super::sales::{check_quantity, on_sale};
use super::{Reservation, ReservationStatus, StockItem, note_availability};
use crate::command::table::{StockConfirm, StockExtend, StockRelease, StockReserve};
use crate::event::{
    Event, ReservationConfirmed, ReservationExpired, ReservationExtended, ReservationPlaced,
    ReservationReleased,
};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs, deadline_after};

/// Sets units aside.
pub fn place(state: &State, command: &StockReserve, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockReserve { sku, reservation, quantity, owner, ttl_ms } = command;
    let quantity = quantity.get();
    let (slot, item) = on_sale(state, sku, now)?;
    if visible(state, slot, reservation, now).is_some() {
        return Err(Refusal::new(Code::ReservationExists, facts![reservation]));
    }
    check_quantity(state, slot, item, quantity, owner)?;
    let (deadline, available) = (deadline_after(now, *ttl_ms), item.available - quantity);
    let event = ReservationPlaced {
        sku: sku.clone(),
        reservation: reservation.clone(),
        owner: owner.clone(),
        quantity,
        deadline,
        available,
        reserved: item.reserved + quantity,
    };
    events.push(event.into());
    note_availability(sku, item, available, events);
    Ok(facts![deadline, available])
}

/// Sells the units of a reservation.
pub fn confirm(state: &State, command: &StockConfirm, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockConfirm { sku, reservation } = command;
    let (item, found) = open_reservation(state, sku, reservation, now)?;
    let first_serial = item.serial + 1;
    let event = ReservationConfirmed {
        sku: sku.clone(),
        reservation: reservation.clone(),
        owner: found.owner.clone(),
        quantity: found.quantity,
        first_serial,
        reserved: item.reserved - found.quantity,
        sold: item.sold + found.quantity,
    };
    events.push(event.into());
    Ok(facts![first_serial, found.quantity])
}

/// Makes the units of a reservation available again.
pub fn release(state: &State, command: &StockRelease, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockRelease { sku, reservation } = command;
    let (item, found) = open_reservation(state, sku, reservation, now)?;
    let available = item.available + found.quantity;
    let event = ReservationReleased {
        sku: sku.clone(),
        reservation: reservation.clone(),
        owner: found.owner.clone(),
        quantity: found.quantity,
        available,
        reserved: item.reserved - found.quantity,
    };
    events.push(event.into());
    note_availability(sku, item, available, events);
    Ok(facts![found.quantity, available])
}

/// Sets a new deadline for a reservation.
pub fn extend(state: &State, command: &StockExtend, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let StockExtend { sku, reservation, ttl_ms } = command;
    open_reservation(state, sku, reservation, now)?;
    let deadline = deadline_after(now, *ttl_ms);
    events.push(ReservationExtended { sku: sku.clone(), reservation: reservation.clone(), deadline }.into());
    Ok(facts![deadline])
}

/// Ends a reservation whose deadline has passed.
pub fn expire(state: &State, slot: Slot, reservation: &Id, events: &mut Vec<Event>) {
    let stock = &state.stock;
    let found = stock.items.key_at(slot).zip(stock.items.at(slot));
    let record = stock.reservations.get(&(slot, reservation.clone()));
    if let (Some((sku, item)), Some(record)) = (found, record) {
        let available = item.available + record.quantity;
        let event = ReservationExpired {
            sku: sku.clone(),
            reservation: reservation.clone(),
            owner: record.owner.clone(),
            quantity: record.quantity,
            available,
            reserved: item.reserved - record.quantity,
        };
        events.push(event.into());
        note_availability(sku, item, available, events);
    }
}

/// The reservation, unless it ended so long ago that its name can be used again.
pub(super) fn visible<'a>(
    state: &'a State,
    slot: Slot,
    reservation: &Id,
    now: TimeMs,
) -> Option<&'a Reservation> {
    let found = state.stock.reservations.get(&(slot, reservation.clone()))?;
    let seen = found.status == ReservationStatus::Open || state.is_retained(found.ended_at, now);
    seen.then_some(found)
}

/// The status at `now`: a reservation has ended once its deadline has passed, whether or not an event has
/// recorded that.
pub(super) fn status_at(reservation: &Reservation, now: TimeMs) -> ReservationStatus {
    let open = reservation.status == ReservationStatus::Open;
    if open && now >= reservation.deadline { ReservationStatus::Expired } else { reservation.status }
}

fn open_reservation<'a>(
    state: &'a State,
    sku: &Id,
    reservation: &Id,
    now: TimeMs,
) -> Result<(&'a StockItem, &'a Reservation), Refusal> {
    let (item, found) = state
        .stock
        .items
        .find(sku)
        .and_then(|slot| Some((state.stock.items.at(slot)?, visible(state, slot, reservation, now)?)))
        .ok_or_else(|| Refusal::new(Code::ReservationNotFound, facts![reservation]))?;
    let code = match status_at(found, state.settled(now)) {
        ReservationStatus::Open => return Ok((item, found)),
        ReservationStatus::Confirmed => Code::ReservationConfirmed,
        ReservationStatus::Released => Code::ReservationReleased,
        ReservationStatus::Expired => {
            return Err(Refusal::new(Code::ReservationExpired, facts![reservation, found.deadline]));
        }
    };
    Err(Refusal::new(code, facts![reservation]))
}
