//! Settles packets as credits in an engine: batch after batch, each in a few steps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scarce_core::types::{Id, signed};
use scarce_engine::Engine;
use scarce_sql::DatabaseError;
use tokio::runtime::Handle;

use super::claims::{ClaimedSettlement, Wanted, claim, has_due};
use super::{AccountTemplate, Route};
use crate::guard::{Checked, Guard};
use crate::queue::{Ended, Failed, Resolution, SETTLEMENTS};
use crate::retry::delay;
use crate::running::{Stopping, Work, Workers};
use crate::store::{millis, now_ms};
use crate::{Delivery, SettlementOptions};

/// How long a worker waits that must not pay: it goes on soon after a rebase.
const HISTORY_RETRY: Duration = Duration::from_millis(500);

/// What keeps a worker from its claims.
enum Hindrance {
    /// They cannot be read.
    Database(String),
    /// The log may not have them.
    History(String),
}

/// The longest delay after a failure of the engine, for which the packet is not to blame and which never
/// makes a dead letter.
pub(super) const ENGINE_RETRY_MAX: Duration = Duration::from_secs(30);

impl Delivery {
    /// Credits claimed packets in an engine, on a runtime, until it is stopped. Several processes may do so on one
    /// database.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "so that an engine is given as it is elsewhere")]
    pub fn run_settlement(
        &self,
        runtime: &Handle,
        engine: Arc<dyn Engine>,
        options: SettlementOptions,
    ) -> Workers {
        let (stop, stopping) = Stopping::new();
        let (mut tasks, mut statuses) = (Vec::new(), Vec::new());
        let options = Arc::new(options);
        let guard = Arc::new(Guard::new(self.clone(), engine.clone(), SETTLEMENTS.name));
        for _ in 0..options.lanes.max(1) {
            let work = Work::new(self.clone(), SETTLEMENTS, stopping.clone());
            statuses.push(work.status());
            let settler = Settler {
                delivery: self.clone(),
                engine: Arc::clone(&engine),
                options: Arc::clone(&options),
                assets: BTreeMap::new(),
                accounts: BTreeMap::new(),
                epochs: BTreeMap::new(),
                checked: None,
                waits: 0,
            };
            tasks.push(runtime.spawn(run(work, settler, Arc::clone(&guard))));
        }
        Workers::new(stop, tasks, statuses)
    }
}

async fn run(mut work: Work, mut settler: Settler, guard: Arc<Guard>) {
    while !work.stopping.is_asked() {
        match settler.claim(&work.owner, &guard).await {
            Ok(claimed) if claimed.is_empty() => {
                work.is_well();
                work.wait_for(settler.delivery.settlements_written().notified()).await;
            }
            Ok(claimed) => {
                work.is_well();
                if claimed.len() == settler.options.batch_max.max(1) {
                    // There may be more, for another lane.
                    settler.delivery.settlements_written().notify_one();
                }
                let count = claimed.len();
                let mut ended = settler.settle(claimed, &guard).await;
                if let Err(error) = settler.wait_for_consumer(&mut ended).await {
                    work.is_troubled(&error).await;
                }
                work.note(&ended).await;
                if ended.failed.len() == count {
                    work.pause(settler.delivery.options().retry_first).await;
                }
            }
            Err(Hindrance::Database(error)) => work.is_troubled(&error).await,
            Err(Hindrance::History(reason)) => work.is_troubled_for(&reason, HISTORY_RETRY).await,
        }
    }
}

/// Settles batches; caches campaigns and accounts.
pub(super) struct Settler {
    pub(super) delivery: Delivery,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) options: Arc<SettlementOptions>,
    /// The assets of campaigns.
    pub(super) assets: BTreeMap<String, String>,
    /// The assets of existing accounts. Accounts are never closed, and never change their asset.
    pub(super) accounts: BTreeMap<String, String>,
    /// The epochs that the log's consumer has read last, in which these are cached.
    epochs: BTreeMap<u32, u64>,
    /// What was last found to be of the log's history: what is sent to the engine rests on it.
    pub(super) checked: Option<Arc<Checked>>,
    /// How often in a row credits were recorded that the consumer had not passed.
    pub(super) waits: u64,
}

/// A packet with its account.
pub(super) struct Addressed {
    pub(super) claimed: ClaimedSettlement,
    pub(super) account: Id,
    pub(super) asset: Id,
}

impl Settler {
    /// Claims what is due, if the log is of the history that the claims are of.
    async fn claim(&mut self, owner: &str, guard: &Guard) -> Result<Vec<ClaimedSettlement>, Hindrance> {
        let failed = |error: DatabaseError| Hindrance::Database(error.to_string());
        let (delivery, options) = (self.delivery.clone(), Arc::clone(&self.options));
        let template = options.account_template.text();
        let wanted =
            Wanted { route: Route::Engine, template: Some(template), only_begun: options.only_begun };
        if !has_due(&delivery, wanted).await.map_err(failed)? {
            return Ok(Vec::new());
        }
        let checked = guard.check().await.map_err(Hindrance::History)?;
        let epochs: BTreeMap<u32, u64> = checked.reached.iter().map(|(its, at)| (*its, at.epoch)).collect();
        if epochs != self.epochs {
            // What was lost with another history may have come again as something else.
            self.assets.clear();
            self.accounts.clear();
            self.epochs = epochs;
        }
        self.checked = Some(checked);
        let claiming = claim(&delivery, owner, wanted, options.batch_max.max(1));
        delivery.store().in_time(claiming).await.map_err(failed)
    }

    /// Settles a batch; returns the result of each packet.
    async fn settle(&mut self, claimed: Vec<ClaimedSettlement>, guard: &Guard) -> Ended {
        let mut ended = Ended::default();
        let claimed = self.end_passed(claimed, &mut ended).await;
        self.learn_assets(&claimed).await;
        let addressed = self.address(claimed, &mut ended);
        let addressed = self.resolve_replaced(addressed, &mut ended).await;
        let addressed = self.resolve_earlier(addressed, &mut ended).await;
        let addressed = self.resolve_old(addressed, &mut ended).await;
        let addressed = self.find_accounts(addressed, &mut ended).await;
        if addressed.is_empty() {
            return ended;
        }
        match guard.check_again().await {
            Ok(checked) => {
                self.checked = Some(checked);
                self.credit(addressed, &mut ended).await;
            }
            Err(reason) => ended.failed.extend(
                addressed
                    .iter()
                    .map(|its| self.engine_failed(&its.claimed, reason.clone(), its.claimed.untouched())),
            ),
        }
        ended
    }

    /// Finds the account and the asset of each packet.
    fn address(&self, claimed: Vec<ClaimedSettlement>, ended: &mut Ended) -> Vec<Addressed> {
        let mut addressed = Vec::with_capacity(claimed.len());
        for claimed in claimed {
            let asset = claimed.asset.as_ref().or_else(|| self.assets.get(&claimed.campaign));
            let Some(asset) = asset.cloned() else {
                let reason = "the engine did not say which asset the campaign is of".to_owned();
                ended.failed.push(self.engine_failed(&claimed, reason, claimed.untouched()));
                continue;
            };
            match addresses(&claimed, &asset) {
                Ok((account, asset)) => addressed.push(Addressed { claimed, account, asset }),
                Err(reason) => ended.failed.push(never(&claimed, reason, claimed.untouched())),
            }
        }
        addressed
    }

    /// How long the engine is sure to remember an id, with some room for clock differences.
    pub(super) fn window_ms(&self) -> i64 {
        signed(self.engine.state_settings().window_ms_min) / 10 * 9
    }

    /// How far the clocks of servers and engine may be apart.
    pub(super) fn clocks_apart_ms(&self) -> i64 {
        signed(self.engine.state_settings().window_ms_min) / 10
    }

    /// How long the engine may take for an answer.
    pub(super) fn patience(&self) -> Duration {
        self.delivery.options().lease / 4
    }

    /// A failed attempt; the last one allowed makes a dead letter.
    pub(super) fn later(
        &self,
        claimed: &ClaimedSettlement,
        reason: String,
        resolution: Resolution,
    ) -> Failed {
        let options = self.delivery.options();
        if claimed.attempts >= u64::from(options.attempts_max) {
            return never(claimed, reason, resolution);
        }
        let next = now_ms().saturating_add(millis(delay(options, claimed.attempts, None)));
        failed(claimed, Some(next), reason, resolution)
    }

    /// An attempt that failed because of the engine.
    pub(super) fn engine_failed(
        &self,
        claimed: &ClaimedSettlement,
        reason: String,
        resolution: Resolution,
    ) -> Failed {
        let delay = delay(self.delivery.options(), claimed.attempts, None).min(ENGINE_RETRY_MAX);
        failed(claimed, Some(now_ms().saturating_add(millis(delay))), reason, resolution)
    }
}

impl ClaimedSettlement {
    /// The resolution of an attempt that failed before anything was sent.
    pub(super) fn untouched(&self) -> Resolution {
        if self.is_first { Resolution::NotDone } else { Resolution::Open }
    }
}

/// The account and the asset, if the template makes a valid account.
pub(super) fn addresses(claimed: &ClaimedSettlement, asset: &str) -> Result<(Id, Id), String> {
    let template = AccountTemplate::parse(&claimed.template).map_err(|error| error.to_string())?;
    let account = template.account(&claimed.user, asset, &claimed.campaign);
    let id = |text: &str| Id::parse(text.as_bytes(), "account");
    match (id(&account), id(asset)) {
        (Ok(account), Ok(asset)) => Ok((account, asset)),
        (Err(invalid), _) | (_, Err(invalid)) => {
            Err(format!("the template makes '{account}', which is not an account: {invalid}"))
        }
    }
}

/// A failed attempt without a retry.
pub(super) fn never(claimed: &ClaimedSettlement, reason: String, resolution: Resolution) -> Failed {
    failed(claimed, None, reason, resolution)
}

/// A failed attempt that is retried at once.
pub(super) fn at_once(claimed: &ClaimedSettlement, reason: String, resolution: Resolution) -> Failed {
    failed(claimed, Some(now_ms()), reason, resolution)
}

fn failed(
    claimed: &ClaimedSettlement,
    next_at_ms: Option<i64>,
    reason: String,
    resolution: Resolution,
) -> Failed {
    Failed { id: claimed.id, next_at_ms, status: None, reason, resolution }
}
