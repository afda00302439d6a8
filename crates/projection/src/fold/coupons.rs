//! Applies events to coupons.

use scarce_core::command::shapes::{Limit, Subject, Window};
use scarce_core::coupons::ClaimStatus;
use scarce_core::event::{
    CouponClaimed, CouponCreated, CouponEvent, CouponRedeemed, CouponRevoked, CouponUpdated, Shown,
};
use scarce_core::outcome::Value;
use scarce_core::types::{Id, signed};

use super::json;
use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::{numbered, pair, text};
use crate::rows::{CouponClaimRow, CouponLimitRow, CouponRow, CouponStatus};
use crate::table::Text;

const TABLE: &str = "coupons";
const CLAIMS: &str = "coupon_claims";

pub(super) fn apply(tables: &mut Tables, event: &CouponEvent, origin: &Origin<'_>) -> Result<(), Mistake> {
    use CouponEvent as E;
    match event {
        E::CouponCreated(created) => create(tables, created, origin),
        E::CouponUpdated(updated) => update(tables, updated, origin),
        E::CouponClaimed(claimed) => claim(tables, claimed, origin),
        E::CouponRedeemed(redeemed) => redeem(tables, redeemed, origin),
        E::CouponRevoked(revoked) => revoke(tables, revoked, origin),
        E::CouponPaused(paused) => {
            set_status(tables, &paused.coupon, (CouponStatus::Open, CouponStatus::Paused), origin)
        }
        E::CouponResumed(resumed) => {
            set_status(tables, &resumed.coupon, (CouponStatus::Paused, CouponStatus::Open), origin)
        }
    }
}

fn create(tables: &mut Tables, created: &CouponCreated, origin: &Origin<'_>) -> Result<(), Mistake> {
    let CouponCreated { coupon, limits, starts_at, ends_at, claim_ttl_ms } = created;
    origin.row(TABLE, coupon).none(tables.coupons.get(coupon.as_str()))?;
    let row = CouponRow {
        coupon_id: text(coupon),
        partition_id: origin.partition_id(),
        claimed: 0,
        redeemed: 0,
        revoked: 0,
        status: CouponStatus::Open,
        starts_at_ms: starts_at.map(signed),
        ends_at_ms: ends_at.map(signed),
        claim_ttl_ms: claim_ttl_ms.map(signed),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
    };
    tables.coupons.add(coupon.as_str().into(), row);
    set_limits(tables, coupon, limits, origin)
}

fn update(tables: &mut Tables, updated: &CouponUpdated, origin: &Origin<'_>) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, &updated.coupon);
    existing(tables, &updated.coupon, spot, origin)?;
    set_limits(tables, &updated.coupon, &updated.limits, origin)
}

/// Existing limits keep their order and their counters; new ones come last.
fn set_limits(
    tables: &mut Tables,
    coupon: &Id,
    limits: &[Limit],
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    for (place, limit) in (1..).zip(limits) {
        let key = pair(coupon, &limit.name);
        let row = limit_row(coupon, place, limit, origin);
        let Some(before) = tables.limits.get(&key) else {
            tables.limits.add(key, row);
            continue;
        };
        let spot = origin.row_of("coupon_limits", coupon, &limit.name);
        let as_before = CouponLimitRow {
            claims_max: before.claims_max,
            updated_at_ms: before.updated_at_ms,
            ..row.clone()
        };
        spot.holds(as_before == *before, || format!("it becomes {row:?}, and was {before:?}"))?;
        if before.claims_max != row.claims_max
            && let Some(before) = tables.limits.change(&key)
        {
            *before = row;
        }
    }
    Ok(())
}

pub(crate) fn limit_row(coupon: &Id, place: i64, limit: &Limit, origin: &Origin<'_>) -> CouponLimitRow {
    let dimensions = limit.shape.per.iter().map(|dimension| Value::from(dimension.as_str())).collect();
    let (window_unit, window_ms, offset_minutes) = match limit.shape.window {
        Window::None => ("NONE", None, None),
        Window::Calendar(unit, offset_minutes) => (unit.word(), None, Some(offset_minutes)),
        Window::Fixed(duration_ms) => ("MS", Some(signed(duration_ms.get())), None),
    };
    CouponLimitRow {
        coupon_id: text(coupon),
        limit_name: text(&limit.name),
        partition_id: origin.partition_id(),
        place,
        claims_max: signed(limit.max.get()),
        dimensions: json::text(&Value::List(dimensions)),
        window_unit: window_unit.into(),
        window_ms,
        offset_minutes,
        updated_at_ms: origin.at_ms,
    }
}

fn claim(tables: &mut Tables, claimed: &CouponClaimed, origin: &Origin<'_>) -> Result<(), Mistake> {
    let CouponClaimed { coupon, serial, subject, deadline, .. } = claimed;
    let spot = origin.row(TABLE, coupon);
    let row = existing(tables, coupon, spot, origin)?;
    spot.same("status", row.status.word(), CouponStatus::Open.word())?;
    row.claimed = row.claimed.saturating_add(1);
    spot.same("serial", row.claimed, signed(*serial))?;
    let user = spot.found(subject.user())?;
    let row = CouponClaimRow {
        coupon_id: text(coupon),
        serial: signed(*serial),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        user_id: text(user),
        subject: subject_text(subject),
        status: ClaimStatus::Open,
        deadline_ms: deadline.map(signed),
        given_back: None,
        operation_id: origin.operation_id(),
        claimed_at_ms: origin.at_ms,
        ended_at_ms: None,
    };
    let key = numbered(coupon, *serial);
    origin.row_of(CLAIMS, coupon, serial).none(tables.coupon_claims.get(&key))?;
    tables.coupon_claims.add(key, row);
    Ok(())
}

fn redeem(tables: &mut Tables, redeemed: &CouponRedeemed, origin: &Origin<'_>) -> Result<(), Mistake> {
    let CouponRedeemed { coupon, serial, user } = redeemed;
    let spot = origin.row_of(CLAIMS, coupon, serial);
    let row = open_claim(tables, coupon, *serial, spot, origin)?;
    spot.same("user", &*row.user_id, user.as_str())?;
    (row.status, row.ended_at_ms) = (ClaimStatus::Redeemed, Some(origin.at_ms));
    let row = existing(tables, coupon, origin.row(TABLE, coupon), origin)?;
    row.redeemed = row.redeemed.saturating_add(1);
    Ok(())
}

fn revoke(tables: &mut Tables, revoked: &CouponRevoked, origin: &Origin<'_>) -> Result<(), Mistake> {
    let CouponRevoked { coupon, serial, given_back } = revoked;
    let spot = origin.row_of(CLAIMS, coupon, serial);
    let row = open_claim(tables, coupon, *serial, spot, origin)?;
    (row.status, row.ended_at_ms) = (ClaimStatus::Revoked, Some(origin.at_ms));
    row.given_back = Some(json::text(&given_back.shown()));
    let row = existing(tables, coupon, origin.row(TABLE, coupon), origin)?;
    row.revoked = row.revoked.saturating_add(1);
    Ok(())
}

fn set_status(
    tables: &mut Tables,
    coupon: &Id,
    (before, after): (CouponStatus, CouponStatus),
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, coupon);
    let row = existing(tables, coupon, spot, origin)?;
    spot.same("status", row.status.word(), before.word())?;
    row.status = after;
    Ok(())
}

fn existing<'t>(
    tables: &'t mut Tables,
    coupon: &Id,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut CouponRow, Mistake> {
    let row = spot.found(tables.coupons.change(coupon.as_str()))?;
    row.updated_at_ms = origin.at_ms;
    Ok(row)
}

/// A claim that can be used: neither redeemed nor revoked, and not past its deadline.
fn open_claim<'t>(
    tables: &'t mut Tables,
    coupon: &Id,
    serial: u64,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut CouponClaimRow, Mistake> {
    let row = spot.found(tables.coupon_claims.change(&numbered(coupon, serial)))?;
    spot.same("status", row.status.word(), ClaimStatus::Open.word())?;
    let is_in_time = row.deadline_ms.is_none_or(|deadline_ms| origin.at_ms < deadline_ms);
    spot.holds(is_in_time, || "its deadline has passed".to_owned())?;
    Ok(row)
}

/// A subject as JSON: its dimensions with their values.
pub(crate) fn subject_text(subject: &Subject) -> Text {
    match subject.shown() {
        Value::List(pairs) => json::object(&pairs),
        other => json::text(&other),
    }
}
