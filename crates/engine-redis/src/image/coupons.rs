//! Coupons, their claims and counters.

use scarce_core::coupons::{Claim, ClaimStatus, Coupon};
use scarce_core::limits::Counter;
use scarce_core::state::State;
use scarce_core::types::Positive;

use super::record::{Damaged, Record, id, number, text, words};

pub(super) fn put(state: &mut State, hash: &str, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    match hash {
        "coupons" => state.coupons.restore(id(name)?, coupon(record)?),
        "coupon_claims" => {
            let (coupon, serial) = words(name)?;
            state.coupons.restore_claim(&id(coupon)?, number(serial)?, claim(record)?);
        }
        _ => {
            let counter = Counter { used: record.number("used")?, ends_at: record.optional("ends_at")? };
            put_counter(state, name, &counter)?;
        }
    }
    Ok(())
}

/// Takes out a claim that is forgotten, or a counter that is at nothing or whose window is over.
pub(super) fn drop_row(state: &mut State, hash: &str, name: &str) -> Result<(), Damaged> {
    if hash == "counts" {
        return put_counter(state, name, &Counter { used: 0, ends_at: None });
    }
    let (coupon, serial) = words(name)?;
    state.coupons.drop_claim(&id(coupon)?, number(serial)?);
    Ok(())
}

fn put_counter(state: &mut State, name: &str, counter: &Counter) -> Result<(), Damaged> {
    let words: Vec<&str> = name.splitn(4, ' ').collect();
    let [coupon, place, window, subject] = words.as_slice() else { return Err(Damaged) };
    state.coupons.restore_counter(&id(coupon)?, number(place)?, number(window)?, text(subject), counter);
    Ok(())
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
