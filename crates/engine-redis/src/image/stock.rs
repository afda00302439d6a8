//! Items, reservations, receipts, what came back, and what owners have.

use scarce_core::state::State;
use scarce_core::stock::{Audit, Forgotten, Receipt, Reservation, ReservationStatus, StockItem};

use super::record::{Damaged, Record, id, number, text, words};

pub(super) fn put(state: &mut State, hash: &str, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    let stock = &mut state.stock;
    if hash == "stock" {
        let sku = id(name)?;
        stock.restore(sku.clone(), item(record)?);
        stock.restore_forgotten(&sku, forgotten(record)?);
        return Ok(());
    }
    let (sku, name) = words(name)?;
    let sku = id(sku)?;
    match hash {
        "reservations" => stock.restore_reservation(&sku, id(name)?, reservation(record)?),
        "receipts_of" => stock.restore_receipt(&sku, number(name)?, receipt(record)?),
        _ => stock.restore_owner(&sku, &id(name)?, record.number("used")?),
    }
    Ok(())
}

/// Takes out a reservation or a receipt that is forgotten, or an owner who has nothing any more.
pub(super) fn drop_row(state: &mut State, hash: &str, name: &str) -> Result<(), Damaged> {
    let (sku, name) = words(name)?;
    match hash {
        "reservations" => state.stock.drop_reservation(&id(sku)?, &id(name)?),
        "receipts_of" => state.stock.drop_receipt(&id(sku)?, number(name)?),
        _ => state.stock.restore_owner(&id(sku)?, &id(name)?, 0),
    }
    Ok(())
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

fn forgotten(record: &Record<'_>) -> Result<Forgotten, Damaged> {
    Ok(Forgotten {
        through_serial: record.optional("forgotten_through")?.unwrap_or_default(),
        sold: record.optional("forgotten_sold")?.unwrap_or_default(),
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
