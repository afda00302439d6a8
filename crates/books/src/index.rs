//! Open items by a text and their amount, found by the nearest day.

use crate::day::Day;
use crate::items::Items;

/// An item under one of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) hash: u64,
    pub(crate) amount: i64,
    pub(crate) day: Day,
    pub(crate) at: u32,
}

/// Items in the order of their keys.
#[derive(Debug, Default)]
pub(crate) struct Index {
    keys: Vec<Key>,
    /// Where the search for an open item goes on from a key: past all those that were found closed.
    next: Vec<u32>,
}

impl Index {
    pub(crate) fn new(mut keys: Vec<Key>) -> Self {
        keys.sort_unstable();
        let next = (0..u32::try_from(keys.len()).unwrap_or(u32::MAX)).collect();
        Self { keys, next }
    }

    /// The first open item at a key or behind it.
    fn open_from(&mut self, from: usize, items: &Items) -> Option<Key> {
        let mut at = from;
        while let Some(key) = self.keys.get(at) {
            let next = self.next[at] as usize;
            if next == at && items.is_open(key.at as usize) {
                break;
            }
            at = next.max(at + usize::from(next == at));
        }
        // The next search does not look at each of them again.
        let (mut passed, end) = (from, u32::try_from(at).unwrap_or(u32::MAX));
        while passed < at {
            let next = self.next[passed] as usize;
            self.next[passed] = end;
            passed = next.max(passed + usize::from(next == passed));
        }
        self.keys.get(at).copied()
    }

    /// Whether there is anything with this text.
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.keys.binary_search_by(|key| key.hash.cmp(&hash)).is_ok()
    }

    /// An open item with this text and amount on a day.
    pub(crate) fn on(&mut self, hash: u64, amount: i64, day: Day, items: &Items) -> Option<usize> {
        let from = self.keys.partition_point(|key| (key.hash, key.amount, key.day) < (hash, amount, day));
        let key = self.open_from(from, items)?;
        ((key.hash, key.amount, key.day) == (hash, amount, day)).then_some(key.at as usize)
    }

    /// The same within some days, the nearest first, and of two the one before.
    pub(crate) fn near(
        &mut self,
        (hash, amount, day): (u64, i64, Day),
        days: i32,
        items: &Items,
    ) -> Option<usize> {
        (0..=days).find_map(|distance| {
            let before = self.on(hash, amount, day.plus(-distance), items);
            before.or_else(|| self.on(hash, amount, day.plus(distance), items))
        })
    }

    /// The same on any day.
    pub(crate) fn with_amount(&mut self, hash: u64, amount: i64, items: &Items) -> Option<usize> {
        let from = self.keys.partition_point(|key| (key.hash, key.amount) < (hash, amount));
        let key = self.open_from(from, items)?;
        ((key.hash, key.amount) == (hash, amount)).then_some(key.at as usize)
    }

    /// An open item with this text.
    pub(crate) fn with_text(&mut self, hash: u64, items: &Items) -> Option<usize> {
        let from = self.keys.partition_point(|key| key.hash < hash);
        let key = self.open_from(from, items)?;
        (key.hash == hash).then_some(key.at as usize)
    }

    /// An open item with this text that went the same way.
    pub(crate) fn with_sign(&mut self, (hash, amount): (u64, i64), items: &Items) -> Option<usize> {
        let least = if amount < 0 { i64::MIN } else { 1 };
        let from = self.keys.partition_point(|key| (key.hash, key.amount) < (hash, least));
        let key = self.open_from(from, items)?;
        (key.hash == hash && (key.amount < 0) == (amount < 0)).then_some(key.at as usize)
    }

    /// The first few items with this text, open or not.
    pub(crate) fn all_with_text(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        let from = self.keys.partition_point(|key| key.hash < hash);
        self.keys[from..].iter().take_while(move |key| key.hash == hash).take(8).map(|key| key.at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::Item;

    #[test]
    fn the_nearest_open_item_is_found_and_closed_ones_are_passed_over() {
        let mut items = Items::default();
        let days = [10, 10, 12, 13, 13];
        for day in days {
            let item = Item {
                line: 0,
                day: Day(day),
                amount: 5,
                operation: "",
                reference: "",
                place: "",
                since: None,
            };
            items.add(&item).unwrap_or_else(|error| panic!("{error}"));
        }
        let keys = (0..).zip(days).map(|(at, day)| Key { hash: 1, amount: 5, day: Day(day), at });
        let mut index = Index::new(keys.collect());
        let mut found = Vec::new();
        while let Some(at) = index.near((1, 5, Day(11)), 2, &items) {
            found.push(at);
            items.close(at);
        }
        assert_eq!(found, [0, 1, 2, 3, 4]);
        assert_eq!(index.with_text(1, &items), None);
        assert_eq!(index.near((2, 5, Day(11)), 2, &items), None);
    }
}
