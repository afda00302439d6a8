//! Repeats the matching: every order in the log goes through a simple order book, and the results must equal
//! the log, step by step.

use std::collections::{BTreeMap, VecDeque};

use super::super::log::{Event, Log};
use super::book::{Book, Order, Side, Step};
use crate::failure::DemoError;

/// The log, matched again.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) books: BTreeMap<String, Book>,
    /// The steps still expected of the current order.
    expected: VecDeque<Step>,
    /// The number of steps that matched, and of those that did not.
    pub(super) matched: u64,
    pub(super) deviations: u64,
    /// Operations after which a book was crossed.
    pub(super) crossed: u64,
}

impl Step {
    /// A step in the log.
    fn of(event: &Event) -> Option<Self> {
        let (order, remaining) = (event.text("order"), event.number("remaining"));
        Some(match event.name.as_str() {
            "order.traded" => Self::Traded {
                trade: event.number("trade")?,
                maker: event.text("maker_order"),
                taker: event.text("taker_order"),
                price: event.number("price")?,
                quantity: event.number("quantity")?,
                maker_remaining: event.number("maker_remaining")?,
                taker_remaining: event.number("taker_remaining")?,
            },
            "order.cancelled" => {
                Self::Cancelled { order, remaining: remaining?, reason: event.text("reason") }
            }
            "order.reduced" => Self::Reduced { order, by: event.number("by")?, remaining: remaining? },
            _ => Self::Rested { order, price: event.number("price")?, remaining: remaining? },
        })
    }
}

impl Replay {
    /// Repeats the matching of the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log) -> Result<Self, DemoError> {
        let mut replay = log.fold(Self::default(), Self::see)?;
        replay.end_order();
        Ok(replay)
    }

    fn see(&mut self, event: &Event) -> Option<()> {
        match event.name.as_str() {
            "order.placed" => self.place(event)?,
            "order.replaced" => self.replace(event)?,
            "order.traded" | "order.cancelled" | "order.reduced" | "order.rested" => {
                let step = Step::of(event)?;
                let is_right = match self.expected.pop_front() {
                    Some(expected) => expected == step,
                    None => self.ask_for(&event.text("market"), &step),
                };
                self.judge(is_right);
            }
            _ => return Some(()),
        }
        if self.expected.is_empty() {
            self.crossed += u64::from(self.book(&event.text("market")).is_crossed());
        }
        Some(())
    }

    fn book(&mut self, market: &str) -> &mut Book {
        self.books.entry(market.to_owned()).or_default()
    }

    fn judge(&mut self, is_right: bool) {
        self.matched += u64::from(is_right);
        self.deviations += u64::from(!is_right);
    }

    /// Steps that the previous order still lacks are missing from the log.
    fn end_order(&mut self) {
        self.deviations += self.expected.len() as u64;
        self.expected.clear();
    }

    fn place(&mut self, event: &Event) -> Option<()> {
        let side = if event.text("side") == "BUY" { Side::Buy } else { Side::Sell };
        let order = Order {
            id: event.text("order"),
            owner: event.text("owner"),
            side,
            price: event.number("price"),
            tif: event.text("tif"),
            stp: event.text("stp"),
            remaining: event.number("quantity")?,
        };
        self.send(&event.text("market"), order);
        Some(())
    }

    /// Sends an order through the book, which determines the expected steps.
    fn send(&mut self, market: &str, order: Order) {
        self.end_order();
        let tif = order.tif.clone();
        let book = self.book(market);
        let takes_without_leave = tif == "POST" && book.would_take(&order);
        let steps = book.take(order);
        let leaves_a_rest = tif == "FOK" && steps.iter().any(is_unfilled);
        self.deviations += u64::from(takes_without_leave || leaves_a_rest);
        self.expected = steps.into();
    }

    /// An order with the same price and a smaller quantity keeps its position; otherwise it is treated as
    /// new.
    fn replace(&mut self, event: &Event) -> Option<()> {
        self.end_order();
        let (market, id) = (event.text("market"), event.text("order"));
        let (price, quantity) = (event.number("price")?, event.number("quantity")?);
        let book = self.book(&market);
        let Some(order) = book.find(&id).cloned() else {
            self.judge(false);
            return Some(());
        };
        let keeps = order.price == Some(price) && quantity < order.remaining;
        if keeps {
            book.shrink(&id, order.remaining - quantity);
        } else {
            book.withdraw(&id);
            self.send(&market, Order { price: Some(price), remaining: quantity, ..order });
        }
        self.judge(keeps == (event.number("keeps_priority")? == 1));
        Some(())
    }

    /// An owner's request to cancel or reduce an order.
    fn ask_for(&mut self, market: &str, step: &Step) -> bool {
        let book = self.book(market);
        match step {
            Step::Cancelled { order, remaining, reason } => {
                reason == "requested"
                    && book.withdraw(order).is_some_and(|order| order.remaining == *remaining)
            }
            Step::Reduced { order, by, remaining } => book.shrink(order, *by) == Some(*remaining),
            Step::Traded { .. } | Step::Rested { .. } => false,
        }
    }
}

fn is_unfilled(step: &Step) -> bool {
    matches!(step, Step::Cancelled { reason, .. } if reason == "unfilled")
}
