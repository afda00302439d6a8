//! Where the record of a key is: six bytes an entry, sixteen bits of the key's hash and a place. The entries of a shard are
//! in the order of those bits and close to where they would be if all were evenly spread, so that a search begins at
//! the right spot, and ends at the first entry that is greater. Nothing is removed: the entry of a record that was
//! forgotten is known by its place, and a new entry takes its room. Shards grow one at a time, without reading a record.

/// How many shards there are, as a power of two: as many ids as are remembered at most are some thousands in each.
const SHARD_BITS: u32 = 12;
/// How many bits of a hash say which shard it is in.
const PART_BITS: u32 = 24;
/// No entry has this tag.
const EMPTY: u16 = u16::MAX;
/// The fewest slots of a shard that has entries, those at the end not counted.
const HOMES_MIN: usize = 8;

/// A place, and the bits of the hash by which entries are ordered.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    tag: u16,
    /// As bytes, so that an entry takes no more than six.
    place: [u8; 4],
}

const VACANT: IndexEntry = IndexEntry { tag: EMPTY, place: [u8::MAX; 4] };

impl IndexEntry {
    const fn place(self) -> u32 {
        u32::from_le_bytes(self.place)
    }
}

/// The entries whose hashes begin alike.
#[derive(Clone, Debug, Default)]
struct Shard {
    slots: Vec<IndexEntry>,
    /// How many slots an entry may begin its search at; those behind take what is pushed beyond them.
    homes: u32,
    /// How many slots hold an entry, be its record forgotten or not.
    used: u32,
}

/// The places of records, by the hashes of their keys.
#[derive(Debug)]
pub(super) struct Index {
    shards: Vec<Shard>,
}

impl Default for Index {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << SHARD_BITS] }
    }
}

impl Index {
    /// The place with this hash for which `is_it` returns true.
    pub(super) fn find(&self, hash: u64, is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let shard = &self.shards[shard_of(hash)];
        shard.find(tag_of(hash), is_it).map(|at| shard.slots[at].place())
    }

    /// Adds a place that is not in the index. `is_alive` says of a place whether its record is still there.
    pub(super) fn insert(&mut self, hash: u64, place: u32, is_alive: impl Fn(u32) -> bool) {
        self.shards[shard_of(hash)].insert(tag_of(hash), place, &is_alive);
    }

    /// Puts another place where one is. False if it is not there.
    pub(super) fn replace(&mut self, hash: u64, old: u32, new: u32) -> bool {
        let shard = &mut self.shards[shard_of(hash)];
        let found = shard.find(tag_of(hash), |place| place == old);
        if let Some(at) = found {
            shard.slots[at].place = new.to_le_bytes();
        }
        found.is_some()
    }
}

impl Shard {
    /// The slot of the entry with this tag whose place `is_it` accepts.
    fn find(&self, tag: u16, mut is_it: impl FnMut(u32) -> bool) -> Option<usize> {
        let start = self.home(tag);
        for (steps, entry) in self.slots.get(start..)?.iter().enumerate() {
            if entry.tag > tag {
                return None;
            }
            if entry.tag == tag && is_it(entry.place()) {
                return Some(start + steps);
            }
        }
        None
    }

    fn insert(&mut self, tag: u16, place: u32, is_alive: &impl Fn(u32) -> bool) {
        if self.is_full() {
            self.lay_out(is_alive);
        }
        let start = self.home(tag);
        let at = self.slots[start..].iter().position(|entry| entry.tag > tag).map(|steps| start + steps);
        // The entries from there on move by one, up to the first slot that nobody needs.
        let is_free = |entry: &IndexEntry| entry.tag == EMPTY || !is_alive(entry.place());
        let free = at.and_then(|at| self.slots[at..].iter().position(is_free).map(|steps| at + steps));
        let (Some(at), Some(free)) = (at, free) else {
            self.slots.reserve_exact(2);
            self.slots.push(VACANT);
            return self.insert(tag, place, is_alive);
        };
        self.used += u32::from(self.slots[free].tag == EMPTY);
        if free > at {
            self.slots.copy_within(at..free, at + 1);
        }
        self.slots[at] = IndexEntry { tag, place: place.to_le_bytes() };
    }

    /// Where an entry with this tag would be if the entries were evenly spread.
    const fn home(&self, tag: u16) -> usize {
        ((tag as u64 * self.homes as u64) >> 16) as usize
    }

    /// Beyond nine tenths, entries get far from where they are sought.
    const fn is_full(&self) -> bool {
        self.used >= self.homes - self.homes / 10
    }

    /// Lays the entries out anew, with room for more, without those whose records were forgotten.
    fn lay_out(&mut self, is_alive: &impl Fn(u32) -> bool) {
        let is_kept = |entry: &&IndexEntry| entry.tag != EMPTY && is_alive(entry.place());
        let count = self.slots.iter().filter(is_kept).count();
        let homes = (count + count / 4 + 2).next_multiple_of(4).max(HOMES_MIN);
        let mut laid = Self {
            slots: Vec::with_capacity(homes + homes / 64 + 2),
            homes: u32::try_from(homes).unwrap_or(u32::MAX),
            used: u32::try_from(count).unwrap_or(u32::MAX),
        };
        for entry in self.slots.iter().filter(is_kept) {
            #[cfg(test)]
            tests::MOVED.set(tests::MOVED.get() + 1);
            let home = laid.home(entry.tag);
            if home > laid.slots.len() {
                laid.slots.resize(home, VACANT);
            }
            laid.slots.push(*entry);
        }
        let slots = laid.slots.len().max(homes + homes / 64) + 2;
        laid.slots.resize(slots, VACANT);
        *self = laid;
    }
}

/// The shard, by the first bits of the hash. The last shard gets twice as much as the first, and those between so much
/// that each size of a shard is as frequent as any other: shards grow one after another, and each takes the memory that
/// another one has left.
const fn shard_of(hash: u64) -> usize {
    const ONE: u64 = 1 << PART_BITS;
    let part = hash >> (64 - PART_BITS);
    // About the binary logarithm of 1 + part.
    let bent = part + ((part * (ONE - part)) >> PART_BITS) * 11 / 32;
    (bent >> (PART_BITS - SHARD_BITS)) as usize
}

/// The bits behind those of the shard, below [`EMPTY`].
fn tag_of(hash: u64) -> u16 {
    let bits = (hash << PART_BITS) >> 32;
    u16::try_from((bits * u64::from(EMPTY)) >> 32).unwrap_or(EMPTY - 1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    std::thread_local! {
        /// How many entries were moved because a shard was laid out anew.
        pub(super) static MOVED: Cell<u64> = const { Cell::new(0) };
    }

    fn hash(key: u32) -> u64 {
        let mixed = (u64::from(key) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 32)
    }

    fn slots(index: &Index) -> usize {
        index.shards.iter().map(|shard| shard.slots.capacity()).sum()
    }

    #[test]
    fn what_was_added_is_found_until_its_record_is_forgotten() {
        let mut index = Index::default();
        for key in 0..60_000_u32 {
            let first = key.saturating_sub(20_000);
            assert_eq!(index.find(hash(key), |place| place == key), None);
            index.insert(hash(key), key, |place| place >= first);
            for key in [first + 1, key.midpoint(first), key].into_iter().filter(|known| *known <= key) {
                assert_eq!(index.find(hash(key), |place| place == key), Some(key));
            }
        }
    }

    #[test]
    fn keys_that_look_alike_are_told_apart_and_places_replaced() {
        let mut index = Index::default();
        for place in 0..500 {
            index.insert(u64::MAX, place, |_| true);
            index.insert(0, place, |_| true);
        }
        for place in 0..500 {
            assert_eq!(index.find(u64::MAX, |found| found == place), Some(place));
            assert!(index.replace(u64::MAX, place, place + 1_000));
            assert!(!index.replace(u64::MAX, place, place + 1_000));
            assert_eq!(index.find(u64::MAX, |found| found == place + 1_000), Some(place + 1_000));
        }
        assert_eq!(index.find(0, |found| found >= 500), None);
    }

    #[test]
    fn places_that_wrap_are_told_from_forgotten_ones() {
        let mut index = Index::default();
        let mut first = u32::MAX - 3_000;
        for count in 0..9_000_u32 {
            let place = (u32::MAX - 3_000).wrapping_add(count);
            index.insert(hash(count), place, |place| place.wrapping_sub(first) < 1_000);
            first = place.wrapping_sub(999);
            assert_eq!(index.find(hash(count), |found| found == place), Some(place));
        }
    }

    #[test]
    fn no_insertion_moves_more_than_a_shard_and_the_room_of_forgotten_ones_is_used_again() {
        const COUNT: u32 = 3 << 19;
        let mut index = Index::default();
        let (mut most, mut full) = (0, 0);
        for key in 0..2 * COUNT {
            let first = key.saturating_sub(COUNT);
            let before = MOVED.get();
            index.insert(hash(key), key, |place| place >= first);
            most = most.max(MOVED.get() - before);
            if key == COUNT {
                full = slots(&index);
            }
        }
        let mean = u64::from(COUNT) >> SHARD_BITS;
        assert!(most <= mean * 2, "one insertion moved {most} entries, with {mean} in a shard");
        let (per_thousand, end) = (full * 1_000 / COUNT as usize, slots(&index));
        assert!(per_thousand <= 1_250, "{per_thousand} slots for a thousand entries");
        assert!(end <= full + full / 8, "{full} slots became {end}");
        let moved = MOVED.get() / u64::from(2 * COUNT);
        assert!(moved <= 12, "{moved} entries were moved for each that was added");
    }
}
