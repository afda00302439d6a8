//! The comparison: what the crowd was told against what the log says.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::proof::{Proof, grouped};
use super::buyers::{Deed, PRICE};
use super::log::{Log, Units};
use super::record::{Answer, Known, Record};

/// All that is compared.
pub(super) struct Evidence<'a> {
    pub(super) record: &'a Record,
    pub(super) log: &'a Log,
    /// What `STOCK.GET` shows.
    pub(super) shown: Units,
    /// How many units `STOCK.AUDIT` counted in the receipts, where it found them consistent.
    pub(super) receipts: Option<u64>,
    /// Money: all that there is, the bank's, the shop's.
    pub(super) money: [u64; 3],
    pub(super) units: u64,
    pub(super) per_owner: u64,
    /// The digest before and after a restart.
    pub(super) digests: [String; 2],
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_overselling(proof);
        self.judge_owners(proof);
        self.judge_durability(proof);
        self.judge_single_effect(proof);
        self.judge_answers(proof);
        self.judge_flight(proof);
        self.judge_units(proof);
        self.judge_money(proof);
        self.judge_log(proof);
        let [before, after] = &self.digests;
        let text = if before == after {
            format!("{before} before and after a restart")
        } else {
            format!("{before}, then {after}")
        };
        proof.judge(
            "replay gives the same state",
            before == after,
            text,
            json!({ "before": before, "after": after }),
        );
    }

    fn judge_overselling(&self, proof: &mut Proof) {
        let mut given: BTreeMap<u64, u64> = BTreeMap::new();
        for sale in &self.log.sales {
            (sale.first..sale.first + sale.count).for_each(|serial| *given.entry(serial).or_default() += 1);
        }
        let sold: u64 = given.values().sum();
        let twice = given.values().filter(|times| **times > 1).count() as u64;
        let beyond = sold.saturating_sub(self.units);
        let text = format!(
            "{} offered, {} sold, {beyond} too many, {twice} serials given twice",
            grouped(self.units),
            grouped(sold)
        );
        let figures =
            json!({ "offered": self.units, "sold": sold, "oversold": beyond, "serials_given_twice": twice });
        proof.judge("never oversold", beyond == 0 && twice == 0, text, figures);
    }

    fn judge_owners(&self, proof: &mut Proof) {
        let over = self.log.greedy_owners.len();
        let limit = self.per_owner;
        let tried = self.record.refusals.get("OWNER_LIMIT_REACHED").copied().unwrap_or(0);
        let text = format!("{over} buyers ever had more than {limit}; {} tries were refused", grouped(tried));
        let figures = json!({ "limit": limit, "owners_over": over, "refused": tried });
        proof.judge("limit per buyer", over == 0, text, figures);
    }

    fn judge_durability(&self, proof: &mut Proof) {
        let (mut acknowledged, mut missing) = ([0_u64; 2], [0_u64; 2]);
        for (id, known) in &self.record.known {
            let Some(Answer::Applied(figures)) = &known.binding else { continue };
            let after = usize::from(known.life > 1);
            acknowledged[after] += 1;
            missing[after] += u64::from(!self.is_in_log(id, known, figures));
        }
        let text = format!(
            "{} before the kill, {} missing; {} after it, {} missing",
            grouped(acknowledged[0]),
            missing[0],
            grouped(acknowledged[1]),
            missing[1]
        );
        let figures = json!({
            "acknowledged_before_kill": acknowledged[0], "missing_before_kill": missing[0],
            "acknowledged_after_kill": acknowledged[1], "missing_after_kill": missing[1],
        });
        proof.judge("acknowledged is durable", missing == [0, 0], text, figures);
    }

    /// Whether the log has what the buyer was told: the same serials, deadline or count.
    fn is_in_log(&self, id: &str, known: &Known, figures: &[i64]) -> bool {
        let first = figures.first().and_then(|figure| u64::try_from(*figure).ok()).unwrap_or(u64::MAX);
        let quantity = known.ask.quantity;
        let told = match known.ask.deed {
            Deed::Take | Deed::Pay => ("stock.taken", first, quantity),
            Deed::Confirm => ("reservation.confirmed", first, known.sale().map_or(0, |(_, count)| count)),
            Deed::Reserve => ("reservation.placed", first, quantity),
            Deed::Release => ("reservation.released", 0, first),
        };
        let effects = self.log.effects.get(id).map_or(&[][..], Vec::as_slice);
        effects.iter().any(|(name, telling, count)| (name.as_str(), *telling, *count) == told)
    }

    fn judge_single_effect(&self, proof: &mut Proof) {
        let twice = self.log.effects.values().filter(|effects| effects.len() > 1).count();
        let Record { repeats, doubles, lost, .. } = self.record;
        let again = lost.len();
        let text = format!(
            "{twice} ids took effect twice; {} were repeated, {} sent twice at once, {again} asked again after the kill",
            grouped(*repeats),
            grouped(*doubles)
        );
        let figures = json!({ "applied_twice": twice, "repeated": repeats, "sent_twice_at_once": doubles, "asked_again": again });
        proof.judge("one id, one effect", twice == 0, text, figures);
    }

    fn judge_answers(&self, proof: &mut Proof) {
        let changed = self.record.changed.len();
        let unknown = self.log.sales.iter().filter(|sale| !self.was_told(&sale.id)).count();
        let text = format!(
            "{changed} ids were answered otherwise later; {unknown} sales that no buyer was told of; {} answers",
            grouped(self.record.answers)
        );
        let figures = json!({ "changed": changed, "sales_nobody_was_told_of": unknown, "answers": self.record.answers });
        proof.judge("one id, one answer", changed == 0 && unknown == 0, text, figures);
    }

    fn was_told(&self, id: &str) -> bool {
        self.record.known.get(id).is_some_and(|known| known.sale().is_some())
    }

    /// What was on the way when the server died: each id was asked again, and is now known.
    fn judge_flight(&self, proof: &mut Proof) {
        let lost = &self.record.lost;
        let commands: u64 = lost.values().sum();
        let unanswered = lost
            .keys()
            .filter(|id| self.record.known.get(*id).is_none_or(|known| known.answers == 0))
            .count();
        let survived = lost.keys().filter(|id| self.log.before_kill.contains(*id)).count();
        let late = |id: &&String| self.log.effects.contains_key(*id) && !self.log.before_kill.contains(*id);
        let again = lost.keys().filter(late).count();
        let refused = lost.len().saturating_sub(survived + again);
        let text = format!(
            "{commands} commands under {} ids: {survived} had been logged, {again} applied when asked again, {refused} refused, {unanswered} unknown",
            lost.len()
        );
        let figures = json!({
            "commands": commands, "ids": lost.len(), "logged_before_kill": survived,
            "applied_when_asked_again": again, "refused": refused, "unknown": unanswered,
        });
        proof.judge("in flight at the kill", unanswered == 0, text, figures);
    }

    fn judge_units(&self, proof: &mut Proof) {
        let Units { total, available, reserved, sold } = self.shown;
        let sums = total == available + reserved + sold && self.shown == self.log.units;
        let by_sales: u64 = self.log.sales.iter().map(|sale| sale.count).sum();
        let held: u64 = self.record.known.values().filter_map(Known::sale).map(|(_, count)| count).sum();
        let is_kept = sums
            && self.log.deviations == 0
            && [by_sales, held, self.receipts.unwrap_or(u64::MAX)].iter().all(|count| *count == sold);
        let receipts = self.receipts.map_or_else(|| "inconsistent".to_owned(), grouped);
        let text = format!(
            "{} = {} available + {} reserved + {} sold; log {}, receipts {receipts}, buyers hold {}",
            grouped(total),
            grouped(available),
            grouped(reserved),
            grouped(sold),
            grouped(by_sales),
            grouped(held)
        );
        let figures = json!({
            "total": total, "available": available, "reserved": reserved, "sold": sold, "sold_in_log": by_sales,
            "receipts": self.receipts, "held_by_buyers": held, "deviations": self.log.deviations, "expired": self.log.expired,
        });
        proof.judge("units are conserved", is_kept, text, figures);
    }

    /// Batches move money and sell units together or not at all.
    fn judge_money(&self, proof: &mut Proof) {
        let [all, bank, shop] = self.money;
        let mut owed: BTreeMap<&str, u64> = BTreeMap::new();
        for sale in self.log.sales.iter().filter(|sale| sale.id.starts_with("pay-")) {
            *owed.entry(&sale.id).or_default() += sale.count * PRICE;
        }
        let halves = self.log.paid.iter().filter(|(id, paid)| owed.get(id.as_str()) != Some(paid)).count()
            + owed.keys().filter(|id| !self.log.paid.contains_key(**id)).count();
        let due: u64 = owed.values().sum();
        let text = format!(
            "bank {} + shop {} = {}; {halves} of {} batches done by half",
            grouped(bank),
            grouped(shop),
            grouped(bank + shop),
            owed.len()
        );
        let figures = json!({ "all": all, "bank": bank, "shop": shop, "due": due, "batches": owed.len(), "halves": halves });
        proof.judge("money is conserved", bank + shop == all && shop == due && halves == 0, text, figures);
    }

    fn judge_log(&self, proof: &mut Proof) {
        let Log { events, gaps, .. } = self.log;
        let text = format!("{} events, {gaps} gaps, across the kill", grouped(*events));
        proof.judge("the log has no gaps", *gaps == 0, text, json!({ "events": events, "gaps": gaps }));
    }
}
