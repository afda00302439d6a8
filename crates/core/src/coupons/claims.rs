//! Decisions on claims: they can be redeemed and revoked even if the coupon is paused or has ended.

use super::{Claim, ClaimStatus, Coupon};
use crate::command::table::{CouponRedeem, CouponRevoke};
use crate::event::{CouponRedeemed, CouponRevoked, Event};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::types::{Id, TimeMs};
use crate::windows::window_at;

/// Redeems a claim, which can be used once.
pub fn redeem(state: &State, command: &CouponRedeem, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let CouponRedeem { coupon, serial, user } = command;
    let serial = serial.get();
    let (_, claim) = visible(state, coupon, serial, now)?;
    if claim.subject.user() != Some(user) {
        return Err(Refusal::new(Code::NotOwner, facts![]));
    }
    check_open(claim, serial, state.settled(now))?;
    events.push(CouponRedeemed { coupon: coupon.clone(), serial, user: user.clone() }.into());
    Ok(facts![serial])
}

/// Voids an unused claim. On request, the claim is subtracted from its limits again, in each window that
/// still runs.
pub fn revoke(state: &State, command: &CouponRevoke, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let CouponRevoke { coupon, serial, give_back } = command;
    let serial = serial.get();
    let (found, claim) = visible(state, coupon, serial, now)?;
    check_open(claim, serial, state.settled(now))?;
    let given_back = if *give_back { running_limits(found, claim, now) } else { Vec::new() };
    let count = given_back.len() as u64;
    events.push(CouponRevoked { coupon: coupon.clone(), serial, given_back }.into());
    Ok(facts![count])
}

fn running_limits(coupon: &Coupon, claim: &Claim, now: TimeMs) -> Vec<Id> {
    let counted = coupon.limits.iter().zip(&claim.windows);
    counted
        .filter(|(limit, window)| window_at(limit.shape.window, now).0 == **window)
        .map(|(limit, _)| limit.name.clone())
        .collect()
}

/// Whether a claim is still visible under its serial.
pub(super) fn is_visible(state: &State, claim: &Claim, now: TimeMs) -> bool {
    claim.ended_by(state.settled(now)).is_none_or(|ended_at| state.is_retained(ended_at, now))
}

/// The claim, unless it does not exist or ended long ago.
pub(super) fn visible<'a>(
    state: &'a State,
    coupon: &Id,
    serial: u64,
    now: TimeMs,
) -> Result<(&'a Coupon, &'a Claim), Refusal> {
    let coupons = &state.coupons;
    coupons
        .coupons
        .find(coupon)
        .and_then(|slot| Some((coupons.coupons.at(slot)?, coupons.claims.get(&(slot, serial))?)))
        .filter(|(_, claim)| is_visible(state, claim, now))
        .ok_or_else(|| Refusal::new(Code::ClaimNotFound, facts![serial]))
}

fn check_open(claim: &Claim, serial: u64, now: TimeMs) -> Result<(), Refusal> {
    let code = match claim.status_at(now) {
        ClaimStatus::Open => return Ok(()),
        ClaimStatus::Redeemed => Code::ClaimRedeemed,
        ClaimStatus::Revoked => Code::ClaimRevoked,
        ClaimStatus::Expired => {
            return Err(Refusal::new(Code::ClaimExpired, facts![serial, claim.deadline]));
        }
    };
    Err(Refusal::new(code, facts![serial]))
}
