//! Quantity limits: how many a subject has used within a window. Stock's limit per owner and all limits
//! of coupons are counted here.

use compact_str::CompactString;

use crate::codec::Malformed;
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::{Ordered, Placed, Sliced, Slot, Table};
use crate::types::{INTEGER_MAX, Id, TimeMs};
use crate::{record_wire, reversible_fields};

/// The key of a counter: a limit of a resource, for one subject, within one window.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterKey {
    /// The stock item or coupon.
    pub resource: Slot,
    /// The index of the limit among the resource's limits.
    pub limit: u32,
    /// The index of the window; 0 if the limit has no window.
    pub window: i64,
    /// The subject: the values of the limit's dimensions, see [`subject`].
    pub subject: CompactString,
}

record_wire!(CounterKey { resource, limit, window, subject });

/// The values of a limit's dimensions as one text. No id contains the separator.
pub fn subject<'a>(values: impl Iterator<Item = &'a Id>) -> CompactString {
    let mut text = CompactString::const_new("");
    for value in values {
        if !text.is_empty() {
            text.push('|');
        }
        text.push_str(value.as_str());
    }
    text
}

/// How many were counted, and when the window ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// How many.
    pub used: u64,
    /// When the window ends and the counter is dropped.
    pub ends_at: Option<TimeMs>,
}

record_wire!(Counter { used, ends_at });

/// A limit that would be exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The count before.
    pub used: u64,
    /// The maximum.
    pub max: u64,
}

/// Checks that `quantity` more stay within `max`.
///
/// # Errors
/// When they do not.
pub fn check(used: u64, quantity: u64, max: u64) -> Result<(), Reached> {
    let within = used.checked_add(quantity).is_some_and(|sum| sum <= max.min(INTEGER_MAX));
    if within { Ok(()) } else { Err(Reached { used, max }) }
}

fn running_at<'a>(
    counters: impl Iterator<Item = (&'a CounterKey, &'a Counter)>,
    now: TimeMs,
) -> impl Iterator<Item = (&'a CounterKey, u64)> {
    counters
        .filter(move |(_, counter)| counter.ends_at.is_none_or(|ends_at| ends_at > now))
        .map(|(key, counter)| (key, counter.used))
}

/// The counters of a kind of resource. Counters at zero are not kept.
#[derive(Debug)]
pub struct Counters {
    counters: Table<CounterKey, Counter>,
    /// The rows of counters by the ends of their windows.
    ends: Ordered<(TimeMs, Slot), ()>,
}

reversible_fields!(Counters { counters, ends });

impl Counters {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            counters: Table::by_resource(hash_seed, |key: &CounterKey| key.resource),
            ends: Ordered::default(),
        }
    }

    /// The current count.
    #[must_use]
    pub fn used(&self, key: &CounterKey) -> u64 {
        self.counters.get(key).map_or(0, |counter| counter.used)
    }

    /// Every counter that is kept, those of ended windows included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CounterKey, u64)> {
        self.counters.iter().map(|(key, counter)| (key, counter.used))
    }

    /// Every counter that is kept with the end of its window, those of ended windows included.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&CounterKey, &Counter)> {
        self.counters.iter()
    }

    /// A counter that is kept.
    pub(crate) fn get(&self, key: &CounterKey) -> Option<&Counter> {
        self.counters.get(key)
    }

    /// Up to `count_max` counters that [`Counters::forget`] drops.
    pub(crate) fn overdue(&self, now: TimeMs, count_max: usize) -> impl Iterator<Item = &CounterKey> {
        let ended = self.ends.iter().take_while(move |((ends_at, _), ())| *ends_at <= now);
        ended.take(count_max).filter_map(|((_, row), ())| self.counters.key_at(*row))
    }

    /// Counts `quantity` more, in a window that ends at `ends_at`.
    pub fn add(&mut self, key: &CounterKey, quantity: u64, ends_at: Option<TimeMs>) {
        match self.counters.seek(key) {
            Ok(row) => self.counters.update(row, |counter| counter.used += quantity),
            Err(hash) => {
                let row = self.counters.insert_absent(hash, key.clone(), Counter { used: quantity, ends_at });
                if let Some(ends_at) = ends_at {
                    self.ends.insert((ends_at, row), ());
                }
            }
        }
    }

    /// Subtracts `quantity` again.
    pub fn subtract(&mut self, key: &CounterKey, quantity: u64) {
        let Some(row) = self.counters.find(key) else { return };
        self.counters.update(row, |counter| counter.used = counter.used.saturating_sub(quantity));
        if self.counters.at(row).is_some_and(|counter| counter.used == 0) {
            self.remove(row);
        }
    }

    /// Restores a counter from another store; one that counts nothing is left out.
    pub fn restore(&mut self, key: &CounterKey, counter: &Counter) {
        if let Some(row) = self.counters.find(key) {
            self.remove(row);
        }
        if counter.used > 0 {
            self.add(key, counter.used, counter.ends_at);
        }
    }

    /// Takes over the counters of resources that went along.
    pub(crate) fn take_over(&mut self, from: &Self, placed: &Placed) {
        for (key, counter) in from.counters.iter() {
            if let Some(resource) = placed.at(key.resource) {
                self.restore(&CounterKey { resource, ..key.clone() }, counter);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.counters.len()
    }

    pub(crate) fn reusable_bytes(&self) -> usize {
        self.counters.reusable_bytes()
    }

    /// Drops up to `count_max` counters whose window has ended by `now`.
    pub fn forget(&mut self, now: TimeMs, count_max: usize) {
        for _ in 0..count_max {
            match self.ends.first() {
                Some(((ends_at, row), ())) if *ends_at <= now => {
                    let row = *row;
                    self.remove(row);
                }
                _ => return,
            }
        }
    }

    /// Every counter whose window is not over at `now`.
    pub fn running(&self, now: TimeMs) -> impl Iterator<Item = (&CounterKey, u64)> {
        running_at(self.counters.iter(), now)
    }

    /// The same of one resource, without a look at others.
    pub fn running_of(&self, resource: Slot, now: TimeMs) -> impl Iterator<Item = (&CounterKey, u64)> {
        running_at(self.counters.of_resource(resource), now)
    }

    fn remove(&mut self, row: Slot) {
        if let Some(Counter { ends_at: Some(ends_at), .. }) = self.counters.remove_at(row) {
            self.ends.remove(&(ends_at, row));
        }
    }

    /// What is written of it in slices.
    pub(crate) fn sliced(&mut self) -> &mut dyn Sliced {
        &mut self.counters
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.counters.put(out);
    }

    /// Gives the counters whose window is not over at `now`, of what [`Counters::put`] wrote, to `take`.
    pub(crate) fn scan(
        input: &mut PieceReader<'_>,
        now: TimeMs,
        mut take: impl FnMut(&CounterKey, u64),
    ) -> Result<(), Malformed> {
        input.rows(|key: CounterKey, counter: Counter| {
            running_at(std::iter::once((&key, &counter)), now).for_each(|(key, used)| take(key, used));
        })
    }

    pub(crate) fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.counters.load(input)?;
        for (key, counter) in self.counters.iter() {
            if let (Some(ends_at), Some(row)) = (counter.ends_at, self.counters.find(key)) {
                self.ends.insert((ends_at, row), ());
            }
        }
        Ok(())
    }
}
