//! Items, reservations, receipts, what came back, and what owners have.

use scarce_core::state::State;
use scarce_core::stock::{Audit, Receipt, Reservation, ReservationStatus, StockItem};

use super::record::{Damaged, Record, id, number, text, words};
use super::{Keys, Link, each_member, each_row};
use scarce_engine::engine::Failure;

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let stock = &mut state.stock;
    each_row(link, keys, "stock", |name, record| {
        stock.restore(id(name)?, item(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "reservations", |name, record| {
        let (sku, name) = words(name)?;
        stock.restore_reservation(&id(sku)?, id(name)?, reservation(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "receipts_of", |name, record| {
        let (sku, first) = words(name)?;
        stock.restore_receipt(&id(sku)?, number(first)?, receipt(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "owners", |name, record| {
        let (sku, owner) = words(name)?;
        stock.restore_owner(&id(sku)?, &id(owner)?, record.number("used")?);
        Ok(())
    })
    .await?;
    each_member(link, keys, "returned", |words| {
        let [sku, first, count] = words else { return Err(Damaged) };
        stock.restore_returned(&id(sku)?, number(first)?, number(count)?);
        Ok(())
    })
    .await
}

fn item(record: &Record<'_>) -> Result<StockItem, Damaged> {
    Ok(StockItem {
        total: record.number("total")?,
        available: record.number("available")?,
        reserved: record.number("reserved")?,
        sold: record.number("sold")?,
        returned: record.number("returned")?,
        serial: record.number("serial")?,
        per_owner_max: record.optional("per_owner_max")?,
        starts_at: record.optional("starts_at")?,
        ends_at: record.optional("ends_at")?,
        closed: record.flag("closed")?,
        audit: audit(record)?,
    })
}

fn audit(record: &Record<'_>) -> Result<Option<Audit>, Damaged> {
    let Some(horizon_serial) = record.optional("audit_horizon")? else { return Ok(None) };
    Ok(Some(Audit {
        horizon_serial,
        through_serial: record.number("audit_through")?,
        counted: record.number("audit_counted")?,
        expected: record.number("audit_expected")?,
    }))
}

fn reservation(record: &Record<'_>) -> Result<Reservation, Damaged> {
    Ok(Reservation {
        owner: record.id("owner")?,
        quantity: record.number("quantity")?,
        status: record.word("status", ReservationStatus::from_word)?,
        deadline: record.number("deadline")?,
        first_serial: record.number("first_serial")?,
        ended_at: record.number("ended_at")?,
    })
}

fn receipt(record: &Record<'_>) -> Result<Receipt, Damaged> {
    Ok(Receipt {
        count: record.number("count")?,
        returned: record.number("returned")?,
        owner: record.id("owner")?,
        at: record.number("at")?,
        operation: text(record.text("operation")?),
    })
}
