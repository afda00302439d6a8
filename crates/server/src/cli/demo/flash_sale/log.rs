//! The truth: the server's log from its first event on, folded here by plain sums.

use std::collections::{BTreeMap, BTreeSet};

use redis::Value;

use super::buyers::{SHOP, SKU};
use crate::cli::{Exit, Failed};
use crate::client::{Client, integer, text};

/// A sale as the log has it.
#[derive(Clone, Debug)]
pub(super) struct Sale {
    pub(super) id: String,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// What an operation did: the event's name, its telling figure (first serial or deadline), how many units.
pub(super) type Effect = (String, u64, u64);

/// Where the units are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) total: u64,
    pub(super) available: u64,
    pub(super) reserved: u64,
    pub(super) sold: u64,
}

/// The log, read and folded.
#[derive(Default)]
pub(super) struct Log {
    pub(super) events: u64,
    /// Sequences that were missing or came twice.
    pub(super) gaps: u64,
    pub(super) sales: Vec<Sale>,
    pub(super) effects: BTreeMap<String, Vec<Effect>>,
    /// Ids that had taken effect before the server was killed.
    pub(super) before_kill: BTreeSet<String>,
    /// What each operation paid to the shop.
    pub(super) paid: BTreeMap<String, u64>,
    pub(super) units: Units,
    /// Events whose figures are not those of the sums made here.
    pub(super) deviations: u64,
    /// Owners that ever had more than they may.
    pub(super) greedy_owners: BTreeSet<String>,
    pub(super) expired: u64,
    /// What was available after each change of it, and which of these was the last before the kill.
    pub(super) levels: Vec<u64>,
    pub(super) killed_at: Option<usize>,
    per_owner: u64,
    owners: BTreeMap<String, u64>,
    first_epoch: u64,
    last: (u64, u64),
}

/// An event's fields by name.
struct Fields<'a>(&'a [Value]);

impl Fields<'_> {
    fn find(&self, name: &str) -> Option<&Value> {
        self.0.chunks(2).find(|pair| text(&pair[0]).as_deref() == Some(name))?.get(1)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.find(name).and_then(integer).and_then(|number| u64::try_from(number).ok())
    }

    fn text(&self, name: &str) -> String {
        self.find(name).and_then(text).unwrap_or_default()
    }
}

/// How many events are read at a time.
const PAGE: &str = "5000";

impl Log {
    /// Reads the log from its beginning to its end.
    pub(super) fn read(client: &mut Client, per_owner: u64) -> Result<Self, Failed> {
        let mut log = Self { per_owner, ..Self::default() };
        loop {
            let (epoch, sequence) = (log.last.0.to_string(), log.last.1.to_string());
            let page = client.call(&["EVENTS", "0", &epoch, &sequence, "COUNT", PAGE])?;
            match page {
                Value::Array(events) if events.is_empty() => return Ok(log),
                Value::Array(events) => events.iter().try_for_each(|event| log.add(event))?,
                other => return Err(unreadable(&other)),
            }
        }
    }

    fn add(&mut self, event: &Value) -> Result<(), Failed> {
        let Value::Array(parts) = event else { return Err(unreadable(event)) };
        let [_, epoch, sequence, _, operation, name, Value::Array(fields)] = parts.as_slice() else {
            return Err(unreadable(event));
        };
        let (Some(epoch), Some(sequence), Some(name)) = (integer(epoch), integer(sequence), text(name))
        else {
            return Err(unreadable(event));
        };
        let (epoch, sequence) = (epoch.unsigned_abs(), sequence.unsigned_abs());
        self.gaps += u64::from(sequence != self.last.1 + 1 || epoch < self.last.0);
        self.last = (epoch, sequence);
        self.events += 1;
        if self.events == 1 {
            self.first_epoch = epoch;
        }
        if epoch > self.first_epoch && self.killed_at.is_none() {
            self.killed_at = Some(self.levels.len().saturating_sub(1));
        }
        let operation = text(operation).unwrap_or_default();
        if epoch == self.first_epoch {
            self.before_kill.insert(operation.clone());
        }
        self.fold(operation, &name, &Fields(fields)).ok_or_else(|| unreadable(event))
    }

    fn fold(&mut self, operation: String, name: &str, fields: &Fields<'_>) -> Option<()> {
        if name == "account.transferred" && fields.text("to") == SHOP {
            *self.paid.entry(operation).or_default() += fields.number("amount")?;
            return Some(());
        }
        if fields.text("sku") != SKU {
            return Some(());
        }
        let quantity = fields.number("quantity").unwrap_or(0);
        let owner = fields.text("owner");
        let units = &mut self.units;
        match name {
            "stock.created" => {
                units.total = quantity;
                units.available = quantity;
            }
            "stock.taken" => {
                units.available = units.available.wrapping_sub(quantity);
                units.sold += quantity;
            }
            "reservation.placed" => {
                units.available = units.available.wrapping_sub(quantity);
                units.reserved += quantity;
            }
            "reservation.confirmed" => {
                units.reserved = units.reserved.wrapping_sub(quantity);
                units.sold += quantity;
            }
            "reservation.released" | "reservation.expired" => {
                units.reserved = units.reserved.wrapping_sub(quantity);
                units.available += quantity;
            }
            _ => return Some(()),
        }
        self.check(fields);
        self.count_owner(name, &owner, quantity);
        self.note_effect(operation, name, quantity, fields)
    }

    /// Compares the figures that the event tells with the sums made here.
    fn check(&mut self, fields: &Fields<'_>) {
        let Units { available, reserved, sold, .. } = self.units;
        let told = [("available", available), ("reserved", reserved), ("sold", sold)];
        let deviates = told.iter().any(|(name, own)| fields.number(name).is_some_and(|told| told != *own));
        self.deviations += u64::from(deviates);
        if self.levels.last() != Some(&available) {
            self.levels.push(available);
        }
    }

    fn count_owner(&mut self, name: &str, owner: &str, quantity: u64) {
        let count = self.owners.entry(owner.to_owned()).or_default();
        match name {
            "stock.taken" | "reservation.placed" => *count += quantity,
            "reservation.released" | "reservation.expired" => *count = count.wrapping_sub(quantity),
            _ => {}
        }
        if *count > self.per_owner {
            self.greedy_owners.insert(owner.to_owned());
        }
    }

    fn note_effect(
        &mut self,
        operation: String,
        name: &str,
        quantity: u64,
        fields: &Fields<'_>,
    ) -> Option<()> {
        let telling = match name {
            "stock.taken" | "reservation.confirmed" => {
                let first = fields.number("first_serial")?;
                self.sales.push(Sale { id: operation.clone(), first, count: quantity });
                first
            }
            "reservation.placed" => fields.number("deadline")?,
            "reservation.released" => 0,
            "reservation.expired" => {
                // Noted by whatever command came by; it is no effect of that command.
                self.expired += quantity;
                return Some(());
            }
            _ => return Some(()),
        };
        self.effects.entry(operation).or_default().push((name.to_owned(), telling, quantity));
        Some(())
    }
}

fn unreadable(value: &Value) -> Failed {
    Failed::text(Exit::Failed, format!("EVENTS answered what the demonstration cannot read: {value:?}"))
}
