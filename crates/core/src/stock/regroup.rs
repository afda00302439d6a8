//! Stock among another number of partitions.

use super::StockItems;
use crate::store::{Goes, Placed};

impl StockItems {
    /// Takes over the items that go, with all that belongs to them.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) -> Placed {
        let placed = Placed::take(&mut self.items, &from.items, goes);
        placed.take_rows(&mut self.reservations, &from.reservations);
        placed.take_ordered(&mut self.receipts, &from.receipts);
        placed.take_ordered(&mut self.returned, &from.returned);
        placed.take_single(&mut self.forgotten, &from.forgotten);
        self.owners.take_over(&from.owners, &placed);
        placed
    }
}
