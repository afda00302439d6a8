//! Applies events to red packets. Packets that are still to be drawn are not read here.

use scarce_core::event::{
    PacketsClaimed, PacketsClosed, PacketsCreated, PacketsEvent, PacketsExhausted, PacketsFilled,
};
use scarce_core::types::{Id, signed};

use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::text;
use crate::rows::{CampaignRow, CampaignStatus, PacketClaimRow};
use crate::table::Text;

const TABLE: &str = "packet_campaigns";

pub(super) fn apply(tables: &mut Tables, event: &PacketsEvent, origin: &Origin<'_>) -> Result<(), Mistake> {
    use PacketsEvent as E;
    match event {
        E::PacketsCreated(created) => create(tables, created, origin),
        E::PacketsFilled(filled) => fill(tables, filled, origin),
        E::PacketsClaimed(claimed) => claim(tables, claimed, origin),
        E::PacketsExhausted(PacketsExhausted { campaign }) => {
            let spot = origin.row(TABLE, campaign);
            let row = existing(tables, campaign, spot, origin)?;
            (row.status, row.exhausted_at_ms) = (CampaignStatus::Exhausted, Some(origin.at_ms));
            spot.same("claimed", row.claimed, row.packets)
        }
        E::PacketsClosed(closed) => close(tables, closed, origin),
        // They stay in the table.
        E::PacketsForgotten(forgotten) => {
            let spot = origin.row(TABLE, &forgotten.campaign);
            existing(tables, &forgotten.campaign, spot, origin).map(drop)
        }
    }
}

fn create(tables: &mut Tables, created: &PacketsCreated, origin: &Origin<'_>) -> Result<(), Mistake> {
    let PacketsCreated { campaign, asset, count, total, starts_at, ends_at, commitment, .. } = created;
    origin.row(TABLE, campaign).none(tables.campaigns.get(campaign.as_str()))?;
    let row = CampaignRow {
        campaign_id: text(campaign),
        partition_id: origin.partition_id(),
        asset: text(asset),
        packets: signed(*count),
        total: signed(*total),
        laid: 0,
        claimed: 0,
        claimed_amount: 0,
        status: CampaignStatus::Filling,
        starts_at_ms: starts_at.map(signed),
        ends_at_ms: ends_at.map(signed),
        commitment: commitment.as_ref().map(hex),
        seed: None,
        method: None,
        amount_min: None,
        amount_max: None,
        operation_id: origin.operation_id(),
        created_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        exhausted_at_ms: None,
        closed_at_ms: None,
    };
    tables.campaigns.add(campaign.as_str().into(), row);
    Ok(())
}

fn fill(tables: &mut Tables, filled: &PacketsFilled, origin: &Origin<'_>) -> Result<(), Mistake> {
    let PacketsFilled { campaign, first_packet, count, .. } = filled;
    let spot = origin.row(TABLE, campaign);
    let row = existing(tables, campaign, spot, origin)?;
    spot.same("status", row.status.word(), CampaignStatus::Filling.word())?;
    spot.same("first_packet", row.laid.saturating_add(1), signed(*first_packet))?;
    row.laid = row.laid.saturating_add(signed(*count));
    if row.laid == row.packets {
        row.status = CampaignStatus::Open;
    }
    Ok(())
}

fn claim(tables: &mut Tables, claimed: &PacketsClaimed, origin: &Origin<'_>) -> Result<(), Mistake> {
    let PacketsClaimed { campaign, user, packet, amount, left_count } = claimed;
    let (packet, amount) = (signed(*packet), signed(*amount));
    let spot = origin.row(TABLE, campaign);
    let row = existing(tables, campaign, spot, origin)?;
    spot.same("status", row.status.word(), CampaignStatus::Open.word())?;
    row.claimed = row.claimed.saturating_add(1);
    row.claimed_amount = row.claimed_amount.saturating_add(amount);
    spot.same("packet", row.claimed, packet)?;
    spot.same("left_count", row.packets - row.claimed, signed(*left_count))?;
    let (claimed_amount, total) = (row.claimed_amount, row.total);
    spot.holds(claimed_amount <= total, || format!("{claimed_amount} were claimed of {total}"))?;
    tables.packet_claims.push(PacketClaimRow {
        campaign_id: text(campaign),
        packet,
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        user_id: text(user),
        amount,
        operation_id: origin.operation_id(),
        at_ms: origin.at_ms,
    });
    Ok(())
}

fn close(tables: &mut Tables, closed: &PacketsClosed, origin: &Origin<'_>) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, &closed.campaign);
    let row = existing(tables, &closed.campaign, spot, origin)?;
    spot.holds(row.closed_at_ms.is_none(), || "the campaign is closed".to_owned())?;
    spot.same("claimed", row.claimed, signed(closed.claimed_count))?;
    spot.same("claimed_amount", row.claimed_amount, signed(closed.claimed_amount))?;
    spot.same("left_count", row.packets - row.claimed, signed(closed.left_count))?;
    spot.same("left_amount", row.total - row.claimed_amount, signed(closed.left_amount))?;
    row.status = CampaignStatus::Closed;
    row.closed_at_ms = Some(origin.at_ms);
    row.seed = closed.seed.as_ref().map(hex);
    row.method = closed.method;
    // Amounts that were listed one by one have no bounds.
    row.amount_min = closed.method.map(|_| signed(closed.min));
    row.amount_max = closed.max.map(signed);
    Ok(())
}

fn existing<'t>(
    tables: &'t mut Tables,
    campaign: &Id,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut CampaignRow, Mistake> {
    let row = spot.found(tables.campaigns.change(campaign.as_str()))?;
    row.updated_at_ms = origin.at_ms;
    Ok(row)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8; 32]) -> Text {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.into()
}
