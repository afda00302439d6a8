//! Queries about coupons.

use super::claims::visible;
use super::{Coupon, decisions};
use crate::command::table::{CouponCheck, CouponList};
use crate::event::Shown;
use crate::facts;
use crate::lists::page;
use crate::outcome::Verdict;
use crate::state::State;
use crate::types::{Id, Positive, TimeMs};

pub(crate) fn check(state: &State, command: &CouponCheck, now: TimeMs) -> Verdict {
    decisions::admit(state, &command.coupon, &command.subject, now).map(|_| facts![])
}

pub(crate) fn claim(state: &State, coupon: &Id, serial: Positive, now: TimeMs) -> Verdict {
    let (_, claim) = visible(state, coupon, serial.get(), now)?;
    let status = claim.status_at(state.settled(now)).word();
    Ok(facts![serial.get(), claim.subject.user(), status, claim.at, claim.deadline])
}

pub(crate) fn coupon(state: &State, id: &Id, now: TimeMs) -> Verdict {
    let (_, coupon) = state.coupons.existing(id)?;
    Ok(facts![
        id,
        status(coupon, now),
        coupon.serial,
        coupon.starts_at,
        coupon.ends_at,
        coupon.claim_ttl_ms.map(Positive::get),
        coupon.limits.shown(),
    ])
}

/// Why a claim would be refused for anyone, in the order of the checks.
fn status(coupon: &Coupon, now: TimeMs) -> &'static str {
    match () {
        () if coupon.paused => "paused",
        () if coupon.starts_at.is_some_and(|starts_at| now < starts_at) => "not_started",
        () if coupon.ends_at.is_some_and(|ends_at| now >= ends_at) => "ended",
        () => "open",
    }
}

/// A page of coupons: coupon, status, claimed.
pub(crate) fn list(state: &State, list: &CouponList, now: TimeMs) -> Verdict {
    page(&state.coupons.coupons, list.page(), |id, coupon| facts![id, status(coupon, now), coupon.serial])
}
