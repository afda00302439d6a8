//! The figures of markets and their orders.

use scarce_core::event::MarketEvent;
use scarce_core::types::Id;

use super::{Contradiction, Ledger, missing, same};

pub(super) fn follow(ledger: &mut Ledger<'_>, event: &MarketEvent) -> Result<(), Contradiction> {
    use MarketEvent as E;
    match event {
        E::MarketCreated(its) => {
            let is_new = ledger.state.markets.get(&its.market).is_none();
            ledger.create("trade", &its.market, is_new)
        }
        E::MarketHalted(its) => ledger.market(&its.market),
        E::MarketResumed(its) => ledger.market(&its.market),
        E::OrderPlaced(its) => {
            ledger.market(&its.market)?;
            ledger.set_order(&its.market, &its.order, its.quantity);
            Ok(())
        }
        E::OrderTraded(its) => {
            let before = ledger.state.markets.get(&its.market).map(|market| market.trades);
            ledger.count("trade", &its.market, before, its.trade)?;
            let of = |order, remaining| (order, its.quantity, remaining);
            ledger.take_from(&its.market, of(&its.maker_order, its.maker_remaining))?;
            ledger.take_from(&its.market, of(&its.taker_order, its.taker_remaining))
        }
        E::OrderReduced(its) => ledger.take_from(&its.market, (&its.order, its.by, its.remaining)),
        E::OrderCancelled(its) => ledger.take_from(&its.market, (&its.order, 0, its.remaining)),
        E::OrderRested(its) => ledger.take_from(&its.market, (&its.order, 0, its.remaining)),
        E::OrderReplaced(its) => {
            let remaining = ledger.order(&its.market, &its.order)?;
            if its.keeps_priority && its.quantity > remaining {
                return same(&its.market, "remaining", Some(remaining), its.quantity);
            }
            ledger.set_order(&its.market, &its.order, its.quantity);
            Ok(())
        }
    }
}

impl Ledger<'_> {
    fn market(&self, market: &Id) -> Result<(), Contradiction> {
        let is_there =
            self.state.markets.get(market).is_some() || self.counts.contains_key(&("trade", market.clone()));
        if is_there { Ok(()) } else { Err(missing(market)) }
    }

    fn order(&self, market: &Id, order: &Id) -> Result<u64, Contradiction> {
        let known = self.orders.get(&(market.clone(), order.clone())).copied();
        let of_state = || self.state.markets.order(market, order).map(|order| order.remaining);
        known.or_else(of_state).ok_or_else(|| missing(order))
    }

    fn set_order(&mut self, market: &Id, order: &Id, remaining: u64) {
        self.orders.insert((market.clone(), order.clone()), remaining);
    }

    fn take_from(
        &mut self,
        market: &Id,
        (order, quantity, told): (&Id, u64, u64),
    ) -> Result<(), Contradiction> {
        let remaining = self.order(market, order)?;
        same(order, "remaining", remaining.checked_sub(quantity), told)?;
        self.set_order(market, order, told);
        Ok(())
    }
}
