//! What the keys hold of books beside the orders. It follows from them, so it is made of them once more and
//! compared: nothing else would find a level that is off by one.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::command::shapes::Side;
use scarce_core::markets::Order;
use scarce_core::types::INTEGER_MAX;

/// What a market's book comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BookTotals {
    pub(super) orders: u64,
    pub(super) bids_total: u64,
    pub(super) asks_total: u64,
}

/// The books in the words of the keys.
#[derive(Debug, Default)]
pub(super) struct KeptBooks {
    markets: BTreeMap<String, BookTotals>,
    /// `market side rank priority order`.
    book: BTreeSet<String>,
    /// `market side rank`.
    level_names: BTreeSet<String>,
    /// `market owner priority order`.
    own: BTreeSet<String>,
    /// Quantity and orders by `market side rank`.
    pub(super) levels: BTreeMap<String, (u64, u64)>,
    /// Quantity by `market owner side rank`.
    pub(super) own_levels: BTreeMap<String, u64>,
}

impl KeptBooks {
    /// Notes what a market's record says of its book.
    pub(super) fn put_market(&mut self, market: &str, totals: BookTotals) {
        self.markets.insert(market.to_owned(), totals);
    }

    /// Begins the empty book of a market.
    pub(super) fn open(&mut self, market: &str) {
        self.put_market(market, BookTotals::default());
    }

    /// The empty books of the same markets.
    pub(super) fn opened(&self) -> Self {
        let mut opened = Self::default();
        self.markets.keys().for_each(|market| opened.open(market));
        opened
    }

    /// The members of an ordered set.
    pub(super) fn members(&mut self, name: &str) -> &mut BTreeSet<String> {
        match name {
            "levels" => &mut self.level_names,
            "own" => &mut self.own,
            _ => &mut self.book,
        }
    }

    /// Puts an order on a book. Nothing where it cannot rest.
    pub(super) fn rest(&mut self, market: &str, name: &str, order: &Order, priority: u64) -> Option<()> {
        let price = order.price.filter(|price| *price <= INTEGER_MAX)?;
        let rank = if order.side == Side::Buy { INTEGER_MAX - price } else { price };
        let level = format!("{} {rank:016}", order.side.word());
        let (owner, quantity) = (order.owner.as_str(), order.remaining);
        let totals = self.markets.get_mut(market)?;
        totals.orders += 1;
        let total = match order.side {
            Side::Buy => &mut totals.bids_total,
            Side::Sell => &mut totals.asks_total,
        };
        *total = total.checked_add(quantity)?;
        self.book.insert(format!("{market} {level} {priority:016} {name}"));
        self.own.insert(format!("{market} {owner} {priority:016} {name}"));
        self.level_names.insert(format!("{market} {level}"));
        let row = self.levels.entry(format!("{market} {level}")).or_default();
        *row = (row.0.checked_add(quantity)?, row.1 + 1);
        let own = self.own_levels.entry(format!("{market} {owner} {level}")).or_default();
        *own = own.checked_add(quantity)?;
        Some(())
    }

    /// Where two differ: the name of the key, and what of it.
    pub(super) fn difference(&self, other: &Self) -> Option<(&'static str, String)> {
        let rows = |name, what: Option<String>| what.map(|what| (name, what));
        rows("markets", first_difference(&self.markets, &other.markets))
            .or_else(|| rows("levels", first_other(&self.level_names, &other.level_names)))
            .or_else(|| rows("level_totals", first_difference(&self.levels, &other.levels)))
            .or_else(|| rows("book", first_other(&self.book, &other.book)))
            .or_else(|| rows("own", first_other(&self.own, &other.own)))
            .or_else(|| rows("own_levels", first_difference(&self.own_levels, &other.own_levels)))
    }
}

fn first_other(one: &BTreeSet<String>, other: &BTreeSet<String>) -> Option<String> {
    one.symmetric_difference(other).next().cloned()
}

fn first_difference<V: PartialEq>(one: &BTreeMap<String, V>, other: &BTreeMap<String, V>) -> Option<String> {
    let differs = |(key, value): &(&String, &V)| other.get(*key) != Some(*value);
    let missing = || other.keys().find(|key| !one.contains_key(*key));
    one.iter().find(differs).map(|(key, _)| key).or_else(missing).cloned()
}

#[cfg(test)]
mod tests {
    use scarce_core::command::shapes::{StpMode, Tif};
    use scarce_core::types::Id;

    use super::*;

    fn books(quantity: u64) -> KeptBooks {
        let owner = Id::parse(b"ann", "owner").expect("an id");
        let order = Order::new(owner, Side::Buy, Some(10), quantity, Tif::Gtc, StpMode::None);
        let mut books = KeptBooks::default();
        books.open("m");
        books.rest("m", "o", &order, 1).expect("it rests");
        books
    }

    #[test]
    fn every_key_of_a_book_is_compared() {
        type Change = fn(&mut KeptBooks);
        let changes: [(&str, Change); 6] = [
            ("markets", |books| books.open("m")),
            ("levels", |books| books.level_names.clear()),
            ("level_totals", |books| books.levels.values_mut().for_each(|(quantity, _)| *quantity += 1)),
            ("book", |books| books.book.clear()),
            ("own", |books| books.own.clear()),
            ("own_levels", |books| books.own_levels.clear()),
        ];
        assert_eq!(books(5).difference(&books(5)), None);
        for (name, change) in changes {
            let mut changed = books(5);
            change(&mut changed);
            assert_eq!(changed.difference(&books(5)).map(|(name, _)| name), Some(name));
            assert_eq!(books(5).difference(&changed).map(|(name, _)| name), Some(name));
        }
    }
}
