//! Row slots by hash, in shards that grow one at a time, so that no command waits while a table of
//! millions is rehashed.

use hashbrown::HashTable;

/// How many shards there are; a power of two.
const SHARDS: usize = 256;

/// Row slots, by the hashes of their keys.
#[derive(Debug)]
pub struct Index {
    shards: Vec<HashTable<u32>>,
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
        self.shards[shard(hash)].find(hash, |place| is_it(*place)).copied()
    }

    /// Adds a slot that is not in the index; `hash_of` returns the hashes of other slots.
    pub fn insert(&mut self, hash: u64, place: u32, hash_of: impl Fn(u32) -> u64) {
        self.shards[shard(hash)].insert_unique(hash, place, |place| hash_of(*place));
        self.length += 1;
    }

    /// Removes the slot with this hash for which `is_it` returns true.
    pub fn remove(&mut self, hash: u64, mut is_it: impl FnMut(u32) -> bool) {
        if let Ok(entry) = self.shards[shard(hash)].find_entry(hash, |place| is_it(*place)) {
            entry.remove();
            self.length -= 1;
        }
    }
}

/// The shards' tables use the lowest and the highest bits; these are in between.
fn shard(hash: u64) -> usize {
    (hash >> 40) as usize & (SHARDS - 1)
}
