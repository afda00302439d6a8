//! What the operation alone did not match.

use std::collections::HashSet;

use super::{Matcher, there_id};
use crate::index::{Index, Key};
use crate::items::Items;
use crate::keys;
use crate::map::Kind;

/// How long a word must be.
const TELLING_BYTES_MIN: usize = 5;

/// Which texts of movements name them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// Those that name them alone.
    Alone,
    /// Those that say of whom they are.
    Party,
    /// None: amount and day are enough.
    Not,
}

impl Matcher<'_> {
    /// Matches what is left, by what says most first.
    pub(super) fn match_rest(&mut self) {
        if self.map.kind == Kind::Statement {
            self.by_names(true);
            self.by_names(false);
            self.note_named_again();
            self.by_day(Named::Party);
            if self.map.matching.amount_and_day {
                self.by_day(Named::Not);
            }
        } else {
            self.by_item();
        }
    }

    /// Items of a count, whose quantities differ.
    fn by_item(&mut self) {
        let key = |at: usize| {
            let its = self.here.get(at);
            let row = u32::try_from(at).unwrap_or(u32::MAX);
            Key { hash: keys::of_id(its.operation), amount: its.amount, day: its.day, at: row }
        };
        let mut index = Index::new(self.here.open().map(key).collect());
        for at in self.statement.items.open().collect::<Vec<_>>() {
            let item = self.statement.items.get(at).operation;
            let found = index.with_text(keys::of_id(item), &self.here);
            if let Some(found) = found.filter(|found| self.here.get(*found).operation == item) {
                self.meet(at, found, Named::Alone);
            }
        }
    }

    fn keys_here(&self, named: Named) -> Vec<Key> {
        let mut found = Vec::new();
        for at in self.here.open() {
            let (its, row) = (self.here.get(at), u32::try_from(at).unwrap_or(u32::MAX));
            let mut add = |hash| found.push(Key { hash, amount: its.amount, day: its.day, at: row });
            match named {
                Named::Alone => {
                    keys::names(&its, &self.map.here.operation_prefixes)
                        .for_each(|name| add(keys::of_word(name)));
                }
                Named::Party if !keys::party(&its).is_empty() => add(keys::of_word(keys::party(&its))),
                Named::Party => {}
                Named::Not => add(0),
            }
        }
        found
    }

    /// By words that name the operation; with another amount only once all with the same have found each other.
    fn by_names(&mut self, same_amount: bool) {
        let mut index = Index::new(self.keys_here(Named::Alone));
        let days = self.map.tolerance_days();
        for at in self.statement.items.open().collect::<Vec<_>>() {
            let there = self.statement.items.get(at);
            let here = &self.here;
            let found = keys::words(&there).find_map(|word| {
                let hash = keys::of_word(word);
                if !index.has(hash) {
                    return None;
                }
                let found = if same_amount {
                    let near = index.near((hash, there.amount, there.day), days, here);
                    near.or_else(|| {
                        index
                            .with_amount(hash, there.amount, here)
                            .filter(|_| is_telling(word, there.operation))
                    })
                } else {
                    index.with_sign((hash, there.amount), here).filter(|_| is_telling(word, there.operation))
                };
                found.filter(|found| is_named(here, *found, word, &self.map.here.operation_prefixes))
            });
            if let Some(found) = found {
                let is_id = there.operation == here.get(found).operation;
                self.meet(at, found, if is_id { Named::Alone } else { Named::Party });
            }
        }
    }

    /// Lines that name what is matched already are there once more. Amount and day would find another movement for them.
    fn note_named_again(&mut self) {
        let items = &self.statement.items;
        let is_again = |at: &usize| {
            let its = items.get(*at);
            let by_operation = !its.operation.is_empty()
                && self.named.contains(&keys::of_operation(its.operation, its.amount));
            let mut telling = keys::words(&its).filter(|word| is_telling(word, its.operation));
            let was_doubled =
                its.since.is_some() && self.doubled_before.contains(&keys::of_id(&there_id(&its)));
            by_operation
                || was_doubled
                || telling.any(|word| self.named.contains(&keys::of_word_at(word, its.amount)))
        };
        self.named_again = items.open().filter(is_again).collect();
    }

    /// By amount and day. Movements before the first day that was ever compared come last: most of them have their line in a
    /// statement that nobody compared.
    fn by_day(&mut self, named: Named) {
        for is_old in [false, true] {
            let mut here = self.keys_here(named);
            here.retain(|key| (key.day < self.since_ever) == is_old);
            if !here.is_empty() {
                self.in_order_of_days(named, here);
            }
        }
    }

    /// Of each text and amount both sides in the order of days: so most find each other.
    fn in_order_of_days(&mut self, named: Named, mut here: Vec<Key>) {
        here.sort_unstable();
        let mut there = self.keys_there(named, &here);
        there.sort_unstable();
        let days = self.map.tolerance_days();
        let mut rest = here.into_iter().peekable();
        for line in there {
            let (at, text) = (line.at as usize, (line.hash, line.amount));
            if !self.statement.items.is_open(at) {
                continue;
            }
            let is_passed = |key: &Key| {
                (key.hash, key.amount) < text
                    || (key.hash, key.amount) == text
                        && (key.day.plus(days) < line.day || !self.here.is_open(key.at as usize))
            };
            while rest.next_if(is_passed).is_some() {}
            let fits = |key: &Key| {
                (key.hash, key.amount) == text && key.day.distance(line.day) <= days.unsigned_abs()
            };
            if rest.peek().is_some_and(fits)
                && let Some(key) = rest.next()
            {
                self.meet(at, key.at as usize, named);
            }
        }
    }

    /// Open lines under the texts under which there are movements.
    fn keys_there(&self, named: Named, here: &[Key]) -> Vec<Key> {
        let texts: HashSet<u64> = here.iter().map(|key| key.hash).collect();
        let mut found = Vec::new();
        for at in self.statement.items.open().filter(|at| !self.named_again.contains(at)) {
            let (its, row) = (self.statement.items.get(at), u32::try_from(at).unwrap_or(u32::MAX));
            let mut add = |hash| found.push(Key { hash, amount: its.amount, day: its.day, at: row });
            match named {
                Named::Not => add(0),
                _ => keys::words(&its).map(keys::of_word).filter(|word| texts.contains(word)).for_each(add),
            }
        }
        found
    }

    fn meet(&mut self, at: usize, found: usize, named: Named) {
        match named {
            Named::Alone => self.matched.operation += 1,
            Named::Party => self.matched.reference += 1,
            Named::Not => self.matched.amount_and_day += 1,
        }
        self.here.close(found);
        let here = std::mem::take(&mut self.here);
        self.pair(at, &here.get(found), named == Named::Not);
        self.here = here;
    }
}

/// Whether a word counts against the amount or the day: short ones, such as numbers of few digits, are everywhere.
fn is_telling(word: &str, operation: &str) -> bool {
    word == operation || word.len() >= TELLING_BYTES_MIN
}

/// Whether a word is a name of a movement, and not only has the same key.
fn is_named(here: &Items, at: usize, word: &str, prefixes: &[String]) -> bool {
    keys::names(&here.get(at), prefixes).any(|name| name.eq_ignore_ascii_case(word))
}
