//! Items, reservations, receipts, what came back, and what owners have.

use scarce_core::state::State;
use scarce_core::stock::{Audit, Receipt, Reservation, ReservationStatus, StockItem};
use scarce_engine::engine::Failure;

use super::record::{Damaged, Fields, id, text};
use super::{Keys, Link, each_member, each_row};

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let stock = &mut state.stock;
    each_row(link, &keys.of("stock"), |name, fields| {
        stock.restore(id(name)?, item(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("reservations"), |name, fields| {
        let (sku, name) = name.split_once(' ').ok_or(Damaged)?;
        stock.restore_reservation(&id(sku)?, id(name)?, reservation(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("receipts_of"), |name, fields| {
        let (sku, first) = name.split_once(' ').ok_or(Damaged)?;
        stock.restore_receipt(&id(sku)?, first.parse().map_err(|_| Damaged)?, receipt(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("owners"), |name, mut fields| {
        let (sku, owner) = name.split_once(' ').ok_or(Damaged)?;
        stock.restore_owner(&id(sku)?, &id(owner)?, fields.number()?);
        fields.end()
    })
    .await?;
    each_member(link, &keys.of("returned"), |words| {
        let [sku, first, count] = words else { return Err(Damaged) };
        let number = |word: &str| word.parse().map_err(|_| Damaged);
        stock.restore_returned(&id(sku)?, number(first)?, number(count)?);
        Ok(())
    })
    .await
}

fn item(mut fields: Fields<'_>) -> Result<StockItem, Damaged> {
    let item = StockItem {
        total: fields.number()?,
        available: fields.number()?,
        reserved: fields.number()?,
        sold: fields.number()?,
        returned: fields.number()?,
        serial: fields.number()?,
        per_owner_max: fields.optional()?,
        starts_at: fields.optional()?,
        ends_at: fields.optional()?,
        closed: fields.number::<u8>()? == 1,
        audit: audit(&mut fields)?,
    };
    fields.end().map(|()| item)
}

fn audit(fields: &mut Fields<'_>) -> Result<Option<Audit>, Damaged> {
    let horizon_serial = fields.optional()?;
    let (through_serial, counted, expected) = (fields.optional()?, fields.optional()?, fields.optional()?);
    Ok(horizon_serial.map(|horizon_serial| Audit {
        horizon_serial,
        through_serial: through_serial.unwrap_or(0),
        counted: counted.unwrap_or(0),
        expected: expected.unwrap_or(0),
    }))
}

fn reservation(mut fields: Fields<'_>) -> Result<Reservation, Damaged> {
    let reservation = Reservation {
        owner: fields.id()?,
        quantity: fields.number()?,
        status: fields.word(ReservationStatus::from_word)?,
        deadline: fields.number()?,
        first_serial: fields.number()?,
        ended_at: fields.number()?,
    };
    fields.end().map(|()| reservation)
}

fn receipt(mut fields: Fields<'_>) -> Result<Receipt, Damaged> {
    let (count, returned) = (fields.number()?, fields.number()?);
    let (owner, at) = (fields.id()?, fields.number()?);
    Ok(Receipt { count, returned, owner, at, operation: text(fields.last()?) })
}
