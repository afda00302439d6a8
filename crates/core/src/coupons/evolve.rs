//! What events change in coupons.

use super::{Claim, ClaimStatus, Coupon, Coupons, counter_key};
use crate::deadlines::NamedKind;
use crate::event::{CouponClaimed, CouponCreated, CouponEvent, CouponRevoked};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, Positive, TimeMs};
use crate::windows::window_at;

/// Applies an event of a coupon or a claim.
pub fn evolve(state: &mut State, event: &CouponEvent, at: TimeMs) {
    use CouponEvent as E;
    let coupons = &mut state.coupons;
    match event {
        E::CouponCreated(created) => coupons.create(created),
        E::CouponUpdated(updated) => {
            coupons.change(&updated.coupon, |coupon| coupon.limits.clone_from(&updated.limits));
        }
        E::CouponPaused(paused) => coupons.change(&paused.coupon, |coupon| coupon.paused = true),
        E::CouponResumed(resumed) => coupons.change(&resumed.coupon, |coupon| coupon.paused = false),
        E::CouponClaimed(claimed) => claim(state, claimed, at),
        E::CouponRedeemed(redeemed) => {
            end(state, &redeemed.coupon, redeemed.serial, ClaimStatus::Redeemed, at);
        }
        E::CouponRevoked(revoked) => {
            state.coupons.give_back(revoked);
            end(state, &revoked.coupon, revoked.serial, ClaimStatus::Revoked, at);
        }
    }
}

impl Coupons {
    fn create(&mut self, created: &CouponCreated) {
        let coupon = Coupon {
            limits: created.limits.clone(),
            starts_at: created.starts_at,
            ends_at: created.ends_at,
            claim_ttl_ms: created.claim_ttl_ms.and_then(Positive::new),
            paused: false,
            serial: 0,
        };
        self.coupons.insert(created.coupon.clone(), coupon);
    }

    fn change(&mut self, coupon: &Id, change: impl FnOnce(&mut Coupon)) {
        self.coupons.update_key(coupon, change);
    }

    /// Counts a claim in the windows of its event.
    fn count(&mut self, slot: Slot, claimed: &CouponClaimed, at: TimeMs) {
        let Some(coupon) = self.coupons.at(slot) else { return };
        for (place, (limit, window)) in coupon.limits.iter().zip(&claimed.windows).enumerate() {
            let (_, ends_at) = window_at(limit.shape.window, at);
            let key = counter_key(slot, place, &limit.shape, *window, &claimed.subject);
            self.counters.add(&key, 1, ends_at);
        }
    }

    fn give_back(&mut self, revoked: &CouponRevoked) {
        let Some(slot) = self.coupons.find(&revoked.coupon) else { return };
        let Some(coupon) = self.coupons.at(slot) else { return };
        let Some(claim) = self.claims.get(&(slot, revoked.serial)) else { return };
        for (place, (limit, window)) in coupon.limits.iter().zip(&claim.windows).enumerate() {
            if revoked.given_back.contains(&limit.name) {
                let key = counter_key(slot, place, &limit.shape, *window, &claim.subject);
                self.counters.subtract(&key, 1);
            }
        }
    }
}

/// Adds a claim. A claim with a deadline is recorded as ended at that deadline, so that its expiry needs
/// no event.
fn claim(state: &mut State, claimed: &CouponClaimed, at: TimeMs) {
    let Some(slot) = state.coupons.coupons.find(&claimed.coupon) else { return };
    state.coupons.count(slot, claimed, at);
    state.coupons.coupons.update(slot, |coupon| coupon.serial = claimed.serial);
    if let Some(deadline) = claimed.deadline {
        state.ended.add(deadline, NamedKind::CouponClaim, slot, &record(claimed.serial));
    }
    let claim = Claim {
        subject: claimed.subject.clone(),
        windows: claimed.windows.clone(),
        at,
        deadline: claimed.deadline,
        status: ClaimStatus::Open,
        ended_at: 0,
    };
    state.coupons.claims.insert((slot, claimed.serial), claim);
}

/// Marks a claim as used or voided; it ended now, and no longer ends at its deadline.
fn end(state: &mut State, coupon: &Id, serial: u64, status: ClaimStatus, at: TimeMs) {
    let Some(slot) = state.coupons.coupons.find(coupon) else { return };
    let Some(deadline) = state.coupons.claims.get(&(slot, serial)).map(|claim| claim.deadline) else {
        return;
    };
    let record = record(serial);
    if let Some(deadline) = deadline {
        state.ended.remove(deadline, NamedKind::CouponClaim, slot, &record);
    }
    state.ended.add(at, NamedKind::CouponClaim, slot, &record);
    state.coupons.claims.update(&(slot, serial), |claim| {
        claim.status = status;
        claim.ended_at = at;
    });
}

/// A claim's name in the queue of ended records.
fn record(serial: u64) -> Id {
    Id::trusted(compact_str::format_compact!("{serial}"))
}
