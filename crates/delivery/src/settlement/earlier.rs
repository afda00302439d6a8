//! Looks for credits that an earlier release made, under ids in the namespace of callers.

use std::collections::BTreeSet;

use scarce_engine::Request;
use scarce_sql::Cell;

use super::credits::end_of;
use super::ids::IdScheme;
use super::inside::{Addressed, Settler};
use super::questions::ask;
use crate::queue::{Ended, marks};

impl Settler {
    /// Ends packets that an earlier release credited, and has all others credited under ids of their own. A caller
    /// may have used an earlier id for something else; only a credit with the same account and amount counts.
    pub(super) async fn resolve_earlier(&self, all: Vec<Addressed>, ended: &mut Ended) -> Vec<Addressed> {
        let (asked, mut rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|its| its.claimed.is_first && self.may_be_earlier(its));
        let questions: Vec<_> = asked.iter().filter_map(|its| self.earlier_credit(its)).collect();
        if questions.len() < asked.len() {
            // One without a valid amount or id; the credit itself says so.
            rest.extend(asked);
            return rest;
        }
        let mut fresh = Vec::with_capacity(asked.len());
        let answers = ask(&self.engine, questions, self.patience()).await;
        for (its, answer) in asked.into_iter().zip(answers) {
            match answer {
                Ok(receipt) if receipt.replayed && receipt.outcome.is_applied() => {
                    ended.credit(its.claimed.id, receipt.partition, end_of(&receipt));
                }
                Ok(_) => fresh.push(its),
                Err(failure) => {
                    let untouched = its.claimed.untouched();
                    ended.failed.push(self.engine_failed(&its.claimed, failure.to_string(), untouched));
                }
            }
        }
        rest.extend(self.adopt(fresh, ended).await);
        rest
    }

    fn may_be_earlier(&self, its: &Addressed) -> bool {
        its.claimed.scheme == IdScheme::Earlier || self.options.looks_up_first_tries
    }

    /// What the credit would be answered under the earlier id; nothing is changed.
    fn earlier_credit(&self, its: &Addressed) -> Option<(u32, Request)> {
        let (partition, envelope) = self.credit_under(its, IdScheme::Earlier)?;
        Some((partition, Request::DryRun(envelope)))
    }

    /// Notes the current scheme before anything is sent under it.
    async fn adopt(&self, mut fresh: Vec<Addressed>, ended: &mut Ended) -> Vec<Addressed> {
        let ids: BTreeSet<i64> = fresh
            .iter()
            .filter(|its| its.claimed.scheme == IdScheme::Earlier)
            .map(|its| its.claimed.id)
            .collect();
        if ids.is_empty() {
            return fresh;
        }
        let sql = format!(
            "UPDATE delivery_settlements SET operation_scheme = {} WHERE settlement_id IN ({})",
            IdScheme::CURRENT,
            marks(ids.len())
        );
        let values: Vec<Cell> = ids.into_iter().map(Cell::from).collect();
        if let Err(error) = self.delivery.store().execute(&sql, &values).await {
            let reason = error.to_string();
            for its in fresh {
                let untouched = its.claimed.untouched();
                ended.failed.push(self.engine_failed(&its.claimed, reason.clone(), untouched));
            }
            return Vec::new();
        }
        for its in &mut fresh {
            its.claimed.adopt_current_scheme();
        }
        fresh
    }
}
