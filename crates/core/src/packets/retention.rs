//! The packets and claims of a campaign that is over leave memory when their retention is: from the front, several at a
//! time, by an event. The campaign stays with its figures, and from then on it is over whatever a clock says, so that no
//! user can get a second packet.

use super::{Campaign, Campaigns};
use crate::codec::Malformed;
use crate::deadlines::RecordKind;
use crate::event::{Event, PacketsForgotten};
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::record_wire;
use crate::state::{State, StateSettings};
use crate::store::Slot;
use crate::types::{Id, TimeMs};

/// How many claimed packets leave with one event.
pub const CLAIMS_PER_EVENT_MAX: u64 = 8;

/// How many packets that nobody claimed leave with one event besides: about as many rows inside Redis.
pub const UNCLAIMED_PER_EVENT_MAX: u64 = 24;

/// What has left of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The last packet that has left; all before it have, too.
    pub through_packet: u64,
    /// What those of them were worth that were claimed.
    pub amount: u64,
}

record_wire!(Forgotten { through_packet, amount });

/// The name under which a campaign's packets are due.
fn packets_name() -> Id {
    Id::trusted(compact_str::CompactString::const_new("packets"))
}

/// When the packets of a campaign leave: their retention begins when it is closed or has ended, whichever is first. None
/// leave before all are prepared.
fn leaves_at(settings: &StateSettings, campaign: &Campaign, forgotten: &Forgotten) -> Option<TimeMs> {
    let over_at = campaign.closed_at.into_iter().chain(campaign.ends_at).min();
    let is_prepared = campaign.laid_count >= campaign.count;
    over_at
        .filter(|_| is_prepared && forgotten.through_packet < campaign.count)
        .map(|at| settings.receipt_due(at))
}

/// Lets the next packets of a campaign go, those that were claimed first.
pub(crate) fn forget(state: &State, slot: Slot, events: &mut Vec<Event>) {
    let campaigns = &state.campaigns;
    let Some((id, campaign)) = campaigns.campaigns.key_at(slot).zip(campaigns.campaigns.at(slot)) else {
        return;
    };
    let Forgotten { through_packet: before, mut amount } = campaigns.forgotten_of(slot);
    let mut through_packet = before.saturating_add(CLAIMS_PER_EVENT_MAX).min(campaign.claimed_count);
    amount += (before + 1..=through_packet).filter_map(|packet| campaigns.amount(slot, packet)).sum::<u64>();
    if through_packet == campaign.claimed_count {
        let unclaimed = before.max(through_packet).saturating_add(UNCLAIMED_PER_EVENT_MAX);
        through_packet = unclaimed.min(campaign.count);
    }
    events.push(PacketsForgotten { campaign: id.clone(), through_packet, amount }.into());
}

/// Takes out what has left.
pub(super) fn evolve(state: &mut State, event: &PacketsForgotten) {
    let PacketsForgotten { campaign, through_packet, amount } = event;
    let Some(slot) = state.campaigns.campaigns.find(campaign) else { return };
    let forgotten = Forgotten { through_packet: *through_packet, amount: *amount };
    state.requeue_packets(slot, |campaigns| campaigns.take_out(slot, forgotten));
}

impl State {
    /// Changes a campaign, and when its packets are due if that changes with it.
    pub(super) fn requeue_packets(&mut self, slot: Slot, change: impl FnOnce(&mut Campaigns)) {
        let before = self.campaigns.leaves_at(&self.settings, slot);
        change(&mut self.campaigns);
        let after = self.campaigns.leaves_at(&self.settings, slot);
        let Some(id) = self.campaigns.campaigns.key_at(slot).filter(|_| before != after) else { return };
        if let Some(due) = before {
            self.deadlines.remove(due, RecordKind::Share, slot, id, &packets_name());
        }
        if let Some(due) = after {
            self.deadlines.add(due, RecordKind::Share, slot, id, &packets_name());
        }
    }

    /// Notes when the packets of a campaign are due.
    fn queue_packets_of(&mut self, id: &Id) {
        let due = self.campaigns.find(id).map(|slot| (slot, self.campaigns.leaves_at(&self.settings, slot)));
        if let Some((slot, Some(due))) = due {
            self.deadlines.add(due, RecordKind::Share, slot, id, &packets_name());
        }
    }

    /// The same for every campaign of a snapshot.
    pub(crate) fn queue_packets(&mut self) {
        let ids: Vec<Id> = self.campaigns.iter().map(|(id, _)| id.clone()).collect();
        ids.iter().for_each(|id| self.queue_packets_of(id));
    }
}

impl Campaigns {
    /// The row of a campaign.
    pub(crate) fn find(&self, campaign: &Id) -> Option<Slot> {
        self.campaigns.find(campaign)
    }

    /// What has left of a campaign.
    #[must_use]
    pub fn forgotten(&self, campaign: &Id) -> Forgotten {
        self.campaigns.find(campaign).map(|slot| self.forgotten_of(slot)).unwrap_or_default()
    }

    pub(super) fn forgotten_of(&self, slot: Slot) -> Forgotten {
        self.forgotten.get(&slot).cloned().unwrap_or_default()
    }

    pub(super) fn leaves_at(&self, settings: &StateSettings, slot: Slot) -> Option<TimeMs> {
        leaves_at(settings, self.campaigns.at(slot)?, &self.forgotten_of(slot))
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

/// Refuses what asks for claims that have left, or that will because their retention is over.
pub(super) fn check_kept(state: &State, id: &Id, slot: Slot, now: TimeMs) -> Result<(), Refusal> {
    let campaigns = &state.campaigns;
    let due = campaigns.leaves_at(&state.settings, slot);
    if campaigns.has_left(slot) || due.is_some_and(|due| due <= state.settled(now)) {
        return Err(Refusal::new(Code::ClaimsExpired, facts![id]));
    }
    Ok(())
}
