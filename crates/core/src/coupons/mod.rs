//! Coupons: claims are counted in any number of quantity limits, each with its own dimensions and time
//! windows.

pub mod claims;
mod decisions;
mod evolve;
pub(crate) mod query;
mod records;
mod regroup;
mod rows;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod window_tests;

pub use claims::{redeem, revoke};
pub use decisions::{claim, create, pause, resume, update};
pub use evolve::evolve;

use compact_str::CompactString;

use crate::codec::{Malformed, Wire};
use crate::command::shapes::{Limit, LimitShape, Subject};
use crate::digest::{Kind, Sum};
use crate::facts;
use crate::limits::{self, Counter, CounterKey, Counters};
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::State;
use crate::store::{Ordered, Sliced, Slot, Table};
use crate::types::{Id, Positive, TimeMs};
use crate::{record_wire, reversible_fields, shown_word, words};

/// A coupon, which can be claimed while its limits allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coupon {
    /// The limits in the order of the checks. Counters refer to a limit by its index, so an index never
    /// changes; new limits are appended.
    pub limits: Vec<Limit>,
    /// When claims begin.
    pub starts_at: Option<TimeMs>,
    /// When claims end.
    pub ends_at: Option<TimeMs>,
    /// How long a claim can be used.
    pub claim_ttl_ms: Option<Positive>,
    /// Whether claims are stopped.
    pub paused: bool,
    /// The last serial assigned.
    pub serial: u64,
}

record_wire!(Coupon { limits, starts_at, ends_at, claim_ttl_ms, paused, serial });

words! {
    /// The status of a claim.
    ClaimStatus {
        /// It can be used.
        0 Open = "open",
        /// It was used.
        1 Redeemed = "redeemed",
        /// It was voided.
        2 Revoked = "revoked",
        /// Its deadline passed. Never kept: it follows from the stamp.
        3 Expired = "expired",
    }
}
shown_word!(ClaimStatus);

/// A claim of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The subject that has it, which also determines how it was counted.
    pub subject: Subject,
    /// The window of each limit that counted it; limits added later have no entry.
    pub windows: Vec<i64>,
    /// When it was made.
    pub at: TimeMs,
    /// The deadline from which it can no longer be used.
    pub deadline: Option<TimeMs>,
    /// The status, except what follows from the stamp.
    pub status: ClaimStatus,
    /// When it was used or voided; 0 while neither.
    pub ended_at: TimeMs,
}

record_wire!(Claim { subject, windows, at, deadline, status, ended_at });

impl Claim {
    /// The status at `now`: a claim has ended once its deadline has passed.
    #[must_use]
    pub fn status_at(&self, now: TimeMs) -> ClaimStatus {
        let due = self.deadline.is_some_and(|deadline| now >= deadline);
        if self.status == ClaimStatus::Open && due { ClaimStatus::Expired } else { self.status }
    }

    /// When it ended, if it has by `now`.
    fn ended_by(&self, now: TimeMs) -> Option<TimeMs> {
        match self.status_at(now) {
            ClaimStatus::Open => None,
            ClaimStatus::Redeemed | ClaimStatus::Revoked => Some(self.ended_at),
            ClaimStatus::Expired => self.deadline,
        }
    }
}

/// The coupons of a partition with their claims and counters. Coupons are never removed.
#[derive(Debug)]
pub struct Coupons {
    coupons: Table<Id, Coupon>,
    claims: Ordered<(Slot, u64), Claim>,
    counters: Counters,
}

reversible_fields!(Coupons { coupons, claims, counters });

impl Coupons {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            coupons: Table::by_name(hash_seed, Id::listed),
            claims: Ordered::default(),
            counters: Counters::new(hash_seed),
        }
    }

    pub(crate) fn record_count(&self) -> usize {
        self.coupons.len() + self.claims.len() + self.counters.len()
    }

    pub(crate) fn reusable_bytes(&self) -> usize {
        self.counters.reusable_bytes()
    }

    /// A coupon by name.
    #[must_use]
    pub fn get(&self, coupon: &Id) -> Option<&Coupon> {
        self.coupons.get(coupon)
    }

    /// Restores a coupon from another store.
    pub fn restore(&mut self, id: Id, coupon: Coupon) {
        self.coupons.insert(id, coupon);
    }

    /// Restores a claim from another store, of a coupon that was restored.
    pub fn restore_claim(&mut self, coupon: &Id, serial: u64, claim: Claim) {
        if let Some(slot) = self.coupons.find(coupon) {
            self.claims.insert((slot, serial), claim);
        }
    }

    /// Restores a counter from another store, of a coupon that was restored: the counter of a subject, as
    /// [`limits::subject`] writes it, in one window of the limit with the index `place`.
    pub fn restore_counter(
        &mut self,
        coupon: &Id,
        place: u32,
        window: i64,
        subject: CompactString,
        counter: &Counter,
    ) {
        if let Some(resource) = self.coupons.find(coupon) {
            self.counters.restore(&CounterKey { resource, limit: place, window, subject }, counter);
        }
    }

    /// Every coupon with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Coupon)> {
        self.coupons.iter()
    }

    /// Every claim with its coupon and serial; ended ones for as long as they are kept.
    pub fn claims(&self) -> impl Iterator<Item = (&Id, u64, &Claim)> {
        self.claims.iter().filter_map(|((slot, serial), claim)| {
            let (coupon, _) = self.at(*slot)?;
            Some((coupon, *serial, claim))
        })
    }

    /// Every counter that is kept: the coupon, the name of the limit, and how many are counted.
    pub fn counted(&self) -> impl Iterator<Item = (&Id, &Id, u64)> {
        self.counters.iter().filter_map(|(key, used)| {
            let (id, coupon) = self.at(key.resource)?;
            Some((id, &coupon.limits.get(usize::try_from(key.limit).ok()?)?.name, used))
        })
    }

    fn existing(&self, coupon: &Id) -> Result<(Slot, &Coupon), Refusal> {
        self.coupons
            .find(coupon)
            .and_then(|slot| self.coupons.at(slot).map(|found| (slot, found)))
            .ok_or_else(|| Refusal::new(Code::CouponNotFound, facts![coupon]))
    }

    /// Takes a claim out that another store no longer has.
    pub fn drop_claim(&mut self, coupon: &Id, serial: u64) {
        if let Some(slot) = self.coupons.find(coupon) {
            self.claims.remove(&(slot, serial));
        }
    }

    pub(crate) fn forget(&mut self, slot: Slot, serial: &Id) {
        if let Ok(serial) = serial.as_str().parse() {
            self.claims.remove(&(slot, serial));
        }
    }

    pub(crate) fn forget_windows(&mut self, now: TimeMs, count_max: usize) {
        self.counters.forget(now, count_max);
    }

    pub(crate) fn digest(&self, state: &State, sum: &mut Sum<'_>) {
        self.coupons.iter().for_each(|(id, coupon)| sum.add(Kind::Coupon, id, |out| coupon.put(out)));
        for (key, used) in self.counters.running(state.settled(state.at)) {
            self.add_counter(sum, key, used);
        }
        for ((slot, serial), claim) in self.claims.iter() {
            self.add_claim(sum, state, *slot, *serial, claim);
        }
    }

    pub(crate) fn digest_of(&self, state: &State, id: &Id, sum: &mut Sum<'_>) {
        let Some((slot, coupon)) = self.coupons.find_row(id) else { return };
        sum.add(Kind::Coupon, id, |out| coupon.put(out));
        for (key, used) in self.counters.running_of(slot, state.settled(state.at)) {
            if !sum.has_room() {
                return;
            }
            self.add_counter(sum, key, used);
        }
        for ((_, serial), claim) in self.claims.range((slot, 0)..=(slot, u64::MAX)) {
            if !sum.has_room() {
                return;
            }
            self.add_claim(sum, state, slot, *serial, claim);
        }
    }

    fn at(&self, slot: Slot) -> Option<(&Id, &Coupon)> {
        self.coupons.key_at(slot).zip(self.coupons.at(slot))
    }

    fn add_counter(&self, sum: &mut Sum<'_>, key: &CounterKey, used: u64) {
        let Some((id, coupon)) = self.at(key.resource) else { return };
        let limit = usize::try_from(key.limit).ok().and_then(|limit| coupon.limits.get(limit));
        sum.add(Kind::CouponCounter, id, |out| {
            limit.map(|limit| limit.name.clone()).put(out);
            key.window.put(out);
            key.subject.put(out);
            used.put(out);
        });
    }

    fn add_claim(&self, sum: &mut Sum<'_>, state: &State, slot: Slot, serial: u64, claim: &Claim) {
        let Some((id, _)) = self.at(slot).filter(|_| claims::is_visible(state, claim, state.at)) else {
            return;
        };
        sum.add(Kind::CouponClaim, id, |out| {
            serial.put(out);
            claim.subject.put(out);
            claim.status_at(state.settled(state.at)).put(out);
            claim.windows.put(out);
            claim.at.put(out);
            claim.deadline.put(out);
            claim.ended_at.put(out);
        });
    }

    /// What [`Coupons::put`] writes, in the same order.
    pub(crate) fn sliced(&mut self) -> [&mut dyn Sliced; 3] {
        [&mut self.coupons, &mut self.claims, self.counters.sliced()]
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.coupons.put(out);
        self.claims.put(out);
        self.counters.put(out);
    }

    /// Reads the coupons of what [`Coupons::put`] wrote, which [`Coupons::scan`] needs.
    pub(crate) fn skim(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.coupons.load(input)?;
        input.rows(|_: (Slot, u64), _: Claim| {})?;
        Counters::scan(input, 0, |_, _| {})
    }

    /// Adds what [`Coupons::put`] wrote to a digest.
    pub(crate) fn scan(
        &self,
        state: &State,
        input: &mut PieceReader<'_>,
        sum: &mut Sum<'_>,
    ) -> Result<(), Malformed> {
        input.rows(|id: Id, coupon: Coupon| sum.add(Kind::Coupon, &id, |out| coupon.put(out)))?;
        input.rows(|(slot, serial): (Slot, u64), its: Claim| {
            self.add_claim(sum, state, slot, serial, &its);
        })?;
        Counters::scan(input, state.settled(state.at), |key, used| self.add_counter(sum, key, used))
    }

    pub(crate) fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.coupons.load(input)?;
        self.claims.load(input)?;
        self.counters.load(input)
    }
}

/// The counter of a subject in one window of the limit with the index `place`.
fn counter_key(coupon: Slot, place: usize, shape: &LimitShape, window: i64, subject: &Subject) -> CounterKey {
    CounterKey {
        resource: coupon,
        limit: u32::try_from(place).unwrap_or(u32::MAX),
        window,
        subject: limits::subject(shape.per.iter().filter_map(|dimension| subject.get(dimension))),
    }
}
