//! Applies events to reservations.

use scarce_core::event::{
    ReservationConfirmed, ReservationExpired, ReservationExtended, ReservationPlaced, ReservationReleased,
};
use scarce_core::stock::ReservationStatus;
use scarce_core::types::{Id, signed};

use super::origin::{Mistake, Origin, Spot};
use super::stock::{Sale, existing};
use super::tables::Tables;
use super::{pair, text};
use crate::rows::ReservationRow;

const TABLE: &str = "reservations";

pub(super) fn release(
    tables: &mut Tables,
    ended: &ReservationReleased,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let given_up = GivenUp {
        owner: &ended.owner,
        quantity: ended.quantity,
        available: ended.available,
        reserved: ended.reserved,
    };
    let names = (&ended.sku, &ended.reservation);
    give_up(tables, names, ReservationStatus::Released, &given_up, origin)
}

pub(super) fn expire(
    tables: &mut Tables,
    ended: &ReservationExpired,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let given_up = GivenUp {
        owner: &ended.owner,
        quantity: ended.quantity,
        available: ended.available,
        reserved: ended.reserved,
    };
    let names = (&ended.sku, &ended.reservation);
    give_up(tables, names, ReservationStatus::Expired, &given_up, origin)
}

pub(super) fn place(
    tables: &mut Tables,
    placed: &ReservationPlaced,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let ReservationPlaced { sku, reservation, owner, quantity, deadline, available, reserved } = placed;
    let quantity = signed(*quantity);
    let stock_spot = origin.row("stock", sku);
    let item = existing(tables, sku, stock_spot, origin)?;
    item.is_open(stock_spot)?;
    item.make_available(quantity.saturating_neg());
    item.reserved = item.reserved.saturating_add(quantity);
    stock_spot.same("available", item.available, signed(*available))?;
    stock_spot.same("reserved", item.reserved, signed(*reserved))?;
    let (key, spot) = (pair(sku, reservation), origin.row_of(TABLE, sku, reservation));
    let before = tables.reservations.get(&key);
    if let Some(before) = before {
        let has_ended = before.status != ReservationStatus::Open;
        spot.holds(has_ended, || "a reservation of this name is open".to_owned())?;
    }
    let row = ReservationRow {
        sku: text(sku),
        reservation_id: text(reservation),
        use_number: before.map_or(1, |before| before.use_number + 1),
        partition_id: origin.partition_id(),
        owner_id: text(owner),
        quantity,
        status: ReservationStatus::Open,
        deadline_ms: signed(*deadline),
        first_serial: None,
        operation_id: origin.operation_id(),
        placed_at_ms: origin.at_ms,
        ended_at_ms: None,
    };
    tables.reservations.add(key, row);
    Ok(())
}

pub(super) fn confirm(
    tables: &mut Tables,
    confirmed: &ReservationConfirmed,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let ReservationConfirmed { sku, reservation, owner, quantity, first_serial, reserved, sold } = confirmed;
    let spot = origin.row_of(TABLE, sku, reservation);
    let row = open_reservation(tables, sku, reservation, spot)?;
    row.is_of(owner, *quantity, spot)?;
    row.status = ReservationStatus::Confirmed;
    row.first_serial = Some(signed(*first_serial));
    row.ended_at_ms = Some(origin.at_ms);
    let spot = origin.row("stock", sku);
    let item = existing(tables, sku, spot, origin)?;
    let quantity = signed(*quantity);
    item.reserved = item.reserved.saturating_sub(quantity);
    spot.same("reserved", item.reserved, signed(*reserved))?;
    item.sell(quantity, *first_serial, *sold, spot)?;
    let sale = Sale { sku, owner, first_serial: *first_serial, quantity, reservation: Some(reservation) };
    sale.record(tables, origin);
    Ok(())
}

/// The result of a reservation that ended without a sale.
struct GivenUp<'a> {
    owner: &'a Id,
    quantity: u64,
    available: u64,
    reserved: u64,
}

fn give_up(
    tables: &mut Tables,
    (sku, reservation): (&Id, &Id),
    status: ReservationStatus,
    given_up: &GivenUp<'_>,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row_of(TABLE, sku, reservation);
    let row = open_reservation(tables, sku, reservation, spot)?;
    row.is_of(given_up.owner, given_up.quantity, spot)?;
    row.status = status;
    // A reservation that expired ended at its deadline, whenever that was noticed.
    let ended_at_ms = if status == ReservationStatus::Expired { row.deadline_ms } else { origin.at_ms };
    row.ended_at_ms = Some(ended_at_ms);
    let spot = origin.row("stock", sku);
    let item = existing(tables, sku, spot, origin)?;
    let quantity = signed(given_up.quantity);
    item.reserved = item.reserved.saturating_sub(quantity);
    item.make_available(quantity);
    spot.same("reserved", item.reserved, signed(given_up.reserved))?;
    spot.same("available", item.available, signed(given_up.available))
}

pub(super) fn extend(
    tables: &mut Tables,
    extended: &ReservationExtended,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let ReservationExtended { sku, reservation, deadline } = extended;
    let spot = origin.row_of(TABLE, sku, reservation);
    open_reservation(tables, sku, reservation, spot)?.deadline_ms = signed(*deadline);
    Ok(())
}

fn open_reservation<'t>(
    tables: &'t mut Tables,
    sku: &Id,
    reservation: &Id,
    spot: Spot<'_>,
) -> Result<&'t mut ReservationRow, Mistake> {
    let row = spot.found(tables.reservations.change(&pair(sku, reservation)))?;
    spot.same("status", row.status.word(), ReservationStatus::Open.word())?;
    Ok(row)
}

impl ReservationRow {
    fn is_of(&self, owner: &Id, quantity: u64, spot: Spot<'_>) -> Result<(), Mistake> {
        spot.same("owner", &*self.owner_id, owner.as_str())?;
        spot.same("quantity", self.quantity, signed(quantity))
    }
}
