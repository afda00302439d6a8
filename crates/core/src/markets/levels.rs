//! The price levels of one side of a book. Where there are many, sums over runs of them tell how much rests down to a price
//! without a look at each: what a fill-or-kill order would get is known from few looks, however deep the book is.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::{Bound, RangeToInclusive};

use super::book::NIL;
use crate::command::shapes::Side;
use crate::store::visits;
use crate::types::INTEGER_MAX;

/// A price by how good it is for a taker that trades against the side: the best price has the lowest
/// rank. One order thus serves both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u64);

impl Rank {
    /// The rank before all others.
    const FIRST: Self = Self(0);

    /// The rank of a price among the orders of `side`.
    pub(super) fn of(side: Side, price: u64) -> Self {
        match side {
            Side::Buy => Self(INTEGER_MAX - price),
            Side::Sell => Self(price),
        }
    }

    /// The last rank down to a limit (absent: all) among the orders of `side`.
    pub(super) fn limit(side: Side, limit: Option<u64>) -> Self {
        limit.map_or(Self(u64::MAX), |limit| Self::of(side, limit))
    }

    pub(super) fn price(self, side: Side) -> u64 {
        match side {
            Side::Buy => INTEGER_MAX - self.0,
            Side::Sell => self.0,
        }
    }

    /// The rank before this one, if there can be a price there.
    pub(super) fn before(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }
}

/// The total of the orders resting at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The sum of their units.
    pub(super) quantity: u64,
    /// The number of orders.
    pub(super) orders: u64,
    pub(super) head: u32,
    pub(super) tail: u32,
}

const NO_LEVEL: Level = Level { quantity: 0, orders: 0, head: NIL, tail: NIL };

/// How many levels a run has at most. A side with no more levels has no runs.
const RUN_MAX: usize = 512;

/// Neighbouring levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    levels: usize,
    /// The sum of their units.
    quantity: u64,
}

/// The levels of a side.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    rows: BTreeMap<Rank, Level>,
    /// By the rank at which each begins; the first begins before all levels. What they sum up follows from the rows, and how
    /// they are cut does not matter.
    runs: BTreeMap<Rank, Run>,
    run_max: usize,
}

impl PartialEq for Levels {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Levels {}

impl Levels {
    pub(super) const fn new() -> Self {
        Self { rows: BTreeMap::new(), runs: BTreeMap::new(), run_max: RUN_MAX }
    }

    /// The best level.
    pub(super) fn first(&self) -> Option<(Rank, &Level)> {
        self.rows.first_key_value().map(|(rank, level)| (*rank, level))
    }

    /// The level of a rank.
    pub(super) fn get(&self, rank: Rank) -> Option<&Level> {
        visits::note();
        self.rows.get(&rank)
    }

    /// The levels down to a rank, best first.
    pub(super) fn range(&self, ranks: RangeToInclusive<Rank>) -> impl Iterator<Item = (Rank, &Level)> {
        self.rows.range(ranks).inspect(|_| visits::note()).map(|(rank, level)| (*rank, level))
    }

    /// The levels behind a rank, best first.
    pub(super) fn beyond(&self, rank: Rank) -> impl Iterator<Item = &Level> {
        let levels = self.rows.range((Bound::Excluded(rank), Bound::Unbounded));
        levels.inspect(|_| visits::note()).map(|(_, level)| level)
    }

    /// The units down to a rank, or at least `wanted` of them.
    pub(super) fn units(&self, last: Rank, wanted: u64) -> u64 {
        let (mut units, mut at) = (0, Rank::FIRST);
        let mut runs = self.runs.range(..=last).peekable();
        while let Some((first, run)) = runs.next() {
            visits::note();
            at = *first;
            // The last run that begins before the end may go on behind it.
            if runs.peek().is_none() || units + run.quantity >= wanted {
                break;
            }
            units += run.quantity;
        }
        if last < at {
            return units;
        }
        for (_, level) in self.rows.range(at..=last) {
            if units >= wanted {
                break;
            }
            visits::note();
            units += level.quantity;
        }
        units
    }

    /// Changes a level, which exists while it has orders; returns it as it was.
    pub(super) fn change(&mut self, rank: Rank, change: impl FnOnce(&mut Level)) -> Option<Level> {
        let (before, after) = match self.rows.entry(rank) {
            Entry::Vacant(vacant) => {
                let mut level = NO_LEVEL;
                change(&mut level);
                vacant.insert(level);
                (None, Some(level))
            }
            Entry::Occupied(mut occupied) => {
                let before = *occupied.get();
                change(occupied.get_mut());
                let after = *occupied.get();
                if after.orders == 0 {
                    occupied.remove();
                }
                (Some(before), Some(after).filter(|after| after.orders > 0))
            }
        };
        self.note(rank, before, after);
        before
    }

    /// Puts a level back as it was.
    pub(super) fn restore(&mut self, rank: Rank, level: Option<Level>) {
        let before = match level {
            Some(level) => self.rows.insert(rank, level),
            None => self.rows.remove(&rank),
        };
        self.note(rank, before, level);
    }

    /// Keeps the sums.
    fn note(&mut self, rank: Rank, before: Option<Level>, after: Option<Level>) {
        if self.runs.is_empty() {
            if self.rows.len() > self.run_max {
                self.begin_runs();
            }
            return;
        }
        let Some((first, run)) = self.runs.range_mut(..=rank).next_back() else { return };
        let units = |level: Option<Level>| level.map_or(0, |level| level.quantity);
        run.levels = run.levels + usize::from(after.is_some()) - usize::from(before.is_some());
        run.quantity = run.quantity + units(after) - units(before);
        let (first, levels) = (*first, run.levels);
        if levels > self.run_max {
            self.split(first);
        } else if levels < self.run_max / 8 {
            self.join(first);
        }
    }

    fn begin_runs(&mut self) {
        self.runs.insert(Rank::FIRST, sum(self.rows.values()));
        self.split(Rank::FIRST);
    }

    /// Cuts a run in the middle.
    fn split(&mut self, first: Rank) {
        let Some(run) = self.runs.get_mut(&first) else { return };
        let half = run.levels / 2;
        let Some((middle, _)) = self.rows.range(first..).nth(half) else { return };
        let front = sum(self.rows.range(first..*middle).map(|(_, level)| level));
        let back = Run { levels: run.levels - front.levels, quantity: run.quantity - front.quantity };
        *run = front;
        self.runs.insert(*middle, back);
    }

    /// Joins a short run with the one before it, if that has room.
    fn join(&mut self, first: Rank) {
        let Some(run) = self.runs.get(&first).copied() else { return };
        let Some((_, before)) = self.runs.range_mut(..first).next_back() else { return };
        if before.levels + run.levels <= self.run_max / 2 {
            before.levels += run.levels;
            before.quantity += run.quantity;
            self.runs.remove(&first);
        }
    }
}

fn sum<'a>(levels: impl Iterator<Item = &'a Level>) -> Run {
    levels.inspect(|_| visits::note()).fold(Run::default(), |run, level| Run {
        levels: run.levels + 1,
        quantity: run.quantity + level.quantity,
    })
}

#[cfg(test)]
#[path = "tests/levels.rs"]
mod tests;
