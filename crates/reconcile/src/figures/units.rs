//! The figures of stock.

use scarce_core::event::StockEvent;
use scarce_core::types::{Id, signed};

use super::{Contradiction, Ledger, created, missing, same};

/// The figures of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    total: i64,
    available: i64,
    reserved: i64,
    sold: i64,
    serial: i64,
}

/// What an event says about an item; what it does not say is not compared.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    total: Option<u64>,
    available: Option<u64>,
    reserved: Option<u64>,
    sold: Option<u64>,
    first_serial: Option<u64>,
}

pub(super) fn follow(ledger: &mut Ledger<'_>, event: &StockEvent) -> Result<(), Contradiction> {
    use StockEvent as E;
    let told = Told::default();
    match event {
        E::StockCreated(its) => {
            created(&its.sku, ledger.find_item(&its.sku).is_none())?;
            let quantity = signed(its.quantity);
            let item = Units { total: quantity, available: quantity, ..Units::default() };
            ledger.items.insert(its.sku.clone(), item);
            Ok(())
        }
        E::StockRestocked(its) => {
            let told = Told { total: Some(its.total), available: Some(its.available), ..told };
            ledger.move_units(&its.sku, [signed(its.quantity), signed(its.quantity), 0, 0], told)
        }
        E::StockAdjusted(its) => {
            let told = Told { total: Some(its.total), available: Some(its.available), ..told };
            ledger.move_units(&its.sku, [its.delta, its.delta, 0, 0], told)
        }
        E::StockTaken(its) => {
            let first_serial = Some(its.first_serial);
            let told = Told { available: Some(its.available), sold: Some(its.sold), first_serial, ..told };
            ledger.move_units(&its.sku, [0, -signed(its.quantity), 0, signed(its.quantity)], told)
        }
        E::StockReturned(its) => {
            let told = Told { available: Some(its.available), sold: Some(its.sold), ..told };
            ledger.move_units(&its.sku, [0, signed(its.count), 0, -signed(its.count)], told)
        }
        E::ReservationPlaced(its) => {
            let told = Told { available: Some(its.available), reserved: Some(its.reserved), ..told };
            ledger.move_units(&its.sku, [0, -signed(its.quantity), signed(its.quantity), 0], told)
        }
        E::ReservationConfirmed(its) => {
            let first_serial = Some(its.first_serial);
            let told = Told { reserved: Some(its.reserved), sold: Some(its.sold), first_serial, ..told };
            ledger.move_units(&its.sku, [0, 0, -signed(its.quantity), signed(its.quantity)], told)
        }
        E::ReservationReleased(its) => {
            let told = Told { available: Some(its.available), reserved: Some(its.reserved), ..told };
            ledger.move_units(&its.sku, [0, signed(its.quantity), -signed(its.quantity), 0], told)
        }
        E::ReservationExpired(its) => {
            let told = Told { available: Some(its.available), reserved: Some(its.reserved), ..told };
            ledger.move_units(&its.sku, [0, signed(its.quantity), -signed(its.quantity), 0], told)
        }
        E::StockAvailableAgain(its) => {
            ledger.move_units(&its.sku, [0; 4], Told { available: Some(its.available), ..told })
        }
        E::StockSoldOut(its) => ledger.move_units(&its.sku, [0; 4], Told { available: Some(0), ..told }),
        E::StockClosed(its) => ledger.move_units(&its.sku, [0; 4], told),
        E::StockAuditAdvanced(its) => ledger.move_units(&its.sku, [0; 4], told),
        E::StockReceiptsForgotten(its) => ledger.move_units(&its.sku, [0; 4], told),
        E::StockAudited(its) => ledger.move_units(&its.sku, [0; 4], told),
        E::ReservationExtended(its) => ledger.move_units(&its.sku, [0; 4], told),
    }
}

impl Ledger<'_> {
    fn find_item(&self, sku: &Id) -> Option<Units> {
        let of_state = || {
            let item = self.state.stock.get(sku)?;
            Some(Units {
                total: signed(item.total),
                available: signed(item.available),
                reserved: signed(item.reserved),
                sold: signed(item.sold),
                serial: signed(item.serial),
            })
        };
        self.items.get(sku).copied().or_else(of_state)
    }

    /// Changes total, available, reserved and sold, and compares them with what the event tells.
    fn move_units(&mut self, sku: &Id, changes: [i64; 4], told: Told) -> Result<(), Contradiction> {
        let mut item = self.find_item(sku).ok_or_else(|| missing(sku))?;
        if let Some(first) = told.first_serial {
            same(sku, "first_serial", Some(item.serial + 1), signed(first))?;
            item.serial += changes[3];
        }
        item.total += changes[0];
        item.available += changes[1];
        item.reserved += changes[2];
        item.sold += changes[3];
        let figures = [
            ("total", item.total, told.total),
            ("available", item.available, told.available),
            ("reserved", item.reserved, told.reserved),
            ("sold", item.sold, told.sold),
        ];
        for (field, value, told) in figures {
            // What is not told is still never below zero.
            let told = told.map_or_else(|| value.max(0), signed);
            same(sku, field, Some(value), told)?;
        }
        self.items.insert(sku.clone(), item);
        Ok(())
    }
}
