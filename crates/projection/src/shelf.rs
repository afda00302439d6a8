//! The rows of one table that the fold caches: those of the batch, and as many earlier ones as are likely to
//! be needed again.

use std::mem::take;

use compact_str::CompactString;
use hashbrown::{HashMap, HashSet};

use crate::table::{Cell, Manner, Row, Sheet};

/// The hash of keys: seeded, so that callers cannot provoke collisions.
pub(crate) type Hash = foldhash::fast::RandomState;

/// The key of a row within its table: the values of its columns, with a separator that no id has.
pub(crate) type Key = CompactString;

/// Joins the values of a key.
pub(crate) fn key_of(cells: &[Cell]) -> Key {
    use std::fmt::Write;
    let mut key = Key::const_new("");
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            key.push('\0');
        }
        match cell {
            Cell::Text(text) => key.push_str(text),
            Cell::Word(word) => key.push_str(word),
            // Writing to a text cannot fail.
            cell => {
                let _ = write!(key, "{cell}");
            }
        }
    }
    key
}

/// What the batch did to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    New,
    Changed,
}

#[derive(Debug)]
struct Held<R> {
    row: R,
    change: Change,
}

/// A table's rows by key. Recently used ones are in `young`; when it is full it becomes `old`, whose rows are
/// dropped unless they are used again: a row stays until other rows have filled half of the room since its
/// last use, at almost no cost.
#[derive(Debug)]
pub(crate) struct Shelf<R> {
    young: HashMap<Key, Held<R>, Hash>,
    old: HashMap<Key, Held<R>, Hash>,
    rows_max: usize,
    /// The rows that the batch changed or created.
    touched: Vec<Key>,
    /// Rows that the batch changed or created, and whose names it then reused.
    replaced: Vec<Held<R>>,
    /// The rows to read from the database before the batch is applied.
    wanted: HashMap<Key, Vec<Cell>, Hash>,
    /// The rows that the batch will create.
    expected: HashSet<Key, Hash>,
}

impl<R: Row + Clone> Shelf<R> {
    /// A shelf for about `rows_max` rows beyond those of the batch; 0 for rows that are hardly ever used
    /// again.
    pub(crate) fn new(rows_max: usize) -> Self {
        Self {
            young: HashMap::default(),
            old: HashMap::default(),
            rows_max,
            touched: Vec::new(),
            replaced: Vec::new(),
            wanted: HashMap::default(),
            expected: HashSet::default(),
        }
    }

    /// Notes that a row will be used, so that it is read if it is not cached.
    pub(crate) fn want(&mut self, key: &str, cells: impl FnOnce() -> Vec<Cell>) {
        let is_known = self.young.contains_key(key) || self.old.contains_key(key);
        if !is_known && !self.expected.contains(key) && !self.wanted.contains_key(key) {
            self.wanted.insert(key.into(), cells());
        }
    }

    /// Notes that the batch creates a row with this key, so that it need not be read.
    pub(crate) fn expect(&mut self, key: &str) {
        if !self.wanted.contains_key(key) {
            self.expected.insert(key.into());
        }
    }

    /// The rows to read.
    pub(crate) fn wanted(&mut self) -> Vec<Vec<Cell>> {
        take(&mut self.wanted).into_values().collect()
    }

    /// Adds a row that was read.
    pub(crate) fn take_in(&mut self, key: Key, row: R) {
        self.young.insert(key, Held { row, change: Change::None });
    }

    /// A row, for reading.
    pub(crate) fn get(&self, key: &str) -> Option<&R> {
        self.young.get(key).or_else(|| self.old.get(key)).map(|held| &held.row)
    }

    /// A row, for changing.
    pub(crate) fn change(&mut self, key: &str) -> Option<&mut R> {
        if !self.young.contains_key(key) {
            let (key, held) = self.old.remove_entry(key)?;
            self.young.insert(key, held);
        }
        let held = self.young.get_mut(key)?;
        if held.change == Change::None {
            held.change = Change::Changed;
            self.touched.push(key.into());
        }
        Some(&mut held.row)
    }

    /// Adds a new row; an earlier one with its name has ended, and its last state is kept in the database.
    pub(crate) fn add(&mut self, key: Key, row: R) {
        self.old.remove(&key);
        let new = Held { row, change: Change::New };
        match self.young.insert(key.clone(), new) {
            Some(before) if before.change != Change::None => self.replaced.push(before),
            _ => self.touched.push(key),
        }
    }

    /// The rows that the batch created and those that it changed, in the order of the keys: neighboring rows
    /// are then written one after the other, and two writers of the same rows do not deadlock.
    pub(crate) fn sheets(&mut self) -> [Sheet; 2] {
        self.touched.sort_unstable();
        [(Manner::Insert, Change::New), (Manner::Replace, Change::Changed)].map(|(manner, change)| {
            let touched = self.touched.iter().filter_map(|key| self.young.get(key));
            let rows = self.replaced.iter().chain(touched).filter(|held| held.change == change);
            Sheet::new(manner, rows.map(|held| held.row.clone()))
        })
    }

    /// Notes that the batch is in the database: no row is changed or new any more.
    pub(crate) fn settle(&mut self) {
        self.replaced.clear();
        self.expected.clear();
        for key in take(&mut self.touched) {
            if let Some(held) = self.young.get_mut(&key) {
                held.change = Change::None;
            }
        }
        if self.young.len() > self.rows_max / 2 {
            self.old = take(&mut self.young);
        }
        if self.rows_max == 0 {
            self.old.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Text, row};

    row! {
        Numbered in "numbered", key 1 { name: Text, number: i64 }
    }

    fn add(shelf: &mut Shelf<Numbered>, name: &str, number: i64) {
        shelf.add(name.into(), Numbered { name: name.into(), number });
    }

    fn written(shelf: &mut Shelf<Numbered>) -> [usize; 2] {
        shelf.sheets().map(|sheet| sheet.rows())
    }

    #[test]
    fn a_row_is_written_once_however_often_it_was_changed() {
        let mut shelf = Shelf::new(100);
        shelf.take_in("a".into(), Numbered { name: "a".into(), number: 1 });
        for _ in 0..3 {
            shelf.change("a").expect("a row").number += 1;
        }
        add(&mut shelf, "b", 1);
        shelf.change("b").expect("a row").number += 1;
        assert_eq!(written(&mut shelf), [1, 1]);
        shelf.settle();
        assert_eq!(written(&mut shelf), [0, 0]);
        assert_eq!(shelf.get("a").map(|row| row.number), Some(4));
    }

    #[test]
    fn what_was_changed_before_its_name_was_given_away_is_written_too() {
        let mut shelf = Shelf::new(100);
        shelf.take_in("a".into(), Numbered { name: "a".into(), number: 1 });
        shelf.change("a").expect("a row").number = 2;
        add(&mut shelf, "a", 3);
        add(&mut shelf, "a", 4);
        assert_eq!(written(&mut shelf), [2, 1]);
    }

    #[test]
    fn rows_that_are_not_used_are_dropped_and_those_that_are_stay() {
        let mut shelf = Shelf::new(10);
        for number in 0..100 {
            add(&mut shelf, &number.to_string(), number);
            shelf.change("0").expect("the row that is used all the time");
            shelf.settle();
        }
        assert!(shelf.young.len() + shelf.old.len() <= 12);
        assert!(shelf.get("50").is_none());
    }

    #[test]
    fn only_rows_that_are_not_here_and_not_made_by_the_batch_are_read() {
        let mut shelf: Shelf<Numbered> = Shelf::new(10);
        shelf.take_in("here".into(), Numbered { name: "here".into(), number: 1 });
        shelf.expect("made");
        for key in ["here", "made", "missing", "missing"] {
            shelf.want(key, || vec![key.into()]);
        }
        let wanted: Vec<String> =
            shelf.wanted().into_iter().map(|cells| key_of(&cells).to_string()).collect();
        assert_eq!(wanted, ["missing"]);
    }
}
