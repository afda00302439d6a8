//! What a process tells the engine about a partition that it works on: how far all is, and that it is still there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, Lease};
use scarce_engine::{Failure, Log};

/// How long a process may work on a partition without saying so again.
const LEASE_TTL: Duration = Duration::from_secs(10);

/// How often it says so, and how often whoever waits for a partition looks.
pub(crate) const LEASE_INTERVAL: Duration = Duration::from_secs(3);

/// How often it is noted how far a consumer is.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(250);

/// Why a claim no longer holds.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    /// The engine cannot note it.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// Somebody else works on the partition.
    #[error("{0} has taken the partition over")]
    Lost(String),
}

/// A consumer's name on a partition, for one process.
pub(crate) struct Claim {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) partition: u32,
    pub(crate) name: ConsumerName,
    pub(crate) holder: String,
}

/// When the engine was told, and what.
pub(crate) struct Notes {
    confirmed: Position,
    confirmed_at: Instant,
    leased_at: Instant,
}

impl Claim {
    /// How far the engine knows the consumer to be, if it knows it.
    pub(crate) async fn confirmed(&self) -> Result<Option<Position>, Failure> {
        let partition = self.partition;
        let known = self.ask(move |log| log.consumers(partition)).await?;
        Ok(known.into_iter().find(|its| its.name == self.name).map(|its| its.confirmed))
    }

    /// Makes the consumer known, so that the log is kept for it. Who has the lease does not matter.
    pub(crate) async fn register(&self, position: Position) -> Result<(), Failure> {
        self.confirm(position).await.map(drop)
    }

    /// Keeps the log from an earlier place than was confirmed, where the consumer's own memory says so: it was
    /// made anew, or restored from a copy. The lease must be held.
    pub(crate) async fn step_back(&self, position: Position) -> Result<(), Failure> {
        if self.confirmed().await?.is_some_and(|confirmed| confirmed > position) {
            let (partition, name) = (self.partition, self.name.clone());
            self.ask(move |log| log.forget_consumer(partition, &name)).await?;
            self.register(position).await?;
            self.take().await?;
        }
        Ok(())
    }

    /// Asks for the lease.
    pub(crate) async fn take(&self) -> Result<Lease, Failure> {
        self.lease(LEASE_TTL).await
    }

    /// Notes for a claim that was just taken.
    pub(crate) fn notes(position: Position) -> Notes {
        let now = Instant::now();
        Notes { confirmed: position, confirmed_at: now, leased_at: now }
    }

    /// Tells how far the consumer is, at once where it has nothing else to do, otherwise now and then.
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

    /// Prolongs the lease, if it is time.
    pub(crate) async fn prolong(&self, notes: &mut Notes) -> Result<(), ClaimError> {
        if notes.leased_at.elapsed() >= LEASE_INTERVAL {
            held(self.lease(LEASE_TTL).await?)?;
            notes.leased_at = Instant::now();
        }
        Ok(())
    }

    /// Says how far all is and lets go of the lease, so that another process need not wait. Where the engine cannot
    /// note it, some events come again and the lease ends by itself.
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

    /// Asks the engine, which may wait for a disk or a server, on a thread that may wait.
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

/// The failure to hear the end of what was asked.
pub(crate) fn unfinished() -> Failure {
    Failure::Unavailable { reason: "the engine was asked and did not come to an end".to_owned() }
}
