//! Markets: limit order books with price priority, then time priority by a counter of the market. Trades
//! happen at the maker's price. A filled or cancelled order is never on the book.

mod book;
mod cancel;
mod evolve;
mod fillable;
mod levels;
mod listing;
mod place;
pub(crate) mod plain;
pub(crate) mod query;
mod records;
mod regroup;
mod replace;
mod restore;
mod rows;
pub mod sweep;
pub mod tape;
#[cfg(test)]
mod tests;

pub(crate) use cancel::{cancel, cancel_all, go_on_cancelling, reduce};
pub(crate) use evolve::evolve;
pub use fillable::LOOKED_MAX;
pub(crate) use listing::list as list_orders;
pub(crate) use place::{create, halt, place, resume};
pub(crate) use replace::replace;

use crate::codec::{Input, Malformed, Wire};
use crate::command::shapes::{Side, StpMode, Tif};
use crate::digest::{Kind, Sum};
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::State;
use crate::store::{Sliced, Slot, Table};
use crate::types::{Id, TimeMs};
use crate::{record_wire, reversible_fields, shown_word, words};
use book::{Books, NIL};
use tape::Tapes;

words! {
    /// Why an order ended with some of it unfilled.
    CancelReason {
        /// Its owner asked for it.
        1 Requested = "requested",
        /// It may not rest, and nothing more was available at its price.
        2 Unfilled = "unfilled",
        /// It would have traded with its owner's own order.
        3 SelfTrade = "self_trade",
    }
}
shown_word!(CancelReason);

words! {
    /// The status of an order.
    OrderStatus {
        /// Nothing of it was filled yet.
        0 Open = "open",
        /// Part of it was filled; the rest is still open.
        1 PartiallyFilled = "partially_filled",
        /// All of it was filled.
        2 Filled = "filled",
        /// It ended with some of it unfilled.
        3 Cancelled = "cancelled",
    }
}
shown_word!(OrderStatus);

impl OrderStatus {
    /// Whether the order is still open.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Open | Self::PartiallyFilled)
    }

    /// The status of a live order that has traded `filled` units.
    pub(crate) const fn live(filled: u64) -> Self {
        if filled == 0 { Self::Open } else { Self::PartiallyFilled }
    }
}

/// A market's rules and counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Market {
    /// Prices are multiples of this.
    pub tick: u64,
    /// Quantities are multiples of this.
    pub lot: u64,
    /// The minimum quantity of an order.
    pub min_quantity: u64,
    /// The maximum quantity of an order.
    pub max_quantity: u64,
    /// Whether trading is stopped.
    pub halted: bool,
    /// The number of trades so far, which is also the number of the last one.
    pub trades: u64,
    /// The last time priority that was assigned.
    pub(crate) priority: u64,
}

record_wire!(Market { tick, lot, min_quantity, max_quantity, halted, trades, priority });

/// The position of a resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RestingPlace {
    /// Its time priority among all orders that ever rested in the market.
    pub(crate) priority: u64,
    /// Its entry in the book.
    pub(crate) node: u32,
}

/// Snapshots contain the time priority only; the book is rebuilt from it.
impl Wire for RestingPlace {
    fn put(&self, out: &mut Vec<u8>) {
        self.priority.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(Self { priority: Wire::get(input)?, node: NIL })
    }
}

/// An order. Until it ends, its original quantity is `filled + remaining`, less all reductions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its owner.
    pub owner: Id,
    /// Its side.
    pub side: Side,
    /// Its limit; absent for a market order.
    pub price: Option<u64>,
    /// Units not filled; for a cancelled order, the units that will never be filled.
    pub remaining: u64,
    /// Units filled.
    pub filled: u64,
    /// How long it stays open.
    pub tif: Tif,
    /// What happens if it would trade with its owner's own order.
    pub stp: StpMode,
    /// Its status.
    pub status: OrderStatus,
    /// Why it was cancelled.
    pub reason: Option<CancelReason>,
    /// When it ended; 0 while it lives.
    pub ended_at: TimeMs,
    /// Its position; absent once it has ended, and while it trades through the book.
    pub(crate) place: Option<RestingPlace>,
}

record_wire!(Order { owner, side, price, remaining, filled, tif, stp, status, reason, ended_at, place });

/// The markets of a partition. Markets are never removed.
#[derive(Debug)]
pub struct Markets {
    pub(crate) markets: Table<Id, Market>,
    pub(crate) orders: Table<(Slot, Id), Order>,
    books: Books,
    tapes: Tapes,
}

reversible_fields!(Markets { markets, orders, books, tapes });

impl Markets {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            markets: Table::by_name(hash_seed, Id::listed),
            orders: Table::by_resource(hash_seed, |key| key.0),
            books: Books::new(hash_seed),
            tapes: Tapes::default(),
        }
    }

    pub(crate) fn record_count(&self) -> usize {
        self.markets.len() + self.orders.len()
    }

    /// A market by name.
    #[must_use]
    pub fn get(&self, market: &Id) -> Option<&Market> {
        self.markets.get(market)
    }

    /// Every market with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Market)> {
        self.markets.iter()
    }

    /// Every order with the names of its market and its own; ended ones for as long as they are kept.
    pub fn orders(&self) -> impl Iterator<Item = (&Id, &Id, &Order)> {
        self.orders
            .iter()
            .filter_map(|((slot, name), order)| Some((self.markets.key_at(*slot)?, name, order)))
    }

    /// An order by the names of market and order, even if it ended long ago but was not dropped yet.
    #[must_use]
    pub fn order(&self, market: &Id, order: &Id) -> Option<&Order> {
        self.orders.get(&(self.markets.find(market)?, order))
    }

    /// The market, or the refusal that it does not exist.
    fn existing(&self, market: &Id) -> Result<(Slot, &Market), Refusal> {
        self.markets
            .find(market)
            .and_then(|slot| self.markets.at(slot).map(|found| (slot, found)))
            .ok_or_else(|| Refusal::new(Code::MarketNotFound, facts![market]))
    }

    pub(crate) fn digest(&self, state: &State, sum: &mut Sum<'_>) {
        self.markets.iter().for_each(|(id, market)| market.add_to(sum, id));
        for ((slot, name), order) in self.orders.iter() {
            if let Some(market) = self.markets.key_at(*slot) {
                order.add_to(sum, state, market, name);
            }
        }
    }

    pub(crate) fn digest_of(&self, state: &State, id: &Id, sum: &mut Sum<'_>) {
        let Some((slot, market)) = self.markets.find_row(id) else { return };
        market.add_to(sum, id);
        for ((_, name), order) in self.orders.of_resource(slot) {
            if !sum.has_room() {
                return;
            }
            order.add_to(sum, state, id, name);
        }
    }

    /// What [`Markets::put`] writes, in the same order.
    pub(crate) fn sliced(&mut self) -> [&mut dyn Sliced; 3] {
        [&mut self.markets, &mut self.orders, &mut self.tapes]
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.markets.put(out);
        self.orders.put(out);
        self.tapes.put(out);
    }

    /// Reads the markets of what [`Markets::put`] wrote, which [`Markets::scan`] needs.
    pub(crate) fn skim(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.markets.load(input)?;
        input.rows(|_: (Slot, Id), _: Order| {})?;
        Tapes::default().load(self.markets.len(), input)
    }

    /// Adds what [`Markets::put`] wrote to a digest, all but the last trades.
    pub(crate) fn scan(
        &self,
        state: &State,
        input: &mut PieceReader<'_>,
        sum: &mut Sum<'_>,
    ) -> Result<(), Malformed> {
        input.rows(|id: Id, market: Market| market.add_to(sum, &id))?;
        input.rows(|(slot, name): (Slot, Id), order: Order| {
            if let Some(market) = self.markets.key_at(slot) {
                order.add_to(sum, state, market, &name);
            }
        })
    }

    pub(crate) fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.markets.load(input)?;
        self.orders.load(input)?;
        self.tapes.load(self.markets.iter().count(), input)?;
        for _ in self.markets.iter() {
            self.books.open();
        }
        self.restore_books()
    }
}

impl Order {
    /// An order that has not traded yet.
    #[must_use]
    pub fn new(owner: Id, side: Side, price: Option<u64>, quantity: u64, tif: Tif, stp: StpMode) -> Self {
        let (status, reason) = (OrderStatus::Open, None);
        Self {
            owner,
            side,
            price,
            remaining: quantity,
            filled: 0,
            tif,
            stp,
            status,
            reason,
            ended_at: 0,
            place: None,
        }
    }

    fn add_to(&self, sum: &mut Sum<'_>, state: &State, market: &Id, name: &Id) {
        if self.status.is_live() || state.is_retained(self.ended_at, state.at) {
            sum.add(Kind::Order, market, |out| {
                name.put(out);
                self.put_figures(out);
            });
        }
    }

    /// The digest's fields of an order: neither its queue position nor when it ended.
    fn put_figures(&self, out: &mut Vec<u8>) {
        self.owner.put(out);
        self.side.put(out);
        self.price.put(out);
        self.remaining.put(out);
        self.filled.put(out);
        self.tif.put(out);
        self.stp.put(out);
        self.status.put(out);
        self.reason.put(out);
    }
}

impl Market {
    /// A market without orders.
    #[must_use]
    pub fn new(tick: u64, lot: u64, min_quantity: u64, max_quantity: u64) -> Self {
        Self { tick, lot, min_quantity, max_quantity, halted: false, trades: 0, priority: 0 }
    }

    fn add_to(&self, sum: &mut Sum<'_>, id: &Id) {
        sum.add(Kind::Market, id, |out| {
            self.tick.put(out);
            self.lot.put(out);
            self.min_quantity.put(out);
            self.max_quantity.put(out);
            self.halted.put(out);
            self.trades.put(out);
        });
    }

    /// Whether a price is a multiple of the tick.
    fn check_price(&self, price: u64) -> Result<(), Refusal> {
        if price.is_multiple_of(self.tick) {
            Ok(())
        } else {
            Err(Refusal::new(Code::PriceInvalid, facts![price, self.tick]))
        }
    }

    /// Whether a quantity is a multiple of the lot and within the market's bounds.
    fn check_quantity(&self, quantity: u64) -> Result<(), Refusal> {
        let within = (self.min_quantity..=self.max_quantity).contains(&quantity);
        if within && quantity.is_multiple_of(self.lot) { Ok(()) } else { Err(self.wrong_quantity(quantity)) }
    }

    fn wrong_quantity(&self, quantity: u64) -> Refusal {
        let facts = facts![quantity, self.lot, self.min_quantity, self.max_quantity];
        Refusal::new(Code::QuantityInvalid, facts)
    }

    fn check_trading(&self, market: &Id) -> Result<(), Refusal> {
        if self.halted { Err(Refusal::new(Code::MarketHalted, facts![market])) } else { Ok(()) }
    }
}

/// The order, unless it ended so long ago that its name can be used again.
fn visible<'a>(state: &'a State, market: Slot, order: &Id, now: TimeMs) -> Option<&'a Order> {
    visible_row(state, market, order, now).map(|(_, order)| order)
}

fn visible_row<'a>(state: &'a State, market: Slot, order: &Id, now: TimeMs) -> Option<(Slot, &'a Order)> {
    let (row, found) = state.markets.orders.find_row(&(market, order))?;
    (found.status.is_live() || state.is_retained(found.ended_at, now)).then_some((row, found))
}

/// The owner's live order, or the refusal that there is none.
fn own_live<'a>(
    state: &'a State,
    market: Slot,
    order: &Id,
    owner: &Id,
    now: TimeMs,
) -> Result<&'a Order, Refusal> {
    own_live_row(state, market, order, owner, now).map(|(_, order)| order)
}

/// The same with the slot of its row.
fn own_live_row<'a>(
    state: &'a State,
    market: Slot,
    order: &Id,
    owner: &Id,
    now: TimeMs,
) -> Result<(Slot, &'a Order), Refusal> {
    let (row, found) = visible_row(state, market, order, now)
        .ok_or_else(|| Refusal::new(Code::OrderNotFound, facts![order]))?;
    if found.owner != *owner {
        return Err(Refusal::new(Code::NotOwner, facts![]));
    }
    if !found.status.is_live() {
        return Err(Refusal::new(Code::OrderClosed, facts![order, found.status.word()]));
    }
    Ok((row, found))
}
