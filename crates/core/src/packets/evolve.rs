//! What events change in campaigns.

use super::{Campaign, Campaigns, Claim, Piece};
use crate::command::shapes::Cut;
use crate::event::{PacketsClaimed, PacketsCreated, PacketsEvent, PacketsFilled};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// Applies an event of a campaign.
pub(crate) fn evolve(state: &mut State, event: &PacketsEvent, at: TimeMs) {
    use PacketsEvent as E;
    match event {
        E::PacketsCreated(created) => state.campaigns.create(created),
        E::PacketsFilled(filled) => {
            let Some(slot) = state.campaigns.find(&filled.campaign) else { return };
            state.requeue_packets(slot, |campaigns| campaigns.fill(slot, filled));
        }
        E::PacketsClaimed(claimed) => state.campaigns.claim(claimed, at),
        E::PacketsClosed(closed) => {
            let Some(slot) = state.campaigns.find(&closed.campaign) else { return };
            state.requeue_packets(slot, |campaigns| {
                campaigns.change(&closed.campaign, |campaign| campaign.closed_at = Some(at));
                campaigns.drop_unclaimed(&closed.campaign);
            });
        }
        E::PacketsForgotten(forgotten) => super::retention::evolve(state, forgotten),
        // The previous event has already changed what this one announces.
        E::PacketsExhausted(_) => {}
    }
}

impl Campaigns {
    fn create(&mut self, created: &PacketsCreated) {
        let method = match &created.cut {
            Cut::Plan { method, .. } => Some(*method),
            Cut::Amounts(_) => None,
        };
        let campaign = Campaign {
            asset: created.asset.clone(),
            count: created.count,
            total: created.total,
            method,
            min: created.min,
            max: created.max,
            starts_at: created.starts_at,
            ends_at: created.ends_at,
            seed: created.seed,
            commitment: created.commitment,
            laid_count: 0,
            claimed_count: 0,
            claimed_amount: 0,
            closed_at: None,
        };
        let slot = self.campaigns.insert(created.campaign.clone(), campaign);
        if let Cut::Amounts(amounts) = &created.cut {
            let amounts = amounts.iter().map(|amount| amount.get()).collect();
            self.listed.insert(slot, Piece(amounts));
        }
        self.note_unprepared(slot);
    }

    fn fill(&mut self, slot: Slot, filled: &PacketsFilled) {
        self.campaigns.update(slot, |campaign| campaign.laid_count += filled.count);
        let Some(Campaign { laid_count, count, closed_at, .. }) = self.campaigns.at(slot) else { return };
        let is_complete = laid_count >= count;
        // What nobody can claim any more is not kept.
        if closed_at.is_none() {
            self.pieces.insert((slot, filled.first_packet), Piece(filled.amounts.shared()));
        }
        if is_complete {
            self.listed.remove(&slot);
            self.note_unprepared(slot);
        }
    }

    fn claim(&mut self, claimed: &PacketsClaimed, at: TimeMs) {
        let Some(slot) = self.campaigns.find(&claimed.campaign) else { return };
        self.campaigns.update(slot, |campaign| {
            campaign.claimed_count = claimed.packet;
            campaign.claimed_amount += claimed.amount;
        });
        self.claimants.insert((slot, claimed.packet), claimed.user.clone());
        self.claims.insert((slot, claimed.user.clone()), Claim { packet: claimed.packet, at });
    }

    /// Drops the packets of a closed campaign that nobody can claim any more. Those that were claimed stay, with their amounts.
    fn drop_unclaimed(&mut self, campaign: &Id) {
        let Some((slot, found)) = self.campaigns.find_row(campaign) else { return };
        let first = (slot, found.claimed_count + 1);
        let unclaimed: Vec<_> = self.pieces.range(first..=(slot, u64::MAX)).map(|(key, _)| *key).collect();
        for key in unclaimed {
            self.pieces.remove(&key);
        }
    }

    /// Drops what a snapshot of an earlier version kept of campaigns that were closed by then.
    pub(super) fn drop_unclaimed_of_closed(&mut self) {
        let closed = self.campaigns.iter().filter(|(_, campaign)| campaign.closed_at.is_some());
        let closed: Vec<Id> = closed.map(|(id, _)| id.clone()).collect();
        closed.iter().for_each(|id| self.drop_unclaimed(id));
    }

    fn change(&mut self, campaign: &Id, change: impl FnOnce(&mut Campaign)) {
        self.campaigns.update_key(campaign, change);
    }
}
