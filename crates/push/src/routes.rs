//! Which channels an event changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_api::event::Marks;
use scarce_core::event::{Event, MarketEvent};
use scarce_core::facts;
use scarce_core::outcome::Value as Figure;
use scarce_core::resource::ResourceKind;
use scarce_core::types::TimeMs;
use serde_json::Value;

use super::held::Held;

/// The channels by what they show.
#[derive(Default)]
pub(crate) struct Routes {
    by_resource: [BTreeMap<String, Vec<Arc<Held>>>; ResourceKind::ALL.len()],
}

impl Routes {
    pub(crate) fn add(&mut self, held: Arc<Held>) {
        let of_kind = &mut self.by_resource[held.channel.spec.kind as usize];
        of_kind.entry(held.channel.resource.as_str().to_owned()).or_default().push(held);
    }

    pub(crate) fn remove(&mut self, held: &Arc<Held>) {
        let of_kind = &mut self.by_resource[held.channel.spec.kind as usize];
        let id = held.channel.resource.as_str();
        if let Some(channels) = of_kind.get_mut(id) {
            channels.retain(|its| !Arc::ptr_eq(its, held));
            if channels.is_empty() {
                of_kind.remove(id);
            }
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Held>> {
        self.by_resource.iter().flat_map(BTreeMap::values).flatten()
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

/// A trade as `MARKET.TRADES` shows it, if the event is one.
pub(crate) fn trade(held: &Held, event: &Event, at: TimeMs) -> Option<Value> {
    let Event::Market(MarketEvent::OrderTraded(traded)) = event else { return None };
    let row = facts![traded.trade, traded.price, traded.quantity, traded.taker_side.word(), at];
    let shown =
        scarce_api::answer::figures(held.channel.read, &[Figure::List(vec![Figure::List(row.into_vec())])]);
    shown.into_iter().next().and_then(|(_, rows)| rows.as_array().and_then(|rows| rows.first().cloned()))
}
