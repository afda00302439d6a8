//! Markets: the book is the list of open orders, sorted on demand.

use scarce_core::command::shapes::{OrderPricing, Side, StpMode, Tif};
use scarce_core::command::table::{
    MarketCreate, OrderCancel, OrderCancelAll, OrderPlace, OrderReduce, OrderReplace,
};
use scarce_core::facts;
use scarce_core::markets::LOOKED_MAX;
use scarce_core::outcome::{Code, Refusal, Value, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::{Asked, MAX, Model, refuse};

#[derive(Clone, Debug)]
pub(super) struct Market {
    pub(super) tick: u64,
    pub(super) lot: u64,
    pub(super) min_quantity: u64,
    pub(super) max_quantity: u64,
    pub(super) halted: bool,
    pub(super) trades: u64,
    /// The last time priority that was assigned.
    pub(super) place: u64,
    pub(super) orders: Vec<Order>,
    /// Every trade: number, price, quantity, side, time.
    tape: Vec<(u64, u64, u64, Side, TimeMs)>,
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) name: Id,
    pub(super) owner: Id,
    pub(super) side: Side,
    pub(super) price: Option<u64>,
    pub(super) remaining: u64,
    pub(super) filled: u64,
    pub(super) tif: Tif,
    pub(super) stp: StpMode,
    /// Its time priority among the orders at its price.
    pub(super) place: u64,
    pub(super) cancelled: Option<&'static str>,
    pub(super) ended_at: Option<TimeMs>,
}

impl Order {
    pub(super) fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }

    pub(super) fn status(&self) -> &'static str {
        match (self.cancelled, self.remaining, self.filled) {
            (Some(_), ..) => "cancelled",
            (None, 0, _) => "filled",
            (None, _, 0) => "open",
            (None, ..) => "partially_filled",
        }
    }

    fn cancel(&mut self, reason: &'static str, now: TimeMs) {
        (self.cancelled, self.ended_at) = (Some(reason), Some(now));
    }

    fn fill(&mut self, quantity: u64, now: TimeMs) {
        self.remaining -= quantity;
        self.filled += quantity;
        if self.remaining == 0 {
            self.ended_at = Some(now);
        }
    }
}

/// The effects of a sweep on other orders.
#[derive(Default)]
struct Swept {
    fills: Vec<Value>,
    touched: usize,
    events: Vec<&'static str>,
}

impl Market {
    /// The open orders of a side, best first.
    pub(super) fn book(&self, side: Side) -> Vec<usize> {
        let open = |at: &usize| self.orders[*at].is_open() && self.orders[*at].side == side;
        let mut book: Vec<usize> = (0..self.orders.len()).filter(open).collect();
        book.sort_by_key(|at| {
            let price = i128::from(self.orders[*at].price.unwrap_or(0));
            (if side == Side::Buy { -price } else { price }, self.orders[*at].place)
        });
        book
    }

    /// The orders that an order of that side and price would meet, best first.
    fn makers(&self, side: Side, price: Option<u64>) -> Vec<usize> {
        let mut makers = self.book(side.opposite());
        makers.retain(|at| {
            let its = self.orders[*at].price.unwrap_or(0);
            price.is_none_or(|price| if side == Side::Buy { its <= price } else { its >= price })
        });
        makers
    }

    fn side_total(&self, side: Side) -> i128 {
        self.book(side).iter().map(|at| i128::from(self.orders[*at].remaining)).sum()
    }

    fn best(&self, side: Side) -> Option<u64> {
        self.book(side).first().and_then(|at| self.orders[*at].price)
    }

    fn check_price(&self, price: u64) -> Result<(), Refusal> {
        if price.is_multiple_of(self.tick) {
            Ok(())
        } else {
            refuse(Code::PriceInvalid, facts![price, self.tick])
        }
    }

    fn check_quantity(&self, quantity: u64) -> Result<(), Refusal> {
        let within = (self.min_quantity..=self.max_quantity).contains(&quantity);
        if within && quantity.is_multiple_of(self.lot) {
            return Ok(());
        }
        self.quantity_invalid(quantity)
    }

    fn quantity_invalid(&self, quantity: u64) -> Result<(), Refusal> {
        refuse(Code::QuantityInvalid, facts![quantity, self.lot, self.min_quantity, self.max_quantity])
    }

    /// How much a fill-or-kill order would get before the book ends or an order of its owner stops it.
    fn fillable(&self, taker: &Order) -> u64 {
        let mut fillable = 0;
        for at in self.makers(taker.side, taker.price) {
            let maker = &self.orders[at];
            let own = maker.owner == taker.owner && taker.stp != StpMode::None;
            if fillable >= taker.remaining || (own && taker.stp != StpMode::CancelMaker) {
                break;
            }
            if !own {
                fillable += maker.remaining;
            }
        }
        fillable.min(taker.remaining)
    }

    /// Whether its owner has too many orders, or too many come before the first of them at its price.
    fn takes_long_to_look_at(&self, taker: &Order) -> bool {
        let is_own = |order: &&Order| order.is_open() && order.owner == taker.owner;
        let makers = self.makers(taker.side, taker.price);
        if taker.stp == StpMode::None || makers.is_empty() {
            return false;
        }
        if self.orders.iter().filter(is_own).count() > LOOKED_MAX {
            return true;
        }
        let makers: Vec<&Order> = makers.into_iter().map(|at| &self.orders[at]).collect();
        let own = makers.iter().find(|maker| is_own(maker)).filter(|_| taker.stp != StpMode::CancelMaker);
        let Some(own) = own else { return false };
        let (mut left, mut seen) = (taker.remaining, 0);
        for maker in &makers {
            if is_own(maker) || left == 0 {
                break;
            }
            seen += usize::from(maker.price == own.price);
            left = left.saturating_sub(maker.remaining);
        }
        seen > LOOKED_MAX
    }

    /// Matches the taker with the book until it is done or no order matches.
    fn sweep(&mut self, taker: &mut Order, now: TimeMs) -> Swept {
        let mut swept = Swept::default();
        for at in self.makers(taker.side, taker.price) {
            if taker.remaining == 0 || taker.cancelled.is_some() {
                break;
            }
            swept.touched += 1;
            if self.orders[at].owner == taker.owner && taker.stp != StpMode::None {
                self.prevent(taker, at, now, &mut swept.events);
            } else {
                swept.fills.push(self.trade(taker, at, now));
                swept.events.push("order.traded");
            }
        }
        swept
    }

    fn trade(&mut self, taker: &mut Order, at: usize, now: TimeMs) -> Value {
        self.trades += 1;
        let maker = &mut self.orders[at];
        let quantity = taker.remaining.min(maker.remaining);
        taker.fill(quantity, now);
        maker.fill(quantity, now);
        let price = maker.price.unwrap_or(0);
        self.tape.push((self.trades, price, quantity, taker.side, now));
        Value::List(facts![self.trades, &maker.name, price, quantity, maker.remaining].into_vec())
    }

    /// Prevents an owner from trading with itself.
    fn prevent(&mut self, taker: &mut Order, at: usize, now: TimeMs, events: &mut Vec<&'static str>) {
        let maker = &mut self.orders[at];
        let smaller = taker.remaining.min(maker.remaining);
        let stp = taker.stp;
        for (order, modes) in [
            (maker, [StpMode::CancelMaker, StpMode::CancelBoth]),
            (taker, [StpMode::CancelTaker, StpMode::CancelBoth]),
        ] {
            let reduced = stp == StpMode::Decrement && order.remaining > smaller;
            if reduced {
                order.remaining -= smaller;
                events.push("order.reduced");
            } else if stp == StpMode::Decrement || modes.contains(&stp) {
                order.cancel("self_trade", now);
                events.push("order.cancelled");
            }
        }
    }
}

impl Model {
    pub(super) fn market(&self, market: &Id) -> Result<&Market, Refusal> {
        self.markets.get(market).ok_or_else(|| Refusal::new(Code::MarketNotFound, facts![market]))
    }

    pub(super) fn create_market(&mut self, c: &MarketCreate) -> Verdict {
        if self.markets.contains_key(&c.market) {
            return refuse(Code::MarketExists, facts![&c.market]);
        }
        let (tick, lot) = (c.tick.get(), c.lot.get());
        let (min_quantity, max_quantity) = (c.min_quantity.get(), c.max_quantity.get());
        let (halted, trades, place, orders, tape) = (false, 0, 0, Vec::new(), Vec::new());
        let market = Market { tick, lot, min_quantity, max_quantity, halted, trades, place, orders, tape };
        self.markets.insert(c.market.clone(), market);
        self.note("market.created");
        Ok(facts!["open"])
    }

    pub(super) fn set_halted(&mut self, id: &Id, halted: bool) -> Verdict {
        if self.market(id)?.halted != halted {
            if let Some(market) = self.markets.get_mut(id) {
                market.halted = halted;
            }
            self.note(if halted { "market.halted" } else { "market.resumed" });
        }
        Ok(facts![if halted { "halted" } else { "open" }])
    }

    pub(super) fn visible_order(&self, market: &Id, name: &Id, now: TimeMs) -> Option<usize> {
        let orders = &self.markets.get(market)?.orders;
        let kept = |order: &Order| order.ended_at.is_none_or(|end| self.is_retained(end, now));
        orders.iter().position(|order| order.name == *name && kept(order))
    }

    pub(super) fn place(&mut self, c: &OrderPlace, asked: Asked<'_>) -> Verdict {
        let market = self.market(&c.market)?;
        if market.halted {
            return refuse(Code::MarketHalted, facts![&c.market]);
        }
        if self.visible_order(&c.market, &c.order, asked.now).is_some() {
            return refuse(Code::OrderExists, facts![&c.order]);
        }
        let (price, tif) = match c.pricing {
            OrderPricing::Limit(price) => (Some(price.get()), c.tif.unwrap_or(Tif::Gtc)),
            OrderPricing::Market => (None, c.tif.unwrap_or(Tif::Ioc)),
        };
        price.map_or(Ok(()), |price| market.check_price(price))?;
        market.check_quantity(c.quantity.get())?;
        let order = Order {
            name: c.order.clone(),
            owner: c.owner.clone(),
            side: c.side,
            price,
            remaining: c.quantity.get(),
            filled: 0,
            tif,
            stp: c.stp,
            place: 0,
            cancelled: None,
            ended_at: None,
        };
        self.note("order.placed");
        self.arrive(&c.market, &order, asked)
    }

    /// Matches an order with the book, and lets the remainder rest if allowed.
    fn arrive(&mut self, id: &Id, order: &Order, asked: Asked<'_>) -> Verdict {
        let mut before = self.market(id)?.clone();
        before.orders.retain(|its| its.name != order.name);
        let (mut market, mut after) = (before.clone(), order.clone());
        let swept = market.sweep(&mut after, asked.now);
        self.events.extend(swept.events);
        if after.is_open() && matches!(after.tif, Tif::Ioc | Tif::Fok) {
            after.cancel("unfilled", asked.now);
            self.note("order.cancelled");
        } else if after.is_open() {
            market.place += 1;
            after.place = market.place;
            self.note("order.rested");
        }
        // Decided before the first fill: as if an order that may rest did so completely.
        let may_rest = matches!(order.tif, Tif::Gtc | Tif::Post);
        let side = before.side_total(order.side) + i128::from(order.remaining);
        let in_all = i128::from(order.filled) + i128::from(order.remaining);
        if (may_rest && side > MAX) || in_all > MAX {
            return refuse(Code::Overflow, facts!["quantity"]);
        }
        if order.tif == Tif::Post && swept.touched > 0 {
            return refuse(Code::WouldTake, facts![before.best(order.side.opposite())]);
        }
        if order.tif == Tif::Fok && before.takes_long_to_look_at(order) {
            return refuse(Code::StepLimit, facts![LOOKED_MAX as u64]);
        }
        let fillable = before.fillable(order);
        if order.tif == Tif::Fok && fillable < order.remaining {
            return refuse(Code::WouldNotFill, facts![fillable, order.remaining]);
        }
        let step_max = self.settings.batch_step_max;
        if asked.atomic && swept.touched > step_max {
            return refuse(Code::StepLimit, facts![step_max as u64]);
        }
        let shown = facts![after.status(), after.filled, after.remaining, swept.fills];
        market.orders.push(after);
        self.markets.insert(id.clone(), market);
        Ok(shown)
    }

    /// The index of the owner's open order, or the refusal.
    fn own_order(&self, market: &Id, name: &Id, owner: &Id, now: TimeMs) -> Result<usize, Refusal> {
        let orders = &self.market(market)?.orders;
        let Some(at) = self.visible_order(market, name, now) else {
            return refuse(Code::OrderNotFound, facts![name]);
        };
        if orders[at].owner != *owner {
            return refuse(Code::NotOwner, facts![]);
        }
        if !orders[at].is_open() {
            return refuse(Code::OrderClosed, facts![name, orders[at].status()]);
        }
        Ok(at)
    }

    fn change_order(&mut self, market: &Id, at: usize, change: impl FnOnce(&mut Order)) {
        if let Some(order) = self.markets.get_mut(market).and_then(|market| market.orders.get_mut(at)) {
            change(order);
        }
    }

    pub(super) fn cancel(&mut self, c: &OrderCancel, now: TimeMs) -> Verdict {
        let at = self.own_order(&c.market, &c.order, &c.owner, now)?;
        let remaining = self.market(&c.market)?.orders[at].remaining;
        self.change_order(&c.market, at, |order| order.cancel("requested", now));
        self.note("order.cancelled");
        Ok(facts![remaining])
    }

    pub(super) fn reduce(&mut self, c: &OrderReduce, now: TimeMs) -> Verdict {
        let at = self.own_order(&c.market, &c.order, &c.owner, now)?;
        let market = self.market(&c.market)?;
        let (by, remaining) = (c.by.get(), market.orders[at].remaining);
        if by >= remaining {
            self.change_order(&c.market, at, |order| order.cancel("requested", now));
            self.note("order.cancelled");
            return Ok(facts!["cancelled", remaining]);
        }
        if !by.is_multiple_of(market.lot) {
            market.quantity_invalid(by)?;
        }
        self.change_order(&c.market, at, |order| order.remaining -= by);
        self.note("order.reduced");
        let status = self.market(&c.market)?.orders[at].status();
        Ok(facts![status, remaining - by])
    }

    pub(super) fn replace(&mut self, c: &OrderReplace, asked: Asked<'_>) -> Verdict {
        let at = self.own_order(&c.market, &c.order, &c.owner, asked.now)?;
        let market = self.market(&c.market)?;
        let mut order = market.orders[at].clone();
        let keeps = order.price == Some(c.price.get()) && c.quantity.get() < order.remaining;
        if market.halted && !keeps {
            return refuse(Code::MarketHalted, facts![&c.market]);
        }
        market.check_price(c.price.get())?;
        market.check_quantity(c.quantity.get())?;
        (order.price, order.remaining) = (Some(c.price.get()), c.quantity.get());
        self.note("order.replaced");
        if keeps {
            let shown = facts![order.status(), order.filled, order.remaining, Vec::<Value>::new()];
            self.change_order(&c.market, at, |its| *its = order);
            return Ok(shown);
        }
        self.arrive(&c.market, &order, asked)
    }

    pub(super) fn cancel_all(&mut self, c: &OrderCancelAll, asked: Asked<'_>) -> Verdict {
        let orders = &self.market(&c.market)?.orders;
        let own = |at: &usize| orders[*at].is_open() && orders[*at].owner == c.owner;
        let own: Vec<usize> = (0..orders.len()).filter(own).collect();
        let step_max = self.settings.batch_step_max;
        if asked.atomic && own.len() > step_max {
            return refuse(Code::StepLimit, facts![step_max as u64]);
        }
        for at in &own {
            self.change_order(&c.market, *at, |order| order.cancel("requested", asked.now));
            self.note("order.cancelled");
        }
        Ok(facts![own.len() as u64])
    }

    pub(super) fn show_market(&self, id: &Id) -> Verdict {
        let market = self.market(id)?;
        let status = if market.halted { "halted" } else { "open" };
        let orders = market.orders.iter().filter(|order| order.is_open()).count() as u64;
        let (bid, ask) = (market.best(Side::Buy), market.best(Side::Sell));
        let mut shown = facts![id, status, market.tick, market.lot, market.min_quantity, market.max_quantity];
        shown.extend(facts![bid, ask, orders, market.trades]);
        Ok(shown)
    }

    /// The levels of both sides: price, quantity, orders.
    pub(super) fn show_depth(&self, id: &Id, levels: u64) -> Verdict {
        let market = self.market(id)?;
        let side = |side: Side| {
            let mut shown: Vec<(u64, u64, u64)> = Vec::new();
            for at in market.book(side) {
                let (price, remaining) = (market.orders[at].price.unwrap_or(0), market.orders[at].remaining);
                match shown.last_mut().filter(|level| level.0 == price) {
                    Some(level) => (level.1, level.2) = (level.1 + remaining, level.2 + 1),
                    None => shown.push((price, remaining, 1)),
                }
            }
            shown.truncate(usize::try_from(levels).unwrap_or(usize::MAX));
            let level = |its: &(u64, u64, u64)| Value::List(facts![its.0, its.1, its.2].into_vec());
            Value::List(shown.iter().map(level).collect())
        };
        Ok(facts![side(Side::Buy), side(Side::Sell)])
    }

    /// At most the last hundred trades, latest first.
    pub(super) fn show_trades(&self, id: &Id, count: u64) -> Verdict {
        let count = usize::try_from(count.min(100)).unwrap_or(usize::MAX);
        let last = self.market(id)?.tape.iter().rev().take(count);
        let row = |(trade, price, quantity, side, at): &(u64, u64, u64, Side, TimeMs)| {
            Value::List(facts![*trade, *price, *quantity, side.word(), *at].into_vec())
        };
        Ok(facts![last.map(row).collect::<Vec<_>>()])
    }

    /// All of the ticker but the sequence.
    pub(super) fn show_ticker(&self, id: &Id) -> Verdict {
        let market = self.market(id)?;
        let last = market.tape.last();
        let mut shown = facts![id, last.map(|its| its.1), last.map(|its| its.2)];
        shown.extend(facts![last.map(|its| its.3.word()), last.map(|its| its.4)]);
        for side in [Side::Buy, Side::Sell] {
            let price = market.best(side);
            let at_best = market.orders.iter().filter(|order| order.is_open() && order.side == side);
            let quantity: u64 =
                at_best.filter(|order| order.price == price).map(|order| order.remaining).sum();
            shown.extend(facts![price, price.map(|_| quantity)]);
        }
        shown.extend(facts![market.trades]);
        Ok(shown)
    }

    pub(super) fn show_order(&self, market: &Id, name: &Id, now: TimeMs) -> Verdict {
        self.market(market)?;
        let Some(at) = self.visible_order(market, name, now) else {
            return refuse(Code::OrderNotFound, facts![name]);
        };
        let order = &self.market(market)?.orders[at];
        let mut shown = facts![name, &order.owner, order.side.word(), order.price, order.remaining];
        shown.extend(facts![
            order.filled,
            order.tif.word(),
            order.stp.word(),
            order.status(),
            order.cancelled
        ]);
        Ok(shown)
    }
}
