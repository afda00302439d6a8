//! Red packets: a total is cut into packets before any claim. The cut follows from a plan and a seed, whose hash
//! is published when the campaign is created and which are revealed when it is closed.

mod amounts;
pub mod cut;
mod decisions;
mod evolve;
mod prepared;
pub(crate) mod query;
mod records;
mod regroup;
mod retention;
#[cfg(test)]
mod retention_tests;
mod rows;
#[cfg(test)]
mod tests;

pub use amounts::Amounts;
pub(crate) use decisions::{answer_of, claim, close, create, go_on};
pub(crate) use evolve::evolve;
pub use prepared::{AMOUNTS_MAX, Prepared, count_to_cut};
pub(crate) use retention::forget;
pub use retention::{CLAIMS_PER_EVENT_MAX, Forgotten, UNCLAIMED_PER_EVENT_MAX};

use std::cell::RefCell;
use std::sync::Arc;

use compact_str::CompactString;

use crate::codec::{Input, Malformed, Wire};
use crate::command::shapes::Method;
use crate::digest::{Kind, Sum};
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::{Ordered, Sliced, Slot, Table};
use crate::types::{Id, TimeMs};
use crate::{record_wire, reversible_fields};
use cut::Plan;

/// A total that is given away in packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// The asset of the packets.
    pub asset: Id,
    /// The number of packets.
    pub count: u64,
    /// The sum of all packets.
    pub total: u64,
    /// How they were cut; absent if they were listed one by one.
    pub method: Option<Method>,
    /// The minimum of a packet.
    pub min: u64,
    /// The maximum of a packet.
    pub max: Option<u64>,
    /// When claims begin.
    pub starts_at: Option<TimeMs>,
    /// When claims end.
    pub ends_at: Option<TimeMs>,
    /// The seed of the cut; secret until the campaign is closed.
    pub seed: Option<[u8; 32]>,
    /// The hash of seed and plan.
    pub commitment: Option<[u8; 32]>,
    /// How many packets are prepared; claims begin when all are.
    pub laid_count: u64,
    /// How many packets were claimed, from the front.
    pub claimed_count: u64,
    /// The sum of the claimed packets.
    pub claimed_amount: u64,
    /// When the campaign was closed.
    pub closed_at: Option<TimeMs>,
}

record_wire!(Campaign {
    asset,
    count,
    total,
    method,
    min,
    max,
    starts_at,
    ends_at,
    seed,
    commitment,
    laid_count,
    claimed_count,
    claimed_amount,
    closed_at,
});

impl Campaign {
    /// The plan and the seed by which the packets were cut.
    fn plan(&self) -> Option<(Plan, [u8; 32])> {
        let Self { total, count, min, max, .. } = *self;
        self.method.zip(self.seed).map(|(method, seed)| (Plan { total, count, method, min, max }, seed))
    }
}

/// A user's packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its number, counted from 1.
    pub packet: u64,
    /// When it was claimed.
    pub at: TimeMs,
}

record_wire!(Claim { packet, at });

/// Amounts in order, such as those that one event prepared. They never change, so recording and rolling
/// back changes copies none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece(Arc<[u64]>);

impl Wire for Piece {
    fn put(&self, out: &mut Vec<u8>) {
        (self.0.len() as u64).put(out);
        self.0.iter().for_each(|amount| amount.put(out));
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Vec::get(input).map(|amounts| Self(amounts.into()))
    }
}

/// The whole cut of the campaign that is being filled, so that further steps need not repeat it. A memo
/// of [`Plan::cut`], not part of the state: if it is missing, as after a restart between two steps, the
/// cut is repeated.
#[derive(Debug)]
struct Ahead {
    plan: Plan,
    seed: [u8; 32],
    amounts: Arc<[u64]>,
    pieces: Arc<[Amounts]>,
}

/// The campaigns of a partition with their packets and claims. Campaigns are never removed.
#[derive(Debug)]
pub struct Campaigns {
    campaigns: Table<Id, Campaign>,
    /// Packets by the number of the first. Claims pay what `packets.filled` prepared here, whatever a cut
    /// would give today.
    pieces: Ordered<(Slot, u64), Piece>,
    claims: Table<(Slot, Id), Claim>,
    /// Which user has which packet, for lists. Derived from the claims, and not written to snapshots.
    claimants: Ordered<(Slot, u64), Id>,
    /// The listed amounts of campaigns whose packets are not all prepared.
    listed: Ordered<Slot, Piece>,
    /// What has left of campaigns whose retention is over.
    forgotten: Ordered<Slot, Forgotten>,
    /// Those whose packets are not all prepared. Derived from the campaigns, and not written to snapshots.
    unprepared: Ordered<Slot, ()>,
    ahead: RefCell<Option<Ahead>>,
}

reversible_fields!(Campaigns { campaigns, pieces, claims, claimants, listed, forgotten, unprepared });

impl Campaigns {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            campaigns: Table::by_name(hash_seed, Id::listed),
            pieces: Ordered::default(),
            claims: Table::new(hash_seed),
            claimants: Ordered::default(),
            listed: Ordered::default(),
            forgotten: Ordered::default(),
            unprepared: Ordered::default(),
            ahead: RefCell::new(None),
        }
    }

    /// A piece has up to a thousand packets, and counts as several records.
    pub(crate) fn record_count(&self) -> usize {
        self.campaigns.len() + 8 * self.pieces.len() + self.claims.len() + self.claimants.len()
    }

    pub(crate) fn reusable_bytes(&self) -> usize {
        self.claims.reusable_bytes()
    }

    /// A campaign by name.
    #[must_use]
    pub fn get(&self, campaign: &Id) -> Option<&Campaign> {
        self.campaigns.get(campaign)
    }

    /// Restores a campaign from another store.
    pub fn restore(&mut self, id: Id, campaign: Campaign) {
        let slot = self.campaigns.insert(id, campaign);
        self.note_unprepared(slot);
    }

    /// Whether the packets of some campaign are not all prepared.
    #[must_use]
    pub fn lacks_packets(&self) -> bool {
        !self.unprepared.is_empty()
    }

    /// The campaigns whose packets are not all prepared.
    pub(crate) fn unprepared(&self) -> Vec<Id> {
        let names = self.unprepared.iter().filter_map(|(slot, ())| self.campaigns.key_at(*slot));
        names.cloned().collect()
    }

    /// Notes whether packets of a campaign are missing.
    fn note_unprepared(&mut self, slot: Slot) {
        let is_missing = self.campaigns.at(slot).is_some_and(|its| its.laid_count < its.count);
        let is_noted = self.unprepared.get(&slot).is_some();
        if is_missing && !is_noted {
            self.unprepared.insert(slot, ());
        } else if !is_missing && is_noted {
            self.unprepared.remove(&slot);
        }
    }

    /// Restores a packet from another store, of a campaign that was restored.
    pub fn restore_packet(&mut self, campaign: &Id, packet: u64, amount: u64) {
        if let Some(slot) = self.campaigns.find(campaign) {
            self.pieces.insert((slot, packet), Piece([amount].into()));
        }
    }

    /// Restores a claim from another store, of a campaign that was restored.
    pub fn restore_claim(&mut self, campaign: &Id, user: Id, claim: Claim) {
        if let Some(slot) = self.campaigns.find(campaign) {
            self.claimants.insert((slot, claim.packet), user.clone());
            self.claims.insert((slot, user), claim);
        }
    }

    /// Every campaign with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Campaign)> {
        self.campaigns.iter()
    }

    /// The packets of a campaign that are kept, also those that are still to be drawn, which nobody may be shown: by number.
    pub fn packets(&self, campaign: &Id) -> impl Iterator<Item = (u64, u64)> {
        let left = self.forgotten(campaign).through_packet;
        let pieces =
            self.campaigns.find(campaign).map(|slot| self.pieces.range((slot, 0)..=(slot, u64::MAX)));
        let pieces = pieces.into_iter().flatten();
        let packets = pieces.flat_map(|((_, first), piece)| (*first..).zip(piece.0.iter().copied()));
        packets.filter(move |(packet, _)| *packet > left)
    }

    /// A user's packet of a campaign, and its amount.
    #[must_use]
    pub fn claimed(&self, campaign: &Id, user: &Id) -> Option<(&Claim, u64)> {
        self.claimed_at(self.campaigns.find(campaign)?, user)
    }

    /// Every claim: the campaign, the user, the claim and its amount.
    pub fn claims(&self) -> impl Iterator<Item = (&Id, &Id, &Claim, u64)> {
        self.claims.iter().filter_map(|((slot, user), claim)| {
            Some((self.campaigns.key_at(*slot)?, user, claim, self.amount(*slot, claim.packet)?))
        })
    }

    /// The sum of a campaign's packets that are kept: those that are prepared and, once it is closed, claimed.
    #[must_use]
    pub fn laid_amount(&self, campaign: &Id) -> u64 {
        let left = self.forgotten(campaign).through_packet;
        let pieces = |slot| self.pieces.range((slot, 0)..=(slot, u64::MAX));
        let closed = self.get(campaign).filter(|its| its.closed_at.is_some()).map(|its| its.claimed_count);
        self.campaigns.find(campaign).map_or(0, |slot| {
            let amounts = pieces(slot).flat_map(|((_, first), piece)| (*first..).zip(piece.0.iter()));
            amounts
                .filter(|(packet, _)| *packet > left && closed.is_none_or(|last| *packet <= last))
                .map(|(_, amount)| amount)
                .sum()
        })
    }

    fn claimed_at(&self, slot: Slot, user: &Id) -> Option<(&Claim, u64)> {
        let claim = self.claims.get(&(slot, user.clone()))?;
        Some((claim, self.amount(slot, claim.packet)?))
    }

    /// The amount of a packet.
    fn amount(&self, slot: Slot, packet: u64) -> Option<u64> {
        let ((_, first), piece) = self.pieces.range((slot, 0)..=(slot, packet)).next_back()?;
        piece.0.get(usize::try_from(packet - first).ok()?).copied()
    }

    fn existing(&self, campaign: &Id) -> Result<(Slot, &Campaign), Refusal> {
        self.campaigns
            .find(campaign)
            .and_then(|slot| self.campaigns.at(slot).map(|found| (slot, found)))
            .ok_or_else(|| Refusal::new(Code::CampaignNotFound, facts![campaign]))
    }

    /// All amounts of a plan, from the memo if it has them.
    fn cut_by(&self, plan: Plan, seed: [u8; 32]) -> (Arc<[u64]>, Arc<[Amounts]>) {
        let mut ahead = self.ahead.borrow_mut();
        if let Some(ahead) = ahead.as_ref().filter(|ahead| ahead.plan == plan && ahead.seed == seed) {
            return (Arc::clone(&ahead.amounts), Arc::clone(&ahead.pieces));
        }
        // It was cut when the campaign was created, so the cut must succeed.
        let amounts: Arc<[u64]> = plan.cut(&seed).unwrap_or_default().into();
        let pieces = Arc::<[Amounts]>::default();
        *ahead = Some(Ahead { plan, seed, amounts: Arc::clone(&amounts), pieces: Arc::clone(&pieces) });
        (amounts, pieces)
    }

    /// Digests are public: seeds of open campaigns and packets that nobody has claimed are left out, because
    /// a caller that knows the rest could try out amounts until the digest fits.
    pub(crate) fn digest(&self, sum: &mut Sum<'_>) {
        self.campaigns.iter().for_each(|(id, campaign)| add_campaign(sum, id, campaign));
        for ((slot, first), piece) in self.pieces.iter() {
            self.add_piece(sum, *slot, *first, piece);
        }
        for ((slot, user), claim) in self.claims.iter() {
            self.add_claim(sum, *slot, user, claim);
        }
    }

    pub(crate) fn digest_of(&self, id: &Id, sum: &mut Sum<'_>) {
        let Some((slot, campaign)) = self.campaigns.find_row(id) else { return };
        add_campaign(sum, id, campaign);
        for ((_, first), piece) in self.pieces.range((slot, 0)..=(slot, campaign.claimed_count)) {
            if !sum.has_room() {
                return;
            }
            self.add_piece(sum, slot, *first, piece);
        }
        for (_, user) in self.claimants.range((slot, 0)..=(slot, u64::MAX)) {
            if !sum.has_room() {
                return;
            }
            if let Some(claim) = self.claims.get(&(slot, user.clone())) {
                self.add_claim(sum, slot, user, claim);
            }
        }
    }

    fn add_piece(&self, sum: &mut Sum<'_>, slot: Slot, first: u64, piece: &Piece) {
        let claimed_count = self.campaigns.at(slot).map_or(0, |campaign| campaign.claimed_count);
        let left = self.forgotten_of(slot).through_packet;
        let kept = (first..=claimed_count).zip(piece.0.iter()).filter(|(packet, _)| *packet > left);
        for (packet, amount) in kept {
            if !sum.has_room() {
                return;
            }
            self.add(sum, Kind::Packet, slot, |out| {
                packet.put(out);
                amount.put(out);
            });
        }
    }

    fn add_claim(&self, sum: &mut Sum<'_>, slot: Slot, user: &Id, claim: &Claim) {
        self.add(sum, Kind::PacketClaim, slot, |out| {
            user.put(out);
            claim.put(out);
        });
    }

    fn add(&self, sum: &mut Sum<'_>, kind: Kind, slot: Slot, put: impl FnOnce(&mut Vec<u8>)) {
        if let Some(campaign) = self.campaigns.key_at(slot) {
            sum.add(kind, campaign, put);
        }
    }

    /// What [`Campaigns::put`] writes, in the same order, and what has left.
    pub(crate) fn sliced(&mut self) -> ([&mut dyn Sliced; 4], &mut dyn Sliced) {
        let Self { campaigns, pieces, claims, claimants: _, listed, forgotten, unprepared: _, ahead: _ } =
            self;
        ([campaigns, pieces, claims, listed], forgotten)
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.campaigns.put(out);
        self.pieces.put(out);
        self.claims.put(out);
        self.listed.put(out);
    }

    /// Reads the campaigns of what [`Campaigns::put`] wrote, which [`Campaigns::scan`] needs.
    pub(crate) fn skim(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.campaigns.load(input)?;
        input.rows(|_: (Slot, u64), _: Piece| {})?;
        input.rows(|_: (Slot, Id), _: Claim| {})?;
        input.rows(|_: Slot, _: Piece| {})
    }

    /// Adds what [`Campaigns::put`] wrote to a digest.
    pub(crate) fn scan(&self, input: &mut PieceReader<'_>, sum: &mut Sum<'_>) -> Result<(), Malformed> {
        input.rows(|id: Id, campaign: Campaign| add_campaign(sum, &id, &campaign))?;
        input.rows(|(slot, first): (Slot, u64), piece: Piece| self.add_piece(sum, slot, first, &piece))?;
        input.rows(|(slot, user): (Slot, Id), claim: Claim| self.add_claim(sum, slot, &user, &claim))?;
        input.rows(|_: Slot, _: Piece| {})
    }

    pub(crate) fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.campaigns.load(input)?;
        self.pieces.load(input)?;
        self.claims.load(input)?;
        for ((slot, user), claim) in self.claims.iter() {
            self.claimants.insert((*slot, claim.packet), user.clone());
        }
        self.listed.load(input)?;
        let slots: Vec<Slot> = self.campaigns.iter().filter_map(|(id, _)| self.campaigns.find(id)).collect();
        slots.into_iter().for_each(|slot| self.note_unprepared(slot));
        self.drop_unclaimed_of_closed();
        Ok(())
    }
}

fn add_campaign(sum: &mut Sum<'_>, id: &Id, campaign: &Campaign) {
    let seed = campaign.seed.filter(|_| campaign.closed_at.is_some());
    let public = Campaign { seed, ..campaign.clone() };
    sum.add(Kind::Campaign, id, |out| public.put(out));
}

/// Bytes as hexadecimal digits, as seeds and commitments are shown.
#[must_use]
pub fn hex(bytes: [u8; 32]) -> CompactString {
    bytes.iter().map(|byte| compact_str::format_compact!("{byte:02x}")).collect()
}
