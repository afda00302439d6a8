//! P2: orders as on a stock exchange. Nearly all are cancelled after a while, and rest far from the best price as a power law says.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use fastrand::Rng;

use super::flow::{NewOrder, Step, Tif, What};
use super::make::{Done, Source};

/// How many orders rest at first, and after how many commands one is cancelled on the average.
const RESTING: usize = 10_000;
const LIFETIME: f64 = 20_000.0;
/// How fast fewer orders rest farther away.
const DEPTH: f64 = 2.23;
const DEPTH_MAX: f64 = 5_000.0;
const OWNERS: u64 = 5_000;
/// The price at first, in ticks.
const PRICE: u64 = 100_000;

/// The flow.
pub struct Equities {
    random: Rng,
    now: u64,
    orders: u64,
    last: u64,
    /// When which order is cancelled.
    ends: BinaryHeap<Reverse<(u64, u64)>>,
    owners: HashMap<u64, u64>,
}

impl Equities {
    /// The flow of a seed.
    pub fn new(seed: u64) -> Self {
        let (ends, owners) = (BinaryHeap::new(), HashMap::new());
        Self { random: Rng::with_seed(seed), now: 0, orders: 0, last: PRICE, ends, owners }
    }

    /// How far from the last price: 1 mostly, and sometimes very far.
    fn depth(&mut self) -> u64 {
        (1.0 - self.random.f64()).powf(-1.0 / (DEPTH - 1.0)).min(DEPTH_MAX) as u64
    }

    fn order(&mut self, is_filling: bool) -> What {
        let tif = if !is_filling && self.random.u64(0..100) < 15 { Tif::AtOnce } else { Tif::Stays };
        let (buys, depth) = (self.random.bool(), self.depth());
        // What rests is behind the last price, what trades at once reaches a tick or more beyond it.
        let is_below = buys == (tif == Tif::Stays);
        let price = if is_below { self.last.saturating_sub(depth).max(1) } else { self.last + depth };
        self.orders += 1;
        let (owner, quantity) = (self.random.u64(0..OWNERS), 100 * (1 + self.random.u64(0..10)));
        What::Place(NewOrder { order: self.orders, owner, buys, price, quantity, tif })
    }
}

impl Source for Equities {
    fn fills(&self) -> usize {
        RESTING
    }

    fn next(&mut self) -> Step {
        self.now += 1;
        let is_filling = self.now <= RESTING as u64;
        while let Some(Reverse((end, order))) = self.ends.peek().copied()
            && end <= self.now
            && !is_filling
        {
            self.ends.pop();
            if let Some(owner) = self.owners.remove(&order) {
                return Step { market: 0, what: What::Cancel { order, owner } };
            }
        }
        Step { market: 0, what: self.order(is_filling) }
    }

    fn note(&mut self, step: &Step, result: &Result<Done, ()>) {
        let Ok(done) = result else { return };
        for fill in &done.fills {
            self.last = fill.price;
            if fill.left == 0 {
                self.owners.remove(&fill.maker);
            }
        }
        if let What::Place(NewOrder { order, owner, .. }) = step.what
            && done.is_open
        {
            let life = -(1.0 - self.random.f64()).ln() * LIFETIME;
            self.ends.push(Reverse((self.now + 1 + life as u64, order)));
            self.owners.insert(order, owner);
        }
    }
}
