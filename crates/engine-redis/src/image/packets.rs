//! Campaigns, their packets, and who has which.

use scarce_core::command::shapes::Method;
use scarce_core::packets::{Campaign, Claim};
use scarce_core::state::State;

use super::record::{Damaged, Record, id, number, words};
use super::{Keys, Link, each_row};
use scarce_engine::engine::Failure;

/// Reads all but the amounts that further steps lay ready: they follow from the plan and the seed, and no digest has
/// them.
pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let campaigns = &mut state.campaigns;
    each_row(link, keys, "campaigns", |name, record| {
        campaigns.restore(id(name)?, campaign(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "packets", |name, record| {
        let (campaign, packet) = words(name)?;
        campaigns.restore_packet(&id(campaign)?, number(packet)?, record.number("amount")?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "claims", |name, record| {
        let (campaign, user) = words(name)?;
        let claim = Claim { packet: record.number("packet")?, at: record.number("at")? };
        campaigns.restore_claim(&id(campaign)?, id(user)?, claim);
        Ok(())
    })
    .await
}

fn campaign(record: &Record<'_>) -> Result<Campaign, Damaged> {
    Ok(Campaign {
        asset: record.id("asset")?,
        count: record.number("count")?,
        total: record.number("total")?,
        method: record.optional_word("method", Method::from_word)?,
        min: record.number("min")?,
        max: record.optional("max")?,
        starts_at: record.optional("starts_at")?,
        ends_at: record.optional("ends_at")?,
        seed: record.optional_bytes("seed")?,
        commitment: record.optional_bytes("commitment")?,
        laid_count: record.number("laid_count")?,
        claimed_count: record.number("claimed_count")?,
        claimed_amount: record.number("claimed_amount")?,
        closed_at: record.optional("closed_at")?,
    })
}
