//! Coupons: their claims.

use super::History;
use super::page::{List, Page, Paging};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// A claim of a coupon.
    CouponClaim of "coupon_claims" {
        /// The coupon.
        coupon_id: String,
        /// The claim's serial within the coupon.
        serial: i64,
        /// The user.
        user_id: String,
        /// The dimensions with their values by which it was counted, the user among them.
        subject: serde_json::Value,
        /// `open`, `redeemed` or `revoked`. An open one past its deadline cannot be used any more.
        status: String,
        /// The time from which it cannot be used.
        deadline_ms: Option<i64>,
        /// For a revoked one, the limits in which it no longer counts.
        given_back: Option<serde_json::Value>,
        /// The operation that claimed it.
        operation_id: Option<String>,
        /// The partition.
        partition_id: i64,
        /// The event's sequence in the partition.
        sequence: i64,
        /// When it was claimed.
        claimed_at_ms: i64,
        /// When it was redeemed or revoked.
        ended_at_ms: Option<i64>,
    }
}

const CLAIMS: &[Column] =
    &[Column::integer("claimed_at_ms"), Column::text("coupon_id"), Column::integer("serial")];

impl History {
    /// A user's claims, of one coupon or of all.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
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

    /// The claims of a coupon.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
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
