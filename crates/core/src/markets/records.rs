//! Records by their names, for stores that show a state.

use super::tape::Trade;
use super::{Market, Markets, Order};
use crate::types::Id;

impl Market {
    /// The last time priority that was assigned.
    #[must_use]
    pub const fn priority(&self) -> u64 {
        self.priority
    }
}

impl Order {
    /// Its time priority while it rests on the book.
    #[must_use]
    pub fn priority(&self) -> Option<u64> {
        self.place.map(|place| place.priority)
    }
}

impl Markets {
    /// The last trades of a market, the last one first.
    pub fn last_trades(&self, market: &Id) -> impl Iterator<Item = &Trade> {
        self.markets.find(market).into_iter().flat_map(|slot| self.tapes.of(slot))
    }
}
