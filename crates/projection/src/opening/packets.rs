//! Campaigns, and every claim, which the engine keeps.

use scarce_core::packets::{Campaign, Claim};
use scarce_core::state::State;
use scarce_core::types::{Id, signed};

use super::{Take, Unwanted};
use crate::fold::{Origin, hex, text};
use crate::rows::{CampaignRow, CampaignStatus, PacketClaimRow};

pub(super) fn put(state: &State, origin: &Origin<'_>, take: Take<'_>) -> Result<(), Unwanted> {
    let campaigns = &state.campaigns;
    super::put(take, campaigns.iter().map(|(id, campaign)| campaign_row(id, campaign, origin)))?;
    let row = |(campaign, user, claim, amount): (&Id, &Id, &Claim, u64)| PacketClaimRow {
        campaign_id: text(campaign),
        packet: signed(claim.packet),
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        user_id: text(user),
        amount: signed(amount),
        operation_id: None,
        at_ms: signed(claim.at),
    };
    super::put(take, campaigns.claims().map(row))
}

/// Plan and seed are shown after the end only.
fn campaign_row(id: &Id, campaign: &Campaign, origin: &Origin<'_>) -> CampaignRow {
    let status = match campaign {
        Campaign { closed_at: Some(_), .. } => CampaignStatus::Closed,
        its if its.laid_count < its.count => CampaignStatus::Filling,
        its if its.claimed_count == its.count => CampaignStatus::Exhausted,
        _ => CampaignStatus::Open,
    };
    let ended = Some(campaign).filter(|its| its.closed_at.is_some());
    let method = ended.and_then(|its| its.method);
    CampaignRow {
        campaign_id: text(id),
        partition_id: origin.partition_id(),
        asset: text(&campaign.asset),
        packets: signed(campaign.count),
        total: signed(campaign.total),
        laid: signed(campaign.laid_count),
        claimed: signed(campaign.claimed_count),
        claimed_amount: signed(campaign.claimed_amount),
        status,
        starts_at_ms: campaign.starts_at.map(signed),
        ends_at_ms: campaign.ends_at.map(signed),
        commitment: campaign.commitment.as_ref().map(hex),
        seed: ended.and_then(|its| its.seed.as_ref()).map(hex),
        method,
        amount_min: method.map(|_| signed(campaign.min)),
        amount_max: ended.and_then(|its| its.max).map(signed),
        operation_id: None,
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        exhausted_at_ms: None,
        closed_at_ms: campaign.closed_at.map(signed),
    }
}
