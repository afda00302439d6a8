//! Decisions on coupons, and on claiming them.

use super::{Coupon, counter_key};
use crate::command::shapes::{LIMITS_MAX, Limit, LimitChange, Subject};
use crate::command::table::{CouponClaim, CouponCreate, CouponUpdate};
use crate::event::{CouponClaimed, CouponCreated, CouponPaused, CouponResumed, CouponUpdated, Event};
use crate::facts;
use crate::limits;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{INTEGER_MAX, Id, Natural, Positive, TimeMs, deadline_after};
use crate::windows::{check_times, window_at};

/// Creates a coupon.
pub fn create(state: &State, command: &CouponCreate, events: &mut Vec<Event>) -> Verdict {
    let CouponCreate { coupon, limits, starts_at, ends_at, claim_ttl_ms } = command;
    if state.coupons.get(coupon).is_some() {
        return Err(Refusal::new(Code::CouponExists, facts![coupon]));
    }
    let event = CouponCreated {
        coupon: coupon.clone(),
        limits: limits.0.clone(),
        starts_at: starts_at.map(Natural::get),
        ends_at: ends_at.map(Natural::get),
        claim_ttl_ms: claim_ttl_ms.map(Positive::get),
    };
    events.push(event.into());
    Ok(facts![limits.0.len() as u64])
}

/// Changes maxima and adds limits. Counters stay as they are; a change without effect makes no event.
pub fn update(state: &State, command: &CouponUpdate, events: &mut Vec<Event>) -> Verdict {
    let CouponUpdate { coupon, limits: changes } = command;
    let (_, found) = state.coupons.existing(coupon)?;
    let mut limits = found.limits.clone();
    changes.0.iter().try_for_each(|change| apply(&mut limits, change))?;
    let count = limits.len();
    if count > LIMITS_MAX {
        return Err(Refusal::invalid("limits", "would be more than 16"));
    }
    if limits != found.limits {
        events.push(CouponUpdated { coupon: coupon.clone(), limits }.into());
    }
    Ok(facts![count as u64])
}

fn apply(limits: &mut Vec<Limit>, change: &LimitChange) -> Result<(), Refusal> {
    let LimitChange { name, max, shape } = change;
    match (limits.iter_mut().find(|limit| limit.name == *name), shape) {
        (Some(limit), Some(shape)) if limit.shape != *shape => {
            Err(Refusal::invalid("limits", "keep their dimensions and window; add a limit of another name"))
        }
        (Some(limit), _) => {
            limit.max = *max;
            Ok(())
        }
        (None, Some(shape)) => {
            limits.push(Limit { name: name.clone(), max: *max, shape: shape.clone() });
            Ok(())
        }
        (None, None) => Err(Refusal::invalid("limits", "that are new need PER dimensions|- WINDOW window")),
    }
}

/// Counts a claim in every limit and assigns its serial.
pub fn claim(state: &State, command: &CouponClaim, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let CouponClaim { coupon, subject } = command;
    let (found, windows) = admit(state, coupon, subject, now)?;
    let serial = found.serial + 1;
    let deadline = found.claim_ttl_ms.map(|ttl_ms| deadline_after(now, ttl_ms));
    let event = CouponClaimed { coupon: coupon.clone(), serial, subject: subject.clone(), windows, deadline };
    events.push(event.into());
    Ok(facts![serial, deadline])
}

/// The coupon and the current window of each of its limits, or the refusal of a claim.
pub(super) fn admit<'a>(
    state: &'a State,
    coupon: &Id,
    subject: &Subject,
    now: TimeMs,
) -> Result<(&'a Coupon, Vec<i64>), Refusal> {
    let (slot, found) = state.coupons.existing(coupon)?;
    if found.paused {
        return Err(Refusal::new(Code::CouponPaused, facts![coupon]));
    }
    check_times(found.starts_at, found.ends_at, now)?;
    found.limits.iter().try_for_each(|limit| check_complete(limit, subject))?;
    let windows = found
        .limits
        .iter()
        .enumerate()
        .map(|(place, limit)| check_limit(state, slot, place, limit, subject, now))
        .collect::<Result<_, _>>()?;
    if found.serial >= INTEGER_MAX {
        return Err(Refusal::new(Code::Overflow, facts!["serial"]));
    }
    Ok((found, windows))
}

/// Whether the subject names every dimension of the limit.
fn check_complete(limit: &Limit, subject: &Subject) -> Result<(), Refusal> {
    match limit.shape.per.iter().find(|dimension| subject.get(dimension).is_none()) {
        None => Ok(()),
        Some(dimension) => {
            Err(Refusal::new(Code::SubjectIncomplete, facts![&limit.name, dimension.as_str()]))
        }
    }
}

/// The current window of a limit, if it allows one more claim.
fn check_limit(
    state: &State,
    coupon: Slot,
    place: usize,
    limit: &Limit,
    subject: &Subject,
    now: TimeMs,
) -> Result<i64, Refusal> {
    let (window, ends_at) = window_at(limit.shape.window, now);
    let used = state.coupons.counters.used(&counter_key(coupon, place, &limit.shape, window, subject));
    limits::check(used, 1, limit.max.get()).map_err(|reached| {
        Refusal::new(Code::LimitReached, facts![&limit.name, reached.used, reached.max, ends_at])
    })?;
    Ok(window)
}

/// Stops claims until the coupon is resumed.
pub fn pause(state: &State, coupon: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.coupons.existing(coupon)?;
    if !found.paused {
        events.push(CouponPaused { coupon: coupon.clone() }.into());
    }
    Ok(facts!["paused"])
}

/// Allows claims again.
pub fn resume(state: &State, coupon: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.coupons.existing(coupon)?;
    if found.paused {
        events.push(CouponResumed { coupon: coupon.clone() }.into());
    }
    Ok(facts!["open"])
}
