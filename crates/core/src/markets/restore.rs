//! Putting markets back: the books from the orders, after a snapshot or from what another store kept.

use super::book::Resting;
use super::tape::Trade;
use super::{Market, Markets, NIL, Order, RestingPlace};
use crate::codec::Malformed;
use crate::types::{INTEGER_MAX, Id};

impl Markets {
    /// Restores a market that another store kept, with the last place in time that an order was given.
    pub fn restore(&mut self, id: Id, mut market: Market, priority: u64) {
        if self.markets.find(&id).is_none() {
            self.books.open();
            self.tapes.open();
        }
        market.priority = priority;
        self.markets.insert(id, market);
    }

    /// Restores an order that another store kept, of a market that is there; with its place in time where
    /// it rests. It comes on the book by [`Markets::restore_books`].
    pub fn restore_order(&mut self, market: &Id, name: Id, order: Order, priority: Option<u64>) {
        if let Some(slot) = self.markets.find(market) {
            let place = priority.map(|priority| RestingPlace { priority, node: NIL });
            self.orders.insert((slot, name), Order { place, ..order });
        }
    }

    /// Restores the next trade of a market that was restored.
    pub fn restore_trade(&mut self, market: &Id, trade: Trade) {
        if let Some(slot) = self.markets.find(market) {
            self.tapes.put_on(slot, trade);
        }
    }

    /// Puts the resting orders on the empty books again, oldest first.
    ///
    /// # Errors
    /// When an order cannot rest as it says.
    pub fn restore_books(&mut self) -> Result<(), Malformed> {
        let mut resting = Vec::new();
        for (key, order) in self.orders.iter() {
            if let Some(place) = order.place {
                let row = self.orders.find(key).ok_or(Malformed)?;
                self.markets.at(key.0).ok_or(Malformed)?;
                resting.push((key.0, place.priority, row));
            }
        }
        resting.sort_unstable();
        for (market, priority, row) in resting {
            let order = self.orders.at(row).ok_or(Malformed)?;
            let price = order.price.filter(|price| *price <= INTEGER_MAX).ok_or(Malformed)?;
            let quantity = order.remaining;
            if self.books.get(market).total(order.side).saturating_add(quantity) > INTEGER_MAX {
                return Err(Malformed);
            }
            let entry = Resting { row, side: order.side, price, quantity };
            let node = self.books.rest(market, &order.owner, entry);
            self.orders.update(row, |order| order.place = Some(RestingPlace { priority, node }));
        }
        Ok(())
    }
}
