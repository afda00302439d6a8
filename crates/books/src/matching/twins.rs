//! What there is once more.

use std::collections::HashSet;

use crate::items::Item;
use crate::keys;

/// Lines and movements that were matched, to find others that say the same.
#[derive(Debug, Default)]
pub(super) struct Twins {
    /// With their operation.
    exact: HashSet<u64>,
    /// Without it, whatever it was.
    without_operation: HashSet<u64>,
}

impl Twins {
    pub(super) fn add(&mut self, its: &Item<'_>) {
        if !its.reference.is_empty() {
            self.exact.insert(keys::of_line(its));
            self.without_operation.insert(keys::of_line(&Item { operation: "", ..*its }));
        }
    }

    /// Adds a line of an earlier file by its key.
    pub(super) fn add_line(&mut self, line: u64) {
        self.exact.insert(line);
    }

    /// Whether one with the same amount, day and reference is there, and no other operation.
    pub(super) fn has(&self, its: &Item<'_>) -> bool {
        if its.reference.is_empty() {
            return false;
        }
        let bare = keys::of_line(&Item { operation: "", ..*its });
        let is_bare = its.operation.is_empty() && self.without_operation.contains(&bare);
        is_bare || self.exact.contains(&bare) || self.exact.contains(&keys::of_line(its))
    }
}
