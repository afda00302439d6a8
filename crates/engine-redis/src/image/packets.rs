//! Campaigns, their packets, and who has which.

use scarce_core::command::shapes::Method;
use scarce_core::packets::{Campaign, Claim};
use scarce_core::state::State;
use scarce_engine::engine::Failure;

use super::record::{Damaged, Fields, id};
use super::{Keys, Link, each_row};

/// What is still to be laid ready is left out: it follows from the plan and the seed, and no digest has it.
pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let campaigns = &mut state.campaigns;
    each_row(link, &keys.of("campaigns"), |name, fields| {
        campaigns.restore(id(name)?, campaign(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("packets"), |name, mut fields| {
        let (campaign, packet) = name.split_once(' ').ok_or(Damaged)?;
        campaigns.restore_packet(&id(campaign)?, packet.parse().map_err(|_| Damaged)?, fields.number()?);
        fields.end()
    })
    .await?;
    each_row(link, &keys.of("claims"), |name, mut fields| {
        let (campaign, user) = name.split_once(' ').ok_or(Damaged)?;
        let claim = Claim { packet: fields.number()?, at: fields.number()? };
        campaigns.restore_claim(&id(campaign)?, id(user)?, claim);
        fields.end()
    })
    .await
}

fn campaign(mut fields: Fields<'_>) -> Result<Campaign, Damaged> {
    let campaign = Campaign {
        asset: fields.id()?,
        count: fields.number()?,
        total: fields.number()?,
        method: fields.optional_word(Method::from_word)?,
        min: fields.number()?,
        max: fields.optional()?,
        starts_at: fields.optional()?,
        ends_at: fields.optional()?,
        seed: fields.optional_bytes()?,
        commitment: fields.optional_bytes()?,
        laid_count: fields.number()?,
        claimed_count: fields.number()?,
        claimed_amount: fields.number()?,
        closed_at: fields.optional()?,
    };
    fields.end().map(|()| campaign)
}
