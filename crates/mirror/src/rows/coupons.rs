//! Coupons, their claims and counters.

use compact_str::CompactString;
use scarce_core::coupons::ClaimStatus;
use scarce_core::deadlines::RecordKind;
use scarce_core::event::Shown;
use scarce_core::limits::CounterKey;
use scarce_core::state::State;
use scarce_core::store::Slot;
use scarce_core::types::{Id, Positive};
use scarce_engine_redis::values::to_json;

use super::{Item, Maybe, RowName, flag, join, pair, put_ended, put_name};

pub(super) fn put_coupon(state: &State, id: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.coupons.get(id) else { return };
    let text = join(&[
        &Maybe(its.starts_at),
        &Maybe(its.ends_at),
        &Maybe(its.claim_ttl_ms.map(Positive::get)),
        &flag(its.paused),
        &its.serial,
        &to_json(&its.limits.shown()),
    ]);
    out.push(Item::Row("coupons", id.to_string(), text));
    put_name("coupon", id, out);
}

/// A claim with a deadline is listed under that from the beginning, as one that ends then without an event.
pub(super) fn put_claim(state: &State, coupon: &Id, serial: u64, out: &mut Vec<Item>) {
    let Some(its) = state.coupons.claim_of(coupon, serial) else { return };
    let text = join(&[
        &its.at,
        &Maybe(its.deadline),
        &its.status.word(),
        &its.ended_at,
        &to_json(&its.windows.shown()),
        &to_json(&its.subject.shown()),
    ]);
    out.push(Item::Row("coupon_claims", pair(coupon, &serial), text));
    let ends_at = if its.status == ClaimStatus::Open { its.deadline } else { Some(its.ended_at) };
    if let Some(ends_at) = ends_at {
        put_ended(ends_at, RecordKind::CouponClaim, coupon, &serial, out);
    }
}

pub(super) fn put_counter(
    state: &State,
    coupon: &Id,
    (limit, window, subject): (u32, i64, &CompactString),
    out: &mut Vec<Item>,
) {
    let key = CounterKey { resource: Slot(0), limit, window, subject: subject.clone() };
    let Some(its) = state.coupons.counter(coupon, &key) else { return };
    let field = format!("{coupon} {limit} {window} {subject}");
    if let Some(ends_at) = its.ends_at {
        out.push(Item::Member("counts_by", format!("{ends_at:016} {field}")));
    }
    out.push(Item::Row("counts", field, join(&[&its.used, &Maybe(its.ends_at)])));
}

pub(super) fn each(state: &State, take: &mut impl FnMut(RowName)) {
    let coupons = &state.coupons;
    coupons.iter().for_each(|(id, _)| take(RowName::Coupon(id.clone())));
    coupons.claims().for_each(|(coupon, serial, _)| take(RowName::CouponClaim(coupon.clone(), serial)));
    for (coupon, key, _) in coupons.counters() {
        take(RowName::Counter(coupon.clone(), key.limit, key.window, key.subject.clone()));
    }
}
