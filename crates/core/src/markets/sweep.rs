//! Sweeps: an order that trades through the book.
//!
//! A step reads the book and lists what happens in events; the book changes when the events are applied.
//! The step need not remember what it has done to the book, because an order that goes on has used up
//! each maker before: the next maker is the next in the queue.

use super::book::Node;
use super::{CancelReason, Order, OrderStatus};
use crate::codec::Malformed;
use crate::command::shapes::{Side, StpMode, Tif};
use crate::event::from_shown::list;
use crate::event::{Event, FromShown, OrderCancelled, OrderReduced, OrderRested, OrderTraded, Shown};
use crate::machine::step::{OperationProgress, Step};
use crate::outcome::{Facts, Value};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs};
use crate::{facts, record_wire};

/// The maximum number of trades in an answer, which lists the first ones: it is in one log entry, whose
/// size is bounded. The events contain all trades.
pub const FILLS_MAX: usize = 32_768;

/// The progress of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The market.
    pub market: Id,
    /// The taking order; its record contains the remaining quantity.
    pub order: Id,
    /// Its trades: in the log those of one step, in the state all so far, up to [`FILLS_MAX`].
    pub fills: Vec<Fill>,
}

record_wire!(Sweep { market, order, fills });

/// A trade as reported to the taker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The number of the trade in its market.
    pub trade: u64,
    /// The order that rested.
    pub maker_order: Id,
    /// The maker's price.
    pub price: u64,
    /// The number of units.
    pub quantity: u64,
    /// The remaining quantity of the maker.
    pub maker_remaining: u64,
}

record_wire!(Fill { trade, maker_order, price, quantity, maker_remaining });

/// Written as trade, maker's order, price, quantity, maker's remaining.
impl Shown for Fill {
    fn shown(&self) -> Value {
        let Self { trade, maker_order, price, quantity, maker_remaining } = self;
        Value::List(vec![
            Value::from(*trade),
            Value::from(maker_order),
            Value::from(*price),
            Value::from(*quantity),
            Value::from(*maker_remaining),
        ])
    }
}

impl FromShown for Fill {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        let [trade, maker_order, price, quantity, maker_remaining] = list(value)? else {
            return Err(Malformed);
        };
        Ok(Self {
            trade: FromShown::from_shown(trade)?,
            maker_order: FromShown::from_shown(maker_order)?,
            price: FromShown::from_shown(price)?,
            quantity: FromShown::from_shown(quantity)?,
            maker_remaining: FromShown::from_shown(maker_remaining)?,
        })
    }
}

impl Sweep {
    /// Appends the trades of a further step to those `before` it.
    pub(crate) fn after(self, before: Self) -> Self {
        let mut fills = before.fills;
        let room = FILLS_MAX.saturating_sub(fills.len());
        fills.extend(self.fills.into_iter().take(room));
        Self { fills, ..self }
    }
}

/// The state of the taking order within a step.
#[derive(Clone, Debug)]
pub(super) struct Taker<'a> {
    pub(super) market: &'a Id,
    pub(super) slot: Slot,
    pub(super) order: &'a Id,
    pub(super) owner: &'a Id,
    pub(super) side: Side,
    /// Its limit price; absent for any price.
    pub(super) price: Option<u64>,
    pub(super) tif: Tif,
    pub(super) stp: StpMode,
    /// Units filled, including those before a replacement.
    pub(super) filled: u64,
    pub(super) remaining: u64,
}

impl<'a> Taker<'a> {
    /// A recorded order that trades through the book.
    pub(super) fn of((slot, market): (Slot, &'a Id), order: &'a Id, record: &'a Order) -> Self {
        let Order { side, price, tif, stp, filled, remaining, .. } = *record;
        Self { market, slot, order, owner: &record.owner, side, price, tif, stp, filled, remaining }
    }

    /// Whether a remaining quantity is put on the book.
    pub(super) fn may_rest(&self) -> bool {
        matches!(self.tif, Tif::Gtc | Tif::Post)
    }

    /// Whether it stops when it meets an order of its owner.
    pub(super) fn stops_at_own(&self) -> bool {
        matches!(self.stp, StpMode::CancelTaker | StpMode::CancelBoth | StpMode::Decrement)
    }
}

/// Takes the next step of a sweep.
pub(crate) fn go_on(state: &State, sweep: &Sweep, _now: TimeMs, events: &mut Vec<Event>) -> Step {
    let markets = &state.markets;
    let found = markets
        .markets
        .find(&sweep.market)
        .and_then(|slot| Some((slot, markets.orders.get(&(slot, &sweep.order))?)));
    match found {
        Some((slot, record)) => {
            let taker = Taker::of((slot, &sweep.market), &sweep.order, record);
            step(state, taker, &sweep.fills, events)
        }
        None => Step::Done(facts![]),
    }
}

/// Matches an order with as many makers as one step may touch, and ends it if no more match. `before`
/// contains the trades of its earlier steps.
pub(super) fn step(state: &State, taker: Taker<'_>, before: &[Fill], events: &mut Vec<Event>) -> Step {
    let markets = &state.markets;
    let (against, limit, slot) = (taker.side.opposite(), taker.price, taker.slot);
    let own = match taker.stp {
        StpMode::None => None,
        _ => markets.books.owner(slot, taker.owner),
    };
    let trade = markets.markets.at(slot).map_or(0, |market| market.trades);
    let mut walk = Walk { taker, own, trade, cancelled: false, fills: Vec::new(), events };
    for (touched, (price, node)) in markets.books.get(slot).makers(against, limit).enumerate() {
        if walk.cancelled || walk.taker.remaining == 0 {
            break;
        }
        // A step that may touch nothing would never end.
        if touched >= state.settings.step_max.max(1) {
            return walk.more();
        }
        let (Some((_, id)), Some(order)) = (markets.orders.key_at(node.row), markets.orders.at(node.row))
        else {
            break;
        };
        walk.meet(&Maker { id, order, price, node });
    }
    Step::Done(walk.end(before))
}

struct Maker<'a> {
    id: &'a Id,
    order: &'a Order,
    price: u64,
    node: &'a Node,
}

/// A step under construction.
struct Walk<'a, 'b> {
    taker: Taker<'a>,
    /// The index of the taker's owner, if it must not trade with its own orders.
    own: Option<Slot>,
    /// The number of the last trade.
    trade: u64,
    /// Whether the taker was cancelled by an own order.
    cancelled: bool,
    fills: Vec<Fill>,
    events: &'b mut Vec<Event>,
}

impl Walk<'_, '_> {
    fn meet(&mut self, maker: &Maker<'_>) {
        if self.own != Some(maker.node.owner) {
            return self.trade(maker);
        }
        match self.taker.stp {
            StpMode::None => self.trade(maker),
            StpMode::CancelTaker => self.cancel_taker(CancelReason::SelfTrade),
            StpMode::CancelMaker => self.cancel_maker(maker),
            StpMode::CancelBoth => {
                self.cancel_maker(maker);
                self.cancel_taker(CancelReason::SelfTrade);
            }
            StpMode::Decrement => self.decrement(maker),
        }
    }

    fn trade(&mut self, maker: &Maker<'_>) {
        let quantity = self.taker.remaining.min(maker.order.remaining);
        let maker_remaining = maker.order.remaining - quantity;
        self.trade += 1;
        self.taker.remaining -= quantity;
        self.taker.filled += quantity;
        let traded = OrderTraded {
            market: self.taker.market.clone(),
            trade: self.trade,
            price: maker.price,
            quantity,
            taker_side: self.taker.side,
            maker_order: maker.id.clone(),
            maker_owner: maker.order.owner.clone(),
            maker_remaining,
            taker_order: self.taker.order.clone(),
            taker_owner: self.taker.owner.clone(),
            taker_remaining: self.taker.remaining,
        };
        self.events.push(traded.into());
        let (trade, price) = (self.trade, maker.price);
        self.fills.push(Fill { trade, maker_order: maker.id.clone(), price, quantity, maker_remaining });
    }

    fn cancel_taker(&mut self, reason: CancelReason) {
        self.cancelled = true;
        let Taker { market, order, owner, remaining, .. } = self.taker;
        self.events.push(cancelled(market, order, owner, remaining, reason));
    }

    fn cancel_maker(&mut self, maker: &Maker<'_>) {
        let Order { owner, remaining, .. } = maker.order;
        let reason = CancelReason::SelfTrade;
        self.events.push(cancelled(self.taker.market, maker.id, owner, *remaining, reason));
    }

    /// The smaller of the two is cancelled and the larger is reduced by it; if equal, both are cancelled.
    fn decrement(&mut self, maker: &Maker<'_>) {
        let (taker, resting) = (self.taker.remaining, maker.order.remaining);
        if taker < resting {
            self.reduce(maker.id, taker, resting - taker);
        } else {
            self.cancel_maker(maker);
        }
        if taker > resting {
            self.taker.remaining = taker - resting;
            self.reduce(self.taker.order, resting, taker - resting);
        } else {
            self.cancel_taker(CancelReason::SelfTrade);
        }
    }

    /// Reduces an own order, either the taker or the maker.
    fn reduce(&mut self, order: &Id, by: u64, remaining: u64) {
        let reduced = OrderReduced {
            market: self.taker.market.clone(),
            order: order.clone(),
            owner: self.taker.owner.clone(),
            by,
            remaining,
            by_self_trade: true,
        };
        self.events.push(reduced.into());
    }

    fn more(self) -> Step {
        let (market, order) = (self.taker.market.clone(), self.taker.order.clone());
        Step::More(OperationProgress::Sweep(Sweep { market, order, fills: self.fills }))
    }

    /// Ends the sweep: the remaining quantity rests, if the order allows that. Returns status, filled,
    /// remaining, fills.
    fn end(mut self, before: &[Fill]) -> Facts {
        let status = self.rest();
        let fills: Vec<Value> = before.iter().chain(&self.fills).take(FILLS_MAX).map(Shown::shown).collect();
        facts![status.word(), self.taker.filled, self.taker.remaining, fills]
    }

    fn rest(&mut self) -> OrderStatus {
        if self.cancelled {
            return OrderStatus::Cancelled;
        }
        let Taker { market, order, price, filled, remaining, .. } = self.taker;
        if remaining == 0 {
            return OrderStatus::Filled;
        }
        match price.filter(|_| self.taker.may_rest()) {
            Some(price) => {
                let (market, order) = (market.clone(), order.clone());
                self.events.push(OrderRested { market, order, price, remaining }.into());
                OrderStatus::live(filled)
            }
            None => {
                self.cancel_taker(CancelReason::Unfilled);
                OrderStatus::Cancelled
            }
        }
    }
}

/// The event of an order that ends with a remaining quantity.
pub(super) fn cancelled(market: &Id, order: &Id, owner: &Id, remaining: u64, reason: CancelReason) -> Event {
    let (market, order, owner) = (market.clone(), order.clone(), owner.clone());
    OrderCancelled { market, order, owner, remaining, reason }.into()
}
