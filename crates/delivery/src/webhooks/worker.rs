//! Makes due deliveries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scarce_engine::Log;
use scarce_outflow::{TraceParent, Traces};
use scarce_sql::{Column, DatabaseError};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::message_id;
use crate::endpoints::{Target, Targets};
use crate::guard::Guard;
use crate::http::{Message, ReceiverAnswer};
use crate::page::Taken;
use crate::queue::{Due, Ended, Failed, Resolution, WEBHOOKS};
use crate::retry::delay;
use crate::running::{STOP_TIMEOUT, Stopping, Work, Workers, tell_unanswered};
use crate::store::{millis, now_ms};
use crate::suspension::Tally;
use crate::{Delivery, DeliveryError};

/// The status by which a receiver says that it wants nothing more.
const GONE: u16 = 410;

impl Delivery {
    /// Makes due deliveries to endpoints, on a runtime, until it is stopped. Several processes may do so on
    /// one database. Deliveries of a history that the log does not have wait until that is rebased.
    #[must_use]
    pub fn run_webhooks(&self, runtime: &Handle, log: Arc<dyn Log>) -> Workers {
        let (stop, stopping) = Stopping::new();
        let work = Work::new(self.clone(), WEBHOOKS, stopping);
        let status = work.status();
        let worker = Worker {
            work,
            guard: Guard::new(self.clone(), log, WEBHOOKS.name),
            flying: JoinSet::new(),
            busy: BTreeMap::new(),
            failing: BTreeSet::new(),
            unsendable: BTreeMap::new(),
            is_stale: true,
        };
        Workers::new(stop, vec![runtime.spawn(worker.run())], vec![status])
    }
}

/// A claimed delivery.
struct ClaimedDelivery {
    id: i64,
    attempts: u64,
    message: Message,
}

/// An attempted delivery.
struct Attempt {
    id: i64,
    attempts: u64,
    endpoint_id: String,
    answer: Result<ReceiverAnswer, String>,
}

struct Worker {
    work: Work,
    guard: Guard,
    flying: JoinSet<Attempt>,
    /// How many requests are in progress to each endpoint.
    busy: BTreeMap<String, usize>,
    /// The endpoints whose last try failed, as the tables say.
    failing: BTreeSet<String>,
    /// The endpoints that nothing can be sent to, and why.
    unsendable: BTreeMap<String, String>,
    /// Whether secrets are to be encrypted anew: at the start those of every endpoint are looked at.
    is_stale: bool,
}

impl Worker {
    async fn run(mut self) {
        while !self.work.stopping.is_asked() {
            match self.claim().await {
                Ok(()) => self.work.is_well(),
                Err(error) => self.work.is_troubled(&error).await,
            }
            self.wait().await;
        }
        let deadline = Instant::now() + STOP_TIMEOUT;
        while !self.flying.is_empty() {
            match timeout_at(deadline, self.flying.join_next()).await {
                Ok(tried) => self.note(tried.and_then(Result::ok)).await,
                Err(_) => return tell_unanswered(self.flying.len()),
            }
        }
    }

    /// Claims due deliveries and sends them, while there is room.
    async fn claim(&mut self) -> Result<(), String> {
        let delivery = self.work.delivery.clone();
        let targets = self.targets(&delivery).await.map_err(|error| error.to_string())?;
        if targets.is_empty() {
            return Ok(());
        }
        self.guard.check().await?;
        for target in targets {
            let busy = self.busy.get(&target.id).copied().unwrap_or_default();
            let options = delivery.options();
            let room = options.endpoint_requests_max.saturating_sub(busy);
            let room = room.min(options.requests_max.saturating_sub(self.flying.len()));
            if room == 0 {
                continue;
            }
            let claiming = claim(&delivery, &self.work.owner, &target, room);
            let claimed = delivery.store().in_time(claiming).await.map_err(|error| error.to_string())?;
            for claimed in claimed {
                self.send(&target, claimed);
            }
        }
        Ok(())
    }

    /// The endpoints that can be sent to. What is wrong with others is written down once.
    async fn targets(&mut self, delivery: &Delivery) -> Result<Vec<Target>, DeliveryError> {
        if self.is_stale {
            // What cannot be read is told with its endpoint below.
            let count = delivery.encrypt_secrets().await?.count;
            if count > 0 {
                tracing::info!(count, "secrets of webhooks were encrypted in the database");
            }
        }
        let Targets { sendable, unsendable, is_stale } = delivery.targets().await?;
        self.is_stale = is_stale;
        let unsendable: BTreeMap<String, String> =
            unsendable.into_iter().map(|(id, error)| (id, error.to_string())).collect();
        for (id, why) in unsendable.iter().filter(|(id, why)| self.unsendable.get(*id) != Some(*why)) {
            delivery.note_unsendable(id, why).await?;
            tracing::warn!(endpoint = id, "deliveries to an endpoint wait: {why}");
        }
        self.unsendable = unsendable;
        for target in sendable.iter().filter(|target| target.failures == Some(0)) {
            delivery.note_sendable(&target.id).await?;
        }
        let failing = sendable.iter().filter(|target| target.failures.is_some());
        self.failing = failing.map(|target| target.id.clone()).collect();
        Ok(sendable)
    }

    fn send(&mut self, target: &Target, claimed: ClaimedDelivery) {
        *self.busy.entry(target.id.clone()).or_default() += 1;
        let (sender, endpoint_id) = (self.work.delivery.sender().clone(), target.id.clone());
        self.flying.spawn(async move {
            let ClaimedDelivery { id, attempts, message } = claimed;
            let answer = sender.send(&message).await;
            Attempt { id, attempts, endpoint_id, answer }
        });
    }

    /// Waits until a request ends, or there may be something to send.
    async fn wait(&mut self) {
        let delivery = self.work.delivery.clone();
        if self.flying.is_empty() {
            return self.work.wait_for(delivery.webhooks_written().notified()).await;
        }
        let has_room = self.flying.len() < delivery.options().requests_max;
        let mut stopping = self.work.stopping.clone();
        tokio::select! {
            tried = self.flying.join_next() => {
                let tried = tried.and_then(Result::ok);
                self.note(tried).await;
            }
            () = delivery.webhooks_written().notified(), if has_room => {}
            () = tokio::time::sleep(delivery.options().poll_interval), if has_room => {}
            () = stopping.asked() => {}
        }
    }

    /// Records the result of an attempt, and of all others that have ended by now.
    async fn note(&mut self, first: Option<Attempt>) {
        let (mut ended, mut tally) = (Ended::default(), Tally::default());
        let mut next = first;
        while let Some(tried) = next {
            if let Some(busy) = self.busy.get_mut(&tried.endpoint_id) {
                *busy = busy.saturating_sub(1);
            }
            self.judge(tried, &mut ended, &mut tally).await;
            next = self.flying.try_join_next().and_then(Result::ok);
        }
        self.work.note(&ended).await;
        let delivery = self.work.delivery.clone();
        if let Err(error) = delivery.note_tally(tally, |id| self.failing.contains(id)).await {
            // It is counted again with the next failure.
            self.work.is_troubled(&error).await;
        }
    }

    async fn judge(&mut self, tried: Attempt, ended: &mut Ended, tally: &mut Tally) {
        let delivery = self.work.delivery.clone();
        let options = delivery.options();
        let (id, attempts) = (tried.id, tried.attempts);
        let (status, reason, asked) = match tried.answer {
            Ok(answer) if answer.is_success() => {
                tally.succeeded(&tried.endpoint_id);
                ended.done.push((id, Some(answer.status)));
                return;
            }
            Ok(answer) => (Some(answer.status), answer.reason(), answer.retry_after),
            Err(reason) => (None, reason, None),
        };
        tally.failed(&tried.endpoint_id, &reason);
        let is_gone = status == Some(GONE);
        if is_gone {
            let why = "it answered 410 Gone";
            if let Err(error) = delivery.disable_endpoint(&tried.endpoint_id, why).await {
                // The receiver gets the next delivery, too, and will answer the same again.
                self.work.is_troubled(&error).await;
            }
        }
        let is_last = is_gone || attempts >= u64::from(options.attempts_max);
        let next_at_ms = (!is_last).then(|| now_ms().saturating_add(millis(delay(options, attempts, asked))));
        ended.failed.push(Failed { id, next_at_ms, status, reason, resolution: Resolution::Open });
    }
}

const COLUMNS: [Column; 6] = [
    Column::integer("delivery_id"),
    Column::integer("partition_id"),
    Column::integer("epoch"),
    Column::integer("sequence"),
    Column::text("body"),
    Column::integer("attempts"),
];

/// Claims due deliveries to an endpoint.
async fn claim(
    delivery: &Delivery,
    owner: &str,
    target: &Target,
    limit: usize,
) -> Result<Vec<ClaimedDelivery>, DatabaseError> {
    let endpoint = target.id.as_str().into();
    let due = Due { condition: ("endpoint_id = ?", &[endpoint]), limit, columns: &COLUMNS, more: ("", &[]) };
    let owner = (owner, delivery.options().lease);
    let rows = WEBHOOKS.claim_due(delivery.store(), owner, due).await?;
    Ok(rows.into_iter().map(|row| claimed(delivery, target, Taken::new(row))).collect())
}

fn claimed(delivery: &Delivery, target: &Target, mut row: Taken) -> ClaimedDelivery {
    let (id, partition) = (row.integer(), u32::try_from(row.integer()).unwrap_or(u32::MAX));
    let message_id = message_id(delivery.store().deployment_id(), partition, row.natural(), row.natural());
    let body = row.text();
    let message = Message {
        url: target.url.clone(),
        secrets: target.secrets.clone(),
        id: message_id,
        trace: trace_of(&body),
        body,
        has_key: false,
    };
    ClaimedDelivery { id, attempts: row.natural() + 1, message }
}

/// The trace of the operation whose event a body has, if this process knows it.
fn trace_of(body: &str) -> Option<TraceParent> {
    let traces = Traces::of_process();
    if traces.is_empty() {
        return None;
    }
    let event: serde_json::Value = serde_json::from_str(body).ok()?;
    let data = &event["data"];
    traces.of(data["namespace"].as_str().unwrap_or_default(), data["operation"].as_str()?)
}
