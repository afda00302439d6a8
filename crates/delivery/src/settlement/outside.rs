//! Settles packets by calls to an outside system.

use std::sync::Arc;

use scarce_engine::Log;
use scarce_sql::DatabaseError;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::Route;
use super::claims::{ClaimedSettlement, Wanted, claim, has_due};
use super::inside::never;
use crate::guard::Guard;
use crate::http::{Message, ReceiverAnswer, check_url};
use crate::queue::{Ended, Failed, Resolution, SETTLEMENTS};
use crate::retry::delay;
use crate::running::{STOP_TIMEOUT, Stopping, Work, Workers, tell_unanswered};
use crate::store::{millis, now_ms};
use crate::{Delivery, DeliveryError, Secret};

/// Statuses of 400 to 499 that may pass with time: timeout, conflict, too early, too many requests.
const MENDED_BY_TIME: [u16; 4] = [408, 409, 425, 429];

/// The body of a call.
#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    campaign: &'a str,
    packet: u64,
    user: &'a str,
    amount: u64,
    asset: Option<&'a str>,
    operation_id: &'a str,
}

impl Delivery {
    /// Settles claimed packets by signed calls to `url`, on a runtime, until it is stopped. Several processes
    /// may do so on one database. Nothing is sent while the log has another history. The receiver must remember the operation ids that it has settled forever:
    /// the same packet may come again at any time, and always under the same id.
    ///
    /// # Errors
    /// When the address cannot be sent to.
    pub fn run_settlement_outside(
        &self,
        runtime: &Handle,
        log: Arc<dyn Log>,
        url: &str,
        secret: Secret,
    ) -> Result<Workers, DeliveryError> {
        check_url(url)?;
        let (stop, stopping) = Stopping::new();
        let work = Work::new(self.clone(), SETTLEMENTS, stopping);
        let status = work.status();
        let guard = Guard::new(self.clone(), log, SETTLEMENTS.name);
        let caller = Caller { work, guard, url: url.to_owned(), secret, flying: JoinSet::new() };
        Ok(Workers::new(stop, vec![runtime.spawn(caller.run())], vec![status]))
    }
}

type Call = (i64, u64, Result<ReceiverAnswer, String>);

struct Caller {
    work: Work,
    guard: Guard,
    url: String,
    secret: Secret,
    flying: JoinSet<Call>,
}

impl Caller {
    async fn run(mut self) {
        let delivery = self.work.delivery.clone();
        while !self.work.stopping.is_asked() {
            let room = delivery.options().endpoint_requests_max.saturating_sub(self.flying.len());
            if room > 0 {
                match self.claim(room).await {
                    Ok(claimed) => {
                        self.work.is_well();
                        claimed.iter().for_each(|claimed| self.send(claimed));
                    }
                    Err(error) => self.work.is_troubled(&error).await,
                }
            }
            if self.flying.is_empty() {
                self.work.wait_for(delivery.settlements_written().notified()).await;
            } else {
                self.land().await;
            }
        }
        let deadline = Instant::now() + STOP_TIMEOUT;
        while !self.flying.is_empty() {
            match timeout_at(deadline, self.flying.join_next()).await {
                Ok(call) => self.note(call.and_then(Result::ok)).await,
                Err(_) => return tell_unanswered(self.flying.len()),
            }
        }
    }

    /// Claims what is due, if the log is of the history that the claims are of.
    async fn claim(&mut self, limit: usize) -> Result<Vec<ClaimedSettlement>, String> {
        let delivery = self.work.delivery.clone();
        let wanted = Wanted { route: Route::Outside, template: None, only_begun: false };
        if !has_due(&delivery, wanted).await.map_err(|error| error.to_string())? {
            return Ok(Vec::new());
        }
        self.guard.check().await?;
        let claiming = claim(&delivery, &self.work.owner, wanted, limit);
        let claimed = delivery.store().in_time(claiming).await.map_err(|error| error.to_string())?;
        self.without_conflicts(claimed).await.map_err(|error| error.to_string())
    }

    /// Ends packets that a lost history had settled for another user: the receiver would take this claim for a duplicate
    /// of that one, because their ids are the same.
    async fn without_conflicts(
        &mut self,
        mut claimed: Vec<ClaimedSettlement>,
    ) -> Result<Vec<ClaimedSettlement>, DatabaseError> {
        let retried: Vec<_> = claimed.iter().filter(|its| !its.is_first).collect();
        let mut ended = Ended::default();
        for replaced in self.work.delivery.undecided(&retried).await? {
            if let Some(its) = retried.iter().find(|its| replaced.is_of(its)) {
                let why = "the receiver may have paid it, and would take the claim for a duplicate";
                ended.failed.push(never(its, replaced.conflict(its, why), Resolution::Open));
            }
        }
        if !ended.failed.is_empty() {
            claimed.retain(|its| ended.failed.iter().all(|failed| failed.id != its.id));
            self.work.note(&ended).await;
        }
        Ok(claimed)
    }

    fn send(&mut self, claimed: &ClaimedSettlement) {
        let message = Message {
            trace: None,
            url: self.url.clone(),
            secrets: vec![self.secret.clone()],
            id: claimed.operation_id.clone(),
            body: body_of(claimed),
            has_key: true,
        };
        let (sender, id, attempts) = (self.work.delivery.sender().clone(), claimed.id, claimed.attempts);
        self.flying.spawn(async move { (id, attempts, sender.send(&message).await) });
    }

    /// Waits for one call in progress, or until the stop, and records its result and those of all other finished calls.
    async fn land(&mut self) {
        let mut stopping = self.work.stopping.clone();
        tokio::select! {
            call = self.flying.join_next() => self.note(call.and_then(Result::ok)).await,
            () = stopping.asked() => {}
        }
    }

    /// Records the result of a call and those of all other finished calls.
    async fn note(&mut self, first: Option<Call>) {
        let mut ended = Ended::default();
        let mut next = first;
        while let Some((id, attempts, answer)) = next {
            match answer {
                Ok(answer) if answer.is_success() => ended.done.push((id, Some(answer.status))),
                answer => ended.failed.push(self.judge(id, attempts, answer)),
            }
            next = self.flying.try_join_next().and_then(Result::ok);
        }
        self.work.note(&ended).await;
    }

    fn judge(&self, id: i64, attempts: u64, answer: Result<ReceiverAnswer, String>) -> Failed {
        let options = self.work.delivery.options();
        let (status, reason, asked) = match answer {
            Ok(answer) => (Some(answer.status), answer.reason(), answer.retry_after),
            Err(reason) => (None, reason, None),
        };
        let is_refusal =
            status.is_some_and(|status| (400..500).contains(&status) && !MENDED_BY_TIME.contains(&status));
        let attempts_max = if is_refusal { options.refused_attempts_max } else { options.attempts_max };
        let is_last = attempts >= u64::from(attempts_max.min(options.attempts_max));
        let next_at_ms = (!is_last).then(|| now_ms().saturating_add(millis(delay(options, attempts, asked))));
        Failed { id, next_at_ms, status, reason, resolution: Resolution::Open }
    }
}

fn body_of(claimed: &ClaimedSettlement) -> String {
    let data = Data {
        campaign: &claimed.campaign,
        packet: claimed.packet,
        user: &claimed.user,
        amount: claimed.amount,
        asset: claimed.asset.as_deref(),
        operation_id: &claimed.operation_id,
    };
    // Keys are texts and amounts integers, so this cannot fail.
    serde_json::to_string(&Body { r#type: "packet.claimed", data }).unwrap_or_default()
}
