//! Red packets: a list of amounts and a list of claims.

use hmac::{Hmac, KeyInit, Mac};
use scarce_core::command::shapes::{Cut, Method};
use scarce_core::command::table::{PacketClaim, PacketClaims, PacketCreate};
use scarce_core::facts;
use scarce_core::outcome::{Code, Refusal, Value, Verdict};
use scarce_core::packets::cut::Plan;
use scarce_core::types::{Id, TimeMs};
use sha2::{Digest, Sha256};

use super::{Asked, Model, phase, refuse, within};

#[derive(Clone, Debug)]
pub(super) struct Campaign {
    pub(super) asset: Id,
    pub(super) method: Option<Method>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) amounts: Vec<u64>,
    pub(super) seed: Option<[u8; 32]>,
    pub(super) starts_at: Option<TimeMs>,
    pub(super) ends_at: Option<TimeMs>,
    /// When it was closed.
    pub(super) closed_at: Option<TimeMs>,
    /// Which user has which packet, in the order of claims, and since when.
    pub(super) claims: Vec<(Id, TimeMs)>,
    /// How many packets have left memory, from the front.
    pub(super) left: usize,
}

impl Campaign {
    pub(super) fn total(&self) -> u64 {
        self.amounts.iter().sum()
    }

    pub(super) fn claimed_amount(&self) -> u64 {
        self.amounts.iter().take(self.claims.len()).sum()
    }

    pub(super) fn claimed_count(&self) -> u64 {
        self.claims.len() as u64
    }

    pub(super) fn count(&self) -> u64 {
        self.amounts.len() as u64
    }

    fn ends_at(&self) -> Option<TimeMs> {
        self.closed_at.or(self.ends_at)
    }

    /// When no packet could be claimed any more.
    fn over_at(&self) -> Option<TimeMs> {
        match (self.closed_at, self.ends_at) {
            (Some(closed), Some(ends)) => Some(closed.min(ends)),
            (closed, ends) => closed.or(ends),
        }
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
        let (seed, amounts) = cut(c, asked.operation, &self.secret)?;
        let step_max = self.settings.packets_per_step_max;
        let batch_max = self.settings.batch_packets_max;
        if asked.atomic && amounts.len() > batch_max {
            return refuse(Code::StepLimit, facts![batch_max as u64]);
        }
        let plan = match c.cut {
            Cut::Plan { method, .. } => Some(method),
            Cut::Amounts(_) => None,
        };
        let campaign = Campaign {
            asset: c.asset.clone(),
            method: plan,
            min: c.min.map_or(1, |min| min.get()),
            max: c.max.map(|max| max.get()),
            amounts,
            seed,
            starts_at: c.starts_at.map(|at| at.get()),
            ends_at: c.ends_at.map(|at| at.get()),
            closed_at: None,
            claims: Vec::new(),
            left: 0,
        };
        let shown = facts![campaign.count(), campaign.total(), commitment(&campaign).map(hex)];
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
        if campaign.left > 0 {
            return refuse(Code::Ended, facts![campaign.ends_at(), now]);
        }
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
        let seed = campaign.seed.map(hex);
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

    pub(super) fn show_campaign(&self, id: &Id, now: TimeMs) -> Verdict {
        let campaign = self.campaign(id)?;
        let given = campaign.claimed_count() == campaign.count();
        let status = match phase(campaign.closed_at.is_some(), campaign.starts_at, campaign.ends_at, now) {
            "open" if given => "exhausted",
            phase => phase,
        };
        let seed = campaign.seed.filter(|_| campaign.closed_at.is_some()).map(hex);
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
            commitment(campaign).map(hex),
            seed,
        ])
    }

    /// The campaigns whose packets are due, with when they are.
    pub(super) fn due_shares(&self, now: TimeMs) -> impl Iterator<Item = (TimeMs, &Id)> {
        let left = self.campaigns.iter().filter(|(_, its)| its.left < its.amounts.len());
        left.filter_map(|(id, its)| Some((self.kept_until(its.over_at()?), id)))
            .filter(move |(due, _)| *due <= now)
    }

    /// Forgets eight claims of a campaign, and with the last one the next 24 packets that nobody claimed.
    pub(super) fn forget_packets(&mut self, id: &Id) {
        if let Some(its) = self.campaigns.get_mut(id) {
            let claimed = its.claims.len();
            its.left = match its.left + 8 {
                more if more < claimed => more,
                _ => (its.left.max(claimed) + 24).min(its.amounts.len()),
            };
        }
        self.note("packets.forgotten");
    }

    /// Claims are shown until their retention is over.
    fn check_claims_kept(&self, id: &Id, now: TimeMs) -> Result<(), Refusal> {
        let campaign = self.campaign(id)?;
        let over = campaign.over_at().is_some_and(|at| self.kept_until(at) <= now);
        if campaign.left > 0 || over { refuse(Code::ClaimsExpired, facts![id]) } else { Ok(()) }
    }

    pub(super) fn show_packet(&self, id: &Id, user: &Id, now: TimeMs) -> Verdict {
        let campaign = self.campaign(id)?;
        self.check_claims_kept(id, now)?;
        let Some(at) = campaign.claims.iter().position(|(its, _)| its == user) else {
            return refuse(Code::ClaimNotFound, facts![user]);
        };
        Ok(facts![user, at as u64 + 1, campaign.amounts[at], campaign.claims[at].1])
    }
}

impl Model {
    pub(super) fn list_packets(&self, c: &PacketClaims, now: TimeMs) -> Verdict {
        let campaign = self.campaign(&c.campaign)?;
        self.check_claims_kept(&c.campaign, now)?;
        let after = c.after.map_or(0, |after| after.get());
        let rows = (1..).zip(&campaign.claims).zip(&campaign.amounts);
        let page = rows.filter(|((packet, _), _)| *packet > after);
        let page = page.take(usize::try_from(c.count.get()).unwrap_or(usize::MAX));
        let row = |((packet, (user, at)), amount): ((u64, &(Id, TimeMs)), &u64)| {
            Value::List(facts![user, packet, *amount, *at].into_vec())
        };
        Ok(facts![page.map(row).collect::<Vec<_>>()])
    }
}

/// Seed and amounts: listed amounts unchanged, a plan's from the core's cut, which golden vectors pin.
fn cut(
    c: &PacketCreate,
    operation: &str,
    secret: &[u8; 32],
) -> Result<(Option<[u8; 32]>, Vec<u64>), Refusal> {
    match &c.cut {
        Cut::Amounts(amounts) => Ok((None, amounts.iter().map(|amount| amount.get()).collect())),
        Cut::Plan { total, count, method } => {
            let (total, count, method) = (total.get(), count.get(), *method);
            let (min, max) = (c.min.map_or(1, |min| min.get()), c.max.map(|max| max.get()));
            let plan = format!("{total} {count} {} {min} {}", method.word(), shown_max(max));
            let seed = seed(secret, c.campaign.as_str(), operation, &plan);
            let amounts = Plan { total, count, method, min, max }.cut(&seed);
            let amounts = amounts.map_err(|_| Refusal::invalid("cut", "cannot be made"))?;
            Ok((Some(seed), amounts))
        }
    }
}

fn shown_max(max: Option<u64>) -> String {
    max.map_or("-".to_owned(), |max| max.to_string())
}

/// HMAC-SHA-256 over campaign, operation and plan, with zero bytes between them.
fn seed(secret: &[u8; 32], campaign: &str, operation: &str, plan: &str) -> [u8; 32] {
    let mut block = [0; 64];
    block[..32].copy_from_slice(secret);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.update(format!("{campaign}\0{operation}\0{plan}").as_bytes());
    mac.finalize().into_bytes().into()
}

/// The commitment to seed and plan, published at creation.
pub(super) fn commitment(campaign: &Campaign) -> Option<[u8; 32]> {
    let method = campaign.method?.word();
    let (total, count) = (campaign.total(), campaign.count());
    let plan = format!("{total} {count} {method} {} {}", campaign.min, shown_max(campaign.max));
    campaign.seed.map(|seed| Sha256::digest([&seed[..], plan.as_bytes()].concat()).into())
}

fn hex(bytes: [u8; 32]) -> Value {
    Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}
