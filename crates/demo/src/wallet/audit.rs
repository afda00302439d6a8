//! The audit: what the payers were told, what the server shows, and what the log says.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::ask::CallerAnswer;
use super::super::log::Effect;
use super::super::promises::Told;
use super::super::proof::{Proof, cents, grouped};
use super::ledger::Ledger;
use super::payers::{Move, Payers, Payment, outcome_of, state_of};

/// An account as the server shows it.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownAccount {
    pub(super) asset: String,
    pub(super) balance: i64,
    pub(super) held: i64,
    /// The sum of the open holds in its list.
    pub(super) listed: i64,
}

/// What the server shows at the end.
pub(super) struct Shown {
    pub(super) accounts: BTreeMap<String, ShownAccount>,
    /// The world account's balance, by asset.
    pub(super) world: BTreeMap<String, i64>,
}

/// All the evidence.
pub(super) struct Evidence<'a> {
    pub(super) told: Told<'a, Payers>,
    pub(super) ledger: &'a Ledger,
    pub(super) shown: Shown,
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_sum(proof);
        self.judge_overdrafts(proof);
        self.told.judge_by_effects(proof, &self.ledger.effects, effect);
        self.judge_resolutions(proof);
        self.judge_balances(proof);
        self.judge_holds(proof);
        self.told.judge_log(proof);
    }

    /// Double entry: every asset sums to zero, including the world account.
    fn judge_sum(&self, proof: &mut Proof) {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for account in self.shown.accounts.values() {
            *sums.entry(&account.asset).or_default() += account.balance;
        }
        let world = |asset: &str| self.shown.world.get(asset).copied().unwrap_or(0);
        let is_kept = sums
            .iter()
            .all(|(asset, sum)| sum + world(asset) == 0 && self.ledger.brought_in.get(*asset) == Some(sum));
        let text = |(asset, sum): (&&str, &i64)| {
            format!(
                "{asset} {} on accounts {} in the world = {}",
                signed(*sum),
                signed(world(asset)),
                sum + world(asset)
            )
        };
        let text: Vec<String> = sums.iter().map(text).collect();
        let figures =
            json!({ "accounts": sums, "world": self.shown.world, "brought_in": self.ledger.brought_in });
        proof.judge("money sums to zero", is_kept, text.join("; "), figures);
    }

    fn judge_overdrafts(&self, proof: &mut Proof) {
        let below = self.ledger.overdrawn.len();
        let negative = self.ledger.accounts.values().filter(|account| account.balance < 0).count();
        let refused = self.told.record.refused("INSUFFICIENT_FUNDS");
        let text = format!(
            "{below} accounts were ever below their overdraft; {negative} use it now; {} tries were refused",
            grouped(refused)
        );
        let figures = json!({ "below": below, "using_overdraft": negative, "refused": refused });
        proof.judge("nobody is overdrawn", below == 0, text, figures);
    }

    /// Commands without an answer when the server died were resolved: the answer of `OPERATION.RESOLVE` holds
    /// for every duplicate, and what it called absent never takes effect.
    fn judge_resolutions(&self, proof: &mut Proof) {
        let (mut states, mut broken): (BTreeMap<String, u64>, u64) = (BTreeMap::new(), 0);
        for known in self.told.record.known.values() {
            let (Move::Resolve { original }, Some(answer)) = (&known.ask.deed.what, known.applied()) else {
                continue;
            };
            let state = state_of(answer).unwrap_or_default();
            broken += u64::from(!self.is_settled(&original.id, &state, answer));
            *states.entry(state).or_default() += 1;
        }
        let count = |state: &str| states.get(state).copied().unwrap_or(0);
        let [applied, refused, absent] = ["APPLIED", "REFUSED", "ABSENT"].map(count);
        let resolved: u64 = states.values().sum();
        let again = (self.told.record.lost.len() as u64).saturating_sub(resolved);
        let text = format!(
            "{resolved} by OPERATION.RESOLVE: {applied} applied, {refused} refused, {absent} absent for good; {again} sent again; {broken} otherwise later"
        );
        let figures = json!({
            "resolved": resolved, "applied": applied, "refused": refused, "absent": absent,
            "sent_again": again, "otherwise_later": broken,
        });
        proof.judge("the uncertain is settled", broken == 0, text, figures);
    }

    fn is_settled(&self, id: &str, state: &str, answer: &CallerAnswer) -> bool {
        let Some(late) = self.told.record.known.get(id).and_then(|known| known.binding.as_ref()) else {
            return false;
        };
        match state {
            "ABSENT" => late.code() == Some("RESOLVED_ABSENT") && !self.ledger.effects.has_any(id),
            _ => outcome_of(answer).as_ref() == Some(late),
        }
    }

    fn judge_balances(&self, proof: &mut Proof) {
        let (shown, folded) = (&self.shown.accounts, &self.ledger.accounts);
        let is_same = |(name, shown): &(&String, &ShownAccount)| {
            folded.get(*name).is_some_and(|own| own.balance == shown.balance && own.held() == shown.held)
        };
        let same = shown.iter().filter(is_same).count();
        let differ = shown.len().max(folded.len()) - same;
        let deviations = self.ledger.deviations;
        let text = format!(
            "{} accounts as the log sums up, {differ} otherwise; {deviations} events tell other figures",
            grouped(same as u64)
        );
        let figures = json!({ "same": same, "differ": differ, "deviations": deviations });
        proof.judge("balances are the log's", differ == 0 && deviations == 0, text, figures);
    }

    fn judge_holds(&self, proof: &mut Proof) {
        let holds = self.ledger.holds;
        let open = self.ledger.open_holds();
        let is_counted = holds.placed == holds.captured + holds.voided + holds.expired + open;
        let own = |name: &String| self.ledger.accounts.get(name).map_or(0, super::ledger::Account::held);
        let is_wrong =
            |(name, shown): &(&String, &ShownAccount)| shown.held != shown.listed || shown.held != own(name);
        let wrong = self.shown.accounts.iter().filter(is_wrong).count();
        let held: i64 = self.shown.accounts.values().map(|account| account.held).sum();
        let text = format!(
            "{} placed = {} captured + {} voided + {} expired + {open} open, which hold {}; {wrong} accounts otherwise",
            grouped(holds.placed),
            grouped(holds.captured),
            grouped(holds.voided),
            grouped(holds.expired),
            cents(held.unsigned_abs())
        );
        let figures = json!({
            "placed": holds.placed, "captured": holds.captured, "voided": holds.voided,
            "expired": holds.expired, "open": open, "held": held, "wrong_accounts": wrong,
        });
        proof.judge("holds are conserved", is_counted && wrong == 0, text, figures);
    }
}

/// A sum with its sign.
fn signed(amount: i64) -> String {
    let sign = if amount < 0 { "−" } else { "+" };
    format!("{sign}{}", cents(amount.unsigned_abs()))
}

/// The effect that the log must have after this answer; resolved operations are judged separately.
fn effect(payment: &Payment, answer: &CallerAnswer) -> Option<Effect> {
    let name = match payment.what {
        Move::Transfer { .. } => "account.transferred",
        Move::Credit { .. } => "account.credited",
        Move::Debit { .. } => "account.debited",
        Move::Hold { .. } => "hold.placed",
        Move::Capture { .. } => "hold.captured",
        Move::Void { .. } => "hold.voided",
        Move::Resolve { .. } => return None,
    };
    Some((name.to_owned(), answer.figures()))
}
