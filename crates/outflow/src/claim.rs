//! What a process reports to the engine about its partition: its position, and that it is alive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_engine::consumers::{self, ConsumerName, Consumption, Lease};
use scarce_engine::{Failure, Log, Standing};

use crate::consumer::HeldStretch;

/// How long a lease lasts without renewal.
const LEASE_TTL: Duration = Duration::from_secs(10);

/// How often a lease is renewed, and how often a waiting process checks for a free one.
pub(crate) const LEASE_INTERVAL: Duration = Duration::from_secs(3);

/// How often the engine is asked whether a consumer that holds another history was rebased.
const REBASE_INTERVAL: Duration = Duration::from_millis(500);

/// How often a consumer's position is confirmed.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(250);

/// Why a claim no longer holds.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    /// The engine cannot record it.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// Events between the consumer's position and the beginning of the log are gone.
    #[error(
        "the log of partition {partition} begins at sequence {begins_at}, and the consumer '{name}' has the events \
         up to {after}: those between were trimmed while it did not hold the log; 'scarce consumers rebase {name}' \
         says what it misses, and starts it over"
    )]
    Missed {
        /// The consumer.
        name: ConsumerName,
        /// The partition of the log.
        partition: u32,
        /// Its position.
        after: Position,
        /// The first sequence that is still there.
        begins_at: u64,
    },
    /// The consumer's own store has no position, and the engine knows that it had one.
    #[error(
        "the consumer '{name}' has confirmed the events of partition {partition} up to {confirmed}, and its own store says \
         nothing of that: it was lost, restored from an older backup, or is another one; put the right one back, or \
         'scarce consumers rebase {name}' says what is missing, and starts it over"
    )]
    Emptied {
        /// The consumer.
        name: ConsumerName,
        /// The partition of the log.
        partition: u32,
        /// What the engine knows as confirmed.
        confirmed: Position,
    },
    /// Another process works on the partition.
    #[error("{0} has taken the partition over")]
    Lost(String),
}

/// A consumer's claim on a partition, for one process.
pub(crate) struct Claim {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) partition: u32,
    pub(crate) name: ConsumerName,
    pub(crate) holder: String,
}

/// Where a consumer goes on.
pub(crate) struct Resumption {
    /// The last known position.
    pub(crate) position: Option<Position>,
    /// The position that the engine knows as confirmed, if an event was consumed up to there.
    pub(crate) consumed: Option<Position>,
    /// The position of another history that the consumer's own store may still say.
    pub(crate) abandoned: Option<Position>,
}

/// What was last reported to the engine, and when.
pub(crate) struct Notes {
    confirmed: Position,
    confirmed_at: Instant,
    leased_at: Instant,
}

impl Claim {
    /// The consumer's confirmed position, if the engine knows the consumer.
    pub(crate) async fn confirmed(&self) -> Result<Option<Position>, Failure> {
        Ok(self.consumption().await?.map(|its| its.confirmed))
    }

    /// Where to go on: the consumer's own position, unless the consumer was rebased from it; else the confirmed one. A
    /// rebase that rewrites the consumer's store leaves no such position there.
    pub(crate) async fn resume_at(
        &self,
        own: Option<Position>,
        is_rewritten: bool,
    ) -> Result<Resumption, Failure> {
        let its = self.consumption().await?;
        let abandoned = its.as_ref().and_then(|its| its.abandoned).filter(|_| !is_rewritten);
        let confirmed = its.map(|its| its.confirmed);
        let own = own.filter(|own| Some(*own) != abandoned);
        // It was registered behind an event of no known epoch if it has consumed none.
        let consumed = confirmed.filter(|its| its.epoch > 0);
        Ok(Resumption { position: own.or(confirmed), consumed, abandoned })
    }

    /// The last event that a consumer holds and the log has, too.
    pub(crate) async fn last_shared(&self, held: Vec<HeldStretch>) -> Result<Option<Position>, Failure> {
        let partition = self.partition;
        self.ask(move |log| {
            let has = |epoch, sequence| {
                let standing = log.standing(partition, Position { epoch, sequence })?;
                Ok::<_, Failure>(matches!(standing, Standing::Known))
            };
            for HeldStretch { epoch, first, last } in held.into_iter().rev() {
                // The oldest of it may be trimmed, which tells nothing of the others.
                let mut low = first.max(log.first_sequence(partition)?);
                let mut high = last.min(log.durable_through(partition)?);
                if low > high || !has(epoch, low)? {
                    continue;
                }
                // An epoch has one beginning, so the log has all before it, too.
                while low < high {
                    let middle = low + (high - low).div_ceil(2);
                    if has(epoch, middle)? { low = middle } else { high = middle - 1 }
                }
                return Ok(Some(Position { epoch, sequence: low }));
            }
            Ok(None)
        })
        .await
    }

    /// What the engine knows of the consumer.
    async fn consumption(&self) -> Result<Option<Consumption>, Failure> {
        let partition = self.partition;
        let known = self.ask(move |log| log.consumers(partition)).await?;
        Ok(known.into_iter().find(|its| its.name == self.name))
    }

    /// Checks that a position is one of this log, before anything is confirmed: otherwise the log could be trimmed up
    /// to where another history had ended.
    ///
    /// # Errors
    /// When the log does not have the position, which the engine then remembers; when it no longer reaches back to it,
    /// and does not know that the consumer confirmed it; and when the consumer has diverged before. Nothing is remembered of the
    /// position that a rebase has just left, unless the consumer's store is rewritten then and has it again: it was put back.
    pub(crate) async fn check(&self, position: Position, is_rewritten: bool) -> Result<(), ClaimError> {
        let partition = self.partition;
        let its = self.consumption().await?;
        if let Some(held) = its.as_ref().and_then(|its| its.diverged) {
            return Err(consumers::diverged(&self.name, partition, held).into());
        }
        let was_rebased = !is_rewritten && its.as_ref().is_some_and(|its| its.abandoned == Some(position));
        match self.ask(move |log| log.standing(partition, position)).await? {
            // A rebase was faster than the look at the consumer's own position.
            Standing::Diverged { .. } if was_rebased => {
                return Err(consumers::diverged(&self.name, partition, position).into());
            }
            Standing::Known | Standing::Passed { .. } => {}
            Standing::Trimmed { .. }
                if its.is_some_and(|its| consumers::vouches(its.confirmed, position)) => {}
            Standing::Trimmed { begins_at } => return Err(self.missed(position, begins_at)),
            Standing::Diverged { .. } => return Err(self.note_divergence(position).await?.into()),
        }
        match self.first_kept().await? {
            begins_at if begins_at > position.sequence + 1 => Err(self.missed(position, begins_at)),
            _ => Ok(()),
        }
    }

    /// The error that the consumer's own store does not know what it has consumed.
    pub(crate) fn emptied(&self, confirmed: Position) -> ClaimError {
        ClaimError::Emptied { name: self.name.clone(), partition: self.partition, confirmed }
    }

    fn missed(&self, after: Position, begins_at: u64) -> ClaimError {
        ClaimError::Missed { name: self.name.clone(), partition: self.partition, after, begins_at }
    }

    /// The first sequence that the log still has.
    pub(crate) async fn first_kept(&self) -> Result<u64, Failure> {
        let partition = self.partition;
        self.ask(move |log| log.first_sequence(partition)).await
    }

    /// Sets the consumer onto a position from which it was begun anew. It loses the lease by that, and takes it again.
    pub(crate) async fn move_to(&self, position: Position) -> Result<(), ClaimError> {
        // The epoch is not compared: the event itself may be trimmed.
        let (partition, to) = (self.partition, Position { epoch: 0, ..position });
        let name = self.name.clone();
        self.ask(move |log| log.rebase_consumer(partition, &name, to)).await?;
        held(self.take().await?)?;
        // With its epoch it says that something was consumed.
        held(self.confirm(position).await?)
    }

    /// Has the engine remember that the consumer holds a position which the log does not have.
    pub(crate) async fn note_divergence(&self, held: Position) -> Result<Failure, Failure> {
        let (partition, name) = (self.partition, self.name.clone());
        self.ask(move |log| log.note_divergence(partition, &name, held)).await?;
        Ok(consumers::diverged(&self.name, partition, held))
    }

    /// Registers the consumer, so that the log is kept for it. It need not have the lease.
    pub(crate) async fn register(&self, position: Position) -> Result<(), Failure> {
        self.confirm(position).await.map(drop)
    }

    /// Keeps the log from an earlier position than the confirmed one, if the consumer's own store is behind:
    /// it was created anew, or restored from a backup. Requires the lease.
    pub(crate) async fn step_back(&self, position: Position) -> Result<(), Failure> {
        if self.confirmed().await?.is_some_and(|confirmed| confirmed > position) {
            let (partition, name) = (self.partition, self.name.clone());
            self.ask(move |log| log.forget_consumer(partition, &name)).await?;
            self.register(position).await?;
            self.take().await?;
        }
        Ok(())
    }

    /// Waits until the consumer was rebased, by whichever server was asked; without end if it holds no other history.
    pub(crate) async fn rebased(&self) {
        let has_diverged =
            async || Ok::<_, Failure>(self.consumption().await?.is_some_and(|its| its.diverged.is_some()));
        if !has_diverged().await.unwrap_or(false) {
            return std::future::pending().await;
        }
        while has_diverged().await.unwrap_or(true) {
            tokio::time::sleep(REBASE_INTERVAL).await;
        }
    }

    /// Requests the lease.
    pub(crate) async fn take(&self) -> Result<Lease, Failure> {
        self.lease(LEASE_TTL).await
    }

    /// The notes of a claim that was just taken.
    pub(crate) fn notes(position: Position) -> Notes {
        let now = Instant::now();
        Notes { confirmed: position, confirmed_at: now, leased_at: now }
    }

    /// Confirms the consumer's position: at once if the consumer is idle, otherwise at intervals.
    pub(crate) async fn note(
        &self,
        notes: &mut Notes,
        position: Position,
        is_idle: bool,
    ) -> Result<(), ClaimError> {
        if position != notes.confirmed && (is_idle || notes.confirmed_at.elapsed() >= CONFIRM_INTERVAL) {
            held(self.confirm(position).await?)?;
            (notes.confirmed, notes.confirmed_at) = (position, Instant::now());
        }
        self.prolong(notes).await
    }

    /// Renews the lease when it is time.
    pub(crate) async fn prolong(&self, notes: &mut Notes) -> Result<(), ClaimError> {
        if notes.leased_at.elapsed() >= LEASE_INTERVAL {
            held(self.lease(LEASE_TTL).await?)?;
            notes.leased_at = Instant::now();
        }
        Ok(())
    }

    /// Confirms the position and releases the lease, so that another process need not wait. If the engine
    /// cannot record it, some events come again and the lease expires by itself.
    pub(crate) async fn leave(&self, notes: &Notes, position: Position) {
        if position != notes.confirmed {
            let _ = self.confirm(position).await;
        }
        let _ = self.lease(Duration::ZERO).await;
    }

    async fn confirm(&self, position: Position) -> Result<Lease, Failure> {
        let (partition, name, holder) = (self.partition, self.name.clone(), self.holder.clone());
        self.ask(move |log| log.confirm(partition, &name, &holder, position)).await
    }

    async fn lease(&self, ttl: Duration) -> Result<Lease, Failure> {
        let (partition, name, holder) = (self.partition, self.name.clone(), self.holder.clone());
        self.ask(move |log| log.lease(partition, &name, &holder, ttl)).await
    }

    /// Calls the engine, which may block on a disk or a server, on a thread that may block.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Log) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let log = Arc::clone(&self.log);
        tokio::task::spawn_blocking(move || question(&*log)).await.unwrap_or_else(|_| Err(unfinished()))
    }
}

fn held(lease: Lease) -> Result<(), ClaimError> {
    match lease {
        Lease::Held => Ok(()),
        Lease::HeldBy(other) => Err(ClaimError::Lost(other)),
    }
}

/// The failure that a call to the engine did not finish.
pub(crate) fn unfinished() -> Failure {
    Failure::Unavailable { reason: "the engine was asked and did not come to an end".to_owned() }
}
