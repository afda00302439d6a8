//! Nothing is paid for claims of a history that the log does not have: before claims are tried, the position of their
//! consumer is compared with the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_engine::consumers::{ConsumerName, diverged};
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
        let mut checked = self.checked.lock().await;
        if let Some((_, reached)) = checked.as_ref().filter(|(at, _)| at.elapsed() < CHECK_INTERVAL) {
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
        if let Standing::Diverged { .. } = log.standing(partition, *held)? {
            let name = ConsumerName::parse(CONSUMER).expect("it is written here, and is a name");
            return Err(diverged(&name, partition, *held));
        }
    }
    Ok(())
}
