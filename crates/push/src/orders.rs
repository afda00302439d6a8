//! What happens to an owner's orders, without a word on who is on the other side of a trade.

use std::collections::BTreeMap;

use scarce_core::event::{
    MarketEvent, OrderCancelled, OrderPlaced, OrderReduced, OrderReplaced, OrderTraded,
};
use scarce_core::types::{Id, TimeMs};
use serde_json::{Value, json};

/// The order that is on its way through the book of each market, with its owner: the event that what is left of it rests does
/// not name the owner.
#[derive(Default)]
pub(crate) struct Takers(BTreeMap<Id, (Id, Id)>);

/// A change, and whose order it is about.
type Change = (Id, Value);

impl Takers {
    pub(crate) fn forget(&mut self, market: &Id) {
        self.0.remove(market);
    }

    /// What an event of a sequence and a time says of its owners' orders. Nothing if the owner of the order is not known.
    pub(crate) fn changes(&mut self, event: &MarketEvent, at: (u64, TimeMs)) -> Option<Vec<Change>> {
        use MarketEvent as E;
        let changes = match event {
            E::OrderPlaced(its) => {
                self.begin(&its.market, &its.order, &its.owner);
                vec![(its.owner.clone(), placed(its))]
            }
            E::OrderTraded(its) => {
                self.begin(&its.market, &its.taker_order, &its.taker_owner);
                traded(its)
            }
            E::OrderRested(its) => {
                let (_, owner) = self.0.get(&its.market).filter(|(order, _)| *order == its.order)?;
                let change = json!({ "change": "rested", "order": its.order.as_str(), "price": its.price, "remaining": its.remaining });
                vec![(owner.clone(), change)]
            }
            E::OrderReduced(its) => vec![(its.owner.clone(), reduced(its))],
            E::OrderReplaced(its) => {
                self.begin(&its.market, &its.order, &its.owner);
                vec![(its.owner.clone(), replaced(its))]
            }
            E::OrderCancelled(its) => vec![(its.owner.clone(), cancelled(its))],
            E::MarketCreated(_) | E::MarketHalted(_) | E::MarketResumed(_) => Vec::new(),
        };
        Some(changes.into_iter().map(|(owner, change)| (owner, stamped(change, at))).collect())
    }

    fn begin(&mut self, market: &Id, order: &Id, owner: &Id) {
        self.0.insert(market.clone(), (order.clone(), owner.clone()));
    }
}

fn stamped(mut change: Value, (sequence, at): (u64, TimeMs)) -> Value {
    if let Some(change) = change.as_object_mut() {
        change.insert("sequence".to_owned(), sequence.into());
        change.insert("at".to_owned(), at.into());
    }
    change
}

fn placed(its: &OrderPlaced) -> Value {
    json!({
        "change": "placed", "order": its.order.as_str(), "side": its.side.word(), "price": its.price,
        "quantity": its.quantity, "remaining": its.quantity, "tif": its.tif.word(), "stp": its.stp.word(),
    })
}

/// A trade is told to both sides, to each in its own words.
fn traded(its: &OrderTraded) -> Vec<Change> {
    let sides = [
        ("maker", &its.maker_owner, &its.maker_order, its.maker_remaining),
        ("taker", &its.taker_owner, &its.taker_order, its.taker_remaining),
    ];
    let change = |(role, owner, order, remaining): (&str, &Id, &Id, u64)| {
        let change = json!({
            "change": "traded", "order": order.as_str(), "role": role, "trade": its.trade, "price": its.price,
            "quantity": its.quantity, "remaining": remaining,
        });
        (owner.clone(), change)
    };
    sides.into_iter().map(change).collect()
}

fn reduced(its: &OrderReduced) -> Value {
    json!({
        "change": "reduced", "order": its.order.as_str(), "by": its.by, "remaining": its.remaining,
        "by_self_trade": its.by_self_trade,
    })
}

fn replaced(its: &OrderReplaced) -> Value {
    json!({
        "change": "replaced", "order": its.order.as_str(), "price": its.price, "remaining": its.quantity,
        "keeps_priority": its.keeps_priority,
    })
}

/// Nothing of it is open any more.
fn cancelled(its: &OrderCancelled) -> Value {
    json!({
        "change": "cancelled", "order": its.order.as_str(), "remaining": 0, "unfilled": its.remaining,
        "reason": its.reason.word(),
    })
}
