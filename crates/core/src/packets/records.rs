//! Records by their names, for stores that show a state.

use super::Campaigns;
use crate::state::StateSettings;
use crate::types::{Id, TimeMs};

impl Campaigns {
    /// The users who claimed packets up to one, in the order of these, while their claims are kept.
    pub fn claimants_up_to(&self, campaign: &Id, packet: u64) -> impl Iterator<Item = (u64, &Id)> {
        let slot = self.campaigns.find(campaign);
        let claimed = slot.into_iter().flat_map(move |slot| self.claimants.range((slot, 0)..=(slot, packet)));
        claimed.map(|((_, packet), user)| (*packet, user))
    }

    /// Every packet that is kept and can still be asked for: the campaign, the number of the packet and its amount.
    pub fn each_packet(&self) -> impl Iterator<Item = (&Id, u64, u64)> {
        self.pieces.iter().flat_map(move |((slot, first), piece)| {
            let found = self.campaigns.key_at(*slot).zip(self.campaigns.at(*slot)).into_iter();
            found.flat_map(move |(id, campaign)| {
                let left = self.forgotten_of(*slot).through_packet;
                let last = campaign.closed_at.map_or(campaign.count, |_| campaign.claimed_count);
                let packets = (*first..).zip(piece.0.iter());
                let kept = packets.filter(move |(packet, _)| *packet > left && *packet <= last);
                kept.map(move |(packet, amount)| (id, packet, *amount))
            })
        })
    }

    /// When the next packets of a campaign leave memory, if they do.
    #[must_use]
    pub fn packets_due(&self, settings: &StateSettings, campaign: &Id) -> Option<TimeMs> {
        self.leaves_at(settings, self.campaigns.find(campaign)?)
    }
}
