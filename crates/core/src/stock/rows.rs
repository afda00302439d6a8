//! The rows of stock items.

use super::{Receipt, Reservation, StockItem, StockItems};
use crate::codec::Malformed;
use crate::limits::Counters;
use crate::machine::{StateRow, TakeRow};
use crate::pieces::PieceReader;
use crate::store::Slot;
use crate::types::Id;

impl StockItems {
    /// Gives every row to `take`.
    pub(crate) fn rows(&self, take: TakeRow<'_>) {
        self.iter().for_each(|(sku, item)| self.give_item(sku, item, take));
        for (sku, name, reservation) in self.reservations() {
            take(StateRow::Reservation { sku, name, reservation });
        }
        for ((slot, first), receipt) in self.receipts.iter() {
            self.give_receipt(*slot, *first, receipt, take);
        }
    }

    /// Gives the rows of what [`StockItems::put`] wrote; what [`StockItems::skim`] keeps is here.
    pub(crate) fn read_rows(&self, input: &mut PieceReader<'_>, take: TakeRow<'_>) -> Result<(), Malformed> {
        input.rows(|sku: Id, item: StockItem| self.give_item(&sku, &item, take))?;
        input.rows(|(slot, name): (Slot, Id), reservation: Reservation| {
            if let Some(sku) = self.items.key_at(slot) {
                take(StateRow::Reservation { sku, name: &name, reservation: &reservation });
            }
        })?;
        input.rows(|(slot, first): (Slot, u64), receipt: Receipt| {
            self.give_receipt(slot, first, &receipt, take);
        })?;
        input.rows(|_: (Slot, u64), _: u64| {})?;
        Counters::scan(input, 0, |_, _| {})
    }

    fn give_item(&self, sku: &Id, item: &StockItem, take: TakeRow<'_>) {
        take(StateRow::Item { sku, item, left: &self.forgotten(sku) });
    }

    /// A receipt with what was returned of it.
    fn give_receipt(&self, slot: Slot, first: u64, receipt: &Receipt, take: TakeRow<'_>) {
        let Some(sku) = self.items.key_at(slot) else { return };
        take(StateRow::Receipt { sku, first, receipt });
        for (returned, count) in self.returned_within(slot, first, receipt.count) {
            take(StateRow::Returned { sku, first: returned, count, sale: (first, receipt) });
        }
    }
}
