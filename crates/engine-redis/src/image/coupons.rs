//! Coupons, their claims and counters.

use scarce_core::coupons::{Claim, ClaimStatus, Coupon};
use scarce_core::limits::Counter;
use scarce_core::state::State;
use scarce_core::types::Positive;
use scarce_engine::engine::Failure;

use super::record::{Damaged, Fields, id, text};
use super::{Keys, Link, each_row};

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let coupons = &mut state.coupons;
    each_row(link, &keys.of("coupons"), |name, fields| {
        coupons.restore(id(name)?, coupon(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("coupon_claims"), |name, fields| {
        let (coupon, serial) = name.split_once(' ').ok_or(Damaged)?;
        coupons.restore_claim(&id(coupon)?, serial.parse().map_err(|_| Damaged)?, claim(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("counts"), |name, mut fields| {
        let mut words = name.splitn(4, ' ');
        let mut word = || words.next().ok_or(Damaged);
        let (coupon, place, window) = (id(word()?)?, word()?, word()?);
        let (place, window) = (place.parse().map_err(|_| Damaged)?, window.parse().map_err(|_| Damaged)?);
        let counter = Counter { used: fields.number()?, ends_at: fields.optional()? };
        coupons.restore_counter(&coupon, place, window, text(word()?), &counter);
        fields.end()
    })
    .await
}

fn coupon(mut fields: Fields<'_>) -> Result<Coupon, Damaged> {
    let (starts_at, ends_at) = (fields.optional()?, fields.optional()?);
    let claim_ttl_ms = fields.optional()?.map(|ttl_ms| Positive::new(ttl_ms).ok_or(Damaged)).transpose()?;
    let (paused, serial) = (fields.number::<u8>()? == 1, fields.number()?);
    let coupon = Coupon { limits: fields.shown()?, starts_at, ends_at, claim_ttl_ms, paused, serial };
    fields.end().map(|()| coupon)
}

fn claim(mut fields: Fields<'_>) -> Result<Claim, Damaged> {
    let (at, deadline) = (fields.number()?, fields.optional()?);
    let (status, ended_at) = (fields.word(ClaimStatus::from_word)?, fields.number()?);
    let claim = Claim { at, deadline, status, ended_at, windows: fields.shown()?, subject: fields.shown()? };
    fields.end().map(|()| claim)
}
