//! The quantity that a fill-or-kill order would get: level totals minus the owner's own orders.

use super::sweep::Taker;
use crate::command::shapes::StpMode;
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::state::State;

impl Taker<'_> {
    /// Refuses an order that could not be filled completely.
    pub(super) fn check_fillable(&self, state: &State) -> Result<(), Refusal> {
        let fillable = self.fillable(state);
        if fillable < self.remaining {
            return Err(Refusal::new(Code::WouldNotFill, facts![fillable, self.remaining]));
        }
        Ok(())
    }

    /// The units that it would trade, at most its quantity. Costs one lookup per level; a queue is walked
    /// only if it contains an own order that stops the order.
    fn fillable(&self, state: &State) -> u64 {
        let books = &state.markets.books;
        let (book, against) = (books.get(self.slot), self.side.opposite());
        let own = books.owner(self.slot, self.owner).filter(|_| self.stp != StpMode::None);
        let mut fillable = 0;
        for (price, level) in book.crossing(against, self.price) {
            if fillable >= self.remaining {
                break;
            }
            let own_quantity = own.map_or(0, |own| books.own_quantity(own, against, price));
            if own_quantity > 0 && self.stops_at_own() {
                let wanted = self.remaining - fillable;
                return fillable + self.ahead_of_own(state, level, wanted);
            }
            fillable += level.quantity - own_quantity;
        }
        fillable.min(self.remaining)
    }

    /// The units of a level ahead of the first own order, at most `wanted`.
    fn ahead_of_own(&self, state: &State, level: &super::book::Level, wanted: u64) -> u64 {
        let books = &state.markets.books;
        let own = books.owner(self.slot, self.owner);
        let mut ahead = 0;
        for node in books.get(self.slot).queue(level) {
            if Some(node.owner) == own || ahead >= wanted {
                break;
            }
            ahead += state.markets.orders.at(node.row).map_or(0, |order| order.remaining);
        }
        ahead.min(wanted)
    }
}
