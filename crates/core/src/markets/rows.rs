//! The rows of markets.

use super::{Market, Markets, Order};
use crate::codec::Malformed;
use crate::machine::{StateRow, TakeRow};
use crate::pieces::PieceReader;
use crate::store::Slot;
use crate::types::Id;

impl Markets {
    /// Gives every row to `take`, but not the last trades.
    pub(crate) fn rows(&self, take: TakeRow<'_>) {
        self.iter().for_each(|(id, market)| take(StateRow::Market(id, market)));
        self.orders.iter().for_each(|((slot, name), order)| self.give_order(*slot, name, order, take));
    }

    /// Gives the rows of what [`Markets::put`] wrote, all but the last trades; what [`Markets::skim`] keeps is here.
    pub(crate) fn read_rows(&self, input: &mut PieceReader<'_>, take: TakeRow<'_>) -> Result<(), Malformed> {
        input.rows(|id: Id, market: Market| take(StateRow::Market(&id, &market)))?;
        input.rows(|(slot, name): (Slot, Id), order: Order| self.give_order(slot, &name, &order, take))
    }

    fn give_order(&self, slot: Slot, name: &Id, order: &Order, take: TakeRow<'_>) {
        if let Some((id, market)) = self.markets.key_at(slot).zip(self.markets.at(slot)) {
            take(StateRow::Order { id, market, name, order });
        }
    }
}
