//! Markets among another number of partitions.

use super::{Markets, NIL, Order, RestingPlace};
use crate::store::{Goes, Placed};

impl Markets {
    /// Takes over the markets that go, with orders and last trades. [`Markets::restore_books`] puts the orders on the
    /// books once all are here.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) {
        let mut placed = Placed::default();
        for (id, market) in from.markets.iter().filter(|(id, _)| goes(id)) {
            self.restore(id.clone(), market.clone(), market.priority);
            let (before, now) = (from.markets.find(id), self.markets.find(id));
            if let Some((before, now)) = before.zip(now) {
                placed.note(Some(before), now);
                let trades: Vec<_> = from.tapes.of(before).copied().collect();
                trades.into_iter().rev().for_each(|trade| self.tapes.put_on(now, trade));
            }
        }
        for ((before, name), order) in from.orders.iter() {
            if let Some(slot) = placed.at(*before) {
                let place = order.place.map(|place| RestingPlace { node: NIL, ..place });
                self.orders.insert((slot, name.clone()), Order { place, ..order.clone() });
            }
        }
    }
}
