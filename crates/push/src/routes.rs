//! Which channels an event changes, and what is told on those that tell what happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_api::event::Marks;
use scarce_core::event::{Event, MarketEvent};
use scarce_core::facts;
use scarce_core::outcome::Value as Figure;
use scarce_core::resource::ResourceKind;
use scarce_core::types::{Id, TimeMs};
use serde_json::Value;

use super::channel::Contents;
use super::held::Held;
use super::orders::Takers;

/// The channels by what they show.
#[derive(Default)]
pub(crate) struct Routes {
    by_resource: [BTreeMap<String, Vec<Arc<Held>>>; ResourceKind::ALL.len()],
    /// Those of an owner's orders, by market and owner: an order concerns one or two of them, however many there are.
    by_owner: BTreeMap<String, BTreeMap<String, Vec<Arc<Held>>>>,
    takers: Takers,
}

impl Routes {
    pub(crate) fn add(&mut self, held: Arc<Held>) {
        let id = held.channel.resource.as_str().to_owned();
        match &held.channel.owner {
            Some(owner) => {
                let of_market = self.by_owner.entry(id).or_default();
                of_market.entry(owner.as_str().to_owned()).or_default().push(held);
            }
            None => self.by_resource[held.channel.spec.kind as usize].entry(id).or_default().push(held),
        }
    }

    pub(crate) fn remove(&mut self, held: &Arc<Held>) {
        let id = held.channel.resource.as_str();
        match &held.channel.owner {
            Some(owner) => {
                let Some(of_market) = self.by_owner.get_mut(id) else { return };
                take_out(of_market, owner.as_str(), held);
                if of_market.is_empty() {
                    self.by_owner.remove(id);
                    self.takers.forget(&held.channel.resource);
                }
            }
            None => take_out(&mut self.by_resource[held.channel.spec.kind as usize], id, held),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Held>> {
        let of_owners = self.by_owner.values().flat_map(BTreeMap::values);
        self.by_resource.iter().flat_map(BTreeMap::values).chain(of_owners).flatten()
    }

    /// The channels of orders in a market.
    pub(crate) fn of_orders(&self, market: &Id) -> impl Iterator<Item = &Arc<Held>> {
        self.by_owner.get(market.as_str()).into_iter().flat_map(BTreeMap::values).flatten()
    }

    /// The channels of orders in the market of an event.
    pub(crate) fn of_orders_of(&self, event: &Event) -> Vec<Arc<Held>> {
        let Event::Market(event) = event else { return Vec::new() };
        self.of_orders(event.market()).cloned().collect()
    }

    /// What an event is on channels that tell what happens; nothing if that cannot be known.
    pub(crate) fn happened(&mut self, event: &Event, at: (u64, TimeMs)) -> Option<Vec<(Arc<Held>, Value)>> {
        let Event::Market(market_event) = event else { return Some(Vec::new()) };
        let mut told = Vec::new();
        for held in self.of(event).filter(|held| held.channel.spec.contents == Contents::Trades) {
            told.extend(trade(held, market_event, at.1).map(|row| (held.clone(), row)));
        }
        if let Some(of_market) = self.by_owner.get(market_event.market().as_str()) {
            for (owner, row) in self.takers.changes(market_event, at)? {
                let channels = of_market.get(owner.as_str()).into_iter().flatten();
                told.extend(channels.map(|held| (held.clone(), row.clone())));
            }
        }
        Some(told)
    }

    /// The channels that an event may change.
    pub(crate) fn of(&self, event: &Event) -> impl Iterator<Item = &Arc<Held>> {
        let of_kind = event.spec().resource.map(|kind| &self.by_resource[kind as usize]);
        let of_kind = of_kind.filter(|channels| !channels.is_empty());
        of_kind.into_iter().flat_map(move |of_kind| {
            let resources = Marks::of(event).into_resources();
            let names = resources.into_iter().flatten();
            names.flat_map(move |id| match id {
                Figure::Text(id) => of_kind.get(id.as_str()).map_or(&[][..], Vec::as_slice),
                _ => &[],
            })
        })
    }
}

/// Takes a channel out of those by name.
fn take_out(channels: &mut BTreeMap<String, Vec<Arc<Held>>>, name: &str, held: &Arc<Held>) {
    if let Some(of_name) = channels.get_mut(name) {
        of_name.retain(|its| !Arc::ptr_eq(its, held));
        if of_name.is_empty() {
            channels.remove(name);
        }
    }
}

/// A trade as `MARKET.TRADES` shows it, if the event is one.
fn trade(held: &Held, event: &MarketEvent, at: TimeMs) -> Option<Value> {
    let MarketEvent::OrderTraded(traded) = event else { return None };
    let row = facts![traded.trade, traded.price, traded.quantity, traded.taker_side.word(), at];
    let shown =
        scarce_api::answer::figures(held.channel.read, &[Figure::List(vec![Figure::List(row.into_vec())])]);
    shown.into_iter().next().and_then(|(_, rows)| rows.as_array().and_then(|rows| rows.first().cloned()))
}
