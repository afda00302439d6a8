//! Campaigns, and who has which packet. Packets that nobody has claimed, and the seed of a campaign that is not closed, are
//! left out of a mirror: readers must not know what is still to be drawn. A deployment that moves takes them along.

use scarce_core::deadlines::RecordKind;
use scarce_core::packets::{Campaign, hex};
use scarce_core::state::State;
use scarce_core::types::Id;

use super::{Item, Maybe, RowName, join, pair, put_due, put_name};

/// The name under which the packets of a campaign are due.
const PACKETS: &str = "packets";

pub(super) fn put_campaign(state: &State, id: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.campaigns.get(id) else { return };
    out.push(row(state, id, its, its.seed.filter(|_| its.closed_at.is_some())));
    put_name("campaign", id, out);
    if let Some(due) = state.campaigns.packets_due(&state.settings, id) {
        put_due(due, RecordKind::Share, id, PACKETS, out);
    }
}

/// What readers must not know: the seed, and all packets. In place of the row of the campaign.
pub(crate) fn put_secrets(state: &State, id: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.campaigns.get(id) else { return };
    out.push(row(state, id, its, its.seed));
    let packets = state.campaigns.packets(id);
    out.extend(packets.map(|(packet, amount)| Item::Row("packets", pair(id, &packet), amount.to_string())));
}

/// The row of a campaign, with its seed if it may be known.
fn row(state: &State, id: &Id, its: &Campaign, seed: Option<[u8; 32]>) -> Item {
    let forgotten = state.campaigns.forgotten(id);
    let has_forgotten = forgotten.through_packet > 0;
    let text = join(&[
        &its.asset,
        &its.count,
        &its.total,
        &Maybe(its.method.map(|method| method.word())),
        &its.min,
        &Maybe(its.max),
        &Maybe(its.starts_at),
        &Maybe(its.ends_at),
        &Maybe(seed.map(hex)),
        &Maybe(its.commitment.map(hex)),
        &its.laid_count,
        &its.claimed_count,
        &its.claimed_amount,
        &Maybe(its.closed_at),
        &Maybe(has_forgotten.then_some(forgotten.through_packet)),
        &Maybe(has_forgotten.then_some(forgotten.amount)),
    ]);
    Item::Row("campaigns", id.to_string(), text)
}

/// Gives what a mirror leaves out: the rows of campaigns with their seeds, and the packets that nobody has claimed.
pub(super) fn each_hidden(state: &State, take: &mut impl FnMut(&Item)) {
    for (id, its) in state.campaigns.iter() {
        take(&row(state, id, its, its.seed));
    }
    for (campaign, packet, amount) in state.campaigns.each_packet() {
        let is_claimed = |its: &Campaign| packet <= its.claimed_count;
        if !state.campaigns.get(campaign).is_some_and(is_claimed) {
            take(&Item::Row("packets", pair(campaign, &packet), amount.to_string()));
        }
    }
}

pub(super) fn put_claim(state: &State, campaign: &Id, user: &Id, out: &mut Vec<Item>) {
    let Some((claim, amount)) = state.campaigns.claimed(campaign, user) else { return };
    out.push(Item::Row("claims", pair(campaign, user), join(&[&claim.packet, &claim.at])));
    out.push(Item::Row("claimants", pair(campaign, &claim.packet), user.to_string()));
    out.push(Item::Row("packets", pair(campaign, &claim.packet), amount.to_string()));
}

pub(super) fn each(state: &State, take: &mut impl FnMut(RowName)) {
    let campaigns = &state.campaigns;
    campaigns.iter().for_each(|(id, _)| take(RowName::Campaign(id.clone())));
    campaigns.claims().for_each(|(campaign, user, ..)| take(RowName::Claim(campaign.clone(), user.clone())));
}
