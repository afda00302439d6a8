//! Nothing is paid or sent for events of a history that the log does not have: before work is claimed, the position of its
//! consumer is compared with the log. What is then sent to the engine names the epochs of that comparison, so that it is refused if
//! events were lost since.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, diverged, vouches};
use scarce_engine::{Failure, Log, Standing};
use tokio::sync::Mutex;

use crate::Delivery;
use crate::settlement::Reached;

/// How long a comparison holds.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// What was compared last, for all workers of a process.
pub(crate) struct Guard {
    delivery: Delivery,
    consumer: &'static str,
    log: Arc<dyn Log>,
    checked: Mutex<Option<(Instant, Arc<Checked>)>>,
}

/// What was found to be of the log's history.
pub(crate) struct Checked {
    /// The consumer's positions, all of which the log has.
    pub(crate) reached: Reached,
    /// The epoch of each partition, as it was before they were compared.
    pub(crate) epochs: BTreeMap<u32, u64>,
}

impl Guard {
    /// For the work of a consumer, by its name.
    pub(crate) fn new(delivery: Delivery, log: Arc<dyn Log>, consumer: &'static str) -> Self {
        Self { delivery, consumer, log, checked: Mutex::new(None) }
    }

    /// Gives the consumer's positions, all of which the log has.
    ///
    /// # Errors
    /// When it has another history, and when that cannot be learned.
    pub(crate) async fn check(&self) -> Result<Arc<Checked>, String> {
        self.check_within(CHECK_INTERVAL).await
    }

    /// Compares now: after claims were looked up, which may have taken long, and before anything is paid.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) async fn check_again(&self) -> Result<Arc<Checked>, String> {
        self.check_within(Duration::ZERO).await
    }

    async fn check_within(&self, interval: Duration) -> Result<Arc<Checked>, String> {
        let mut checked = self.checked.lock().await;
        if let Some((_, known)) = checked.as_ref().filter(|(at, _)| at.elapsed() < interval) {
            return Ok(Arc::clone(known));
        }
        *checked = None;
        let reached = self.delivery.reached(self.consumer).await.map_err(|error| error.to_string())?;
        let (log, consumer) = (Arc::clone(&self.log), self.consumer);
        let compared = tokio::task::spawn_blocking(move || {
            let epochs = compare(&*log, consumer, &reached)?;
            Ok::<_, Failure>(Arc::new(Checked { reached, epochs }))
        });
        let compared = compared.await.map_err(|error| error.to_string())?;
        let found = compared.map_err(|failure| failure.to_string())?;
        *checked = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }
}

/// Whether the log has each position, by itself and by what the engine remembers of the consumer. Gives the epochs in which that
/// holds: they are asked for first, so that one that begins meanwhile is another one.
fn compare(log: &dyn Log, consumer: &str, reached: &Reached) -> Result<BTreeMap<u32, u64>, Failure> {
    let epochs = (0..log.partitions()).map(|partition| Ok((partition, log.epoch(partition)?)));
    let epochs = epochs.collect::<Result<_, Failure>>()?;
    for partition in 0..log.partitions() {
        let known = log.consumers(partition)?;
        let its = known.iter().find(|its| its.name.as_str() == consumer);
        if let Some((name, held)) = its.and_then(|its| Some((&its.name, its.diverged?))) {
            return Err(diverged(name, partition, held));
        }
        let Some(held) = reached.get(&partition) else { continue };
        match log.standing(partition, *held)? {
            Standing::Known | Standing::Passed { .. } => {}
            Standing::Trimmed { .. } if its.is_some_and(|its| vouches(its.confirmed, *held)) => {}
            Standing::Trimmed { begins_at } if is_epoch_of(log, partition, held.epoch, begins_at)? => {}
            Standing::Trimmed { begins_at } => return Err(unclear(consumer, partition, *held, begins_at)),
            Standing::Diverged { .. } => {
                let name = ConsumerName::parse(consumer).expect("it is written here, and is a name");
                return Err(diverged(&name, partition, *held));
            }
        }
    }
    Ok(epochs)
}

/// Whether the log has an epoch at a sequence. An epoch is of one history, so the log then had what is before it, too.
fn is_epoch_of(log: &dyn Log, partition: u32, epoch: u64, sequence: u64) -> Result<bool, Failure> {
    Ok(epoch > 0 && log.standing(partition, Position { epoch, sequence })? == Standing::Known)
}

/// The failure of a position that may be of another history, of which the log can no longer tell.
fn unclear(consumer: &str, partition: u32, held: Position, begins_at: u64) -> Failure {
    let reason = format!(
        "what '{consumer}' took from partition {partition} is of the log up to {held}, and the log begins at sequence {begins_at} \
         by now: whether that is of its history cannot be told, so nothing is paid or sent; 'scarce consumers rebase {consumer}' \
         names what was, and begins with what the engine has"
    );
    Failure::Unavailable { reason }
}
