//! What events change in markets.

use super::book::Resting;
use super::tape::Trade;
use super::{CancelReason, Market, Markets, Order, OrderStatus, RestingPlace};
use crate::command::shapes::Side;
use crate::event::{
    MarketCreated, MarketEvent, OrderCancelled, OrderPlaced, OrderReduced, OrderReplaced, OrderRested,
    OrderTraded,
};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// Applies an event of a market or an order.
pub(crate) fn evolve(state: &mut State, event: &MarketEvent, at: TimeMs) {
    use MarketEvent as E;
    let markets = &mut state.markets;
    match event {
        E::MarketCreated(created) => markets.create(created),
        E::MarketHalted(halted) => {
            markets.markets.update_key(&halted.market, |market| market.halted = true);
        }
        E::MarketResumed(resumed) => {
            markets.markets.update_key(&resumed.market, |market| market.halted = false);
        }
        E::OrderPlaced(placed) => place(state, placed),
        E::OrderTraded(traded) => trade(state, traded, at),
        E::OrderCancelled(cancelled) => cancel(state, cancelled, at),
        E::OrderReduced(reduced) => markets.reduce(reduced),
        E::OrderRested(rested) => markets.rest(rested),
        E::OrderReplaced(replaced) => markets.replace(replaced),
    }
}

impl Markets {
    fn create(&mut self, created: &MarketCreated) {
        let MarketCreated { market, tick, lot, min_quantity, max_quantity } = created;
        let row = Market::new(*tick, *lot, *min_quantity, *max_quantity);
        self.markets.insert(market.clone(), row);
        self.books.open();
        self.tapes.open();
    }

    /// The slots of an order and its market.
    fn locate(&self, market: &Id, order: &Id) -> Option<(Slot, Slot)> {
        let slot = self.markets.find(market)?;
        Some((slot, self.orders.find(&(slot, order))?))
    }

    /// The slot of an order that rests on a side and trades: the first one there, unless something else is on its way
    /// through the book as well.
    fn maker(&self, slot: Slot, side: Side, order: &Id) -> Option<Slot> {
        let first = self.books.get(slot).first(side).map(|node| node.row);
        let is_it = |row: &Slot| self.orders.key_at(*row).is_some_and(|(_, name)| name == order);
        first.filter(is_it).or_else(|| self.orders.find(&(slot, order)))
    }

    /// Sets the remaining quantity of a live order, also on the book if it rests.
    pub(super) fn shrink(&mut self, (slot, row): (Slot, Slot), remaining: u64) {
        let Some(order) = self.orders.at(row) else { return };
        let by = order.remaining - remaining;
        if let Some(place) = order.place {
            self.books.shrink(slot, place.node, by);
        }
        self.orders.update(row, |order| order.remaining = remaining);
    }

    /// Takes an order off the book if it rests.
    fn take_off(&mut self, (slot, row): (Slot, Slot)) {
        let Some(order) = self.orders.at(row) else { return };
        if let Some(place) = order.place {
            self.books.take_off(slot, place.node, order.remaining);
            self.orders.update(row, |order| order.place = None);
        }
    }

    fn reduce(&mut self, reduced: &OrderReduced) {
        if let Some(found) = self.locate(&reduced.market, &reduced.order) {
            self.shrink(found, reduced.remaining);
        }
    }

    fn rest(&mut self, rested: &OrderRested) {
        let OrderRested { market, order, price, remaining } = rested;
        if let Some(found) = self.locate(market, order) {
            self.rest_at(found, *price, *remaining);
        }
    }

    /// The next time priority of a market.
    fn next_priority(&mut self, slot: Slot) -> u64 {
        let mut priority = 0;
        self.markets.update(slot, |market| {
            market.priority += 1;
            priority = market.priority;
        });
        priority
    }

    /// Puts an order on the book.
    pub(super) fn rest_at(&mut self, (slot, row): (Slot, Slot), price: u64, quantity: u64) {
        let priority = self.next_priority(slot);
        let Self { books, orders, .. } = self;
        orders.update(row, |order| {
            let entry = Resting { row, side: order.side, price, quantity };
            let node = books.rest(slot, &order.owner, entry);
            order.place = Some(RestingPlace { priority, node });
        });
    }

    /// Takes a resting order off the book and puts it there again.
    pub(super) fn requeue(&mut self, (slot, row): (Slot, Slot), price: u64, quantity: u64) {
        let priority = self.next_priority(slot);
        let Self { books, orders, .. } = self;
        orders.update(row, |order| {
            if let Some(place) = &mut order.place {
                books.requeue(slot, place.node, order.remaining, (price, quantity));
                place.priority = priority;
            }
            order.price = Some(price);
            order.remaining = quantity;
        });
    }

    fn replace(&mut self, replaced: &OrderReplaced) {
        let OrderReplaced { market, order, price, quantity, keeps_priority, .. } = replaced;
        let Some(found) = self.locate(market, order) else { return };
        if *keeps_priority {
            self.shrink(found, *quantity);
            return;
        }
        self.take_off(found);
        self.orders.update(found.1, |order| {
            order.price = Some(*price);
            order.remaining = *quantity;
        });
    }
}

fn place(state: &mut State, placed: &OrderPlaced) {
    let OrderPlaced { market, order, owner, side, price, quantity, tif, stp } = placed;
    let Some(slot) = state.markets.markets.find(market) else { return };
    let record = Order::new(owner.clone(), *side, *price, *quantity, *tif, *stp);
    let orders = &mut state.markets.orders;
    match orders.seek(&(slot, order)) {
        Ok(row) => {
            if let Some(before) = orders.at(row) {
                state.ended.remove_order(before.ended_at, row);
            }
            orders.update(row, |order| *order = record);
        }
        Err(hash) => {
            orders.insert_absent(hash, (slot, order.clone()), record);
        }
    }
}

fn trade(state: &mut State, traded: &OrderTraded, at: TimeMs) {
    let OrderTraded { market, trade, price, quantity, taker_side, .. } = traded;
    let Some(slot) = state.markets.markets.find(market) else { return };
    state.markets.markets.update(slot, |market| market.trades = *trade);
    let put_on = Trade { trade: *trade, price: *price, quantity: *quantity, taker_side: *taker_side, at };
    state.markets.tapes.put_on(slot, put_on);
    if let Some(row) = state.markets.maker(slot, taker_side.opposite(), &traded.maker_order) {
        fill(state, (slot, row), (*quantity, traded.maker_remaining), at);
    }
    if let Some(row) = state.markets.orders.find(&(slot, &traded.taker_order)) {
        fill(state, (slot, row), (*quantity, traded.taker_remaining), at);
    }
}

fn fill(state: &mut State, (slot, row): (Slot, Slot), (quantity, remaining): (u64, u64), at: TimeMs) {
    let Markets { books, orders, .. } = &mut state.markets;
    let is_filled = remaining == 0;
    orders.update(row, |order| {
        match order.place {
            Some(place) if is_filled => books.take_off(slot, place.node, order.remaining),
            Some(place) => books.shrink(slot, place.node, order.remaining - remaining),
            None => {}
        }
        order.remaining = remaining;
        order.filled += quantity;
        order.status = if is_filled { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        if is_filled {
            order.place = None;
            order.reason = None;
            order.ended_at = at;
        }
    });
    if is_filled {
        state.ended.add_order(at, row);
    }
}

fn cancel(state: &mut State, cancelled: &OrderCancelled, at: TimeMs) {
    let OrderCancelled { market, order, reason, .. } = cancelled;
    let Some(found) = state.markets.locate(market, order) else { return };
    end(state, found, *reason, at);
}

/// Ends an order with what remains of it unfilled.
pub(super) fn end(state: &mut State, (slot, row): (Slot, Slot), reason: CancelReason, at: TimeMs) {
    let Markets { books, orders, .. } = &mut state.markets;
    orders.update(row, |order| {
        if let Some(place) = order.place.take() {
            books.take_off(slot, place.node, order.remaining);
        }
        order.status = OrderStatus::Cancelled;
        order.reason = Some(reason);
        order.ended_at = at;
    });
    state.ended.add_order(at, row);
}
