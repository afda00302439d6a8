//! Records by their names, for stores that show a state.

use super::{Claim, Coupons, counter_key};
use crate::command::shapes::Subject;
use crate::limits::{Counter, CounterKey};
use crate::store::Slot;
use crate::types::Id;

impl Coupons {
    /// A claim by the name of its coupon and its serial.
    #[must_use]
    pub fn claim_of(&self, coupon: &Id, serial: u64) -> Option<&Claim> {
        self.claims.get(&(self.coupons.find(coupon)?, serial))
    }

    /// The keys of the counters in which a subject counts in these windows, one for each limit.
    pub fn counters_of(
        &self,
        coupon: &Id,
        subject: &Subject,
        windows: &[i64],
    ) -> impl Iterator<Item = CounterKey> {
        let found = self.coupons.find_row(coupon);
        found.into_iter().flat_map(move |(slot, coupon)| {
            let places = coupon.limits.iter().zip(windows).enumerate();
            places
                .map(move |(place, (limit, window))| counter_key(slot, place, &limit.shape, *window, subject))
        })
    }

    /// Every counter that is kept, with its coupon.
    pub fn counters(&self) -> impl Iterator<Item = (&Id, &CounterKey, &Counter)> {
        let named = |(key, counter)| {
            let key: &CounterKey = key;
            Some((self.coupons.key_at(key.resource)?, key, counter))
        };
        self.counters.rows().filter_map(named)
    }

    /// A counter that is kept, of a coupon.
    #[must_use]
    pub fn counter(&self, coupon: &Id, key: &CounterKey) -> Option<&Counter> {
        let resource = self.coupons.find(coupon)?;
        self.counters.get(&CounterKey { resource, ..key.clone() })
    }

    /// The name of a coupon by its row.
    pub(crate) fn name_at(&self, slot: Slot) -> Option<&Id> {
        self.coupons.key_at(slot)
    }

    /// Up to `count_max` counters whose windows are over, with their coupons.
    pub(crate) fn overdue(&self, now: u64, count_max: usize) -> impl Iterator<Item = (&Id, &CounterKey)> {
        let overdue = self.counters.overdue(now, count_max);
        overdue.filter_map(|key| Some((self.coupons.key_at(key.resource)?, key)))
    }
}
