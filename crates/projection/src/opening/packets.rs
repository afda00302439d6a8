//! Campaigns, and every claim, which the engine keeps.

use scarce_core::packets::{Campaign, Claim};
use scarce_core::types::{Id, signed};

use super::Opening;
use crate::fold::{Origin, hex, text};
use crate::rows::{CampaignRow, CampaignStatus, PacketClaimRow};

impl Opening<'_> {
    pub(super) fn put_campaign(&mut self, id: &Id, campaign: &Campaign) {
        self.put(campaign_row(id, campaign, &self.origin));
    }

    pub(super) fn put_packet_claim(&mut self, campaign: &Id, user: &Id, claim: &Claim, amount: u64) {
        self.put(PacketClaimRow {
            campaign_id: text(campaign),
            packet: signed(claim.packet),
            partition_id: self.origin.partition_id(),
            sequence: self.origin.sequence,
            user_id: text(user),
            amount: signed(amount),
            operation_id: None,
            at_ms: signed(claim.at),
        });
    }
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
