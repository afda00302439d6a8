//! Row slots by hash, in shards that grow one at a time and each at another size, so that no command waits while a
//! table of millions is rehashed. A place is kept with a half of its hash: growing reads no row.

use hashbrown::HashTable;

/// How many shards there are; a power of two.
const SHARDS: usize = 256;

/// A place, and the low half of the hash of its key.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    half: u32,
    place: u32,
}

impl IndexEntry {
    /// A hash for the shard's own table, which uses the lowest and the highest bits.
    fn hash(self) -> u64 {
        #[cfg(test)]
        tests::MOVED.set(tests::MOVED.get() + 1);
        doubled(self.half)
    }
}

/// Row slots, by the hashes of their keys.
#[derive(Debug)]
pub struct Index {
    shards: Vec<HashTable<IndexEntry>>,
    length: usize,
}

impl Default for Index {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| HashTable::new()).collect(), length: 0 }
    }
}

impl Index {
    /// How many slots there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The slot with this hash for which `is_it` returns true.
    #[must_use]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let half = low(hash);
        let is_it = |entry: &IndexEntry| entry.half == half && is_it(entry.place);
        self.shards[shard(hash)].find(doubled(half), is_it).map(|entry| entry.place)
    }

    /// Adds a slot that is not in the index.
    pub fn insert(&mut self, hash: u64, place: u32) {
        let half = low(hash);
        self.shards[shard(hash)]
            .insert_unique(doubled(half), IndexEntry { half, place }, |entry| entry.hash());
        self.length += 1;
    }

    /// Removes the slot with this hash for which `is_it` returns true.
    pub fn remove(&mut self, hash: u64, mut is_it: impl FnMut(u32) -> bool) {
        let half = low(hash);
        let is_it = |entry: &IndexEntry| entry.half == half && is_it(entry.place);
        if let Ok(entry) = self.shards[shard(hash)].find_entry(doubled(half), is_it) {
            entry.remove();
            self.length -= 1;
        }
    }
}

const fn low(hash: u64) -> u32 {
    (hash & 0xffff_ffff) as u32
}

const fn doubled(half: u32) -> u64 {
    ((half as u64) << 32) | half as u64
}

/// The shard, by bits of the hash that no entry keeps. The last shard gets twice as much as the first, and those between
/// so much that they reach the sizes at which a table grows one after the other: by about the binary logarithm of
/// 1 + part.
const fn shard(hash: u64) -> usize {
    const ONE: u64 = 1 << 16;
    let part = (hash >> 32) & (ONE - 1);
    let bent = part + ((part * (ONE - part)) >> 16) * 11 / 32;
    (((bent * SHARDS as u64) >> 16) & (SHARDS as u64 - 1)) as usize
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    std::thread_local! {
        /// How many entries were moved because a shard grew.
        pub(super) static MOVED: Cell<u64> = const { Cell::new(0) };
    }

    fn hash(key: u32) -> u64 {
        let mixed = (u64::from(key) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 32)
    }

    #[test]
    fn what_was_added_is_found_until_it_is_removed() {
        let mut index = Index::default();
        for key in 0..20_000 {
            assert_eq!(index.find(hash(key), |place| place == key), None);
            index.insert(hash(key), key);
        }
        for key in (0..20_000).step_by(2) {
            index.remove(hash(key), |place| place == key);
        }
        assert_eq!(index.len(), 10_000);
        for key in 0..20_000 {
            let expected = Some(key).filter(|key| key % 2 == 1);
            assert_eq!(index.find(hash(key), |place| place == key), expected);
        }
    }

    #[test]
    fn growth_is_spread_over_all_insertions() {
        const COUNT: u32 = 1 << 20;
        const WINDOW: u32 = COUNT / 64;
        let mut index = Index::default();
        let mut windows = vec![0; 64];
        let mut most = 0;
        for key in 0..COUNT {
            let before = MOVED.get();
            index.insert(hash(key), key);
            let moved = MOVED.get() - before;
            most = most.max(moved);
            windows[(key / WINDOW) as usize] += moved;
        }
        assert!(most <= u64::from(COUNT) * 2 / SHARDS as u64, "one insertion moved {most} entries");
        // From half of them on, each is moved about once.
        let busiest = windows[32..].iter().max().copied().unwrap_or_default();
        assert!(busiest <= u64::from(COUNT) / 16, "{busiest} entries were moved within {WINDOW} insertions");
    }
}
