//! Queries about campaigns. They never show unclaimed amounts, nor the seed before the campaign is
//! closed.

use super::retention::check_kept;
use super::{Campaign, hex};
use crate::command::table::{PacketClaims, PacketList};
use crate::facts;
use crate::lists::page;
use crate::outcome::{Code, Refusal, Value, Verdict};
use crate::state::State;
use crate::types::{Id, Natural, TimeMs};

pub(crate) fn campaign(state: &State, id: &Id, now: TimeMs) -> Verdict {
    let (_, campaign) = state.campaigns.existing(id)?;
    let seed = campaign.seed.filter(|_| campaign.closed_at.is_some());
    Ok(facts![
        id,
        &campaign.asset,
        campaign.count,
        campaign.total,
        campaign.claimed_count,
        campaign.claimed_amount,
        campaign.starts_at,
        campaign.ends_at,
        status(campaign, now),
        campaign.commitment.map(hex),
        seed.map(hex),
    ])
}

fn status(campaign: &Campaign, now: TimeMs) -> &'static str {
    let laid = campaign.laid_count == campaign.count;
    match () {
        () if campaign.closed_at.is_some() => "closed",
        () if !laid || campaign.starts_at.is_some_and(|starts_at| now < starts_at) => "not_started",
        () if campaign.ends_at.is_some_and(|ends_at| now >= ends_at) => "ended",
        () if campaign.claimed_count == campaign.count => "exhausted",
        () => "open",
    }
}

pub(crate) fn claim(state: &State, campaign: &Id, user: &Id, now: TimeMs) -> Verdict {
    let (slot, _) = state.campaigns.existing(campaign)?;
    check_kept(state, campaign, slot, now)?;
    let (claim, amount) = state
        .campaigns
        .claimed_at(slot, user)
        .ok_or_else(|| Refusal::new(Code::ClaimNotFound, facts![user]))?;
    Ok(facts![user, claim.packet, amount, claim.at])
}

/// A page of claims in the order in which they were made: user, packet, amount, at.
pub(crate) fn claims(state: &State, get: &PacketClaims, now: TimeMs) -> Verdict {
    let (slot, campaign) = state.campaigns.existing(&get.campaign)?;
    check_kept(state, &get.campaign, slot, now)?;
    let first = get.after.map_or(0, Natural::get).saturating_add(1);
    let last = campaign.claimed_count.min(first.saturating_add(get.count.get() - 1));
    let row = |packet: u64| {
        let user = state.campaigns.claimants.get(&(slot, packet))?;
        let (claim, amount) = state.campaigns.claimed_at(slot, user)?;
        Some(Value::List(facts![user, packet, amount, claim.at].into_vec()))
    };
    Ok(facts![(first..=last).filter_map(row).collect::<Vec<_>>()])
}

/// A page of campaigns: campaign, asset, count, total, claimed_count, claimed_amount, status.
pub(crate) fn list(state: &State, list: &PacketList, now: TimeMs) -> Verdict {
    page(&state.campaigns.campaigns, list.page(), |id, campaign| {
        let Campaign { asset, count, total, claimed_count, claimed_amount, .. } = campaign;
        facts![id, asset, *count, *total, *claimed_count, *claimed_amount, status(campaign, now)]
    })
}
