//! Snapshots in slices: a container that is frozen remembers the rows that changes overwrite, until they are written. So
//! a snapshot of one moment is written bit by bit while commands go on, and takes no second copy of the state.

use std::collections::BTreeMap;

use crate::codec::Wire;
use crate::pieces::PieceWriter;

/// How many bytes of a row count as another row.
const BYTES_PER_ROW: u64 = 64;

/// How many places without a row, which are passed over, count as a row.
const PASSED_PER_ROW: u64 = 8;

/// A slice that is being written.
pub(crate) struct Slice<'a, 'b> {
    out: &'a mut PieceWriter<'b>,
    /// How many rows still fit.
    left: u64,
    /// How many places without a row were passed over since they last counted.
    passed: u64,
}

impl<'a, 'b> Slice<'a, 'b> {
    /// A slice of about so many rows; large rows count as several.
    pub(crate) fn new(out: &'a mut PieceWriter<'b>, rows_max: u64) -> Self {
        Self { out, left: rows_max.max(1), passed: 0 }
    }

    /// How many rows still fit.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Writes a row, which `put` appends.
    pub(crate) fn row(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        let before = self.out.bytes();
        self.out.row(put);
        self.left = self.left.saturating_sub(1 + (self.out.bytes() - before) / BYTES_PER_ROW);
    }

    /// Passes over a place without a row, which takes time, too.
    fn pass(&mut self) {
        self.passed += 1;
        if self.passed == PASSED_PER_ROW {
            self.passed = 0;
            self.left = self.left.saturating_sub(1);
        }
    }

    pub(crate) fn value(&mut self, value: &impl Wire) {
        self.row(|out| value.put(out));
    }
}

/// Can be written in slices, as it was at one moment.
pub(crate) trait Sliced {
    /// From now on it is written as it is now, whatever changes.
    fn freeze(&mut self);

    /// Writes as much as fits. Returns whether that was the last; then nothing is remembered any more.
    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool;

    /// About how many bytes it remembers because changes overwrote them before they were written.
    fn remembered_bytes(&self) -> usize;

    /// Ends it early.
    fn thaw(&mut self);
}

/// What a row has apart from itself, as a long id, and what the allocator adds to it.
const APART_BYTES: usize = 64;

/// The rows of a frozen container.
#[derive(Debug)]
pub(crate) struct Frozen<K, V> {
    /// How many rows there were, until that is written.
    count: Option<u64>,
    /// The next key that is written, if any is left, and the last one.
    next: Option<K>,
    last: K,
    /// What changes have overwritten since, of what is not written yet: rows, and `None` where there was no row.
    before: BTreeMap<K, Option<V>>,
    /// About how many bytes that takes, and what a row has apart from itself.
    bytes: usize,
    apart: fn(&V) -> usize,
}

/// Writes rows that are frozen, and thaws them behind the last; where none are, because there was none, that there is none. Returns
/// whether that was all.
pub(crate) fn put_frozen<'r, K: Ord + Clone, V, W: 'r, L: Iterator<Item = (K, Option<&'r W>)>>(
    frozen: &mut Option<Box<Frozen<K, V>>>,
    slice: &mut Slice<'_, '_>,
    live: impl FnOnce(&K, &K) -> L,
    put_live: impl Fn(&K, &W, &mut Vec<u8>),
    put_saved: impl Fn(&K, &V, &mut Vec<u8>),
) -> bool {
    let Some(rows) = frozen else {
        slice.value(&0_u64);
        return true;
    };
    let is_over = rows.put(slice, live, put_live, put_saved);
    if is_over {
        *frozen = None;
    }
    is_over
}

impl<K: Ord + Clone, V> Frozen<K, V> {
    /// Rows from the first to the last key.
    pub(crate) fn new(count: usize, first: K, last: K) -> Self {
        Self::with_apart(count, first, last, |_| APART_BYTES)
    }

    /// The same where rows have more bytes apart than those of an id.
    pub(crate) fn with_apart(count: usize, first: K, last: K, apart: fn(&V) -> usize) -> Self {
        let before = BTreeMap::new();
        Self { count: Some(count as u64), next: Some(first), last, before, bytes: 0, apart }
    }

    /// About how many bytes the remembered rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A row with its share of a node of the tree, two thirds of which are in use.
    fn bytes_of(&self, row: Option<&V>) -> usize {
        size_of::<(K, Option<V>)>() * 3 / 2 + row.map_or(0, self.apart)
    }

    /// Remembers a row that is about to change, if it must be.
    pub(crate) fn save(&mut self, key: &K, row: impl FnOnce() -> Option<V>) {
        let is_left = self.next.as_ref().is_some_and(|next| next <= key) && *key <= self.last;
        if is_left && !self.before.contains_key(key) {
            let row = row();
            self.bytes += self.bytes_of(row.as_ref());
            self.before.insert(key.clone(), row);
        }
    }

    /// Writes the rows that follow. `live` are those from a key to another one as they are now. Returns whether there are no more.
    pub(crate) fn put<'r, W: 'r, L: Iterator<Item = (K, Option<&'r W>)>>(
        &mut self,
        slice: &mut Slice<'_, '_>,
        live: impl FnOnce(&K, &K) -> L,
        put_live: impl Fn(&K, &W, &mut Vec<u8>),
        put_saved: impl Fn(&K, &V, &mut Vec<u8>),
    ) -> bool {
        if let Some(count) = self.count.take() {
            slice.value(&count);
        }
        let Some(first) = self.next.take() else { return true };
        let mut live = live(&first, &self.last).peekable();
        loop {
            let saved = self.before.first_key_value().map(|(key, _)| key);
            let is_saved = match (live.peek(), saved) {
                (None, None) => return true,
                (Some((key, _)), Some(saved)) => saved <= key,
                (None, Some(_)) => true,
                (Some(_), None) => false,
            };
            if !slice.has_room() {
                let next = if is_saved { saved.cloned() } else { live.next().map(|(key, _)| key) };
                self.next = next;
                return false;
            }
            if is_saved {
                let Some((key, row)) = self.before.pop_first() else { return true };
                self.bytes = self.bytes.saturating_sub(self.bytes_of(row.as_ref()));
                live.next_if(|(its, _)| *its == key);
                match row {
                    Some(row) => slice.row(|out| put_saved(&key, &row, out)),
                    None => slice.pass(),
                }
            } else {
                match live.next() {
                    Some((key, Some(row))) => slice.row(|out| put_live(&key, row, out)),
                    _ => slice.pass(),
                }
            }
        }
    }
}
