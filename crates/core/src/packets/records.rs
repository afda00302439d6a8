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

    /// When the next packets of a campaign leave memory, if they do.
    #[must_use]
    pub fn packets_due(&self, settings: &StateSettings, campaign: &Id) -> Option<TimeMs> {
        self.leaves_at(settings, self.campaigns.find(campaign)?)
    }
}
