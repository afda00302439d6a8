//! The packets and claims of a campaign that is over leave memory when their retention is: from the front, several at a
//! time, by an event. The campaign stays with its figures, and from then on it is over whatever a clock says, so that no
//! user can get a second packet.

use super::Campaigns;
use crate::codec::Malformed;
use crate::event::PacketsForgotten;
use crate::pieces::{PieceReader, PieceWriter};
use crate::record_wire;
use crate::state::State;
use crate::store::Slot;
use crate::types::Id;

/// What has left of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The last packet that has left; all before it have, too.
    pub through_packet: u64,
    /// What those of them were worth that were claimed.
    pub amount: u64,
}

record_wire!(Forgotten { through_packet, amount });

/// Takes out what has left.
pub(super) fn evolve(state: &mut State, event: &PacketsForgotten) {
    let PacketsForgotten { campaign, through_packet, amount } = event;
    let Some(slot) = state.campaigns.campaigns.find(campaign) else { return };
    let forgotten = Forgotten { through_packet: *through_packet, amount: *amount };
    state.campaigns.take_out(slot, forgotten);
}

impl Campaigns {
    /// What has left of a campaign.
    #[must_use]
    pub fn forgotten(&self, campaign: &Id) -> Forgotten {
        self.campaigns.find(campaign).map(|slot| self.forgotten_of(slot)).unwrap_or_default()
    }

    pub(super) fn forgotten_of(&self, slot: Slot) -> Forgotten {
        self.forgotten.get(&slot).cloned().unwrap_or_default()
    }

    /// Restores what has left of a campaign from another store, of a campaign that was restored, and takes out what was
    /// read before it left.
    pub fn restore_forgotten(&mut self, campaign: &Id, forgotten: Forgotten) {
        if let Some(slot) = self.campaigns.find(campaign).filter(|_| forgotten.through_packet > 0) {
            self.take_out(slot, forgotten);
        }
    }

    /// Takes a packet out that another store no longer has.
    pub fn drop_packet(&mut self, campaign: &Id, packet: u64) {
        if let Some(slot) = self.campaigns.find(campaign) {
            self.pieces.remove(&(slot, packet));
        }
    }

    /// Takes a claim out that another store no longer has.
    pub fn drop_claim(&mut self, campaign: &Id, user: &Id) {
        let Some(slot) = self.campaigns.find(campaign) else { return };
        if let Some(claim) = self.claims.remove(&(slot, user.clone())) {
            self.claimants.remove(&(slot, claim.packet));
        }
    }

    fn take_out(&mut self, slot: Slot, forgotten: Forgotten) {
        let last = forgotten.through_packet;
        let users: Vec<_> =
            self.claimants.range((slot, 0)..=(slot, last)).map(|(key, user)| (*key, user.clone())).collect();
        for (key, user) in users {
            self.claimants.remove(&key);
            self.claims.remove(&(slot, user));
        }
        let pieces = self.pieces.range((slot, 0)..=(slot, last));
        let whole = pieces.filter(|((_, first), piece)| first + piece.0.len() as u64 - 1 <= last);
        let whole: Vec<_> = whole.map(|(key, _)| *key).collect();
        for key in whole {
            self.pieces.remove(&key);
        }
        self.forgotten.insert(slot, forgotten);
    }

    /// Whether any packets of a campaign have left.
    pub(super) fn has_left(&self, slot: Slot) -> bool {
        self.forgotten.get(&slot).is_some()
    }

    pub(crate) fn put_forgotten(&self, out: &mut PieceWriter<'_>) {
        self.forgotten.put(out);
    }

    pub(crate) fn load_forgotten(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.forgotten.load(input)
    }
}
