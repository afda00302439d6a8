//! The rows of coupons.

use super::{Claim, Coupon, Coupons};
use crate::codec::Malformed;
use crate::limits::Counters;
use crate::machine::{StateRow, TakeRow};
use crate::pieces::PieceReader;
use crate::store::Slot;
use crate::types::Id;

impl Coupons {
    /// Gives every row to `take`, but no counters.
    pub(crate) fn rows(&self, take: TakeRow<'_>) {
        self.iter().for_each(|(id, coupon)| take(StateRow::Coupon(id, coupon)));
        for (coupon, serial, claim) in self.claims() {
            take(StateRow::CouponClaim { coupon, serial, claim });
        }
    }

    /// Gives the rows of what [`Coupons::put`] wrote; what [`Coupons::skim`] keeps is here.
    pub(crate) fn read_rows(&self, input: &mut PieceReader<'_>, take: TakeRow<'_>) -> Result<(), Malformed> {
        input.rows(|id: Id, coupon: Coupon| take(StateRow::Coupon(&id, &coupon)))?;
        input.rows(|(slot, serial): (Slot, u64), claim: Claim| {
            if let Some(coupon) = self.coupons.key_at(slot) {
                take(StateRow::CouponClaim { coupon, serial, claim: &claim });
            }
        })?;
        Counters::scan(input, 0, |_, _| {})
    }
}
