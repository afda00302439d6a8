//! Serials that came back.

use std::collections::BTreeMap;

use scarce_core::state::State;
use scarce_core::types::Id;

use super::record::{Damaged, id, number, words};

/// The ranges of serials that came back, by item and first serial. Those of a receipt are joined where they touch, so
/// they are replaced together.
#[derive(Debug, Default)]
pub(super) struct ReturnedRanges(BTreeMap<(Id, u64), u64>);

impl ReturnedRanges {
    /// Notes a member of the ordered set: `sku first count`.
    pub(super) fn put(&mut self, member: &str) -> Result<(), Damaged> {
        let words: Vec<&str> = member.split(' ').collect();
        let [sku, first, count] = words.as_slice() else { return Err(Damaged) };
        self.0.insert((id(sku)?, number(first)?), number(count)?);
        Ok(())
    }

    /// Replaces those of a receipt, `sku first`, by its number of units, and first serial and count of each.
    pub(super) fn replace(&mut self, name: &str, text: &str) -> Result<(), Damaged> {
        let (sku, receipt) = words(name)?;
        let (sku, receipt): (Id, u64) = (id(sku)?, number(receipt)?);
        let mut numbers = text.split(' ').map(number::<u64>);
        let count = numbers.next().ok_or(Damaged)??;
        let within = (sku.clone(), receipt)..(sku.clone(), receipt.saturating_add(count));
        let stale: Vec<(Id, u64)> = self.0.range(within).map(|(key, _)| key.clone()).collect();
        for key in &stale {
            self.0.remove(key);
        }
        while let Some(first) = numbers.next() {
            self.0.insert((sku.clone(), first?), numbers.next().ok_or(Damaged)??);
        }
        Ok(())
    }

    /// Puts them into a state.
    pub(super) fn restore(self, state: &mut State) {
        self.0.into_iter().for_each(|((sku, first), count)| state.stock.restore_returned(&sku, first, count));
    }
}
