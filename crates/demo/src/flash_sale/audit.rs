//! The audit: what the crowd was told, compared with the log.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::ask::CallerAnswer;
use super::super::log::Effect;
use super::super::promises::Told;
use super::super::proof::{Proof, grouped};
use super::buyers::{Buyers, PRICE, Purchase, Step, sale};
use super::ledger::{Ledger, Units};

/// All the evidence.
pub(super) struct Evidence<'a> {
    pub(super) crowd: Buyers,
    pub(super) told: Told<'a, Buyers>,
    pub(super) ledger: &'a Ledger,
    /// What `STOCK.GET` shows.
    pub(super) shown: Units,
    /// The number of units that `STOCK.AUDIT` counted in the receipts, if they are consistent.
    pub(super) receipts: Option<u64>,
    /// Money: the total, the bank's, the shop's.
    pub(super) money: [u64; 3],
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_overselling(proof);
        self.judge_owners(proof);
        self.told.judge_by_effects(proof, &self.ledger.effects, |purchase, answer| {
            Some(effect(*purchase, answer))
        });
        self.judge_units(proof);
        self.judge_money(proof);
        self.told.judge_log(proof);
    }

    fn judge_overselling(&self, proof: &mut Proof) {
        let mut given: BTreeMap<u64, u64> = BTreeMap::new();
        for sale in &self.ledger.sales {
            (sale.first..sale.first + sale.count).for_each(|serial| *given.entry(serial).or_default() += 1);
        }
        let sold: u64 = given.values().sum();
        let twice = given.values().filter(|times| **times > 1).count() as u64;
        let beyond = sold.saturating_sub(self.crowd.units);
        let text = format!(
            "{} offered, {} sold, {beyond} too many, {twice} serials given twice",
            grouped(self.crowd.units),
            grouped(sold)
        );
        let figures = json!({ "offered": self.crowd.units, "sold": sold, "oversold": beyond, "serials_given_twice": twice });
        proof.judge("never oversold", beyond == 0 && twice == 0, text, figures);
    }

    fn judge_owners(&self, proof: &mut Proof) {
        let over = self.ledger.greedy_owners.len();
        let limit = self.crowd.per_owner;
        let tried = self.told.record.refused("OWNER_LIMIT_REACHED");
        let text = format!("{over} buyers ever had more than {limit}; {} tries were refused", grouped(tried));
        let figures = json!({ "limit": limit, "owners_over": over, "refused": tried });
        proof.judge("limit per buyer", over == 0, text, figures);
    }

    fn judge_units(&self, proof: &mut Proof) {
        let Units { total, available, reserved, sold } = self.shown;
        let sums = total == available + reserved + sold && self.shown == self.ledger.units;
        let by_sales: u64 = self.ledger.sales.iter().map(|sale| sale.count).sum();
        let held: u64 = self.told.record.known.values().filter_map(sale).map(|(_, count)| count).sum();
        let is_kept = sums
            && self.ledger.deviations == 0
            && [by_sales, held, self.receipts.unwrap_or(u64::MAX)]
                .iter()
                .all(|count| i64::try_from(*count) == Ok(sold));
        let receipts = self.receipts.map_or_else(|| "inconsistent".to_owned(), grouped);
        let text = format!(
            "{} = {} available + {} reserved + {} sold; log {}, receipts {receipts}, buyers hold {}",
            grouped(total.unsigned_abs()),
            grouped(available.unsigned_abs()),
            grouped(reserved.unsigned_abs()),
            grouped(sold.unsigned_abs()),
            grouped(by_sales),
            grouped(held)
        );
        let figures = json!({
            "total": total, "available": available, "reserved": reserved, "sold": sold, "sold_in_log": by_sales,
            "receipts": self.receipts, "held_by_buyers": held, "deviations": self.ledger.deviations, "expired": self.ledger.expired,
        });
        proof.judge("units are conserved", is_kept, text, figures);
    }

    /// Batches move money and sell units atomically.
    fn judge_money(&self, proof: &mut Proof) {
        let [all, bank, shop] = self.money;
        let mut owed: BTreeMap<&str, u64> = BTreeMap::new();
        for sale in self.ledger.sales.iter().filter(|sale| sale.id.starts_with("pay-")) {
            *owed.entry(&sale.id).or_default() += sale.count * PRICE;
        }
        let halves = self.ledger.paid.iter().filter(|(id, paid)| owed.get(id.as_str()) != Some(paid)).count()
            + owed.keys().filter(|id| !self.ledger.paid.contains_key(**id)).count();
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
}

/// The effect that the log must have after this answer.
fn effect(purchase: Purchase, answer: &CallerAnswer) -> Effect {
    let name = match purchase.step {
        Step::Take | Step::Pay => "stock.taken",
        Step::Confirm => "reservation.confirmed",
        Step::Reserve => "reservation.placed",
        Step::Release => "reservation.released",
    };
    (name.to_owned(), purchase.figures(answer))
}
