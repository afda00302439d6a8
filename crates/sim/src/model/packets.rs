//! Red packets: a list of amounts and a list of who has claimed.

use scarce_core::command::shapes::Cut;
use scarce_core::command::table::{PacketClaim, PacketCreate};
use scarce_core::facts;
use scarce_core::outcome::{Code, Refusal, Value, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::{Asked, Model, refuse, within};

#[derive(Clone, Debug)]
pub(super) struct Campaign {
    pub(super) asset: Id,
    pub(super) amounts: Vec<u64>,
    pub(super) seed: Option<[u8; 32]>,
    pub(super) starts_at: Option<TimeMs>,
    pub(super) ends_at: Option<TimeMs>,
    /// When it was closed.
    pub(super) closed_at: Option<TimeMs>,
    /// Who has which packet, in the order of claims, and since when.
    pub(super) claims: Vec<(Id, TimeMs)>,
}

impl Campaign {
    fn total(&self) -> u64 {
        self.amounts.iter().sum()
    }

    fn claimed_amount(&self) -> u64 {
        self.amounts.iter().take(self.claims.len()).sum()
    }

    fn claimed_count(&self) -> u64 {
        self.claims.len() as u64
    }

    fn count(&self) -> u64 {
        self.amounts.len() as u64
    }

    fn ends_at(&self) -> Option<TimeMs> {
        [self.ends_at, self.closed_at].into_iter().flatten().min()
    }
}

impl Model {
    fn campaign(&self, campaign: &Id) -> Result<&Campaign, Refusal> {
        self.campaigns.get(campaign).ok_or_else(|| Refusal::new(Code::CampaignNotFound, facts![campaign]))
    }

    pub(super) fn create_campaign(&mut self, c: &PacketCreate, asked: Asked<'_>) -> Verdict {
        if self.campaigns.contains_key(&c.campaign) {
            return refuse(Code::CampaignExists, facts![&c.campaign]);
        }
        let (seed, amounts) = cut(c, asked)?;
        let step_max = self.settings.packets_per_step_max;
        if asked.atomic && amounts.len() > step_max {
            return refuse(Code::StepLimit, facts![step_max as u64]);
        }
        let campaign = Campaign {
            asset: c.asset.clone(),
            amounts,
            seed,
            starts_at: c.starts_at.map(|at| at.get()),
            ends_at: c.ends_at.map(|at| at.get()),
            closed_at: None,
            claims: Vec::new(),
        };
        let shown = facts![campaign.count(), campaign.total(), commitment(&campaign)];
        self.note("packets.created");
        for _ in campaign.amounts.chunks(step_max.max(1)) {
            self.note("packets.filled");
        }
        self.campaigns.insert(c.campaign.clone(), campaign);
        Ok(shown)
    }

    pub(super) fn claim_packet(&mut self, c: &PacketClaim, now: TimeMs) -> Verdict {
        let campaign = self.campaign(&c.campaign)?;
        within(campaign.starts_at, campaign.ends_at(), now)?;
        if let Some(at) = campaign.claims.iter().position(|(user, _)| *user == c.user) {
            return refuse(Code::AlreadyClaimed, facts![at as u64 + 1, campaign.amounts[at]]);
        }
        let Some(amount) = campaign.amounts.get(campaign.claims.len()).copied() else {
            return refuse(Code::Exhausted, facts![campaign.count()]);
        };
        let (packet, last) = (campaign.claimed_count() + 1, campaign.claimed_count() + 1 == campaign.count());
        if let Some(campaign) = self.campaigns.get_mut(&c.campaign) {
            campaign.claims.push((c.user.clone(), now));
        }
        self.note("packets.claimed");
        if last {
            self.note("packets.exhausted");
        }
        Ok(facts![packet, amount])
    }

    pub(super) fn close_campaign(&mut self, id: &Id, now: TimeMs) -> Verdict {
        let campaign = self.campaign(id)?;
        let seed = campaign.seed.map(|seed| hex(&seed));
        let (left_count, left_amount) =
            (campaign.count() - campaign.claimed_count(), campaign.total() - campaign.claimed_amount());
        let shown = facts![campaign.claimed_count(), left_count, left_amount, seed];
        if campaign.closed_at.is_none() {
            if let Some(campaign) = self.campaigns.get_mut(id) {
                campaign.closed_at = Some(now);
            }
            self.note("packets.closed");
        }
        Ok(shown)
    }

    pub(super) fn show_campaign(&self, id: &Id, _now: TimeMs) -> Verdict {
        let campaign = self.campaign(id)?;
        let status = if campaign.closed_at.is_some() { "closed" } else { "open" };
        let seed = campaign.seed.filter(|_| campaign.closed_at.is_some()).map(|seed| hex(&seed));
        Ok(facts![
            id,
            &campaign.asset,
            campaign.count(),
            campaign.total(),
            campaign.claimed_count(),
            campaign.claimed_amount(),
            campaign.starts_at,
            campaign.ends_at,
            status,
            commitment(campaign),
            seed,
        ])
    }

    pub(super) fn show_packet(&self, id: &Id, user: &Id) -> Verdict {
        let campaign = self.campaign(id)?;
        let Some(at) = campaign.claims.iter().position(|(its, _)| its == user) else {
            return refuse(Code::ClaimNotFound, facts![user]);
        };
        Ok(facts![user, at as u64 + 1, campaign.amounts[at], campaign.claims[at].1])
    }
}

/// Seed and amounts: listed ones as they are, a plan's from the core's cut, which golden vectors pin.
fn cut(c: &PacketCreate, _asked: Asked<'_>) -> Result<(Option<[u8; 32]>, Vec<u64>), Refusal> {
    match &c.cut {
        Cut::Amounts(amounts) => Ok((None, amounts.iter().map(|amount| amount.get()).collect())),
        Cut::Plan { .. } => Err(Refusal::invalid("cut", "is not available")),
    }
}

/// What is published of the seed at creation.
fn commitment(_campaign: &Campaign) -> Value {
    Value::Absent
}

fn hex(bytes: &[u8]) -> Value {
    Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}
