//! Coupons, their claims and counters.

use scarce_core::coupons::{Claim, ClaimStatus, Coupon};
use scarce_core::limits::Counter;
use scarce_core::state::State;
use scarce_core::types::Positive;

use super::record::{Damaged, Record, id, number, text, words};
use super::{Keys, Link, each_row};
use scarce_engine::engine::Failure;

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let coupons = &mut state.coupons;
    each_row(link, keys, "coupons", |name, record| {
        coupons.restore(id(name)?, coupon(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "coupon_claims", |name, record| {
        let (coupon, serial) = words(name)?;
        coupons.restore_claim(&id(coupon)?, number(serial)?, claim(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "counts", |name, record| {
        let words: Vec<&str> = name.splitn(4, ' ').collect();
        let [coupon, place, window, subject] = words.as_slice() else { return Err(Damaged) };
        let counter = Counter { used: record.number("used")?, ends_at: record.optional("ends_at")? };
        coupons.restore_counter(&id(coupon)?, number(place)?, number(window)?, text(subject), &counter);
        Ok(())
    })
    .await
}

fn coupon(record: &Record<'_>) -> Result<Coupon, Damaged> {
    let claim_ttl_ms = record.optional("claim_ttl_ms")?;
    Ok(Coupon {
        limits: record.shown("limits")?,
        starts_at: record.optional("starts_at")?,
        ends_at: record.optional("ends_at")?,
        claim_ttl_ms: claim_ttl_ms.map(|ttl_ms| Positive::new(ttl_ms).ok_or(Damaged)).transpose()?,
        paused: record.flag("paused")?,
        serial: record.number("serial")?,
    })
}

fn claim(record: &Record<'_>) -> Result<Claim, Damaged> {
    Ok(Claim {
        at: record.number("at")?,
        deadline: record.optional("deadline")?,
        status: record.word("status", ClaimStatus::from_word)?,
        ended_at: record.number("ended_at")?,
        windows: record.shown("windows")?,
        subject: record.shown("subject")?,
    })
}
