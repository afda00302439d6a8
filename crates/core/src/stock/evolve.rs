//! What events change in stock.

use super::{Audit, Receipt, Reservation, ReservationStatus, StockItem, StockItems, owner_key};
use crate::deadlines::{NamedKind, RecordKind};
use crate::event::{
    ReservationConfirmed, ReservationExtended, ReservationPlaced, StockCreated, StockEvent, StockReturned,
    StockTaken,
};
use crate::state::{Origin, State};
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// Applies an event of a stock item or a reservation.
pub fn evolve(state: &mut State, event: &StockEvent, origin: Origin<'_>) {
    use StockEvent as E;
    let at = origin.at;
    let stock = &mut state.stock;
    match event {
        E::StockCreated(created) => stock.create(created),
        E::StockRestocked(restocked) => stock.change(&restocked.sku, |item| {
            item.available += restocked.quantity;
            item.total += restocked.quantity;
        }),
        E::StockAdjusted(adjusted) => stock.change(&adjusted.sku, |item| {
            item.available = item.available.saturating_add_signed(adjusted.delta);
            item.total = item.total.saturating_add_signed(adjusted.delta);
        }),
        E::StockTaken(taken) => take(state, taken, origin),
        E::StockReturned(returned) => stock.give_back(returned),
        E::StockClosed(closed) => stock.change(&closed.sku, |item| item.closed = true),
        E::StockAuditAdvanced(advanced) => stock.change(&advanced.sku, |item| {
            item.audit = Some(Audit {
                horizon_serial: advanced.horizon_serial,
                through_serial: advanced.through_serial,
                counted: advanced.counted,
                expected: advanced.expected,
            });
        }),
        E::StockReceiptsForgotten(forgotten) => super::retention::evolve(state, forgotten),
        E::StockAudited(audited) => stock.change(&audited.sku, |item| item.audit = None),
        E::ReservationPlaced(placed) => place(state, placed),
        E::ReservationConfirmed(confirmed) => confirm(state, confirmed, origin),
        E::ReservationReleased(released) => {
            give_up(state, &released.sku, &released.reservation, ReservationStatus::Released, at);
        }
        E::ReservationExpired(expired) => {
            give_up(state, &expired.sku, &expired.reservation, ReservationStatus::Expired, at);
        }
        E::ReservationExtended(extended) => extend(state, extended),
        // The previous events have already changed what these announce.
        E::StockSoldOut(_) | E::StockAvailableAgain(_) => {}
    }
}

impl StockItems {
    fn create(&mut self, created: &StockCreated) {
        let item = StockItem {
            total: created.quantity,
            available: created.quantity,
            reserved: 0,
            sold: 0,
            returned: 0,
            serial: 0,
            per_owner_max: created.per_owner_max,
            starts_at: created.starts_at,
            ends_at: created.ends_at,
            closed: false,
            audit: None,
        };
        self.items.insert(created.sku.clone(), item);
    }

    fn change(&mut self, sku: &Id, change: impl FnOnce(&mut StockItem)) {
        self.items.update_key(sku, change);
    }

    fn is_limited(&self, slot: Slot) -> bool {
        self.items.at(slot).is_some_and(|item| item.per_owner_max.is_some())
    }

    /// Units are counted per owner only if the item has a limit, which cannot be added later.
    fn count_owner(&mut self, slot: Slot, owner: &Id, quantity: u64) {
        if self.is_limited(slot) {
            self.owners.add(&owner_key(slot, owner), quantity, None);
        }
    }

    fn uncount_owner(&mut self, slot: Slot, owner: &Id, quantity: u64) {
        if self.is_limited(slot) {
            self.owners.subtract(&owner_key(slot, owner), quantity);
        }
    }

    fn give_back(&mut self, returned: &StockReturned) {
        let StockReturned { sku, owner, receipt, first, count, .. } = returned;
        let Some(slot) = self.items.find(sku) else { return };
        self.items.update(slot, |item| {
            item.available += count;
            item.sold -= count;
            item.returned += count;
            if let Some(audit) = &mut item.audit {
                audit.give_back(*receipt, *count);
            }
        });
        self.receipts.update(&(slot, *receipt), |receipt| receipt.returned += count);
        self.uncount_owner(slot, owner, *count);
        self.add_returned(slot, *receipt, *first, *count);
    }

    /// Records a returned range, merged with its neighbours within the receipt.
    fn add_returned(&mut self, slot: Slot, receipt: u64, first: u64, count: u64) {
        let (mut first, mut count) = (first, count);
        let before = self.returned.range((slot, receipt)..(slot, first)).next_back();
        if let Some((start, length)) = before.map(|((_, start), length)| (*start, *length))
            && start + length == first
        {
            self.returned.remove(&(slot, start));
            (first, count) = (start, length + count);
        }
        let end = self.receipts.get(&(slot, receipt)).map_or(0, |sale| receipt + sale.count);
        if first + count < end
            && let Some(length) = self.returned.remove(&(slot, first + count))
        {
            count += length;
        }
        self.returned.insert((slot, first), count);
    }
}

impl Audit {
    /// An audit no longer expects returned units; they are subtracted if it has counted them already.
    fn give_back(&mut self, receipt: u64, count: u64) {
        if receipt <= self.horizon_serial {
            self.expected = self.expected.saturating_sub(count);
        }
        if receipt <= self.through_serial {
            self.counted = self.counted.saturating_sub(count);
        }
    }
}

fn take(state: &mut State, taken: &StockTaken, origin: Origin<'_>) {
    let stock = &mut state.stock;
    let Some(slot) = stock.items.find(&taken.sku) else { return };
    stock.items.update(slot, |item| {
        item.available -= taken.quantity;
        item.sold += taken.quantity;
        item.serial += taken.quantity;
    });
    stock.count_owner(slot, &taken.owner, taken.quantity);
    add_receipt(state, (slot, &taken.sku), (taken.first_serial, taken.quantity), &taken.owner, origin);
}

fn add_receipt(
    state: &mut State,
    (slot, sku): (Slot, &Id),
    (first, count): (u64, u64),
    owner: &Id,
    origin: Origin<'_>,
) {
    let operation = origin.operation.into();
    let receipt = Receipt { count, returned: 0, owner: owner.clone(), operation, at: origin.at };
    state.stock.receipts.insert((slot, first), receipt);
    if state.stock.forgotten_of(slot).through_serial + 1 == first {
        state.queue_receipt(slot, sku, origin.at);
    }
}

fn place(state: &mut State, placed: &ReservationPlaced) {
    let ReservationPlaced { sku, reservation, owner, quantity, deadline, .. } = placed;
    let Some(slot) = state.stock.items.find(sku) else { return };
    let key = (slot, reservation.clone());
    if let Some(before) = state.stock.reservations.get(&key) {
        state.ended.remove(before.ended_at, NamedKind::Reservation, slot, reservation);
    }
    state.stock.items.update(slot, |item| {
        item.available -= quantity;
        item.reserved += quantity;
    });
    state.stock.count_owner(slot, owner, *quantity);
    let record = Reservation {
        owner: owner.clone(),
        quantity: *quantity,
        status: ReservationStatus::Open,
        deadline: *deadline,
        first_serial: 0,
        ended_at: 0,
    };
    state.stock.reservations.insert(key, record);
    state.deadlines.add(*deadline, RecordKind::Reservation, slot, sku, reservation);
}

fn confirm(state: &mut State, confirmed: &ReservationConfirmed, origin: Origin<'_>) {
    let ReservationConfirmed { sku, reservation, owner, quantity, first_serial, .. } = confirmed;
    let Some(slot) = end(state, sku, reservation, ReservationStatus::Confirmed, origin.at) else { return };
    state.stock.items.update(slot, |item| {
        item.reserved -= quantity;
        item.sold += quantity;
        item.serial += quantity;
    });
    let key = (slot, reservation.clone());
    if let Some(row) = state.stock.reservations.find(&key) {
        state.stock.reservations.update(row, |record| record.first_serial = *first_serial);
    }
    add_receipt(state, (slot, sku), (*first_serial, *quantity), owner, origin);
}

/// Ends a reservation without a sale; its units are available again.
fn give_up(state: &mut State, sku: &Id, reservation: &Id, status: ReservationStatus, at: TimeMs) {
    let Some(slot) = end(state, sku, reservation, status, at) else { return };
    let Some(record) = state.stock.reservations.get(&(slot, reservation.clone())).cloned() else { return };
    state.stock.items.update(slot, |item| {
        item.reserved -= record.quantity;
        item.available += record.quantity;
    });
    state.stock.uncount_owner(slot, &record.owner, record.quantity);
}

/// Marks a reservation as ended. An expired one ended at its deadline, so it is forgotten at the same
/// time no matter who noticed the expiry.
fn end(state: &mut State, sku: &Id, reservation: &Id, status: ReservationStatus, at: TimeMs) -> Option<Slot> {
    let slot = state.stock.items.find(sku)?;
    let row = state.stock.reservations.find(&(slot, reservation.clone()))?;
    let deadline = state.stock.reservations.at(row)?.deadline;
    let ended_at = if status == ReservationStatus::Expired { deadline } else { at };
    state.stock.reservations.update(row, |record| {
        record.status = status;
        record.ended_at = ended_at;
    });
    state.deadlines.remove(deadline, RecordKind::Reservation, slot, sku, reservation);
    state.ended.add(ended_at, NamedKind::Reservation, slot, reservation);
    Some(slot)
}

fn extend(state: &mut State, extended: &ReservationExtended) {
    let ReservationExtended { sku, reservation, deadline } = extended;
    let Some(slot) = state.stock.items.find(sku) else { return };
    let Some(row) = state.stock.reservations.find(&(slot, reservation.clone())) else { return };
    if let Some(before) = state.stock.reservations.at(row).map(|record| record.deadline) {
        state.deadlines.remove(before, RecordKind::Reservation, slot, sku, reservation);
    }
    state.stock.reservations.update(row, |record| record.deadline = *deadline);
    state.deadlines.add(*deadline, RecordKind::Reservation, slot, sku, reservation);
}
