//! Nothing is paid for claims of a history that the log does not have: before claims are tried, the position of their
//! consumer is compared with the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, diverged, vouches};
use scarce_engine::{Failure, Log, Standing};
use tokio::sync::Mutex;

use super::passing::Reached;
use crate::Delivery;

/// How long a comparison holds.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Who consumes the log for settlements.
const CONSUMER: &str = "settlement";

/// What was compared last, for all workers of a process.
pub(super) struct Guard {
    delivery: Delivery,
    log: Arc<dyn Log>,
    checked: Mutex<Option<(Instant, Arc<Reached>)>>,
}

impl Guard {
    pub(super) fn new(delivery: Delivery, log: Arc<dyn Log>) -> Self {
        Self { delivery, log, checked: Mutex::new(None) }
    }

    /// Gives the consumer's positions, all of which the log has.
    ///
    /// # Errors
    /// When it has another history, and when that cannot be learned.
    pub(super) async fn check(&self) -> Result<Arc<Reached>, String> {
        self.check_within(CHECK_INTERVAL).await
    }

    /// Compares now: after claims were looked up, which may have taken long, and before anything is paid.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(super) async fn check_again(&self) -> Result<(), String> {
        self.check_within(Duration::ZERO).await.map(drop)
    }

    async fn check_within(&self, interval: Duration) -> Result<Arc<Reached>, String> {
        let mut checked = self.checked.lock().await;
        if let Some((_, reached)) = checked.as_ref().filter(|(at, _)| at.elapsed() < interval) {
            return Ok(Arc::clone(reached));
        }
        *checked = None;
        let reached = self.delivery.reached().await.map_err(|error| error.to_string())?;
        let (log, reached) = (Arc::clone(&self.log), Arc::new(reached));
        let positions = Arc::clone(&reached);
        let compared = tokio::task::spawn_blocking(move || compare(&*log, &positions)).await;
        compared.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())?;
        *checked = Some((Instant::now(), Arc::clone(&reached)));
        Ok(reached)
    }
}

/// Whether the log has each position, by itself and by what the engine remembers of the consumer.
fn compare(log: &dyn Log, reached: &Reached) -> Result<(), Failure> {
    for partition in 0..log.partitions() {
        let known = log.consumers(partition)?;
        let its = known.iter().find(|its| its.name.as_str() == CONSUMER);
        if let Some((name, held)) = its.and_then(|its| Some((&its.name, its.diverged?))) {
            return Err(diverged(name, partition, held));
        }
        let Some(held) = reached.get(&partition) else { continue };
        match log.standing(partition, *held)? {
            Standing::Known | Standing::Passed { .. } => {}
            Standing::Trimmed { .. } if its.is_some_and(|its| vouches(its.confirmed, *held)) => {}
            Standing::Trimmed { begins_at } if is_epoch_of(log, partition, held.epoch, begins_at)? => {}
            Standing::Trimmed { begins_at } => return Err(unclear(partition, *held, begins_at)),
            Standing::Diverged { .. } => {
                let name = ConsumerName::parse(CONSUMER).expect("it is written here, and is a name");
                return Err(diverged(&name, partition, *held));
            }
        }
    }
    Ok(())
}

/// Whether the log has an epoch at a sequence. An epoch is of one history, so the log then had what is before it, too.
fn is_epoch_of(log: &dyn Log, partition: u32, epoch: u64, sequence: u64) -> Result<bool, Failure> {
    Ok(epoch > 0 && log.standing(partition, Position { epoch, sequence })? == Standing::Known)
}

/// The failure of a position that may be of another history, of which the log can no longer tell.
fn unclear(partition: u32, held: Position, begins_at: u64) -> Failure {
    let reason = format!(
        "the settlements of partition {partition} are of the log up to {held}, and the log begins at sequence {begins_at} by \
         now: whether they are of its history cannot be told, so nothing is paid; 'scarce consumers rebase {CONSUMER}' looks up \
         what was paid, and begins with the claims that the engine has"
    );
    Failure::Unavailable { reason }
}
