//! Records by their names, for stores that show a state.

use super::{Receipt, Reservation, StockItems, owner_key};
use crate::state::StateSettings;
use crate::types::{Id, TimeMs};

impl StockItems {
    /// A reservation by the names of its item and its own, even if it ended long ago but was not dropped yet.
    #[must_use]
    pub fn reservation(&self, sku: &Id, name: &Id) -> Option<&Reservation> {
        self.reservations.get(&(self.items.find(sku)?, name))
    }

    /// A receipt by the name of its item and its first serial.
    #[must_use]
    pub fn receipt(&self, sku: &Id, first: u64) -> Option<&Receipt> {
        self.receipts.get(&(self.items.find(sku)?, first))
    }

    /// The ranges of returned serials within a receipt: the first one, and how many.
    pub fn returned_of(&self, sku: &Id, first: u64) -> impl Iterator<Item = (u64, u64)> {
        let found = self.items.find(sku).and_then(|slot| Some((slot, self.receipts.get(&(slot, first))?)));
        found.into_iter().flat_map(move |(slot, receipt)| self.returned_within(slot, first, receipt.count))
    }

    /// How many units an owner has reserved and bought, of an item that limits them; 0 where that is not counted.
    #[must_use]
    pub fn owner_used(&self, sku: &Id, owner: &Id) -> u64 {
        self.items.find(sku).map_or(0, |slot| self.owners.used(&owner_key(slot, owner)))
    }

    /// Every owner who has units of an item that limits them: the item, the owner, and how many.
    pub fn owners(&self) -> impl Iterator<Item = (&Id, &str, u64)> {
        let named = |(key, used)| {
            let key: &crate::limits::CounterKey = key;
            Some((self.items.key_at(key.resource)?, key.subject.as_str(), used))
        };
        self.owners.iter().filter_map(named)
    }

    /// When the oldest receipts of an item leave memory, if it has any.
    #[must_use]
    pub fn receipts_due(&self, settings: &StateSettings, sku: &Id) -> Option<TimeMs> {
        let (_, oldest) = self.receipts(sku).next()?;
        Some(settings.receipt_due(oldest.at))
    }
}
