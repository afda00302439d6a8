//! Packets sum to the plan; each is claimed once, from the front.

use std::collections::BTreeMap;

use scarce_core::state::State;
use scarce_core::types::Id;

use super::{Report, same};

/// The claims of a campaign.
#[derive(Default)]
struct Claims {
    count: u64,
    amount: u64,
    last: u64,
}

pub(super) fn check(state: &State, report: Report<'_>) -> u64 {
    let mut claims: BTreeMap<&Id, Claims> = BTreeMap::new();
    for (campaign, _, claim, amount) in state.campaigns.claims() {
        let its = claims.entry(campaign).or_default();
        its.count += 1;
        its.amount += amount;
        its.last = its.last.max(claim.packet);
    }
    let mut count = 0;
    for (id, campaign) in state.campaigns.iter() {
        count += 1;
        // What has left memory is known by its number and its sum.
        let left = state.campaigns.forgotten(id);
        let left_count = left.through_packet.min(campaign.claimed_count);
        let mut its = claims.remove(id).unwrap_or_default();
        its.count += left_count;
        its.amount += left.amount;
        its.last = its.last.max(left_count);
        same(report, id, "packets claimed, by its claims", its.count, campaign.claimed_count);
        same(report, id, "last packet claimed, by its claims", its.last, campaign.claimed_count);
        same(report, id, "amount claimed, by its claims", its.amount, campaign.claimed_amount);
        let laid = state.campaigns.laid_amount(id) + left.amount;
        if campaign.closed_at.is_some() {
            same(report, id, "sum of the claimed packets", laid, campaign.claimed_amount);
        } else if campaign.laid_count == campaign.count && left.through_packet <= campaign.claimed_count {
            same(report, id, "sum of the packets, by the plan", campaign.total, laid);
        }
    }
    count
}
