//! The rows of a table in the order of their names: small sorted blocks of row numbers under the name at which each block
//! begins. The names themselves stay in the rows, so that a row costs about seven bytes here.

use std::collections::BTreeMap;
use std::ops::Bound;

use compact_str::CompactString;

use super::Chunks;

/// The most rows of a block.
const BLOCK_ROWS: usize = 128;

/// The rows of a table.
type Rows<K, V> = Chunks<Option<(K, V)>>;

/// The listed rows of a table by name, and the name of a key, if it is listed.
#[derive(Debug)]
pub(super) struct ByName<K> {
    names: Names,
    name_of: fn(&K) -> Option<&str>,
}

impl<K> ByName<K> {
    pub(super) fn new(name_of: fn(&K) -> Option<&str>) -> Self {
        Self { names: Names::default(), name_of }
    }

    /// Adds a row of a key that has none.
    pub(super) fn add<V>(&mut self, key: &K, row: u32, rows: &Rows<K, V>) {
        if let Some(name) = (self.name_of)(key) {
            let name_of = self.name_of;
            self.names.add(name, row, |row| name_at(rows, name_of, row));
        }
    }

    /// Removes a row while it still has its name.
    pub(super) fn remove<V>(&mut self, row: u32, rows: &Rows<K, V>) {
        let name_of = self.name_of;
        let key = rows.get(row as usize).and_then(Option::as_ref).map(|(key, _)| key);
        if let Some(name) = key.and_then(name_of) {
            self.names.remove(name, row, |row| name_at(rows, name_of, row));
        }
    }

    /// The rows whose name is not before a bound, in order.
    pub(super) fn from<'a, V>(
        &'a self,
        bound: Bound<&str>,
        rows: &'a Rows<K, V>,
    ) -> impl Iterator<Item = u32> + use<'a, K, V> {
        self.names.from(bound, |row| name_at(rows, self.name_of, row))
    }

    /// The same for all rows of a table.
    pub(super) fn sorted<V>(self, rows: &Rows<K, V>) -> Self {
        let listed = (0..).zip(rows.iter());
        let listed =
            listed.filter(|(_, row)| row.as_ref().is_some_and(|(key, _)| (self.name_of)(key).is_some()));
        let listed = listed.map(|(row, _)| row).collect();
        Self { names: Names::sorted(listed, |row| name_at(rows, self.name_of, row)), ..self }
    }
}

/// The name of a row that is listed.
fn name_at<K, V>(rows: &Rows<K, V>, name_of: fn(&K) -> Option<&str>, row: u32) -> &str {
    let row = rows.get(row as usize).and_then(Option::as_ref);
    row.and_then(|(key, _)| name_of(key)).unwrap_or_default()
}

/// Rows in the order of their names.
#[derive(Debug, Default)]
struct Names {
    /// Each block has the names from its own key to that of the next; the first key is empty.
    blocks: BTreeMap<CompactString, Vec<u32>>,
}

impl Names {
    /// The order of rows that are in no order yet.
    fn sorted<'a>(mut rows: Vec<u32>, name_of: impl Fn(u32) -> &'a str) -> Self {
        rows.sort_by(|one, other| name_of(*one).cmp(name_of(*other)));
        let mut names = Self::default();
        for block in rows.chunks(BLOCK_ROWS) {
            let key = if names.blocks.is_empty() { "" } else { name_of(block[0]) };
            names.blocks.insert(key.into(), block.to_vec());
        }
        names
    }

    /// Adds a row whose name no other has.
    fn add<'a>(&mut self, name: &str, row: u32, name_of: impl Fn(u32) -> &'a str) {
        let Some((_, block)) = self.blocks.range_mut::<str, _>(up_to(name)).next_back() else {
            self.blocks.insert(CompactString::default(), vec![row]);
            return;
        };
        let at = block.partition_point(|other| name_of(*other) < name);
        if block.len() < BLOCK_ROWS {
            return block.insert(at, row);
        }
        // Names that rise, as numbered ones do, leave full blocks behind.
        if at == BLOCK_ROWS {
            self.blocks.insert(name.into(), vec![row]);
            return;
        }
        let mut upper = block.split_off(BLOCK_ROWS / 2);
        match at.checked_sub(BLOCK_ROWS / 2) {
            Some(at) if at > 0 => upper.insert(at, row),
            _ => block.insert(at, row),
        }
        self.blocks.insert(name_of(upper[0]).into(), upper);
    }

    /// Removes a row.
    fn remove<'a>(&mut self, name: &str, row: u32, name_of: impl Fn(u32) -> &'a str) {
        let Some((key, block)) = self.blocks.range_mut::<str, _>(up_to(name)).next_back() else { return };
        let at = block.partition_point(|other| name_of(*other) < name);
        if block.get(at) == Some(&row) {
            block.remove(at);
        }
        // The first one stays: every name finds a block at or before it.
        if block.is_empty() && !key.is_empty() {
            let key = key.clone();
            self.blocks.remove(&key);
        }
    }

    /// The rows whose name is not before a bound, in order.
    fn from<'a, 'n, F: Fn(u32) -> &'a str>(
        &'n self,
        bound: Bound<&str>,
        name_of: F,
    ) -> impl Iterator<Item = u32> + use<'a, 'n, F> {
        let name = match bound {
            Bound::Included(name) | Bound::Excluded(name) => name,
            Bound::Unbounded => "",
        };
        let is_before = |row: &u32| match bound {
            Bound::Included(name) => name_of(*row) < name,
            Bound::Excluded(name) => name_of(*row) <= name,
            Bound::Unbounded => false,
        };
        let begun = self.blocks.range::<str, _>(up_to(name)).next_back();
        let first = begun.map_or(&[][..], |(_, block)| &block[block.partition_point(is_before)..]);
        let rest = self.blocks.range::<str, _>((Bound::Excluded(name), Bound::Unbounded));
        first.iter().chain(rest.flat_map(|(_, block)| block)).copied()
    }
}

const fn up_to(name: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Unbounded, Bound::Included(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Reversible, Table};

    /// Names that come in no order: that of row n, and those of all rows below `count` in order.
    fn names(count: u32) -> (Vec<String>, Vec<u32>) {
        let names: Vec<String> = (0..count).map(|row| format!("{:05}", row * 7_919 % count)).collect();
        let mut rows: Vec<u32> = (0..count).collect();
        rows.sort_by_key(|row| names[*row as usize].clone());
        (names, rows)
    }

    fn all(names: &Names, texts: &[String]) -> Vec<u32> {
        names.from(Bound::Unbounded, |row| &texts[row as usize]).collect()
    }

    #[test]
    fn rows_are_in_order_whether_added_one_by_one_or_sorted_at_once() {
        let (texts, expected) = names(5_000);
        let of = |row: u32| texts[row as usize].as_str();
        let mut one_by_one = Names::default();
        (0..5_000).for_each(|row| one_by_one.add(of(row), row, of));
        assert_eq!(all(&one_by_one, &texts), expected);
        let at_once = Names::sorted((0..5_000).collect(), of);
        assert_eq!(all(&at_once, &texts), expected);
        for names in [&one_by_one, &at_once] {
            for at in [0, 63, 64, 127, 128, 2_500, 4_999] {
                let name = of(expected[at]);
                let behind: Vec<u32> = names.from(Bound::Excluded(name), of).take(200).collect();
                assert_eq!(behind, expected[at + 1..].iter().copied().take(200).collect::<Vec<_>>());
                assert_eq!(names.from(Bound::Included(name), of).next(), Some(expected[at]));
            }
            assert_eq!(names.from(Bound::Included("99999"), of).next(), None);
        }
    }

    #[test]
    fn removed_rows_are_gone_and_the_others_stay_in_order() {
        let (texts, expected) = names(2_000);
        let of = |row: u32| texts[row as usize].as_str();
        let mut names = Names::sorted((0..2_000).collect(), of);
        let is_removed = |row: &u32| !row.is_multiple_of(5) || texts[*row as usize].as_str() < "00900";
        (0..2_000).filter(is_removed).for_each(|row| names.remove(of(row), row, of));
        let left: Vec<u32> = expected.iter().copied().filter(|row| !is_removed(row)).collect();
        assert_eq!(all(&names, &texts), left);
        (0..2_000).filter(is_removed).for_each(|row| names.add(of(row), row, of));
        assert_eq!(all(&names, &texts), expected);
    }

    #[test]
    fn rising_names_fill_their_blocks() {
        let texts: Vec<String> = (0..4_096).map(|row| format!("{row:06}")).collect();
        let mut names = Names::default();
        (0..4_096).for_each(|row| names.add(&texts[row as usize], row, |row| &texts[row as usize]));
        assert_eq!(names.blocks.len(), 4_096 / BLOCK_ROWS);
    }

    #[test]
    fn rows_are_listed_by_name_through_changes_and_rollbacks() {
        let mut table: Table<String, u64> =
            Table::by_name(7, |key| Some(key.as_str()).filter(|name| !name.starts_with('$')));
        let listed = |table: &Table<String, u64>| {
            table.listed(Bound::Excluded("b")).map(|(key, _)| key.clone()).collect::<Vec<_>>().join(" ")
        };
        for (number, key) in ["d", "a", "$w", "c", "b", "e"].into_iter().enumerate() {
            table.insert(key.to_owned(), number as u64);
        }
        assert_eq!(listed(&table), "c d e");
        table.begin();
        table.remove(&"d".to_owned());
        table.insert("f".to_owned(), 1);
        table.insert("d".to_owned(), 2);
        table.remove(&"c".to_owned());
        assert_eq!(listed(&table), "d e f");
        table.rollback();
        assert_eq!(listed(&table), "c d e");
    }
}
