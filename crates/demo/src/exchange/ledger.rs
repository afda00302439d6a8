//! The orders and trades in the log, folded here with simple sums.

use std::collections::BTreeMap;

use super::super::log::{Event, Log};
use super::traders::Fill;
use crate::failure::DemoError;

/// An order and where its quantity went; signed, because an incorrect log must be judged too.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    is_buy: bool,
    forbids_self_trade: bool,
    pub(super) quantity: i64,
    pub(super) filled: i64,
    pub(super) cancelled: i64,
    pub(super) reduced: i64,
    pub(super) remaining: i64,
}

impl Order {
    /// Whether all of its quantity is accounted for.
    pub(super) fn adds_up(&self) -> bool {
        let Self { quantity, filled, cancelled, reduced, remaining, .. } = *self;
        remaining >= 0 && quantity == filled + cancelled + reduced + remaining
    }
}

/// The effects of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub(super) placed: u64,
    pub(super) replaced: u64,
    /// The remainders of orders that it cancelled, in order, and the orders.
    pub(super) cancelled: Vec<(String, i64)>,
    /// The remainders of orders that it reduced.
    pub(super) reduced: Vec<i64>,
    pub(super) fills: Vec<Fill>,
}

impl Done {
    /// Whether it took effect more than once.
    pub(super) fn is_twice(&self) -> bool {
        let mut orders: Vec<&String> = self.cancelled.iter().map(|(order, _)| order).collect();
        orders.sort_unstable();
        orders.dedup();
        self.placed + self.replaced > 1 || self.reduced.len() > 1 || orders.len() < self.cancelled.len()
    }
}

/// What changed hands in a market: the base as the decrease of what buyers and sellers have left to trade,
/// the quote as the price of that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) trades: u64,
    pub(super) bought: i64,
    pub(super) sold: i64,
    pub(super) paid: i64,
    pub(super) received: i64,
    /// Trades that reduced the two sides by different amounts.
    pub(super) uneven: u64,
}

/// The folded log.
#[derive(Default)]
pub(super) struct Ledger {
    /// By market and name.
    pub(super) orders: BTreeMap<(String, String), Order>,
    pub(super) flows: BTreeMap<String, Flow>,
    pub(super) done: BTreeMap<String, Done>,
    /// Trades of an owner with itself although the taker forbade that, and how often that was prevented.
    pub(super) self_trades: u64,
    pub(super) prevented: u64,
    /// The trade prices in order, and how many of them precede the kill, by market.
    pub(super) prices: BTreeMap<String, (Vec<u64>, usize)>,
}

impl Ledger {
    /// Folds the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log) -> Result<Self, DemoError> {
        log.fold(Self::default(), Self::fold)
    }

    fn fold(&mut self, event: &Event) -> Option<()> {
        match event.name.as_str() {
            "order.placed" => self.place(event),
            "order.replaced" => self.replace(event),
            "order.traded" => self.trade(event),
            "order.cancelled" => self.cancel(event),
            "order.reduced" => self.reduce(event),
            _ => Some(()),
        }
    }

    fn order(&mut self, event: &Event, name: &str) -> &mut Order {
        self.orders.entry((event.text("market"), event.text(name))).or_default()
    }

    fn done(&mut self, event: &Event) -> &mut Done {
        self.done.entry(event.operation.clone()).or_default()
    }

    fn place(&mut self, event: &Event) -> Option<()> {
        let quantity = event.signed("quantity")?;
        let order = self.order(event, "order");
        order.is_buy = event.text("side") == "BUY";
        order.forbids_self_trade = event.text("stp") != "NONE";
        order.quantity += quantity;
        order.remaining += quantity;
        self.done(event).placed += 1;
        Some(())
    }

    fn replace(&mut self, event: &Event) -> Option<()> {
        let quantity = event.signed("quantity")?;
        let order = self.order(event, "order");
        order.quantity += quantity - order.remaining;
        order.remaining = quantity;
        self.done(event).replaced += 1;
        Some(())
    }

    fn trade(&mut self, event: &Event) -> Option<()> {
        let (price, quantity) = (event.signed("price")?, event.signed("quantity")?);
        let taker = self.order(event, "taker_order");
        let (is_buy, forbids) = (taker.is_buy, taker.forbids_self_trade);
        let by_taker = fill(taker, quantity, event.signed("taker_remaining")?);
        let by_maker = fill(self.order(event, "maker_order"), quantity, event.signed("maker_remaining")?);
        let (bought, sold) = if is_buy { (by_taker, by_maker) } else { (by_maker, by_taker) };
        let flow = self.flows.entry(event.text("market")).or_default();
        flow.trades += 1;
        flow.bought += bought;
        flow.sold += sold;
        flow.paid += bought * price;
        flow.received += sold * price;
        flow.uneven += u64::from(bought != quantity || sold != quantity);
        let (prices, before_kill) = self.prices.entry(event.text("market")).or_default();
        prices.push(price.unsigned_abs());
        *before_kill += usize::from(!event.is_after_kill);
        let is_own = event.text("maker_owner") == event.text("taker_owner");
        self.self_trades += u64::from(is_own && forbids);
        let fill = Fill {
            trade: event.number("trade")?,
            maker: event.text("maker_order"),
            price: event.number("price")?,
            quantity: event.number("quantity")?,
            maker_remaining: event.number("maker_remaining")?,
        };
        self.done(event).fills.push(fill);
        Some(())
    }

    fn cancel(&mut self, event: &Event) -> Option<()> {
        let rest = event.signed("remaining")?;
        let order = self.order(event, "order");
        order.cancelled += rest;
        order.remaining -= rest;
        match event.text("reason").as_str() {
            "requested" => {
                let name = event.text("order");
                self.done(event).cancelled.push((name, rest));
            }
            "self_trade" => self.prevented += 1,
            _ => {}
        }
        Some(())
    }

    fn reduce(&mut self, event: &Event) -> Option<()> {
        let (by, remaining) = (event.signed("by")?, event.signed("remaining")?);
        let order = self.order(event, "order");
        order.reduced += by;
        order.remaining = remaining;
        if event.number("by_self_trade") == Some(1) {
            self.prevented += 1;
        } else {
            self.done(event).reduced.push(remaining);
        }
        Some(())
    }
}

/// Fills an order. Returns by how much its remainder decreased, according to the event.
fn fill(order: &mut Order, quantity: i64, remaining: i64) -> i64 {
    order.filled += quantity;
    let less = order.remaining - remaining;
    order.remaining = remaining;
    less
}
