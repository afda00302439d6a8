//! The sale in the log, folded here with simple sums.

use std::collections::{BTreeMap, BTreeSet};

use super::super::log::{Effects, Event, Log};
use super::buyers::{SHOP, SKU};
use crate::failure::DemoError;

/// A sale in the log.
#[derive(Clone, Debug)]
pub(super) struct Sale {
    pub(super) id: String,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// Where the units are; signed, because an incorrect log must be judged, not overflow the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) total: i64,
    pub(super) available: i64,
    pub(super) reserved: i64,
    pub(super) sold: i64,
}

/// The folded log.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) sales: Vec<Sale>,
    pub(super) effects: Effects,
    /// The payment of each operation to the shop.
    pub(super) paid: BTreeMap<String, u64>,
    pub(super) units: Units,
    /// Events whose numbers differ from these sums.
    pub(super) deviations: u64,
    /// Owners that ever exceeded their limit.
    pub(super) greedy_owners: BTreeSet<String>,
    pub(super) expired: u64,
    /// The availability after each change, and the index of the last change before the kill.
    pub(super) levels: Vec<u64>,
    pub(super) killed_at: Option<usize>,
    per_owner: u64,
    owners: BTreeMap<String, i64>,
}

impl Ledger {
    /// Folds the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log, per_owner: u64) -> Result<Self, DemoError> {
        log.fold(Self { per_owner, ..Self::default() }, Self::fold)
    }

    fn fold(&mut self, event: &Event) -> Option<()> {
        if event.is_after_kill && self.killed_at.is_none() {
            self.killed_at = Some(self.levels.len().saturating_sub(1));
        }
        if event.name == "account.transferred" && event.text("to") == SHOP {
            *self.paid.entry(event.operation.clone()).or_default() += event.number("amount")?;
            return Some(());
        }
        if event.text("sku") != SKU {
            return Some(());
        }
        let quantity = event.signed("quantity").unwrap_or(0);
        let units = &mut self.units;
        match event.name.as_str() {
            "stock.created" => {
                units.total = quantity;
                units.available = quantity;
            }
            "stock.taken" => {
                units.available -= quantity;
                units.sold += quantity;
            }
            "reservation.placed" => {
                units.available -= quantity;
                units.reserved += quantity;
            }
            "reservation.confirmed" => {
                units.reserved -= quantity;
                units.sold += quantity;
            }
            "reservation.released" | "reservation.expired" => {
                units.reserved -= quantity;
                units.available += quantity;
            }
            _ => return Some(()),
        }
        self.check(event);
        self.count_owner(event, quantity);
        self.note_effect(event, quantity)
    }

    /// Compares the numbers in the event with these sums.
    fn check(&mut self, event: &Event) {
        let Units { available, reserved, sold, .. } = self.units;
        let told = [("available", available), ("reserved", reserved), ("sold", sold)];
        let deviates = told.iter().any(|(name, own)| event.signed(name).is_some_and(|told| told != *own));
        self.deviations += u64::from(deviates);
        let level = u64::try_from(available).unwrap_or(0);
        if self.levels.last() != Some(&level) {
            self.levels.push(level);
        }
    }

    fn count_owner(&mut self, event: &Event, quantity: i64) {
        let owner = event.text("owner");
        let count = self.owners.entry(owner.clone()).or_default();
        match event.name.as_str() {
            "stock.taken" | "reservation.placed" => *count += quantity,
            "reservation.released" | "reservation.expired" => *count -= quantity,
            _ => {}
        }
        if u64::try_from(*count).unwrap_or(0) > self.per_owner {
            self.greedy_owners.insert(owner);
        }
    }

    /// Records the numbers that the caller is told.
    fn note_effect(&mut self, event: &Event, quantity: i64) -> Option<()> {
        let told = match event.name.as_str() {
            "stock.taken" => ["first_serial", "available"],
            "reservation.confirmed" => ["first_serial", "quantity"],
            "reservation.placed" => ["deadline", "available"],
            "reservation.released" => ["quantity", "available"],
            "reservation.expired" => {
                // Logged by whichever command came next, but not an effect of that command.
                self.expired += quantity.unsigned_abs();
                return Some(());
            }
            _ => return Some(()),
        };
        if matches!(event.name.as_str(), "stock.taken" | "reservation.confirmed") {
            let (id, first) = (event.operation.clone(), event.number("first_serial")?);
            self.sales.push(Sale { id, first, count: quantity.unsigned_abs() });
        }
        self.effects.note(event, &told);
        Some(())
    }
}
