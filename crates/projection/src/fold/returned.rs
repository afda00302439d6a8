//! The units that were returned, so that none is returned twice.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::types::Id;

use super::text;
use crate::table::Text;

/// Ranges of returned serials, as far as the batch's ranges could overlap with them: first serial and count,
/// by item.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    ranges: BTreeMap<(Text, i64), i64>,
    /// For each range of the batch, the item and the serial after its end: the last range that begins before
    /// that must be read.
    wanted: BTreeSet<(Text, i64)>,
}

impl Returned {
    /// Notes that the batch returns the range before `end`.
    pub(crate) fn want(&mut self, sku: &Id, end: i64) {
        self.wanted.insert((text(sku), end));
    }

    /// The ranges to read.
    pub(crate) fn wanted(&mut self) -> Vec<(Text, i64)> {
        std::mem::take(&mut self.wanted).into_iter().collect()
    }

    /// Adds a range that was read.
    pub(crate) fn take_in(&mut self, sku: Text, first: i64, count: i64) {
        self.ranges.insert((sku, first), count);
    }

    /// Adds a range; fails if some of it was returned before.
    pub(crate) fn add(&mut self, sku: &Id, first: i64, count: i64) -> Result<(), String> {
        let sku = text(sku);
        let end = first.saturating_add(count);
        let before = self.ranges.range((sku.clone(), i64::MIN)..(sku.clone(), end)).next_back();
        if let Some(((_, its_first), its_count)) = before
            && its_first.saturating_add(*its_count) > first
        {
            let its_last = its_first + its_count - 1;
            return Err(format!(
                "units {first} to {} come back, and units {its_first} to {its_last} did before",
                end - 1
            ));
        }
        self.ranges.insert((sku, first), count);
        Ok(())
    }

    /// Notes that the batch is in the database.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_comes_back_once() {
        let sku = Id::parse(b"s", "sku").expect("an id");
        let mut returned = Returned::default();
        returned.take_in("s".into(), 10, 5);
        returned.take_in("r".into(), 1, 100);
        for (first, count, is_new) in [
            (5, 5, true),
            (15, 1, true),
            (14, 1, false),
            (9, 1, false),
            (8, 20, false),
            (1, 4, true),
            (4, 2, false),
        ] {
            assert_eq!(returned.add(&sku, first, count).is_ok(), is_new, "{first} {count}");
        }
    }
}
