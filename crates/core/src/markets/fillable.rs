//! The quantity that a fill-or-kill order would get: level totals minus the owner's own orders.

use std::collections::BTreeMap;

use super::book::{Node, Rank};
use super::sweep::Taker;
use crate::command::shapes::StpMode;
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::state::State;
use crate::store::Slot;

impl Taker<'_> {
    /// Refuses an order that could not be filled completely.
    pub(super) fn check_fillable(&self, state: &State) -> Result<(), Refusal> {
        let fillable = self.fillable(state).min(self.remaining);
        if fillable < self.remaining {
            return Err(Refusal::new(Code::WouldNotFill, facts![fillable, self.remaining]));
        }
        Ok(())
    }

    /// The units that it would trade, or more. Costs one lookup per level, and a look at the owner's orders in the market;
    /// if these are more than one step touches, a look at the makers that the order would meet.
    fn fillable(&self, state: &State) -> u64 {
        let books = &state.markets.books;
        let own = match self.stp {
            StpMode::None => None,
            _ => books.owner(self.slot, self.owner),
        };
        match own {
            None => self.beside(state, &BTreeMap::new(), None),
            Some(owner) => match self.own_units(state, owner) {
                Some(units) => self.beside(state, &units, Some(owner)),
                None => self.among(state, owner),
            },
        }
    }

    /// The owner's units at each price of the other side; `None` if its orders are more than a step touches.
    fn own_units(&self, state: &State, owner: Slot) -> Option<BTreeMap<Rank, u64>> {
        let mut units = BTreeMap::new();
        for (seen, node) in state.markets.books.of_owner(self.slot, owner).enumerate() {
            if seen >= state.settings.step_max {
                return None;
            }
            if node.side == self.side.opposite() {
                *units.entry(node.rank).or_default() += units_of(state, node);
            }
        }
        Some(units)
    }

    /// The units by level totals, less the own units at their price.
    fn beside(&self, state: &State, own: &BTreeMap<Rank, u64>, owner: Option<Slot>) -> u64 {
        let (book, against) = (state.markets.books.get(self.slot), self.side.opposite());
        let mut fillable = 0;
        for (price, level) in book.crossing(against, self.price) {
            if fillable >= self.remaining {
                break;
            }
            let own_units = own.get(&Rank::of(against, price)).copied().unwrap_or(0);
            if own_units > 0 && self.stops_at_own() {
                return fillable + self.ahead(state, book.queue(level), owner, self.remaining - fillable);
            }
            fillable += level.quantity - own_units;
        }
        fillable
    }

    /// The units of the makers one by one, less the own ones.
    fn among(&self, state: &State, owner: Slot) -> u64 {
        let makers = state.markets.books.get(self.slot).makers(self.side.opposite(), self.price);
        self.ahead(state, makers.map(|(_, node)| node), Some(owner), self.remaining)
    }

    /// The units of makers before the one at which the order has what it wants, or stops because it is its owner's.
    fn ahead<'a>(
        &self,
        state: &State,
        makers: impl Iterator<Item = &'a Node>,
        owner: Option<Slot>,
        wanted: u64,
    ) -> u64 {
        let mut ahead = 0;
        for node in makers {
            let is_own = Some(node.owner) == owner;
            if ahead >= wanted || (is_own && self.stops_at_own()) {
                break;
            }
            ahead += if is_own { 0 } else { units_of(state, node) };
        }
        ahead
    }
}

fn units_of(state: &State, node: &Node) -> u64 {
    state.markets.orders.at(node.row).map_or(0, |order| order.remaining)
}
