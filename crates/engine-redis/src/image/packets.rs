//! Campaigns, their packets, and who has which.

use scarce_core::command::shapes::Method;
use scarce_core::packets::{Campaign, Claim, Forgotten};
use scarce_core::state::State;

use super::record::{Damaged, Record, id, number, words};

/// Puts in all but the amounts that further steps lay ready: they follow from the plan and the seed, and no digest has
/// them.
pub(super) fn put(state: &mut State, hash: &str, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    let campaigns = &mut state.campaigns;
    if hash == "campaigns" {
        let name = id(name)?;
        campaigns.restore(name.clone(), campaign(record)?);
        campaigns.restore_forgotten(&name, forgotten(record)?);
        return Ok(());
    }
    let (campaign, name) = words(name)?;
    let campaign = id(campaign)?;
    if hash == "packets" {
        campaigns.restore_packet(&campaign, number(name)?, record.number("amount")?);
    } else {
        let claim = Claim { packet: record.number("packet")?, at: record.number("at")? };
        campaigns.restore_claim(&campaign, id(name)?, claim);
    }
    Ok(())
}

/// Takes out a packet that has left with its claim, or a claim.
pub(super) fn drop_row(state: &mut State, hash: &str, name: &str) -> Result<(), Damaged> {
    let (campaign, name) = words(name)?;
    let campaign = id(campaign)?;
    match hash {
        "packets" => state.campaigns.drop_packet(&campaign, number(name)?),
        _ => state.campaigns.drop_claim(&campaign, &id(name)?),
    }
    Ok(())
}

fn forgotten(record: &Record<'_>) -> Result<Forgotten, Damaged> {
    Ok(Forgotten {
        through_packet: record.optional("forgotten_through")?.unwrap_or_default(),
        amount: record.optional("forgotten_amount")?.unwrap_or_default(),
    })
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
