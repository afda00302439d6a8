//! What the operation alone did not match.

use super::Matcher;
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
            self.by_day(Named::Party);
            self.by_day(Named::Not);
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

    fn index_here(&self, named: Named) -> Index {
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
        Index::new(found)
    }

    /// By words that name the operation; with another amount only once all with the same have found each other.
    fn by_names(&mut self, same_amount: bool) {
        let mut index = self.index_here(Named::Alone);
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
                    index.with_text(hash, here).filter(|_| is_telling(word, there.operation))
                };
                found.filter(|found| is_named(here, *found, word, &self.map.here.operation_prefixes))
            });
            if let Some(found) = found {
                let is_id = there.operation == here.get(found).operation;
                self.meet(at, found, if is_id { Named::Alone } else { Named::Party });
            }
        }
    }

    /// By amount and day, the nearest days of all first.
    fn by_day(&mut self, named: Named) {
        let mut index = self.index_here(named);
        if index.is_empty() {
            return;
        }
        for distance in 0..=self.map.tolerance_days() {
            for at in self.statement.items.open().collect::<Vec<_>>() {
                let there = self.statement.items.get(at);
                let here = &self.here;
                let mut on_day = |hash| {
                    let before = index.on(hash, there.amount, there.day.plus(-distance), here);
                    before.or_else(|| index.on(hash, there.amount, there.day.plus(distance), here))
                };
                let found = match named {
                    Named::Not => on_day(0),
                    _ => keys::words(&there).find_map(|word| {
                        let found = on_day(keys::of_word(word))?;
                        keys::party(&here.get(found)).eq_ignore_ascii_case(word).then_some(found)
                    }),
                };
                if let Some(found) = found {
                    self.meet(at, found, named);
                }
            }
        }
    }

    fn meet(&mut self, at: usize, found: usize, named: Named) {
        match named {
            Named::Alone => self.matched.operation += 1,
            Named::Party => self.matched.reference += 1,
            Named::Not => self.matched.amount_and_day += 1,
        }
        self.here.close(found);
        let here = std::mem::take(&mut self.here);
        self.pair(at, &here.get(found));
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
