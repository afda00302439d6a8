//! Restoring markets: the books from the orders, after a snapshot or from another store.

use super::book::Resting;
use super::tape::Trade;
use super::{Market, Markets, NIL, Order, RestingPlace};
use crate::codec::Malformed;
use crate::types::{INTEGER_MAX, Id};

impl Markets {
    /// Restores a market from another store, with the last time priority that was assigned.
    pub fn restore(&mut self, id: Id, mut market: Market, priority: u64) {
        if self.markets.find(&id).is_none() {
            self.books.open();
            self.tapes.open();
        }
        market.priority = priority;
        self.markets.insert(id, market);
    }

    /// Restores an order from another store, of a market that was restored; with its time priority if it
    /// rests. [`Markets::restore_books`] puts it on the book.
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

    /// Puts the resting orders back on the empty books, oldest first.
    ///
    /// # Errors
    /// When an order cannot rest as its record says.
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
