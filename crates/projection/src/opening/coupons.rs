//! Coupons with their limits, and open claims.

use scarce_core::coupons::{Claim, ClaimStatus, Coupon};
use scarce_core::types::{Id, Positive, signed};

use super::Opening;
use crate::fold::coupons::{limit_row, subject_text};
use crate::fold::{Origin, text};
use crate::rows::{CouponClaimRow, CouponRow, CouponStatus};

impl Opening<'_> {
    pub(super) fn put_coupon(&mut self, id: &Id, coupon: &Coupon) {
        self.put(coupon_row(id, coupon, &self.origin));
        for (place, limit) in (1..).zip(&coupon.limits) {
            self.put(limit_row(id, place, limit, &self.origin));
        }
    }

    pub(super) fn put_coupon_claim(&mut self, coupon: &Id, serial: u64, claim: &Claim) {
        if claim.status == ClaimStatus::Open
            && let Some(row) = claim_row(coupon, serial, claim, &self.origin)
        {
            self.put(row);
        }
    }
}

/// How many claims were redeemed and revoked before is not known, and is counted from here on.
fn coupon_row(id: &Id, coupon: &Coupon, origin: &Origin<'_>) -> CouponRow {
    CouponRow {
        coupon_id: text(id),
        partition_id: origin.partition_id(),
        claimed: signed(coupon.serial),
        redeemed: 0,
        revoked: 0,
        status: if coupon.paused { CouponStatus::Paused } else { CouponStatus::Open },
        starts_at_ms: coupon.starts_at.map(signed),
        ends_at_ms: coupon.ends_at.map(signed),
        claim_ttl_ms: coupon.claim_ttl_ms.map(Positive::get).map(signed),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
    }
}

fn claim_row(coupon: &Id, serial: u64, claim: &Claim, origin: &Origin<'_>) -> Option<CouponClaimRow> {
    Some(CouponClaimRow {
        coupon_id: text(coupon),
        serial: signed(serial),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        user_id: text(claim.subject.user()?),
        subject: subject_text(&claim.subject),
        status: ClaimStatus::Open,
        deadline_ms: claim.deadline.map(signed),
        given_back: None,
        operation_id: None,
        claimed_at_ms: signed(claim.at),
        ended_at_ms: None,
    })
}
