//! Items, reservations, receipts, what came back, and what owners have.

use scarce_core::deadlines::RecordKind;
use scarce_core::state::State;
use scarce_core::stock::ReservationStatus;
use scarce_core::types::Id;

use super::{Item, Maybe, RowName, flag, join, pair, put_due, put_ended, put_name};

/// The name under which the oldest receipts of an item are due.
const OLDEST: &str = "receipts";

pub(super) fn put_item(state: &State, sku: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.stock.get(sku) else { return };
    let audit = its.audit.as_ref();
    let due = state.stock.receipts_due(&state.settings, sku);
    let forgotten = state.stock.forgotten(sku);
    let has_forgotten = forgotten.through_serial > 0;
    let text = join(&[
        &its.total,
        &its.available,
        &its.reserved,
        &its.sold,
        &its.returned,
        &its.serial,
        &Maybe(its.per_owner_max),
        &Maybe(its.starts_at),
        &Maybe(its.ends_at),
        &flag(its.closed),
        &Maybe(audit.map(|audit| audit.horizon_serial)),
        &Maybe(audit.map(|audit| audit.through_serial)),
        &Maybe(audit.map(|audit| audit.counted)),
        &Maybe(audit.map(|audit| audit.expected)),
        &Maybe(due),
        &Maybe(has_forgotten.then_some(forgotten.through_serial)),
        &Maybe(has_forgotten.then_some(forgotten.sold)),
    ]);
    out.push(Item::Row("stock", sku.to_string(), text));
    put_name("stock", sku, out);
    if let Some(due) = due {
        put_due(due, RecordKind::Sale, sku, OLDEST, out);
    }
}

pub(super) fn put_reservation(state: &State, sku: &Id, name: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.stock.reservation(sku, name) else { return };
    let status = its.status.word();
    let text = join(&[&its.owner, &its.quantity, &status, &its.deadline, &its.first_serial, &its.ended_at]);
    out.push(Item::Row("reservations", pair(sku, name), text));
    match its.status {
        ReservationStatus::Open => {
            put_due(its.deadline, RecordKind::Reservation, sku, name.as_str(), out);
        }
        _ => put_ended(its.ended_at, RecordKind::Reservation, sku, name, out),
    }
}

pub(super) fn put_owner(state: &State, sku: &Id, owner: &Id, out: &mut Vec<Item>) {
    let used = state.stock.owner_used(sku, owner);
    if used > 0 {
        out.push(Item::Row("owners", pair(sku, owner), used.to_string()));
    }
}

pub(super) fn put_receipt(state: &State, sku: &Id, first: u64, out: &mut Vec<Item>) {
    let Some(its) = state.stock.receipt(sku, first) else { return };
    let text = join(&[&its.count, &its.returned, &its.owner, &its.at, &its.operation]);
    out.push(Item::Row("receipts_of", pair(sku, &first), text));
    out.push(Item::Member("receipts", format!("{sku} {first:016}")));
    for (first, count) in state.stock.returned_of(sku, first) {
        out.push(Item::Member("returned", format!("{sku} {first:016} {count}")));
    }
}

pub(super) fn each(state: &State, take: &mut impl FnMut(RowName)) {
    let stock = &state.stock;
    for (sku, _) in stock.iter() {
        take(RowName::Stock(sku.clone()));
        stock.receipts(sku).for_each(|(first, _)| take(RowName::Receipt(sku.clone(), first)));
    }
    stock.reservations().for_each(|(sku, name, _)| take(RowName::Reservation(sku.clone(), name.clone())));
    for (sku, owner, _) in stock.owners() {
        // It is the owner of a command that was accepted.
        if let Ok(owner) = Id::parse(owner.as_bytes(), "owner") {
            take(RowName::Owner(sku.clone(), owner));
        }
    }
}
