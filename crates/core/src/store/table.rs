//! A hash table whose rows keep their slot, so that one lookup serves a decision and the change that
//! follows it.

use std::cell::Cell;
use std::hash::{BuildHasher, Hash};
use std::ops::Bound;

use foldhash::fast::FixedState;

use super::chains::Chains;
use super::names::ByName;
use super::slices::{Frozen, put_frozen};
use super::{Chunks, Index, Reversible, Slice, Sliced};
use crate::codec::{Input, Malformed, Wire};
use crate::pieces::{PieceReader, PieceWriter};

/// The slot of a row. Stays valid until the row is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Wire for Slot {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        u32::get(input).map(Slot)
    }
}

#[derive(Debug)]
enum Change<K, V> {
    /// In a new slot.
    Appended,
    /// In a slot that was free.
    Inserted(Slot),
    Updated(Slot, V),
    Removed(Slot, K, V),
}

/// The rows of each resource, and the resource of a key.
type ByResource<K> = (Chains, fn(&K) -> Slot);

/// What a row is looked up by: its key, or a borrowed part of it with the same hash.
pub trait Lookup<K>: Hash {
    /// Whether this is the key.
    fn is(&self, key: &K) -> bool;
}

impl<K: Hash + Eq> Lookup<K> for K {
    #[inline]
    fn is(&self, key: &K) -> bool {
        self == key
    }
}

impl<A: Hash + Eq, B: Hash + Eq> Lookup<(A, B)> for (A, &B) {
    #[inline]
    fn is(&self, key: &(A, B)) -> bool {
        self.0 == key.0 && *self.1 == key.1
    }
}

/// Rows by key. Never iterated in hash order, so the state never depends on hashes.
#[derive(Debug)]
pub struct Table<K, V> {
    index: Index,
    rows: Chunks<Option<(K, V)>>,
    free: Vec<u32>,
    hasher: FixedState,
    /// The row found last: a decision and the change after it look up the same one.
    found: Cell<u32>,
    changes: Option<Vec<Change<K, V>>>,
    /// The rows of each resource, and the resource of a key, if rows are looked for by it.
    chains: Option<ByResource<K>>,
    /// The rows in the order of their names, if they are listed.
    names: Option<ByName<K>>,
    /// While a snapshot is written, by slot.
    frozen: Option<Box<Frozen<u32, (K, V)>>>,
}

impl<K: Hash + Eq + Clone, V: Clone> Table<K, V> {
    /// An empty table; `hash_seed` keeps callers from choosing keys that collide.
    #[must_use]
    pub fn new(hash_seed: u64) -> Self {
        Self {
            index: Index::default(),
            rows: Chunks::default(),
            free: Vec::new(),
            hasher: FixedState::with_seed(hash_seed),
            found: Cell::new(u32::MAX),
            changes: None,
            chains: None,
            names: None,
            frozen: None,
        }
    }

    /// An empty table whose rows are also found by the resource that `resource_of` returns for their key.
    #[must_use]
    pub fn by_resource(hash_seed: u64, resource_of: fn(&K) -> Slot) -> Self {
        Self { chains: Some((Chains::default(), resource_of)), ..Self::new(hash_seed) }
    }

    /// An empty table whose rows are also listed in the order of the names that `name_of` returns for their keys; those
    /// without one are left out.
    #[must_use]
    pub fn by_name(hash_seed: u64, name_of: fn(&K) -> Option<&str>) -> Self {
        Self { names: Some(ByName::new(name_of)), ..Self::new(hash_seed) }
    }

    /// The rows whose name is not before a bound, in the order of their names. None in a table that is not
    /// [`Table::by_name`].
    pub fn listed(&self, from: Bound<&str>) -> impl Iterator<Item = (&K, &V)> {
        let rows = self.names.iter().flat_map(move |names| names.from(from, &self.rows));
        rows.filter_map(|row| self.row(row)).map(|(key, value)| (key, value))
    }

    /// The rows of a resource, in no particular order. None in a table that is not [`Table::by_resource`].
    pub fn of_resource(&self, resource: Slot) -> impl Iterator<Item = (&K, &V)> {
        let rows = self.chains.iter().flat_map(move |(chains, _)| chains.rows(resource));
        rows.filter_map(|row| self.row(row)).map(|(key, value)| (key, value))
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The bytes of removed rows, which the next new rows take.
    #[must_use]
    pub fn reusable_bytes(&self) -> usize {
        self.free.len() * size_of::<Option<(K, V)>>()
    }

    /// The slot of the row with a key.
    #[must_use]
    pub fn find(&self, key: &impl Lookup<K>) -> Option<Slot> {
        self.seek(key).ok()
    }

    /// The slot of the row with a key, or the key's hash, for [`Table::insert_absent`].
    pub(crate) fn seek(&self, key: &impl Lookup<K>) -> Result<Slot, u64> {
        let last = self.found.get();
        if self.has(last, key) {
            return Ok(Slot(last));
        }
        let hash = self.hasher.hash_one(key);
        let slot = self.index.find(hash, |slot| self.has(slot, key)).ok_or(hash)?;
        self.found.set(slot);
        Ok(Slot(slot))
    }

    /// The row of a key.
    #[must_use]
    pub fn get(&self, key: &impl Lookup<K>) -> Option<&V> {
        self.find(key).and_then(|slot| self.at(slot))
    }

    /// The row of a key with its slot.
    #[must_use]
    pub fn find_row(&self, key: &impl Lookup<K>) -> Option<(Slot, &V)> {
        let last = self.found.get();
        if let Some((_, value)) = self.row(last).filter(|(found, _)| key.is(found)) {
            return Some((Slot(last), value));
        }
        let slot = self.find(key)?;
        self.at(slot).map(|row| (slot, row))
    }

    /// The row in a slot.
    #[must_use]
    pub fn at(&self, slot: Slot) -> Option<&V> {
        self.row(slot.0).map(|(_, value)| value)
    }

    /// The key of the row in a slot.
    #[must_use]
    pub fn key_at(&self, slot: Slot) -> Option<&K> {
        self.row(slot.0).map(|(key, _)| key)
    }

    /// Every row in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter().flatten().map(|(key, value)| (key, value))
    }

    /// Inserts a row, or replaces the row of the key.
    pub fn insert(&mut self, key: K, value: V) -> Slot {
        match self.seek(&key) {
            Ok(slot) => {
                self.update(slot, |row| *row = value);
                slot
            }
            Err(hash) => self.insert_absent(hash, key, value),
        }
    }

    /// Inserts the row of a key that has none, by what [`Table::seek`] gave.
    pub(crate) fn insert_absent(&mut self, hash: u64, key: K, value: V) -> Slot {
        let (slot, change) = match self.free.pop() {
            Some(slot) => (slot, Change::Inserted(Slot(slot))),
            None => (self.append_row(), Change::Appended),
        };
        self.place(slot, hash, key, value);
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
        Slot(slot)
    }

    /// Changes the row in a slot.
    pub fn update(&mut self, slot: Slot, change: impl FnOnce(&mut V)) {
        self.save(slot.0);
        if let Some(Some((_, value))) = self.rows.get_mut(slot.0 as usize) {
            if let Some(changes) = &mut self.changes {
                changes.push(Change::Updated(slot, value.clone()));
            }
            change(value);
        }
    }

    /// Changes the row of a key, if it exists.
    pub fn update_key(&mut self, key: &impl Lookup<K>, change: impl FnOnce(&mut V)) {
        if let Some(slot) = self.find(key) {
            self.update(slot, change);
        }
    }

    /// Removes the row of a key.
    pub fn remove(&mut self, key: &impl Lookup<K>) -> Option<V> {
        let slot = self.find(key)?;
        self.remove_at(slot)
    }

    /// Removes the row in a slot.
    pub fn remove_at(&mut self, slot: Slot) -> Option<V> {
        let (key, value) = self.displace(slot.0)?;
        self.free.push(slot.0);
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Removed(slot, key, value.clone()));
        }
        Some(value)
    }

    fn append_row(&mut self) -> u32 {
        self.rows.push(None);
        u32::try_from(self.rows.len() - 1).expect("a partition keeps fewer than 2^32 rows of a kind")
    }

    fn row(&self, slot: u32) -> Option<&(K, V)> {
        self.rows.get(slot as usize).and_then(Option::as_ref)
    }

    fn has(&self, slot: u32, key: &impl Lookup<K>) -> bool {
        self.row(slot).is_some_and(|(found, _)| key.is(found))
    }

    /// Remembers a row that is about to change, for a snapshot that has not written it yet.
    #[inline]
    fn save(&mut self, slot: u32) {
        if let Some(frozen) = &mut self.frozen {
            frozen.save(&slot, || self.rows.get(slot as usize).cloned().flatten());
        }
    }

    fn place(&mut self, slot: u32, hash: u64, key: K, value: V) {
        self.save(slot);
        if let Some((chains, resource_of)) = &mut self.chains {
            chains.add(resource_of(&key), slot);
        }
        if let Some(names) = &mut self.names {
            names.add(&key, slot, &self.rows);
        }
        if let Some(row) = self.rows.get_mut(slot as usize) {
            *row = Some((key, value));
        }
        self.index.insert(hash, slot);
        self.found.set(slot);
    }

    fn displace(&mut self, slot: u32) -> Option<(K, V)> {
        self.save(slot);
        if let Some(names) = &mut self.names {
            names.remove(slot, &self.rows);
        }
        let (key, value) = self.rows.get_mut(slot as usize)?.take()?;
        let hash = self.hasher.hash_one(&key);
        self.index.remove(hash, |found| found == slot);
        if let Some((chains, resource_of)) = &mut self.chains {
            chains.remove(resource_of(&key), slot);
        }
        Some((key, value))
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Reversible for Table<K, V> {
    fn begin(&mut self) {
        self.changes = Some(Vec::new());
    }

    fn commit(&mut self) {
        self.changes = None;
    }

    fn rollback(&mut self) {
        for change in self.changes.take().into_iter().flatten().rev() {
            match change {
                Change::Appended => {
                    self.displace(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX));
                    self.rows.pop();
                }
                Change::Inserted(slot) => {
                    self.displace(slot.0);
                    self.free.push(slot.0);
                }
                Change::Updated(slot, before) => {
                    if let Some(Some((_, value))) = self.rows.get_mut(slot.0 as usize) {
                        *value = before;
                    }
                }
                Change::Removed(slot, key, value) => {
                    self.free.pop();
                    self.place(slot.0, self.hasher.hash_one(&key), key, value);
                }
            }
        }
    }
}

impl<K: Wire + Hash + Eq + Clone, V: Wire + Clone> Table<K, V> {
    /// Appends every row, for a snapshot.
    pub fn put(&self, out: &mut PieceWriter<'_>) {
        out.count(self.len());
        for (key, value) in self.iter() {
            out.row(|out| {
                key.put(out);
                value.put(out);
            });
        }
    }

    /// Reads the output of [`Table::put`] into an empty table. Rows that were never removed keep their
    /// slot.
    ///
    /// # Errors
    /// When the bytes do not encode such a table.
    pub fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        // To sort them all at the end costs less than to list them one by one.
        let names = self.names.take();
        for _ in 0..input.value::<u64>()? {
            let (key, value) = input.value()?;
            self.insert(key, value);
        }
        self.names = names.map(|names| names.sorted(&self.rows));
        Ok(())
    }
}

impl<K: Wire + Hash + Eq + Clone, V: Wire + Clone> Sliced for Table<K, V> {
    fn freeze(&mut self) {
        let last = u32::try_from(self.rows.len()).unwrap_or(u32::MAX).checked_sub(1);
        self.frozen = last.map(|last| Box::new(Frozen::new(self.len(), 0, last)));
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        let rows = &self.rows;
        let row = |slot: u32| rows.get(slot as usize).and_then(Option::as_ref);
        let live = |first: &u32, last: &u32| (*first..=*last).map(|slot| (slot, row(slot)));
        let put = |_: &u32, (key, value): &(K, V), out: &mut Vec<u8>| {
            key.put(out);
            value.put(out);
        };
        put_frozen(&mut self.frozen, slice, live, put, put)
    }

    fn remembered_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |frozen| frozen.bytes())
    }

    fn thaw(&mut self) {
        self.frozen = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<u64, u64> {
        let mut table = Table::new(7);
        for key in 0..10 {
            table.insert(key, key * 10);
        }
        table
    }

    fn rows(table: &Table<u64, u64>) -> Vec<(u64, u64)> {
        table.iter().map(|(key, value)| (*key, *value)).collect()
    }

    #[test]
    fn a_rollback_leaves_no_trace() {
        let mut table = table();
        table.remove(&3);
        let before = (rows(&table), table.free.clone(), table.rows.len());
        table.begin();
        table.remove(&5);
        table.insert(3, 1);
        table.insert(5, 2);
        table.insert(11, 3);
        table.update_key(&0, |value| *value = 99);
        table.remove(&11);
        table.insert(12, 4);
        table.rollback();
        assert_eq!((rows(&table), table.free.clone(), table.rows.len()), before);
        assert_eq!(table.get(&5), Some(&50));
        assert_eq!(table.get(&12), None);
    }

    #[test]
    fn places_outlive_growth() {
        let mut table = table();
        let slot = table.find(&4).expect("the row");
        for key in 100..10_000 {
            table.insert(key, key);
        }
        assert_eq!(table.at(slot), Some(&40));
        assert_eq!(table.find(&4), Some(slot));
    }

    #[test]
    fn slices_count_the_places_that_they_pass_over() {
        let mut table: Table<u64, u64> = Table::new(7);
        (0..8_000).for_each(|key| {
            table.insert(key, key);
        });
        (1..8_000).for_each(|key| {
            table.remove(&key);
        });
        table.freeze();
        let mut slices = 1;
        let mut put = || table.put_slice(&mut Slice::new(&mut PieceWriter::new(&mut |_| {}), 100));
        while !put() {
            slices += 1;
        }
        assert!(slices >= 8_000 / 8 / 100, "{slices} slices for eight thousand places");
    }

    #[test]
    fn the_rows_of_a_resource_are_found_through_changes_and_rollbacks() {
        let mut table: Table<(Slot, u64), u64> = Table::by_resource(7, |key| key.0);
        let found = |table: &Table<(Slot, u64), u64>, resource: u32| {
            let mut keys: Vec<u64> = table.of_resource(Slot(resource)).map(|(key, _)| key.1).collect();
            keys.sort_unstable();
            keys
        };
        for key in 0..9 {
            table.insert((Slot(u32::try_from(key).expect("small") % 3), key), key);
        }
        assert_eq!(
            (found(&table, 0), found(&table, 2), found(&table, 9)),
            (vec![0, 3, 6], vec![2, 5, 8], vec![])
        );
        table.remove(&(Slot(0), 3));
        table.begin();
        table.remove(&(Slot(0), 0));
        table.insert((Slot(0), 30), 1);
        table.insert((Slot(5), 1), 1);
        table.insert((Slot(0), 31), 1);
        table.update_key(&(Slot(0), 6), |value| *value = 7);
        assert_eq!((found(&table, 0), found(&table, 5)), (vec![6, 30, 31], vec![1]));
        table.rollback();
        assert_eq!((found(&table, 0), found(&table, 5)), (vec![0, 6], vec![]));
        table.insert((Slot(1), 40), 1);
        assert_eq!((found(&table, 0), found(&table, 1)), (vec![0, 6], vec![1, 4, 7, 40]));
    }
}
