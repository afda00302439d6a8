//! The new slots of resources that go into another state, and the rows that go along with them.

use std::hash::Hash;

use super::{Ordered, Slot, Table};
use crate::types::Id;

/// Whether a resource goes along.
pub(crate) type Goes<'a> = dyn Fn(&Id) -> bool + 'a;

/// Where the resources of a state are in the one that they went into.
#[derive(Debug, Default)]
pub(crate) struct Placed(Vec<Option<Slot>>);

impl Placed {
    /// Copies the resources that go.
    pub(crate) fn take<V: Clone>(to: &mut Table<Id, V>, from: &Table<Id, V>, goes: &Goes<'_>) -> Self {
        let mut placed = Self::default();
        for (id, row) in from.iter().filter(|(id, _)| goes(id)) {
            let slot = to.insert(id.clone(), row.clone());
            placed.note(from.find(id), slot);
        }
        placed
    }

    /// Notes where a resource is now.
    pub(crate) fn note(&mut self, before: Option<Slot>, now: Slot) {
        let Some(at) = before.and_then(|slot| usize::try_from(slot.0).ok()) else { return };
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(now);
    }

    /// Where a resource is now, if it went along.
    pub(crate) fn at(&self, before: Slot) -> Option<Slot> {
        self.0.get(usize::try_from(before.0).ok()?).copied().flatten()
    }

    /// Copies the records of resources that went along.
    pub(crate) fn take_ordered<K: Ord + Clone, V: Clone>(
        &self,
        to: &mut Ordered<(Slot, K), V>,
        from: &Ordered<(Slot, K), V>,
    ) {
        for ((before, key), row) in from.iter() {
            if let Some(slot) = self.at(*before) {
                to.insert((slot, key.clone()), row.clone());
            }
        }
    }

    /// The same of what a resource has one of.
    pub(crate) fn take_single<V: Clone>(&self, to: &mut Ordered<Slot, V>, from: &Ordered<Slot, V>) {
        for (before, row) in from.iter() {
            if let Some(slot) = self.at(*before) {
                to.insert(slot, row.clone());
            }
        }
    }

    /// The same of a table.
    pub(crate) fn take_rows<K: Hash + Eq + Clone, V: Clone>(
        &self,
        to: &mut Table<(Slot, K), V>,
        from: &Table<(Slot, K), V>,
    ) {
        for ((before, key), row) in from.iter() {
            if let Some(slot) = self.at(*before) {
                to.insert((slot, key.clone()), row.clone());
            }
        }
    }
}
