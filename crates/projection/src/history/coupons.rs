//! Coupons: what was claimed.

use super::History;
use super::page::{List, Page, Paging};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// What somebody was given of a coupon.
    CouponClaim of "coupon_claims" {
        /// Of which coupon.
        coupon_id: String,
        /// The claim's serial there.
        serial: i64,
        /// Whose.
        user_id: String,
        /// By what it was counted: dimensions with their values, the user among them.
        subject: serde_json::Value,
        /// `open`, `redeemed` or `revoked`. One that is open and past its deadline cannot be used any more.
        status: String,
        /// From when on it cannot be used.
        deadline_ms: Option<i64>,
        /// Of one that was revoked, the limits in which it no longer counts.
        given_back: Option<serde_json::Value>,
        /// By which operation it was given.
        operation_id: Option<String>,
        /// Where it happened.
        partition_id: i64,
        /// The event's number there.
        sequence: i64,
        /// When it was given.
        claimed_at_ms: i64,
        /// When it was used or voided.
        ended_at_ms: Option<i64>,
    }
}

const CLAIMS: &[Column] =
    &[Column::integer("claimed_at_ms"), Column::text("coupon_id"), Column::integer("serial")];

impl History {
    /// What a user claimed, of one coupon or of all.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
    pub async fn user_coupon_claims(
        &self,
        user_id: &str,
        coupon_id: Option<&str>,
        paging: &Paging,
    ) -> Result<Page<CouponClaim>, ProjectionError> {
        List::new("claims", CLAIMS)
            .only("user_id = ?", [Cell::from(user_id)])
            .only_if("coupon_id = ?", coupon_id)
            .read(&self.projection, paging)
            .await
    }

    /// What was claimed of a coupon.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
    pub async fn coupon_claims(
        &self,
        coupon_id: &str,
        paging: &Paging,
    ) -> Result<Page<CouponClaim>, ProjectionError> {
        List::new("serials", const { &[Column::integer("serial")] })
            .only("coupon_id = ?", [Cell::from(coupon_id)])
            .read(&self.projection, paging)
            .await
    }
}
