//! Links between the rows of a table that belong to one resource, so that they are found without a walk over all
//! others. Two numbers a row, and one a resource.

use super::{Chunks, Slot};

/// No row.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

/// The rows of each resource, in no order that counts.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The first row of each resource, by its slot.
    first: Chunks<u32>,
    /// By the slot of the row.
    links: Chunks<Link>,
}

impl Chains {
    /// Adds a row that is in no chain.
    pub(super) fn add(&mut self, resource: Slot, row: u32) {
        while self.first.len() <= resource.0 as usize {
            self.first.push(NIL);
        }
        while self.links.len() <= row as usize {
            self.links.push(Link { before: NIL, after: NIL });
        }
        let Some(first) = self.first.get_mut(resource.0 as usize) else { return };
        let after = std::mem::replace(first, row);
        self.change(row, |link| *link = Link { before: NIL, after });
        self.change(after, |link| link.before = row);
    }

    /// Removes a row from the chain of its resource.
    pub(super) fn remove(&mut self, resource: Slot, row: u32) {
        let Some(Link { before, after }) = self.links.get(row as usize).copied() else { return };
        if before == NIL {
            if let Some(first) = self.first.get_mut(resource.0 as usize) {
                *first = after;
            }
        } else {
            self.change(before, |link| link.after = after);
        }
        self.change(after, |link| link.before = before);
    }

    /// The rows of a resource.
    pub(super) fn rows(&self, resource: Slot) -> impl Iterator<Item = u32> {
        let row = |row: u32| Some(row).filter(|row| *row != NIL);
        let first = self.first.get(resource.0 as usize).copied().and_then(row);
        std::iter::successors(first, move |at| row(self.links.get(*at as usize)?.after))
    }

    fn change(&mut self, row: u32, change: impl FnOnce(&mut Link)) {
        if let Some(link) = self.links.get_mut(row as usize).filter(|_| row != NIL) {
            change(link);
        }
    }
}
