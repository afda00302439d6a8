//! Applies events to stock.

use scarce_core::event::{
    StockAdjusted, StockAudited, StockAvailableAgain, StockCreated, StockEvent, StockRestocked,
    StockReturned, StockSoldOut, StockTaken,
};
use scarce_core::types::{Id, signed};

use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::{numbered, reservations, text};
use crate::rows::{
    AvailabilityKind, AvailabilityRow, MovementKind, MovementRow, ReceiptRow, ReturnRow, StockRow,
    StockStatus,
};
use crate::table::Text;

const TABLE: &str = "stock";

pub(super) fn apply(tables: &mut Tables, event: &StockEvent, origin: &Origin<'_>) -> Result<(), Mistake> {
    use StockEvent as E;
    match event {
        E::StockCreated(created) => create(tables, created, origin),
        E::StockRestocked(restocked) => restock(tables, restocked, origin),
        E::StockAdjusted(adjusted) => adjust(tables, adjusted, origin),
        E::StockTaken(taken) => take(tables, taken, origin),
        E::StockReturned(returned) => give_back(tables, returned, origin),
        E::StockClosed(closed) => {
            let spot = origin.row(TABLE, &closed.sku);
            let row = existing(tables, &closed.sku, spot, origin)?;
            row.is_open(spot)?;
            (row.status, row.closed_at_ms) = (StockStatus::Closed, Some(origin.at_ms));
            Ok(())
        }
        E::StockSoldOut(StockSoldOut { sku }) => {
            let spot = origin.row(TABLE, sku);
            let row = existing(tables, sku, spot, origin)?;
            row.sold_out_at_ms = Some(origin.at_ms);
            spot.same("available", row.available, 0)?;
            let change = row.availability(AvailabilityKind::SoldOut, origin);
            tables.availability.push(change);
            Ok(())
        }
        E::StockAvailableAgain(StockAvailableAgain { sku, available }) => {
            let spot = origin.row(TABLE, sku);
            let row = existing(tables, sku, spot, origin)?;
            spot.same("available", row.available, signed(*available))?;
            let change = row.availability(AvailabilityKind::AvailableAgain, origin);
            tables.availability.push(change);
            Ok(())
        }
        E::StockAuditAdvanced(advanced) => {
            let spot = origin.row(TABLE, &advanced.sku);
            existing(tables, &advanced.sku, spot, origin).map(drop)
        }
        // They stay in the table.
        E::StockReceiptsForgotten(forgotten) => {
            let spot = origin.row(TABLE, &forgotten.sku);
            existing(tables, &forgotten.sku, spot, origin).map(drop)
        }
        E::StockAudited(audited) => audit(tables, audited, origin),
        E::ReservationPlaced(placed) => reservations::place(tables, placed, origin),
        E::ReservationConfirmed(confirmed) => reservations::confirm(tables, confirmed, origin),
        E::ReservationReleased(released) => reservations::release(tables, released, origin),
        E::ReservationExpired(expired) => reservations::expire(tables, expired, origin),
        E::ReservationExtended(extended) => reservations::extend(tables, extended, origin),
    }
}

fn create(tables: &mut Tables, created: &StockCreated, origin: &Origin<'_>) -> Result<(), Mistake> {
    let StockCreated { sku, quantity, per_owner_max, starts_at, ends_at } = created;
    origin.row(TABLE, sku).none(tables.stock.get(sku.as_str()))?;
    let quantity = signed(*quantity);
    let row = StockRow {
        sku: text(sku),
        partition_id: origin.partition_id(),
        total: quantity,
        available: quantity,
        reserved: 0,
        sold: 0,
        returned: 0,
        last_serial: 0,
        per_owner_max: per_owner_max.map(signed),
        status: StockStatus::Open,
        starts_at_ms: starts_at.map(signed),
        ends_at_ms: ends_at.map(signed),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        sold_out_at_ms: None,
        audited_at_ms: None,
        closed_at_ms: None,
    };
    tables.movements.push(row.movement(MovementKind::Created, quantity, None, origin));
    tables.stock.add(sku.as_str().into(), row);
    Ok(())
}

fn restock(tables: &mut Tables, restocked: &StockRestocked, origin: &Origin<'_>) -> Result<(), Mistake> {
    let StockRestocked { sku, quantity, available, total } = restocked;
    let spot = origin.row(TABLE, sku);
    let row = existing(tables, sku, spot, origin)?;
    row.is_open(spot)?;
    let quantity = signed(*quantity);
    row.total = row.total.saturating_add(quantity);
    row.make_available(quantity);
    spot.same("total", row.total, signed(*total))?;
    spot.same("available", row.available, signed(*available))?;
    let movement = row.movement(MovementKind::Restocked, quantity, None, origin);
    tables.movements.push(movement);
    Ok(())
}

fn adjust(tables: &mut Tables, adjusted: &StockAdjusted, origin: &Origin<'_>) -> Result<(), Mistake> {
    let StockAdjusted { sku, delta, reason, available, total } = adjusted;
    let spot = origin.row(TABLE, sku);
    let row = existing(tables, sku, spot, origin)?;
    row.is_open(spot)?;
    row.total = row.total.saturating_add(*delta);
    row.make_available(*delta);
    spot.same("total", row.total, signed(*total))?;
    spot.same("available", row.available, signed(*available))?;
    let movement = row.movement(MovementKind::Adjusted, *delta, Some(reason.as_str().into()), origin);
    tables.movements.push(movement);
    Ok(())
}

fn take(tables: &mut Tables, taken: &StockTaken, origin: &Origin<'_>) -> Result<(), Mistake> {
    let StockTaken { sku, owner, quantity, first_serial, available, sold } = taken;
    let spot = origin.row(TABLE, sku);
    let row = existing(tables, sku, spot, origin)?;
    row.is_open(spot)?;
    let quantity = signed(*quantity);
    row.make_available(quantity.saturating_neg());
    row.sell(quantity, *first_serial, *sold, spot)?;
    spot.same("available", row.available, signed(*available))?;
    let sale = Sale { sku, owner, first_serial: *first_serial, quantity, reservation: None };
    sale.record(tables, origin);
    Ok(())
}

fn give_back(tables: &mut Tables, returned: &StockReturned, origin: &Origin<'_>) -> Result<(), Mistake> {
    let StockReturned { sku, owner, receipt, first, count, available, sold } = returned;
    let (first, count) = (signed(*first), signed(*count));
    let spot = origin.row_of("receipts", sku, receipt);
    let sale = spot.found(tables.receipts.change(&numbered(sku, *receipt)))?;
    spot.same("owner", &*sale.owner_id, owner.as_str())?;
    let end = sale.first_serial.saturating_add(sale.quantity);
    let is_within = first >= sale.first_serial && count >= 1 && first.saturating_add(count) <= end;
    spot.holds(is_within, || {
        format!("units {first} to {} are not all of it", first.saturating_add(count) - 1)
    })?;
    sale.returned = sale.returned.saturating_add(count);
    tables.returned.add(sku, first, count).map_err(|what| spot.mistake(what))?;
    let spot = origin.row(TABLE, sku);
    let row = existing(tables, sku, spot, origin)?;
    row.make_available(count);
    row.sold = row.sold.saturating_sub(count);
    row.returned = row.returned.saturating_add(count);
    spot.same("sold", row.sold, signed(*sold))?;
    spot.same("available", row.available, signed(*available))?;
    tables.returns.push(ReturnRow {
        sku: text(sku),
        first_serial: first,
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        quantity: count,
        receipt_serial: signed(*receipt),
        owner_id: text(owner),
        operation_id: origin.operation_id(),
        at_ms: origin.at_ms,
    });
    Ok(())
}

fn audit(tables: &mut Tables, audited: &StockAudited, origin: &Origin<'_>) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, &audited.sku);
    let row = existing(tables, &audited.sku, spot, origin)?;
    row.audited_at_ms = Some(origin.at_ms);
    spot.same("consistent", audited.expected == audited.counted, audited.consistent)
}

/// The row of an item, changed in this batch.
pub(super) fn existing<'t>(
    tables: &'t mut Tables,
    sku: &Id,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut StockRow, Mistake> {
    let row = spot.found(tables.stock.change(sku.as_str()))?;
    row.updated_at_ms = origin.at_ms;
    Ok(row)
}

impl StockRow {
    pub(super) fn is_open(&self, spot: Spot<'_>) -> Result<(), Mistake> {
        spot.same("status", self.status.word(), StockStatus::Open.word())
    }

    /// Makes units available, or no longer.
    pub(super) fn make_available(&mut self, quantity: i64) {
        self.available = self.available.saturating_add(quantity);
        if self.available > 0 {
            self.sold_out_at_ms = None;
        }
    }

    /// Assigns the next serials.
    pub(super) fn sell(
        &mut self,
        quantity: i64,
        first_serial: u64,
        sold: u64,
        spot: Spot<'_>,
    ) -> Result<(), Mistake> {
        spot.same("first_serial", self.last_serial.saturating_add(1), signed(first_serial))?;
        self.last_serial = self.last_serial.saturating_add(quantity);
        self.sold = self.sold.saturating_add(quantity);
        spot.same("sold", self.sold, signed(sold))
    }

    fn availability(&self, kind: AvailabilityKind, origin: &Origin<'_>) -> AvailabilityRow {
        AvailabilityRow {
            sku: self.sku.clone(),
            sequence: origin.sequence,
            partition_id: origin.partition_id(),
            kind,
            available: self.available,
            operation_id: origin.operation_id(),
            at_ms: origin.at_ms,
        }
    }

    pub(crate) fn movement(
        &self,
        kind: MovementKind,
        quantity: i64,
        reason: Option<Text>,
        origin: &Origin<'_>,
    ) -> MovementRow {
        MovementRow {
            sku: self.sku.clone(),
            sequence: origin.sequence,
            partition_id: origin.partition_id(),
            kind,
            quantity,
            available: self.available,
            total: self.total,
            reason,
            operation_id: origin.operation_id(),
            at_ms: origin.at_ms,
        }
    }
}

/// Units that were sold to an owner.
pub(super) struct Sale<'a> {
    pub(super) sku: &'a Id,
    pub(super) owner: &'a Id,
    pub(super) first_serial: u64,
    pub(super) quantity: i64,
    pub(super) reservation: Option<&'a Id>,
}

impl Sale<'_> {
    pub(super) fn record(self, tables: &mut Tables, origin: &Origin<'_>) {
        let row = ReceiptRow {
            sku: text(self.sku),
            first_serial: signed(self.first_serial),
            partition_id: origin.partition_id(),
            sequence: origin.sequence,
            quantity: self.quantity,
            returned: 0,
            owner_id: text(self.owner),
            reservation_id: self.reservation.map(text),
            operation_id: origin.operation_id(),
            at_ms: origin.at_ms,
        };
        tables.receipts.add(numbered(self.sku, self.first_serial), row);
    }
}
