//! Rows of coupons.

use scarce_core::coupons::ClaimStatus;
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(ClaimStatus, CouponStatus);

words! {
    /// Whether the coupon can be claimed.
    CouponStatus {
        /// It can, within its times and limits.
        0 Open = "open",
        /// It cannot at the moment.
        1 Paused = "paused",
    }
}

row! {
    /// The state of a coupon.
    CouponRow in "coupons", key 1 {
        coupon_id: Text,
        partition_id: i64,
        claimed: i64,
        redeemed: i64,
        revoked: i64,
        status: CouponStatus,
        starts_at_ms: Option<i64>,
        ends_at_ms: Option<i64>,
        claim_ttl_ms: Option<i64>,
        created_at_ms: i64,
        updated_at_ms: i64,
    }
}

row! {
    /// The state of a coupon's limit.
    CouponLimitRow in "coupon_limits", key 2 {
        coupon_id: Text,
        limit_name: Text,
        partition_id: i64,
        place: i64,
        claims_max: i64,
        dimensions: Text,
        window_unit: Text,
        window_ms: Option<i64>,
        offset_minutes: Option<i64>,
        updated_at_ms: i64,
    }
}

row! {
    /// A claim of a coupon.
    CouponClaimRow in "coupon_claims", key 2 {
        coupon_id: Text,
        serial: i64,
        partition_id: i64,
        sequence: i64,
        user_id: Text,
        subject: Text,
        status: ClaimStatus,
        deadline_ms: Option<i64>,
        given_back: Option<Text>,
        operation_id: Option<Text>,
        claimed_at_ms: i64,
        ended_at_ms: Option<i64>,
    }
}
