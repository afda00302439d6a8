//! The partitions that the consumer group assigns to this process.

use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError as Source, KafkaResult};
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{Offset, TopicPartitionList};
use tokio::sync::Notify;

use crate::client::Heard;

/// A change of the assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These partitions were assigned to this process.
    Ours(Vec<i32>),
    /// These were revoked.
    Others(Vec<i32>),
}

/// Positions that are kept outside the consumer group.
pub(crate) trait KeptPositions: Send + Sync {
    /// Where these partitions begin; one that is left out begins at the group's offset. Blocks.
    ///
    /// # Errors
    /// When the positions cannot be learned.
    fn starts(&self, partitions: &[i32]) -> Result<Vec<(i32, Offset)>, String>;

    /// These partitions are about to be given up. Blocks.
    fn leave(&self, partitions: &[i32]);
}

/// Collects the group's changes in order until they are taken.
#[derive(Default)]
pub(crate) struct Membership {
    pub(crate) heard: Arc<Heard>,
    kept: Option<Arc<dyn KeptPositions>>,
    changes: Mutex<Vec<Change>>,
    failure: Mutex<Option<String>>,
    changed: Notify,
}

impl Membership {
    /// A membership whose partitions begin at kept positions.
    pub(crate) fn with(kept: Arc<dyn KeptPositions>) -> Self {
        Self { kept: Some(kept), ..Self::default() }
    }

    /// The changes since the last call.
    pub(crate) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why partitions could not be assigned, after which this consumer is of no use.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for a change. It may happen while no message arrives.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn note(&self, change: Change) {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        self.changed.notify_one();
    }

    fn fail(&self, reason: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        self.changed.notify_one();
    }

    /// Begins to read the partitions that came.
    fn come(&self, consumer: &BaseConsumer<Self>, partitions: &mut TopicPartitionList) -> Result<(), String> {
        let text = |error: Source| error.to_string();
        if let Some(kept) = &self.kept {
            let starts = kept.starts(&numbers(partitions))?;
            for mut element in partitions.elements() {
                if let Some((_, start)) = starts.iter().find(|(its, _)| *its == element.partition()) {
                    element.set_offset(*start).map_err(text)?;
                }
            }
        }
        assign(consumer, partitions).map_err(text)?;
        // A partition that was paused when it was revoked would still be paused.
        if consumer.resume(partitions).is_err() {
            self.heard.note("partitions that came could not be resumed");
        }
        Ok(())
    }

    fn go(&self, consumer: &BaseConsumer<Self>, partitions: &TopicPartitionList) {
        if let Some(kept) = &self.kept {
            kept.leave(&numbers(partitions));
        }
        self.note(Change::Others(numbers(partitions)));
        // librdkafka commits the stored offsets, and only then gives the partitions up.
        let given_up = match consumer.rebalance_protocol() {
            RebalanceProtocol::Cooperative => consumer.incremental_unassign(partitions),
            RebalanceProtocol::None | RebalanceProtocol::Eager => consumer.unassign(),
        };
        if let Err(error) = given_up {
            self.heard.note(&error.to_string());
        }
    }
}

fn assign<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    partitions: &TopicPartitionList,
) -> KafkaResult<()> {
    match consumer.rebalance_protocol() {
        RebalanceProtocol::Cooperative => consumer.incremental_assign(partitions),
        RebalanceProtocol::None | RebalanceProtocol::Eager => consumer.assign(partitions),
    }
}

impl ClientContext for Membership {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.heard.log(level, facility, text);
    }

    fn error(&self, error: Source, reason: &str) {
        self.heard.error(&error, reason);
    }
}

impl ConsumerContext for Membership {
    fn rebalance(
        &self,
        consumer: &BaseConsumer<Self>,
        error: RDKafkaRespErr,
        partitions: &mut TopicPartitionList,
    ) {
        if error != RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            return self.go(consumer, partitions);
        }
        match self.come(consumer, partitions) {
            Ok(()) => self.note(Change::Ours(numbers(partitions))),
            Err(reason) => {
                // librdkafka waits for an answer in any case.
                if let Err(error) = assign(consumer, &TopicPartitionList::new()) {
                    self.heard.note(&error.to_string());
                }
                self.fail(reason);
            }
        }
    }
}

fn numbers(partitions: &TopicPartitionList) -> Vec<i32> {
    partitions
        .elements()
        .iter()
        .map(rdkafka::topic_partition_list::TopicPartitionListElem::partition)
        .collect()
}
