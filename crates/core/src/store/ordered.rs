//! An ordered map, for data that is read by range: deadlines, receipts, holds of an account.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use super::slices::{Frozen, put_frozen};
use super::{Reversible, Slice, Sliced, visits};
use crate::codec::{Malformed, Wire};
use crate::pieces::{PieceReader, PieceWriter};

/// Rows in the order of their keys.
#[derive(Debug)]
pub struct Ordered<K, V> {
    rows: BTreeMap<K, V>,
    changes: Option<Vec<(K, Option<V>)>>,
    /// While a snapshot is written.
    frozen: Option<Box<Frozen<K, V>>>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), changes: None, frozen: None }
    }
}

impl<K: Ord + Clone, V: Clone> Ordered<K, V> {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        visits::note();
        self.rows.get(key)
    }

    /// The first row.
    #[must_use]
    pub fn first(&self) -> Option<(&K, &V)> {
        self.rows.first_key_value()
    }

    /// The last row.
    #[must_use]
    pub fn last(&self) -> Option<(&K, &V)> {
        self.rows.last_key_value()
    }

    /// The rows of a range of keys, in order.
    pub fn range(&self, keys: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.range(keys).inspect(|_| visits::note())
    }

    /// Every row, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.iter().inspect(|_| visits::note())
    }

    /// Inserts a row, or replaces the row of the key; returns the row before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.save(&key);
        match &mut self.changes {
            None => self.rows.insert(key, value),
            Some(changes) => {
                let before = self.rows.insert(key.clone(), value);
                changes.push((key, before.clone()));
                before
            }
        }
    }

    /// Changes the row of a key, if it exists.
    pub fn update(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        self.save(key);
        if let Some(value) = self.rows.get_mut(key) {
            if let Some(changes) = &mut self.changes {
                changes.push((key.clone(), Some(value.clone())));
            }
            change(value);
        }
    }

    /// Removes the row of a key.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.save(key);
        let value = self.rows.remove(key)?;
        if let Some(changes) = &mut self.changes {
            changes.push((key.clone(), Some(value.clone())));
        }
        Some(value)
    }

    /// Remembers a row that is about to change, for a snapshot that has not written it yet.
    #[inline]
    fn save(&mut self, key: &K) {
        if let Some(frozen) = &mut self.frozen {
            frozen.save(key, || self.rows.get(key).cloned());
        }
    }

    pub(crate) fn freeze_rows(&mut self) {
        let ends = self.rows.first_key_value().zip(self.rows.last_key_value());
        let ends = ends.map(|((first, _), (last, _))| (first.clone(), last.clone()));
        self.frozen = ends.map(|(first, last)| Box::new(Frozen::new(self.rows.len(), first, last)));
    }

    pub(crate) fn remembered_rows_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |frozen| frozen.bytes())
    }

    pub(crate) fn thaw_rows(&mut self) {
        self.frozen = None;
    }

    /// Writes frozen rows, each as `put` appends it. Returns whether those were the last.
    pub(crate) fn put_rows(&mut self, slice: &mut Slice<'_, '_>, put: impl Fn(&K, &V, &mut Vec<u8>)) -> bool {
        let rows = &self.rows;
        let live = |first: &K, last: &K| {
            rows.range(first.clone()..=last.clone()).map(|(key, row)| (key.clone(), Some(row)))
        };
        put_frozen(&mut self.frozen, slice, live, &put, &put)
    }
}

impl<K: Wire + Ord + Clone, V: Wire + Clone> Sliced for Ordered<K, V> {
    fn freeze(&mut self) {
        self.freeze_rows();
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        self.put_rows(slice, |key, value, out| {
            key.put(out);
            value.put(out);
        })
    }

    fn remembered_bytes(&self) -> usize {
        self.remembered_rows_bytes()
    }

    fn thaw(&mut self) {
        self.thaw_rows();
    }
}

impl<K: Ord + Clone, V: Clone> Reversible for Ordered<K, V> {
    fn begin(&mut self) {
        self.changes = Some(Vec::new());
    }

    fn commit(&mut self) {
        self.changes = None;
    }

    fn rollback(&mut self) {
        for (key, before) in self.changes.take().into_iter().flatten().rev() {
            match before {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
    }
}

impl<K: Wire + Ord + Clone, V: Wire + Clone> Ordered<K, V> {
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

    /// Reads the output of [`Ordered::put`] into an empty map.
    ///
    /// # Errors
    /// When the bytes do not encode such a map.
    pub fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        for _ in 0..input.value::<u64>()? {
            let (key, value) = input.value()?;
            self.insert(key, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_leaves_no_trace() {
        let mut map = Ordered::default();
        map.insert(1, "one");
        map.insert(2, "two");
        map.begin();
        map.remove(&1);
        map.insert(1, "uno");
        map.update(&2, |value| *value = "due");
        map.insert(3, "tre");
        map.rollback();
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&1, &"one"), (&2, &"two")]);
    }
}
