//! The audit: what the guests were told compared with the log, and the cut with its seed.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::packets::cut::Plan;
use scarce_engine::random::{hex, unhex};
use serde_json::json;

use super::super::losses::Losses;
use super::super::promises::Told;
use super::super::proof::{Proof, cents, grouped};
use super::guests::{CAMPAIGN, Guests, Wish, name};
use super::ledger::{Ledger, Payment};

/// What the server shows.
pub(super) struct Shown {
    /// The answer to `PACKET.CREATE`, before the first claim.
    pub(super) commitment: String,
    /// The answer to `PACKET.CLOSE`: claimed, left, amount left, seed.
    pub(super) claimed: u64,
    pub(super) left_count: u64,
    pub(super) left_amount: u64,
    pub(super) seed: String,
    /// The balance of the pot, and of each account that is not empty.
    pub(super) pot: u64,
    pub(super) balances: BTreeMap<String, u64>,
}

/// Who pays for claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payer {
    /// The host, from the pot, when told of a claim.
    Host,
    /// The server itself, from outside the deployment.
    Server,
}

impl Payer {
    /// The id under which a packet is paid, however often.
    fn operation(self, packet: u64) -> String {
        match self {
            Self::Host => format!("settle/{CAMPAIGN}/{packet}"),
            Self::Server => scarce_delivery::operation_id(CAMPAIGN, packet, 1),
        }
    }
}

/// All the evidence.
pub(super) struct Evidence<'a> {
    pub(super) told: Told<'a, Guests>,
    pub(super) ledger: &'a Ledger,
    pub(super) losses: &'a Losses,
    pub(super) plan: Plan,
    pub(super) payer: Payer,
    pub(super) shown: Shown,
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_shares(proof);
        self.judge_sum(proof);
        self.told.judge_by_effects(proof, &self.ledger.effects, |wish, answer| {
            let name = match wish {
                Wish::Claim { .. } => "packets.claimed",
                Wish::Settle { .. } => "account.transferred",
            };
            Some((name.to_owned(), answer.figures()))
        });
        self.judge_reminders(proof);
        self.judge_commitment(proof);
        self.judge_cut(proof);
        self.judge_payments(proof);
        self.told.judge_log(proof);
    }

    fn judge_shares(&self, proof: &mut Proof) {
        let mut shares: BTreeMap<&str, u64> = BTreeMap::new();
        self.ledger.claims.iter().for_each(|claim| *shares.entry(&claim.user).or_default() += 1);
        let greedy = shares.values().filter(|count| **count > 1).count();
        let guests = shares.len() as u64;
        let exhausted = self.told.record.refused("EXHAUSTED");
        let text = format!(
            "{} guests have one, {greedy} have more; {} were too late",
            grouped(guests),
            grouped(exhausted)
        );
        let figures =
            json!({ "guests": guests, "with_more_than_one": greedy, "refused_exhausted": exhausted });
        proof.judge("one packet each", greedy == 0, text, figures);
    }

    fn judge_sum(&self, proof: &mut Proof) {
        let Plan { total, count, .. } = self.plan;
        let claims = &self.ledger.claims;
        let given: BTreeSet<u64> = claims.iter().map(|claim| claim.packet).collect();
        let sum: u64 = claims.iter().map(|claim| claim.amount).sum();
        let Shown { claimed, left_count, left_amount, .. } = self.shown;
        let is_counted =
            given.len() == claims.len() && claims.len() as u64 == claimed && claimed + left_count == count;
        let is_kept = is_counted && sum + left_amount == total && self.ledger.deviations == 0;
        let text = format!(
            "{} of {} packets given, each once; {} claimed + {} left = {}",
            grouped(claimed),
            grouped(count),
            cents(sum),
            cents(left_amount),
            cents(sum + left_amount)
        );
        let figures = json!({
            "packets": count, "given": claimed, "claimed": sum, "left": left_amount, "total": total,
            "deviations": self.ledger.deviations,
        });
        proof.judge("the sum is exact", is_kept, text, figures);
    }

    /// A repeated claim is answered with the packet that the guest already has.
    fn judge_reminders(&self, proof: &mut Proof) {
        let has: BTreeMap<&str, (u64, u64)> = self
            .ledger
            .claims
            .iter()
            .map(|claim| (claim.user.as_str(), (claim.packet, claim.amount)))
            .collect();
        // A guest who was reminded of a lost packet has been told something else since.
        let is_gone = |life: u64, guest: u64| life == 1 && self.has_lost(&name(guest));
        let all = &self.told.record.tally.reminders;
        let reminders: Vec<_> = all.iter().filter(|(life, guest, ..)| !is_gone(*life, *guest)).collect();
        let wrong = |(_, guest, packet, amount): &&&(u64, u64, u64, u64)| {
            has.get(name(*guest).as_str()) != Some(&(*packet, *amount))
        };
        let wrong = reminders.iter().filter(wrong).count();
        let count = reminders.len() as u64;
        let text = format!("{} times ALREADY_CLAIMED, {wrong} with another packet or amount", grouped(count));
        proof.judge(
            "asking again tells the same",
            wrong == 0 && count > 0,
            text,
            json!({ "reminded": count, "wrong": wrong }),
        );
    }

    /// The commitment, public before the first claim, is the hash of the seed revealed now and of the plan.
    fn judge_commitment(&self, proof: &mut Proof) {
        let hash = unhex(&self.shown.seed).map(|seed| hex(&self.plan.commitment(&seed)));
        let commitments = [&self.shown.commitment, &self.ledger.commitment];
        let is_kept = hash.is_some()
            && commitments.iter().all(|commitment| Some(*commitment) == hash.as_ref())
            && self.shown.seed == self.ledger.seed;
        let text = format!(
            "SHA-256 of the seed {}… and the plan is {}…, committed to was {}…",
            start(&self.shown.seed),
            start(hash.as_deref().unwrap_or("nothing")),
            start(&self.shown.commitment)
        );
        let figures = json!({ "seed": self.shown.seed, "sha256": hash, "commitment": self.shown.commitment });
        proof.judge("the cut was fixed before", is_kept, text, figures);
    }

    /// The cut, recomputed from the seed, gives the packets in the order of the claims.
    fn judge_cut(&self, proof: &mut Proof) {
        let cut = unhex(&self.shown.seed).and_then(|seed| self.plan.cut(&seed).ok()).unwrap_or_default();
        let claims = &self.ledger.claims;
        let at =
            |packet: u64| usize::try_from(packet).ok().and_then(|packet| cut.get(packet.checked_sub(1)?));
        let wrong = claims.iter().filter(|claim| at(claim.packet) != Some(&claim.amount)).count();
        let in_order = claims.iter().zip(1..).all(|(claim, packet)| claim.packet == packet);
        let order = if in_order { "in their order" } else { "out of order" };
        let text = format!(
            "{} packets cut again from the seed; {} claims, {order}, {wrong} of another amount",
            grouped(cut.len() as u64),
            grouped(claims.len() as u64)
        );
        let figures =
            json!({ "cut": cut.len(), "claims": claims.len(), "wrong": wrong, "in_order": in_order });
        proof.judge("the seed gives the cut", wrong == 0 && in_order && !cut.is_empty(), text, figures);
    }

    /// Whether a guest was told of a packet that was lost.
    fn has_lost(&self, guest: &str) -> bool {
        let number = guest.trim_start_matches("guest-");
        ["claim", "again", "return"].iter().any(|word| self.losses.has(&format!("{word}/{number}")))
    }

    /// Payments for packets whose claims were lost: the host paid for what it had been told, and the guest
    /// who has such a packet now gets nothing.
    fn judge_stray<'b>(
        &self,
        proof: &mut Proof,
        others: impl Iterator<Item = &'b Payment>,
    ) -> BTreeMap<String, &'b Payment> {
        let stray: BTreeMap<String, &Payment> = others
            .filter(|payment| self.has_lost(&payment.to))
            .map(|payment| (payment.operation.clone(), payment))
            .collect();
        if !stray.is_empty() {
            let sum: u64 = stray.values().map(|payment| payment.amount).sum();
            let text = format!(
                "{} packets, {} in all, were paid to guests whose claims are gone; who has them now is not paid",
                grouped(stray.len() as u64),
                cents(sum)
            );
            let ids: Vec<&String> = stray.keys().collect();
            proof.note("paid for what is gone", text, json!({ "payments": ids, "sum": sum }));
        }
        stray
    }

    /// Every claim is paid once, to its owner, however often the payment was repeated.
    fn judge_payments(&self, proof: &mut Proof) {
        let (claims, payments) = (&self.ledger.claims, &self.ledger.payments);
        let due: BTreeMap<String, (&str, u64)> = claims
            .iter()
            .map(|claim| (self.payer.operation(claim.packet), (claim.user.as_str(), claim.amount)))
            .collect();
        let is_due =
            |payment: &&Payment| due.get(&payment.operation) == Some(&(payment.to.as_str(), payment.amount));
        let stray = self.judge_stray(proof, payments.iter().filter(|payment| !is_due(payment)));
        let good: BTreeSet<&str> =
            payments.iter().filter(is_due).map(|payment| payment.operation.as_str()).collect();
        let unpaid = due.keys().filter(|id| !good.contains(id.as_str()) && !stray.contains_key(*id)).count();
        let surplus = payments.len() - good.len() - stray.len();
        let claimed: u64 = claims.iter().map(|claim| claim.amount).sum();
        let paid: u64 = payments.iter().map(|payment| payment.amount).sum();
        let held: u64 = self.shown.balances.values().sum();
        let mut owed: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, (user, amount)) in due.iter().filter(|(id, _)| !stray.contains_key(*id)) {
            *owed.entry(user).or_default() += amount;
        }
        stray.values().for_each(|payment| *owed.entry(&payment.to).or_default() += payment.amount);
        let balance = |user: &str| self.shown.balances.get(user).copied().unwrap_or(0);
        let wrong = owed.iter().filter(|(user, amount)| balance(user) != **amount).count();
        // The server's credits come from outside the deployment.
        let out_of_pot = if self.payer == Payer::Host { paid } else { 0 };
        let is_kept = unpaid == 0
            && surplus == 0
            && wrong == 0
            && paid == held
            && (paid == claimed || !stray.is_empty())
            && self.shown.pot + out_of_pot == self.plan.total;
        let astray = if stray.is_empty() { String::new() } else { format!(", {} paid astray", stray.len()) };
        let text = format!(
            "{} claims, {unpaid} unpaid, {surplus} paid twice{astray}; claimed {} = paid {} = on accounts {}",
            grouped(claims.len() as u64),
            cents(claimed),
            cents(paid),
            cents(held)
        );
        let figures = json!({
            "claims": claims.len(), "unpaid": unpaid, "surplus": surplus, "claimed": claimed, "paid": paid,
            "on_accounts": held, "wrong_balances": wrong, "pot": self.shown.pot,
        });
        proof.judge("every claim is paid once", is_kept, text, figures);
    }
}

/// The first digits of a long number, which suffice in a line.
fn start(digits: &str) -> &str {
    digits.get(..8).unwrap_or(digits)
}
