//! Workers that run until they are stopped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use scarce_core::types::TimeMs;
use scarce_engine::clock::wall_ms;
use scarce_engine::random::{bytes, hex};
use scarce_outflow::Backoff;
use scarce_sql::DatabaseError;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Delivery;
use crate::queue::{Ended, Queue};

/// The first and the longest delay of a retry after trouble with the database.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// How long a stop waits for receivers that have not answered.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Says that requests are left in progress. Their rows stay claimed until the leases end.
pub(crate) fn tell_unanswered(count: usize) {
    tracing::warn!(
        count,
        "receivers have not answered within 5 seconds of the stop; these requests are sent again, under the same ids, within \
         a minute of the next start"
    );
}

/// The status of a worker, for metrics, for people and for the log.
#[derive(Debug)]
pub struct WorkerStatus {
    /// The queue that it works on: `webhooks` or `settlement`.
    pub queue: &'static str,
    trouble: Mutex<Option<WorkerTrouble>>,
}

/// Why a worker cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerTrouble {
    /// What is wrong, and what to do.
    pub reason: String,
    /// Since when, in Unix milliseconds.
    pub since: TimeMs,
}

impl WorkerStatus {
    /// The present trouble; `None` while all is well.
    #[must_use]
    pub fn trouble(&self) -> Option<WorkerTrouble> {
        self.now().clone()
    }

    fn now(&self) -> MutexGuard<'_, Option<WorkerTrouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes trouble. It began with the first failure since all was well.
    fn note_trouble(&self, reason: String) {
        let mut now = self.now();
        let since = now.as_ref().map_or_else(wall_ms, |trouble| trouble.since);
        if now.as_ref().is_none_or(|former| former.reason != reason) {
            tracing::warn!(queue = self.queue, reason, "a worker of deliveries cannot go on; it retries");
        }
        *now = Some(WorkerTrouble { reason, since });
    }

    fn note_end(&self) {
        if let Some(trouble) = self.now().take() {
            let troubled_ms = wall_ms().saturating_sub(trouble.since);
            tracing::info!(queue = self.queue, troubled_ms, "a worker's trouble has ended");
        }
    }
}

/// Running workers. Dropping this stops them, too, without waiting.
#[derive(Debug)]
pub struct Workers {
    tasks: Vec<JoinHandle<()>>,
    stop: watch::Sender<bool>,
    statuses: Vec<Arc<WorkerStatus>>,
}

impl Workers {
    pub(crate) fn new(
        stop: watch::Sender<bool>,
        tasks: Vec<JoinHandle<()>>,
        statuses: Vec<Arc<WorkerStatus>>,
    ) -> Self {
        Self { tasks, stop, statuses }
    }

    /// The first trouble of any of them; `None` while all is well.
    #[must_use]
    pub fn trouble(&self) -> Option<WorkerTrouble> {
        self.statuses.iter().find_map(|status| status.trouble())
    }

    /// How each of them is doing.
    #[must_use]
    pub fn statuses(&self) -> &[Arc<WorkerStatus>] {
        &self.statuses
    }

    /// Finishes the work in progress, and stops.
    pub async fn stop(mut self) {
        // A worker that has ended already does not receive this.
        let _ = self.stop.send(true);
        for task in std::mem::take(&mut self.tasks) {
            // A worker that panicked has nothing more to finish.
            let _ = task.await;
        }
    }

    /// Stops at once, in the middle of any work, as when the process is killed. Claimed rows are taken over
    /// when their leases end.
    pub fn abort(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
        }
    }
}

/// Tells a worker to stop.
#[derive(Clone, Debug)]
pub(crate) struct Stopping(watch::Receiver<bool>);

impl Stopping {
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (stop, stopping) = watch::channel(false);
        (stop, Self(stopping))
    }

    /// The stop also counts as requested when no sender is left.
    pub(crate) fn is_asked(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits for the stop.
    pub(crate) async fn asked(&mut self) {
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

/// What every worker needs: the database, its own name there, and the stop.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) delivery: Delivery,
    /// The name in this worker's claims.
    pub(crate) owner: String,
    pub(crate) stopping: Stopping,
    queue: Queue,
    backoff: Backoff,
    status: Arc<WorkerStatus>,
}

impl Work {
    pub(crate) fn new(delivery: Delivery, queue: Queue, stopping: Stopping) -> Self {
        // Without randomness the process id tells workers apart, as long as each process has only one.
        let drawn = bytes::<8>().unwrap_or_default();
        let owner = format!("{}-{}", std::process::id(), hex(&drawn));
        let backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        let status = Arc::new(WorkerStatus { queue: queue.name, trouble: Mutex::default() });
        Self { delivery, owner, stopping, queue, backoff, status }
    }

    pub(crate) fn status(&self) -> Arc<WorkerStatus> {
        Arc::clone(&self.status)
    }

    /// Reports that all is well again.
    pub(crate) fn is_well(&mut self) {
        self.backoff.reset();
        self.status.note_end();
    }

    /// Reports trouble that an operator ends, and waits for the next look.
    pub(crate) async fn is_troubled_for(&mut self, reason: &str, delay: Duration) {
        self.status.note_trouble(reason.to_owned());
        self.pause(delay).await;
    }

    /// Reports trouble, and waits for the retry.
    pub(crate) async fn is_troubled(&mut self, error: &impl ToString) {
        self.status.note_trouble(error.to_string());
        let delay = self.backoff.next_delay();
        if self.stopping.is_asked() {
            tokio::time::sleep(delay).await;
            return;
        }
        self.pause(delay).await;
    }

    /// Waits until there is work, it is time to look for some, or the stop is requested.
    pub(crate) async fn wait_for(&mut self, written: impl Future<Output = ()>) {
        let interval = self.delivery.options().poll_interval;
        tokio::select! {
            () = written => {}
            () = tokio::time::sleep(interval) => {}
            () = self.stopping.asked() => {}
        }
    }

    /// Waits for a delay, or until the stop.
    pub(crate) async fn pause(&mut self, delay: Duration) {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = self.stopping.asked() => {}
        }
    }

    /// Records the results of attempts. Nothing else can be done before the database accepts them, so this is
    /// retried until the leases end; then other workers take over.
    pub(crate) async fn note(&mut self, ended: &Ended) {
        if ended.is_empty() {
            return;
        }
        let begun = Instant::now();
        while let Err(error) = self.try_to_note(ended).await {
            self.is_troubled(&error).await;
            if begun.elapsed() >= self.delivery.options().lease {
                return;
            }
        }
        self.is_well();
    }

    async fn try_to_note(&self, ended: &Ended) -> Result<(), DatabaseError> {
        let store = self.delivery.store();
        store
            .in_time(async {
                let mut lent = store.lend_to_write().await?;
                let noted = self.queue.note(&mut lent, &self.owner, ended).await;
                noted.map_err(|error| store.failed(&error))?;
                lent.done();
                Ok(())
            })
            .await
    }
}
