//! The audit: what the shoppers were told, compared with the log and with what the server shows.

use serde_json::json;

use super::super::ask::CallerAnswer;
use super::super::promises::Told;
use super::super::proof::{Proof, grouped};
use super::ledger::{Ledger, day_of};
use super::shoppers::{EVENING, Errand, MIDNIGHT, Shoppers, device_name, limits, user_name};
use scarce_client::text;

/// What the server shows at the end.
pub(super) struct Shown {
    /// The number of claims that `COUPON.GET` shows.
    pub(super) claimed: u64,
    /// The answers of `COUPON.CHECK` for each user, in order.
    pub(super) checks: Vec<CallerAnswer>,
}

/// All the evidence.
pub(super) struct Evidence<'a> {
    pub(super) crowd: Shoppers,
    pub(super) told: Told<'a, Shoppers>,
    pub(super) ledger: &'a Ledger,
    pub(super) shown: Shown,
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_limits(proof);
        self.judge_midnight(proof);
        self.judge_counters(proof);
        self.judge_redemptions(proof);
        self.told.judge_by_effects(proof, &self.ledger.effects, |errand, answer| {
            let name = match errand {
                Errand::Claim { .. } | Errand::ClaimFromNowhere { .. } => "coupon.claimed",
                Errand::Redeem { .. } => "coupon.redeemed",
                Errand::Revoke { .. } => "coupon.revoked",
            };
            Some((name.to_owned(), answer.figures()))
        });
        self.told.judge_log(proof);
    }

    fn judge_limits(&self, proof: &mut Proof) {
        let Ledger { peaks, exceeded, counts, .. } = self.ledger;
        let peak = |name| peaks.get(name).copied().unwrap_or(0);
        let most: Vec<String> = limits(self.crowd.coupons)
            .iter()
            .map(|limit| format!("{} {} of {}", limit.name, grouped(peak(limit.name)), grouped(limit.max)))
            .collect();
        let text = format!(
            "{} windows recounted, {} exceeded; at most {}",
            grouped(counts.len() as u64),
            exceeded.len(),
            most.join(", ")
        );
        let figures = json!({
            "windows": counts.len(), "exceeded": exceeded.len(), "peaks": peaks, "stopped": self.told.record.tally.stopped,
        });
        proof.judge("no limit is exceeded", exceeded.is_empty(), text, figures);
    }

    /// The last millisecond of the evening belongs to one day, the next millisecond to the other.
    fn judge_midnight(&self, proof: &mut Proof) {
        let Ledger { days, wrong_days, .. } = self.ledger;
        let [before, after] = [EVENING, MIDNIGHT].map(|at| days.get(&day_of(at)).copied().unwrap_or(0));
        let others = days.values().sum::<u64>() - before - after;
        let text = format!(
            "{} claims until 23:59:59.999, {} from 00:00:00.000; {wrong_days} counted in another day",
            grouped(before),
            grouped(after)
        );
        let figures = json!({ "before": before, "after": after, "other_days": others, "wrong": wrong_days });
        proof.judge("the day turns at midnight", *wrong_days == 0 && others == 0, text, figures);
    }

    /// The server's current answers match the recount.
    fn judge_counters(&self, proof: &mut Proof) {
        let Shown { claimed, checks } = &self.shown;
        let day = day_of(MIDNIGHT);
        let is_same = |(user, check): &(u64, &CallerAnswer)| {
            let expected = self.ledger.in_the_way(&user_name(*user), &device_name(*user), day);
            match expected {
                None => check.is_applied(),
                Some((limit, used)) => {
                    let told = check.values().first().and_then(text);
                    told.as_deref() == Some(limit) && check.figure(1) == Some(used)
                }
            }
        };
        let wrong = checks.len() - (0..).zip(checks).filter(is_same).count();
        let (counted, deviations) = (self.ledger.claims.len() as u64, self.ledger.deviations);
        let text = format!(
            "COUPON.GET {} claims, the log {}; COUPON.CHECK of {} users, {wrong} otherwise than recounted",
            grouped(*claimed),
            grouped(counted),
            grouped(checks.len() as u64)
        );
        let figures = json!({
            "shown": claimed, "counted": counted, "checked": checks.len(), "wrong": wrong, "deviations": deviations,
        });
        proof.judge(
            "counters are the recount",
            wrong == 0 && *claimed == counted && deviations == 0,
            text,
            figures,
        );
    }

    fn judge_redemptions(&self, proof: &mut Proof) {
        let claims = self.ledger.claims.values();
        let redeemed = claims.clone().filter(|claim| claim.redeemed > 0).count() as u64;
        let twice = claims.clone().filter(|claim| claim.redeemed > 1).count();
        let stolen = claims.filter(|claim| claim.is_stolen).count();
        let [again, foreign] = ["CLAIM_REDEEMED", "NOT_OWNER"].map(|code| self.told.record.refused(code));
        let text = format!(
            "{} redeemed, {twice} twice, {stolen} by others; {} second tries and {} thefts refused",
            grouped(redeemed),
            grouped(again),
            grouped(foreign)
        );
        let figures = json!({
            "redeemed": redeemed, "twice": twice, "stolen": stolen, "refused_again": again,
            "refused_not_owner": foreign, "revoked": self.ledger.revoked,
        });
        proof.judge("redeemed at most once", twice == 0 && stolen == 0, text, figures);
    }
}
