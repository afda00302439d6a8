//! Coupons with their limits, and open claims.

use scarce_core::coupons::{Claim, ClaimStatus, Coupon};
use scarce_core::state::State;
use scarce_core::types::{Id, Positive, signed};

use super::{Take, Unwanted};
use crate::fold::coupons::{limit_row, subject_text};
use crate::fold::{Origin, text};
use crate::rows::{CouponClaimRow, CouponRow, CouponStatus};

pub(super) fn put(state: &State, origin: &Origin<'_>, take: Take<'_>) -> Result<(), Unwanted> {
    let coupons = &state.coupons;
    super::put(take, coupons.iter().map(|(id, coupon)| coupon_row(id, coupon, origin)))?;
    let limits = coupons.iter().flat_map(|(id, coupon)| {
        (1..).zip(&coupon.limits).map(move |(place, limit)| limit_row(id, place, limit, origin))
    });
    super::put(take, limits)?;
    let open = coupons.claims().filter(|(.., claim)| claim.status == ClaimStatus::Open);
    super::put(take, open.filter_map(|(id, serial, claim)| claim_row(id, serial, claim, origin)))
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
