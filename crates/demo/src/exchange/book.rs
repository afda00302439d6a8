//! A simple order book that repeats the engine's matching. It shares no code with the engine: levels in a
//! map, a queue for each, orders by name.

use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Buy,
    Sell,
}

/// An order and its remainder.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) side: Side,
    /// `None` for any price.
    pub(super) price: Option<u64>,
    pub(super) tif: String,
    pub(super) stp: String,
    pub(super) remaining: u64,
}

/// An event of an order, in the words of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Traded {
        trade: u64,
        maker: String,
        taker: String,
        price: u64,
        quantity: u64,
        maker_remaining: u64,
        taker_remaining: u64,
    },
    Cancelled {
        order: String,
        remaining: u64,
        reason: String,
    },
    Reduced {
        order: String,
        by: u64,
        remaining: u64,
    },
    Rested {
        order: String,
        price: u64,
        remaining: u64,
    },
}

/// A level as it is shown: price, quantity, orders.
pub(super) type Level = (u64, u64, u64);

/// The book of a market.
#[derive(Default)]
pub(super) struct Book {
    orders: BTreeMap<String, Order>,
    bids: BTreeMap<u64, VecDeque<String>>,
    asks: BTreeMap<u64, VecDeque<String>>,
    trades: u64,
}

impl Book {
    /// Matches an order against the other side, and rests the remainder if allowed. Returns the resulting
    /// steps.
    pub(super) fn take(&mut self, mut taker: Order) -> Vec<Step> {
        let mut steps = Vec::new();
        while taker.remaining > 0 {
            let Some(maker) = self.first_against(&taker) else { break };
            if maker.owner == taker.owner && taker.stp != "NONE" {
                if self.meet_own(&mut taker, &maker, &mut steps) {
                    return steps;
                }
            } else {
                self.trade(&mut taker, &maker, &mut steps);
            }
        }
        if taker.remaining > 0 {
            steps.push(self.rest(taker));
        }
        steps
    }

    /// The first order in the queue at the best price that this one may trade at.
    fn first_against(&self, taker: &Order) -> Option<Order> {
        let (price, queue) = match taker.side {
            Side::Buy => self.asks.first_key_value()?,
            Side::Sell => self.bids.last_key_value()?,
        };
        let is_acceptable = taker.price.is_none_or(|limit| match taker.side {
            Side::Buy => *price <= limit,
            Side::Sell => *price >= limit,
        });
        self.orders.get(queue.front().filter(|_| is_acceptable)?).cloned()
    }

    /// Whether an order would trade immediately.
    pub(super) fn would_take(&self, order: &Order) -> bool {
        self.first_against(order).is_some()
    }

    fn trade(&mut self, taker: &mut Order, maker: &Order, steps: &mut Vec<Step>) {
        let quantity = taker.remaining.min(maker.remaining);
        taker.remaining -= quantity;
        self.trades += 1;
        self.shrink(&maker.id, quantity);
        steps.push(Step::Traded {
            trade: self.trades,
            maker: maker.id.clone(),
            taker: taker.id.clone(),
            price: maker.price.unwrap_or(0),
            quantity,
            maker_remaining: maker.remaining - quantity,
            taker_remaining: taker.remaining,
        });
    }

    /// Prevents an owner from trading with itself. Returns whether the incoming order has ended.
    fn meet_own(&mut self, taker: &mut Order, maker: &Order, steps: &mut Vec<Step>) -> bool {
        let cancelled = |order: &Order| Step::Cancelled {
            order: order.id.clone(),
            remaining: order.remaining,
            reason: "self_trade".to_owned(),
        };
        let reduced = |order: &Order, by: u64| {
            let remaining = order.remaining - by;
            Step::Reduced { order: order.id.clone(), by, remaining }
        };
        let ends_maker = match taker.stp.as_str() {
            "CANCEL_TAKER" => false,
            "DECREMENT" => taker.remaining >= maker.remaining,
            _ => true,
        };
        if ends_maker {
            self.withdraw(&maker.id);
            steps.push(cancelled(maker));
        }
        if taker.stp == "CANCEL_MAKER" {
            return false;
        }
        if taker.stp == "DECREMENT" && taker.remaining < maker.remaining {
            self.shrink(&maker.id, taker.remaining);
            steps.push(reduced(maker, taker.remaining));
        }
        if taker.stp == "DECREMENT" && taker.remaining > maker.remaining {
            steps.push(reduced(taker, maker.remaining));
            taker.remaining -= maker.remaining;
            return false;
        }
        steps.push(cancelled(taker));
        true
    }

    /// Puts an order's remainder at the end of its queue, or cancels it.
    fn rest(&mut self, order: Order) -> Step {
        let (id, remaining) = (order.id.clone(), order.remaining);
        match order.price.filter(|_| matches!(order.tif.as_str(), "GTC" | "POST")) {
            Some(price) => {
                self.side(order.side).entry(price).or_default().push_back(id.clone());
                self.orders.insert(id.clone(), order);
                Step::Rested { order: id, price, remaining }
            }
            None => Step::Cancelled { order: id, remaining, reason: "unfilled".to_owned() },
        }
    }

    /// Removes an order from the book.
    pub(super) fn withdraw(&mut self, id: &str) -> Option<Order> {
        let order = self.orders.remove(id)?;
        let price = order.price?;
        let levels = self.side(order.side);
        let queue = levels.get_mut(&price)?;
        queue.retain(|other| other != id);
        if queue.is_empty() {
            levels.remove(&price);
        }
        Some(order)
    }

    /// Reduces an order without changing its position in the queue; removes it if nothing remains. Returns
    /// the remainder.
    pub(super) fn shrink(&mut self, id: &str, by: u64) -> Option<u64> {
        let order = self.orders.get_mut(id)?;
        order.remaining = order.remaining.checked_sub(by)?;
        let left = order.remaining;
        if left == 0 {
            self.withdraw(id);
        }
        Some(left)
    }

    /// An order on the book.
    pub(super) fn find(&self, id: &str) -> Option<&Order> {
        self.orders.get(id)
    }

    /// Whether the best bid is at or above the best ask without a trade.
    pub(super) fn is_crossed(&self) -> bool {
        let best = self.bids.last_key_value().zip(self.asks.first_key_value());
        best.is_some_and(|((bid, _), (ask, _))| bid >= ask)
    }

    /// Bids and asks, best first.
    pub(super) fn depth(&self) -> [Vec<Level>; 2] {
        let level = |(price, queue): (&u64, &VecDeque<String>)| {
            let quantities = queue.iter().filter_map(|id| self.orders.get(id)).map(|order| order.remaining);
            (*price, quantities.sum(), queue.len() as u64)
        };
        [self.bids.iter().rev().map(level).collect(), self.asks.iter().map(level).collect()]
    }

    fn side(&mut self, side: Side) -> &mut BTreeMap<u64, VecDeque<String>> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(id: &str, owner: &str, side: Side, price: u64, remaining: u64) -> Order {
        let (id, owner, tif, stp) = (id.to_owned(), owner.to_owned(), "GTC".to_owned(), "NONE".to_owned());
        Order { id, owner, side, price: Some(price), tif, stp, remaining }
    }

    fn makers(steps: &[Step]) -> Vec<&str> {
        let trades = steps.iter().filter_map(|step| match step {
            Step::Traded { maker, .. } => Some(maker.as_str()),
            _ => None,
        });
        trades.collect()
    }

    #[test]
    fn the_best_price_comes_first_and_then_who_waits_longest() {
        let mut book = Book::default();
        for (id, price) in [("late", 10), ("dear", 11), ("later", 10)] {
            book.take(order(id, "maker", Side::Sell, price, 2));
        }
        let steps = book.take(order("buy", "taker", Side::Buy, 11, 5));
        assert_eq!(makers(&steps), ["late", "later", "dear"]);
        assert_eq!(book.depth(), [vec![], vec![(11, 1, 1)]]);
        assert!(!book.is_crossed());
    }

    #[test]
    fn an_owner_meets_itself_as_its_mode_says() {
        let modes =
            [("CANCEL_TAKER", 4, 0), ("CANCEL_MAKER", 0, 3), ("CANCEL_BOTH", 0, 0), ("DECREMENT", 1, 0)];
        for (stp, maker_left, taker_left) in modes {
            let mut book = Book::default();
            book.take(order("maker", "me", Side::Sell, 10, 4));
            let taker = Order { stp: stp.to_owned(), ..order("taker", "me", Side::Buy, 10, 3) };
            book.take(taker);
            let left = |id| book.find(id).map_or(0, |order| order.remaining);
            assert_eq!((left("maker"), left("taker")), (maker_left, taker_left), "{stp}");
        }
    }
}
