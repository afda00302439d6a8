//! What the resting orders come to at each price, of each owner and of each market. It follows from the orders, whose changes
//! are booked here.

use std::collections::BTreeMap;

use scarce_core::command::shapes::Side;
use scarce_core::markets::Order;
use scarce_core::state::State;
use scarce_core::types::{INTEGER_MAX, Id};

use crate::rows::RowName;

/// An order on a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resting {
    /// The word of its side.
    pub side: &'static str,
    /// Its price as the better is before the worse.
    pub rank: u64,
    /// Its owner.
    pub owner: Id,
    /// What rests.
    pub quantity: u64,
}

impl Resting {
    /// What an order has on the book, if it rests.
    #[must_use]
    pub fn of(order: &Order) -> Option<Self> {
        let price = order.price.filter(|_| order.priority().is_some())?;
        let rank = if order.side == Side::Buy { INTEGER_MAX.saturating_sub(price) } else { price };
        let (side, owner, quantity) = (order.side.word(), order.owner.clone(), order.remaining);
        Some(Self { side, rank, owner, quantity })
    }
}

/// What rests at a price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Units.
    pub quantity: u64,
    /// Orders.
    pub orders: u64,
}

/// What rests in a market.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Orders.
    pub orders: u64,
    /// Units on the side of buyers.
    pub bids: u64,
    /// Units on the side of sellers.
    pub asks: u64,
}

/// The books of a partition.
#[derive(Debug, Default)]
pub struct Books {
    totals: BTreeMap<Id, Totals>,
    levels: BTreeMap<(Id, &'static str, u64), Level>,
    own_levels: BTreeMap<(Id, Id, &'static str, u64), Level>,
}

impl Books {
    /// The books of a state.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let mut books = Self::default();
        for (market, _, order) in state.markets.orders() {
            books.replace(market, None, Resting::of(order).as_ref());
        }
        books
    }

    /// What rests in a market.
    #[must_use]
    pub fn totals(&self, market: &Id) -> Totals {
        self.totals.get(market).copied().unwrap_or_default()
    }

    /// What rests at a price.
    #[must_use]
    pub fn level(&self, market: &Id, side: &'static str, rank: u64) -> Option<Level> {
        self.levels.get(&(market.clone(), side, rank)).copied()
    }

    /// What rests of an owner at a price.
    #[must_use]
    pub fn own_level(&self, market: &Id, owner: &Id, side: &'static str, rank: u64) -> Option<Level> {
        self.own_levels.get(&(market.clone(), owner.clone(), side, rank)).copied()
    }

    /// Names every price at which something rests.
    pub fn each(&self, take: &mut impl FnMut(RowName)) {
        for (market, side, rank) in self.levels.keys() {
            take(RowName::Level(market.clone(), side, *rank));
        }
        for (market, owner, side, rank) in self.own_levels.keys() {
            take(RowName::OwnLevel(market.clone(), owner.clone(), side, *rank));
        }
    }

    /// Replaces what an order had on the book by what it has.
    pub fn replace(&mut self, market: &Id, before: Option<&Resting>, after: Option<&Resting>) {
        if before == after {
            return;
        }
        for (resting, is_added) in
            before.map(|its| (its, false)).into_iter().chain(after.map(|its| (its, true)))
        {
            let Resting { side, rank, owner, quantity } = resting;
            let key = (market.clone(), *side, *rank);
            let own_key = (market.clone(), owner.clone(), *side, *rank);
            count(&mut self.levels, key, *quantity, is_added);
            count(&mut self.own_levels, own_key, *quantity, is_added);
            let totals = self.totals.entry(market.clone()).or_default();
            let total = if *side == Side::Buy.word() { &mut totals.bids } else { &mut totals.asks };
            *total = changed(*total, *quantity, is_added);
            totals.orders = changed(totals.orders, 1, is_added);
        }
    }
}

/// Counts an order at a level, or no longer; an empty level is not counted.
fn count<K: Ord>(levels: &mut BTreeMap<K, Level>, key: K, quantity: u64, is_added: bool) {
    let Level { quantity: before, orders } = levels.get(&key).copied().unwrap_or_default();
    let level = Level { quantity: changed(before, quantity, is_added), orders: changed(orders, 1, is_added) };
    if level.orders == 0 {
        levels.remove(&key)
    } else {
        levels.insert(key, level)
    };
}

fn changed(total: u64, by: u64, is_added: bool) -> u64 {
    if is_added { total.saturating_add(by) } else { total.saturating_sub(by) }
}
