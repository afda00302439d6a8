//! Market makers: most commands move orders that rest. P1, and P3 with what else happens in a market.

use std::collections::HashMap;

use fastrand::Rng;

use super::flow::{NewOrder, Step, Tif, What};
use super::make::{Done, Source};

/// How many orders rest in a market.
const RESTING: u64 = 1_000;
/// How many owners there are.
const OWNERS: u64 = 1_000;
/// How many markets P3 has; the first gets half of the flow.
const MARKETS: u64 = 8;
/// A quantity that no book has.
const SWEEP: u64 = 1_000_000;

/// What happens besides.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    markets: u64,
    is_rough: bool,
}

impl Odds {
    /// P1: one market, nothing besides.
    pub fn plain() -> Self {
        Self { markets: 1, is_rough: false }
    }

    /// P3: quantities of a Pareto distribution; 1 % cross their owner's own orders, 0.5 % repeat an order's name, 0.5 % are
    /// cancellations by someone else, 0.2 % sweep more than a step touches.
    pub fn rough() -> Self {
        Self { markets: MARKETS, is_rough: true }
    }
}

/// An order that rests.
#[derive(Clone, Copy, Debug)]
struct Resting {
    order: u64,
    owner: u64,
    buys: bool,
    price: u64,
    quantity: u64,
}

/// A market and what rests in it.
struct Market {
    last: u64,
    deviation: u64,
    resting: Vec<Resting>,
    places: HashMap<u64, usize>,
    /// How many buy, and how many sell.
    sides: [u64; 2],
}

/// The flow.
pub struct Maker {
    random: Rng,
    odds: Odds,
    markets: Vec<Market>,
    orders: u64,
}

impl Maker {
    /// The flow of a seed.
    pub fn new(seed: u64, odds: Odds) -> Self {
        let mut random = Rng::with_seed(seed);
        let markets = (0..odds.markets).map(|_| Market::new(&mut random)).collect();
        Self { random, odds, markets, orders: 0 }
    }

    /// The passive side of the last price, near to it.
    fn price(&mut self, market: usize, buys: bool) -> u64 {
        let Market { last, deviation, .. } = self.markets[market];
        let wide = 1 + (self.random.f64().powi(2) * deviation as f64) as u64;
        let mean = (0..4).map(|_| self.random.u64(0..wide)).sum::<u64>() / 4;
        let away = (mean * 2).abs_diff(wide);
        if buys { last.saturating_sub(away).max(1) } else { last + away }
    }

    fn quantity(&mut self) -> u64 {
        if self.odds.is_rough {
            return ((1.0 - self.random.f64()).powf(-1.0 / 1.2) as u64).clamp(1, 10_000);
        }
        1 + (0..3).map(|_| self.random.u64(0..6)).product::<u64>()
    }

    fn order(&mut self, market: usize, tif: Tif) -> What {
        let sides = self.markets[market].sides;
        let buys =
            if tif == Tif::Stays && sides[0] != sides[1] { sides[0] < sides[1] } else { self.random.bool() };
        let price = match tif {
            Tif::Stays => self.price(market, buys),
            // What trades at once is on the other side.
            _ => self.price(market, !buys),
        };
        self.orders += 1;
        let (owner, quantity) = (self.random.u64(0..OWNERS), self.quantity());
        What::Place(NewOrder { order: self.orders, owner, buys, price, quantity, tif })
    }

    /// One of the things that happen besides.
    fn besides(&mut self, market: usize) -> Option<What> {
        let Resting { order, owner, buys, price, quantity } = self.any(market)?;
        let dice = self.random.u64(0..1_000);
        let place = |order, buys, quantity, tif| NewOrder { order, owner, buys, price, quantity, tif };
        Some(match dice {
            0..10 => {
                self.orders += 1;
                What::Place(place(self.orders, !buys, quantity, Tif::AtOnce))
            }
            10..15 => What::Place(place(order, buys, quantity, Tif::Stays)),
            15..20 => What::Cancel { order, owner: owner + 1 },
            20..22 => {
                self.orders += 1;
                let price = if buys { 1 } else { 100_000_000 };
                What::Place(NewOrder { price, ..place(self.orders, !buys, SWEEP, Tif::AtOnce) })
            }
            _ => return None,
        })
    }

    fn any(&mut self, market: usize) -> Option<Resting> {
        let resting = &self.markets[market].resting;
        if resting.is_empty() { None } else { Some(resting[self.random.usize(0..resting.len())]) }
    }

    fn next_in(&mut self, market: usize) -> What {
        if self.odds.is_rough
            && let Some(what) = self.besides(market)
        {
            return what;
        }
        let is_full = self.markets[market].resting.len() as u64 >= RESTING;
        let dice = self.random.u64(0..if is_full { 40 } else { 10 });
        match (dice, self.any(market)) {
            (0..2, _) | (_, None) if is_full => {
                let is_whole = self.random.u64(0..32) == 0;
                self.order(market, if is_whole { Tif::Whole { cost: 0 } } else { Tif::AtOnce })
            }
            (0..2, _) | (_, None) => self.order(market, Tif::Stays),
            (2, Some(Resting { order, owner, .. })) => What::Cancel { order, owner },
            (3, Some(Resting { order, owner, quantity, .. })) => {
                What::Reduce { order, owner, by: 1 + self.random.u64(0..quantity) }
            }
            (_, Some(Resting { order, owner, price, quantity, .. })) => {
                let last = self.markets[market].last;
                let step = (last.abs_diff(price) / 100).max(self.random.u64(0..2));
                let price = if price < last { price + step } else { price.saturating_sub(step).max(1) };
                What::Move { order, owner, price, quantity }
            }
        }
    }
}

impl Source for Maker {
    fn fills(&self) -> usize {
        usize::try_from(RESTING * self.odds.markets).unwrap_or(usize::MAX)
    }

    fn next(&mut self) -> Step {
        let is_hot = self.odds.markets == 1 || self.random.bool();
        let filling = self.markets.iter().position(|market| !market.was_full());
        let market = match filling {
            Some(market) if self.orders < RESTING * self.odds.markets => market,
            _ if is_hot => 0,
            _ => self.random.usize(1..self.markets.len()),
        };
        let what = match filling {
            Some(_) if self.orders < RESTING * self.odds.markets => self.order(market, Tif::Stays),
            _ => self.next_in(market),
        };
        Step { market: market as u64, what }
    }

    fn note(&mut self, step: &Step, result: &Result<Done, ()>) {
        let Ok(done) = result else { return };
        let market = &mut self.markets[usize::try_from(step.market).unwrap_or(0)];
        for fill in &done.fills {
            market.last = fill.price;
            market.set(fill.maker, fill.left);
        }
        match step.what {
            What::Place(place) if done.is_open => market.add(place, done.remaining),
            What::Place(_) => {}
            What::Cancel { order, .. } => market.set(order, 0),
            What::Reduce { order, .. } => market.set(order, if done.is_open { done.remaining } else { 0 }),
            What::Move { order, price, .. } => {
                if let Some(at) = market.places.get(&order) {
                    market.resting[*at].price = price;
                }
                market.set(order, if done.is_open { done.remaining } else { 0 });
            }
        }
    }
}

impl Market {
    fn new(random: &mut Rng) -> Self {
        let last = 10_f64.powf(3.3 + 1.5 * random.f64() + 1.5 * random.f64()) as u64;
        let deviation = (last / 20).clamp(1, 10_000);
        Self { last, deviation, resting: Vec::new(), places: HashMap::new(), sides: [0; 2] }
    }

    fn was_full(&self) -> bool {
        self.resting.len() as u64 >= RESTING
    }

    fn add(&mut self, place: NewOrder, quantity: u64) {
        let NewOrder { order, owner, buys, price, .. } = place;
        self.places.insert(order, self.resting.len());
        self.resting.push(Resting { order, owner, buys, price, quantity });
        self.sides[usize::from(!buys)] += 1;
    }

    /// Sets what is left of an order.
    fn set(&mut self, order: u64, quantity: u64) {
        let Some(at) = self.places.get(&order).copied() else { return };
        if quantity > 0 {
            self.resting[at].quantity = quantity;
            return;
        }
        self.places.remove(&order);
        let gone = self.resting.swap_remove(at);
        self.sides[usize::from(!gone.buys)] -= 1;
        if let Some(moved) = self.resting.get(at) {
            self.places.insert(moved.order, at);
        }
    }
}
