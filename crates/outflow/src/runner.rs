//! Runs consumers: one task for each partition.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, Lease};
use scarce_engine::{Failure, Log};
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;

use crate::backoff::Backoff;
use crate::batch::Batch;
use crate::claim::{Claim, ClaimError, LEASE_INTERVAL, Notes, Resumption, unfinished};
use crate::consumer::{BoxedConsumer, Consumer, Trouble};
use crate::cursor::{Cursor, CursorError};
use crate::status::{State, Status};

/// The first and the longest delay before a retry after trouble.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Where a new consumer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the first event ever. If the log no longer has it: with the state of the partition where the consumer takes
    /// that, otherwise the consumer reports so.
    Beginning,
    /// With the oldest event that the log still has.
    Oldest,
    /// With events that are logged after [`run`] was called.
    Now,
}

/// How consumers are served.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The consumer's name, the same in every process that shares the work.
    pub name: ConsumerName,
    /// The name of this process, unique among all.
    pub holder: String,
    /// Where a new consumer begins.
    pub start: Start,
    /// The approximate size of a batch, in bytes of log.
    pub batch_bytes_max: u64,
}

/// Running consumers.
pub struct Outflow {
    statuses: Vec<Arc<Status>>,
    tasks: Vec<JoinHandle<()>>,
    stop: watch::Sender<bool>,
}

impl Outflow {
    /// The state of each partition's consumer.
    #[must_use]
    pub fn statuses(&self) -> &[Arc<Status>] {
        &self.statuses
    }

    /// Finishes the batches in progress, and stops.
    pub async fn stop(self) {
        // A task that has ended already does not receive this.
        let _ = self.stop.send(true);
        for task in self.tasks {
            // A consumer that panicked has nothing more to finish.
            let _ = task.await;
        }
    }
}

/// Runs a consumer for each partition on a runtime; `make` creates them.
#[allow(clippy::needless_pass_by_value, reason = "so that an engine can be given as the log that it is")]
pub fn run<C: Consumer>(
    runtime: &Handle,
    log: Arc<dyn Log>,
    plan: &Plan,
    mut make: impl FnMut(u32) -> C,
) -> Outflow {
    run_boxed(runtime, &log, plan, &mut |partition| Box::new(make(partition)))
}

fn run_boxed(
    runtime: &Handle,
    log: &Arc<dyn Log>,
    plan: &Plan,
    make: &mut dyn FnMut(u32) -> Box<dyn BoxedConsumer>,
) -> Outflow {
    let (stop, stopping) = watch::channel(false);
    let (mut statuses, mut tasks) = (Vec::new(), Vec::new());
    let images = Arc::new(Semaphore::new(1));
    for partition in 0..log.partitions() {
        let status = Arc::new(Status::new(plan.name.clone(), partition));
        let (name, holder) = (plan.name.clone(), plan.holder.clone());
        let share = Share {
            claim: Claim { log: Arc::clone(log), partition, name, holder },
            start: plan.start,
            durable_before: (plan.start == Start::Now).then(|| log.durable_through(partition).ok()).flatten(),
            batch_bytes_max: plan.batch_bytes_max,
            consumer: make(partition),
            status: Arc::clone(&status),
            stopping: stopping.clone(),
            grown: Arc::new(Notify::new()),
            images: Arc::clone(&images),
            abandoned: None,
            holds_abandoned: false,
            is_set_back: false,
            is_begun_anew: false,
        };
        statuses.push(status);
        tasks.push(runtime.spawn(share.serve()));
    }
    Outflow { statuses, tasks, stop }
}

/// Why work on a partition was interrupted.
#[derive(Debug, thiserror::Error)]
enum Interruption {
    #[error(transparent)]
    Consumer(#[from] Trouble),
    #[error(transparent)]
    Cursor(#[from] CursorError),
    #[error(transparent)]
    Engine(#[from] Failure),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error("the consumer was at {from} and finds itself at {to}; it goes on from there")]
    Moved { from: Position, to: Position },
}

/// The work on one partition.
struct Share {
    claim: Claim,
    start: Start,
    /// How far the log was durable before the consumers ran, unless the engine could not be asked.
    durable_before: Option<u64>,
    batch_bytes_max: u64,
    consumer: Box<dyn BoxedConsumer>,
    status: Arc<Status>,
    stopping: watch::Receiver<bool>,
    grown: Arc<Notify>,
    /// Held while a state is in memory, so that only one is.
    images: Arc<Semaphore>,
    /// The position of another history that the consumer's own store may still say.
    abandoned: Option<Position>,
    /// Whether that store still says it.
    holds_abandoned: bool,
    /// Whether its own store was set onto the beginning.
    is_set_back: bool,
    /// The same though it has consumed something.
    is_begun_anew: bool,
}

impl Share {
    async fn serve(mut self) {
        let mut backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        // So that its lag is known even if its own store cannot be asked.
        if let Ok(Some(position)) = self.claim.confirmed().await {
            self.status.assume(position);
        }
        while !*self.stopping.borrow() {
            let before = self.status.position();
            let Err(interruption) = self.work().await else { break };
            let interruption = self.divergence(interruption).await;
            if self.status.position() != before {
                backoff.reset();
            }
            self.status.trouble(interruption.to_string());
            if self.pause_in_trouble(backoff.next_delay()).await {
                backoff.reset();
            }
        }
        self.status.set(State::Stopped);
    }

    /// Where the log turned out to have another history, has the engine remember it.
    async fn divergence(&mut self, interruption: Interruption) -> Interruption {
        match interruption {
            Interruption::Cursor(CursorError::OtherHistory { after, .. }) => {
                self.claim.note_divergence(after).await.unwrap_or_else(|failure| failure).into()
            }
            other => other,
        }
    }

    /// Waits for a delay, or until the stop.
    async fn pause(&mut self, delay: Duration) {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = ended(&mut self.stopping) => {}
        }
    }

    /// The same in trouble, or until a rebase has ended that: whether one has.
    async fn pause_in_trouble(&mut self, delay: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(delay) => false,
            () = ended(&mut self.stopping) => false,
            () = self.status.trouble_ended() => true,
            () = self.claim.rebased() => {
                self.status.end_trouble();
                true
            }
        }
    }

    /// Consumes the log until the stop.
    async fn work(&mut self) -> Result<(), Interruption> {
        let Some(position) = self.begin().await? else { return Ok(()) };
        self.status.advance(position);
        let mut notes = Claim::notes(position);
        let taken = self.take(position, &mut notes).await;
        if !matches!(taken, Err(Interruption::Claim(ClaimError::Lost(_)))) {
            self.claim.leave(&notes, self.status.position()).await;
        }
        taken
    }

    /// Registers the consumer and acquires the lease; gives the position to go on from. `None` if the stop was
    /// requested.
    async fn begin(&mut self) -> Result<Option<Position>, Interruption> {
        let position = match self.known_position().await? {
            Some(position) => position,
            None => first_position(&self.claim, self.start, self.durable_before).await?,
        };
        if !self.needs_image(position).await? {
            // Before it is registered: the log is not kept for a consumer that cannot go on.
            self.claim.check(position, self.consumer.is_rewritten()).await?;
        }
        // From here on the engine keeps the log for this consumer.
        self.claim.register(position).await?;
        if !self.wait_for_lease().await? {
            return Ok(None);
        }
        // The previous holder of the lease may have advanced.
        let position = self.known_position().await?.unwrap_or(position);
        self.tell_forgotten(position).await?;
        if self.needs_image(position).await? {
            return self.begin_with_image().await.map(Some);
        }
        self.claim.check(position, self.consumer.is_rewritten()).await?;
        self.claim.step_back(position).await?;
        self.last_shared(position).await.map(Some)
    }

    /// Tells a consumer whose store knows less than the engine that it has done more: up to where is not known, so it may be
    /// all that the log has. Requires the lease, so that no other process is ahead of the store.
    async fn tell_forgotten(&mut self, position: Position) -> Result<(), Interruption> {
        if !self.consumer.keeps_position() {
            return Ok(());
        }
        let confirmed = self.claim.confirmed().await?;
        if self.is_set_back || confirmed.is_some_and(|confirmed| confirmed.sequence > position.sequence) {
            let partition = self.claim.partition;
            let end = self.claim.ask(move |log| log.durable_through(partition)).await?;
            self.consumer.forgot_up_to(end).await?;
        }
        Ok(())
    }

    /// Whether the consumer has nothing yet, and the log no longer has its beginning, or the consumer had more before and
    /// does not know what became of that. One that was set onto the beginning wants it, wherever it would have begun.
    async fn needs_image(&mut self, position: Position) -> Result<bool, Failure> {
        let may = self.consumer.takes_image() && position.sequence == 0;
        Ok(may && (self.is_begun_anew || self.claim.first_kept().await? > 1))
    }

    /// Begins with the state of the partition at one position. Requires the lease.
    async fn begin_with_image(&mut self) -> Result<Position, Interruption> {
        let mut notes = Claim::notes(Position::default());
        let (images, partition) = (Arc::clone(&self.images), self.claim.partition);
        let consumer = &mut self.consumer;
        let claim = &self.claim;
        let beginning = async {
            // It is never closed.
            let _one = images.acquire().await;
            let image = claim.ask(move |log| log.image(partition)).await?;
            let position = image.moment().position;
            consumer.begin_with(image).await?;
            Ok::<_, Interruption>(position)
        };
        let (begun, prolonged) = prolonging(claim, &mut notes, beginning).await;
        let position = begun?;
        prolonged?;
        self.claim.move_to(position).await?;
        let (consumer, partition) = (self.claim.name.as_str(), self.claim.partition);
        tracing::info!(
            consumer,
            partition,
            %position,
            "the beginning of the log is gone; a consumer began with the state at this position"
        );
        Ok(position)
    }

    /// The last known position: the consumer's own, or the engine's.
    async fn known_position(&mut self) -> Result<Option<Position>, Interruption> {
        let own = self.consumer.position().await?;
        if own.is_none() && self.consumer.starts_over() {
            (self.abandoned, self.holds_abandoned, self.is_set_back) = (None, false, false);
            return Ok(None);
        }
        let Resumption { position, consumed, abandoned } =
            self.claim.resume_at(own, self.consumer.is_rewritten()).await?;
        self.abandoned = abandoned;
        self.is_set_back = own.is_some_and(|own| own.sequence == 0);
        if let Some(consumed) = consumed.filter(|_| self.consumer.keeps_position()) {
            // Another process may have written and confirmed it just now.
            if own.is_none() && self.consumer.position().await?.is_none() {
                return Err(self.claim.emptied(consumed).into());
            }
            self.is_begun_anew = self.is_set_back;
        }
        self.holds_abandoned = own.is_some() && own == abandoned;
        Ok(position)
    }

    /// Of a consumer that was rebased and still holds what it had: the last position that both it and the log have, behind
    /// the one that the engine knows. It is not confirmed before an event follows it, which ends the other history.
    async fn last_shared(&mut self, known: Position) -> Result<Position, Interruption> {
        if !self.holds_abandoned {
            return Ok(known);
        }
        let held = self.consumer.held_after(known).await?;
        let shared = self.claim.last_shared(held).await?;
        Ok(shared.filter(|shared| known.sequence < shared.sequence).unwrap_or(known))
    }

    /// Waits until no other process has the lease. `true` if it was acquired; `false` if the stop was
    /// requested.
    async fn wait_for_lease(&mut self) -> Result<bool, Failure> {
        while !*self.stopping.borrow() {
            match self.claim.take().await? {
                Lease::Held => return Ok(true),
                Lease::HeldBy(holder) => self.status.set(State::Elsewhere { holder }),
            }
            self.pause(LEASE_INTERVAL).await;
        }
        Ok(false)
    }

    /// Consumes batch after batch; reads the next one while one is consumed.
    async fn take(&mut self, position: Position, notes: &mut Notes) -> Result<(), Interruption> {
        let (grown, log) = (Arc::clone(&self.grown), Arc::clone(&self.claim.log));
        let _watch = log.watch(self.claim.partition, Arc::new(move || grown.notify_one()))?;
        let bytes_max = self.batch_bytes_max;
        let read = |cursor: Cursor| cursor.aside(move |cursor| cursor.next_batch(bytes_max));
        let mut reading = read(Cursor::vouched(log, self.claim.partition, position));
        loop {
            let (cursor, batch) = reading.await.map_err(|_| unfinished())?;
            if *self.stopping.borrow() {
                return Ok(());
            }
            match batch? {
                Some(batch) => {
                    reading = read(cursor);
                    self.consume(&batch, notes).await?;
                }
                None => {
                    self.status.catch_up();
                    self.claim.note(notes, self.status.position(), true).await?;
                    self.wait_for_more().await?;
                    reading = read(cursor);
                }
            }
        }
    }

    /// Consumes a batch, however long that takes. If the lease is lost meanwhile, this was the last one.
    async fn consume(&mut self, batch: &Batch, notes: &mut Notes) -> Result<(), Interruption> {
        let (consumed, prolonged) = prolonging(&self.claim, notes, self.consumer.consume(batch)).await;
        consumed?;
        self.status.advance(batch.end());
        prolonged?;
        Ok(self.claim.note(notes, batch.end(), false).await?)
    }

    /// Waits for new events, or until the lease is due for renewal. Meanwhile the consumer's own store may
    /// have been emptied or restored from a backup: then it continues from there.
    async fn wait_for_more(&mut self) -> Result<(), Interruption> {
        tokio::select! {
            () = self.grown.notified() => return Ok(()),
            () = ended(&mut self.stopping) => return Ok(()),
            () = tokio::time::sleep(LEASE_INTERVAL) => {}
        }
        let position = self.status.position();
        match self.consumer.position().await? {
            Some(own) if own != position && Some(own) != self.abandoned => {
                Err(Interruption::Moved { from: position, to: own })
            }
            None if self.consumer.keeps_position() && position.epoch > 0 => {
                Err(self.claim.emptied(position).into())
            }
            _ => Ok(()),
        }
    }
}

/// Renews the lease while something is done, however long that takes; gives what it came to, and whether the lease is
/// still held.
async fn prolonging<T>(
    claim: &Claim,
    notes: &mut Notes,
    work: impl Future<Output = T>,
) -> (T, Result<(), ClaimError>) {
    let mut prolonged = Ok(());
    let mut working = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut working => return (done, prolonged),
            () = tokio::time::sleep(LEASE_INTERVAL), if prolonged.is_ok() => {
                prolonged = claim.prolong(notes).await;
            }
        }
    }
}

/// Where a new consumer begins.
async fn first_position(
    claim: &Claim,
    start: Start,
    durable_before: Option<u64>,
) -> Result<Position, Failure> {
    let partition = claim.partition;
    let sequence = claim.ask(move |log| match start {
        Start::Beginning => Ok(0),
        Start::Oldest => Ok(log.first_sequence(partition)?.saturating_sub(1)),
        // Its first turn may come late, and a caller that saw the server ready counts on what follows.
        Start::Now => durable_before.map_or_else(|| log.durable_through(partition), Ok),
    });
    Ok(Position { epoch: 0, sequence: sequence.await? })
}

/// Waits for the stop. It also counts as one when no sender is left.
async fn ended(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
