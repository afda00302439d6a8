//! What is counted from the events beside the state: claims in limits that never end, and what was bought and sold.

use std::collections::BTreeMap;

use scarce_core::command::shapes::{Side, Window};
use scarce_core::event::{CouponEvent, Event, MarketEvent};
use scarce_core::state::State;
use scarce_core::types::{Id, signed};

use super::{Report, same};

/// What was traded in a market.
#[derive(Clone, Copy, Debug, Default)]
struct Traded {
    bought: u64,
    sold: u64,
}

/// Counts since the state that a fold began with.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    /// How many claims count in a limit, by coupon and name of the limit.
    claims: BTreeMap<(Id, Id), i64>,
    traded: BTreeMap<Id, Traded>,
}

impl Tallies {
    /// Begins with what a state has counted.
    pub(crate) fn new(state: &State) -> Self {
        Self { claims: counted(state), ..Self::default() }
    }

    /// Counts an event; the state is the one after its entry.
    pub(crate) fn count(&mut self, state: &State, event: &Event) {
        match event {
            Event::Coupon(event) => self.count_claims(state, event),
            Event::Market(MarketEvent::OrderTraded(its)) => {
                let makers = its.taker_side.opposite();
                for (order, side) in [(&its.maker_order, makers), (&its.taker_order, its.taker_side)] {
                    // One that has been forgotten since is on the side that the event tells.
                    let kept = state.markets.order(&its.market, order);
                    let traded = self.traded.entry(its.market.clone()).or_default();
                    match kept.map_or(side, |order| order.side) {
                        Side::Buy => traded.bought += its.quantity,
                        Side::Sell => traded.sold += its.quantity,
                    }
                }
            }
            _ => {}
        }
    }

    fn count_claims(&mut self, state: &State, event: &CouponEvent) {
        let mut add = |coupon: &Id, limit: &Id, change| {
            *self.claims.entry((coupon.clone(), limit.clone())).or_default() += change;
        };
        match event {
            CouponEvent::CouponClaimed(its) => {
                let limits = state.coupons.get(&its.coupon).map_or(&[][..], |coupon| &coupon.limits);
                for (limit, _) in limits.iter().zip(&its.windows) {
                    add(&its.coupon, &limit.name, 1);
                }
            }
            CouponEvent::CouponRevoked(its) => {
                its.given_back.iter().for_each(|limit| add(&its.coupon, limit, -1));
            }
            _ => {}
        }
    }

    /// Compares with the state; returns how many coupons and markets were looked at.
    pub(super) fn check(&self, state: &State, report: Report<'_>) -> u64 {
        let counted = counted(state);
        let mut count = 0;
        for (id, coupon) in state.coupons.iter() {
            count += 1;
            // Windows that have ended are forgotten, so only limits without any can be counted.
            for limit in coupon.limits.iter().filter(|limit| limit.shape.window == Window::None) {
                let key = (id.clone(), limit.name.clone());
                let of = |counts: &BTreeMap<_, i64>| counts.get(&key).copied().unwrap_or(0);
                same(report, id, "claims counted in a limit", of(&self.claims), of(&counted));
            }
        }
        for (id, traded) in &self.traded {
            count += 1;
            same(report, id, "units bought and sold", traded.bought, traded.sold);
        }
        count
    }
}

fn counted(state: &State) -> BTreeMap<(Id, Id), i64> {
    let mut counts = BTreeMap::new();
    for (coupon, limit, used) in state.coupons.counted() {
        *counts.entry((coupon.clone(), limit.clone())).or_default() += signed(used);
    }
    counts
}
