//! Coupons among another number of partitions.

use super::Coupons;
use crate::store::{Goes, Placed};

impl Coupons {
    /// Takes over the coupons that go, with claims and counters.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) -> Placed {
        let placed = Placed::take(&mut self.coupons, &from.coupons, goes);
        placed.take_ordered(&mut self.claims, &from.claims);
        self.counters.take_over(&from.counters, &placed);
        placed
    }
}
