//! The quantity that a fill-or-kill order would get: level totals minus the owner's own orders.

use std::collections::BTreeMap;

use super::book::Node;
use super::levels::Rank;
use super::sweep::Taker;
use crate::command::shapes::StpMode;
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::state::State;
use crate::store::Slot;

/// How many orders may be looked at one by one to know what an order would get (those of its owner, and those that come before
/// the first of them at its price), or where a list of orders goes on. Nothing else is served meanwhile.
pub const LOOKED_MAX: usize = 4_096;

/// What is answered where it would take more.
pub(super) fn too_many() -> Refusal {
    Refusal::new(Code::StepLimit, facts![LOOKED_MAX as u64])
}

impl Taker<'_> {
    /// Refuses an order that could not be filled completely.
    pub(super) fn check_fillable(&self, state: &State) -> Result<(), Refusal> {
        let fillable = self.fillable(state)?.min(self.remaining);
        if fillable < self.remaining {
            return Err(Refusal::new(Code::WouldNotFill, facts![fillable, self.remaining]));
        }
        Ok(())
    }

    /// The units that it would trade, or more. Sums over levels tell most of it; only orders of its own owner, and those before
    /// the first of them at its price, are looked at one by one.
    fn fillable(&self, state: &State) -> Result<u64, Refusal> {
        let books = &state.markets.books;
        let own = match self.stp {
            StpMode::None => None,
            _ => books.owner(self.slot, self.owner),
        };
        let Some(owner) = own else { return self.beside(state, &BTreeMap::new(), None) };
        if !books.get(self.slot).crosses(self.side.opposite(), self.price) {
            return Ok(0);
        }
        if books.count_of(owner) > LOOKED_MAX {
            return Err(too_many());
        }
        match self.at_the_front(state, owner)? {
            Some(units) => Ok(units),
            None => self.beside(state, &self.own_units(state, owner), Some(owner)),
        }
    }

    /// The same where it is known after as many makers as a step touches, and the owner has more orders than that.
    fn at_the_front(&self, state: &State, owner: Slot) -> Result<Option<u64>, Refusal> {
        let step_max = state.settings.step_max;
        if state.markets.books.count_of(owner) <= step_max {
            return Ok(None);
        }
        let makers = state.markets.books.get(self.slot).makers(self.side.opposite(), self.price);
        let mut seen = 0;
        let makers = makers.map(|(_, node)| node).take(step_max).inspect(|_| seen += 1);
        let ahead = self.ahead(state, makers, Some(owner), self.remaining)?;
        Ok((seen < step_max).then_some(ahead))
    }

    /// The owner's units at each price of the other side, down to the order's own.
    fn own_units(&self, state: &State, owner: Slot) -> BTreeMap<Rank, u64> {
        let mut units = BTreeMap::new();
        let (against, last) = (self.side.opposite(), Rank::limit(self.side.opposite(), self.price));
        for node in state.markets.books.of_owner(self.slot, owner) {
            if node.side == against && node.rank <= last {
                *units.entry(node.rank).or_default() += units_of(state, node);
            }
        }
        units
    }

    /// The units by level totals, less the own units, or those before the first own order.
    fn beside(&self, state: &State, own: &BTreeMap<Rank, u64>, owner: Option<Slot>) -> Result<u64, Refusal> {
        let (book, against) = (state.markets.books.get(self.slot), self.side.opposite());
        match own.first_key_value() {
            Some((first, _)) if self.stops_at_own() => {
                let before = first.before().map_or(0, |last| book.units(against, last, self.remaining));
                let wanted = self.remaining.saturating_sub(before);
                Ok(before + self.ahead(state, book.queue_at(against, *first), owner, wanted)?)
            }
            _ => {
                let own: u64 = own.values().sum();
                Ok(book.units(against, Rank::limit(against, self.price), self.remaining + own) - own)
            }
        }
    }

    /// The units of makers before the one at which the order has what it wants, or stops because it is its owner's.
    fn ahead<'a>(
        &self,
        state: &State,
        makers: impl Iterator<Item = &'a Node>,
        owner: Option<Slot>,
        wanted: u64,
    ) -> Result<u64, Refusal> {
        let mut ahead = 0;
        for (seen, node) in makers.enumerate() {
            let is_own = Some(node.owner) == owner;
            if ahead >= wanted || (is_own && self.stops_at_own()) {
                break;
            }
            if seen >= LOOKED_MAX {
                return Err(too_many());
            }
            ahead += if is_own { 0 } else { units_of(state, node) };
        }
        Ok(ahead)
    }
}

fn units_of(state: &State, node: &Node) -> u64 {
    state.markets.orders.at(node.row).map_or(0, |order| order.remaining)
}
