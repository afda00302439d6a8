//! The partitions that the consumer group assigns to this process.

use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::TopicPartitionList;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError as Source;
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

/// Collects the group's changes in order until they are taken.
#[derive(Default)]
pub(crate) struct Membership {
    pub(crate) heard: Arc<Heard>,
    changes: Mutex<Vec<Change>>,
    changed: Notify,
}

impl Membership {
    /// The changes since the last call.
    pub(crate) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for a change. It may happen while no message arrives.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn note(&self, change: Change) {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        self.changed.notify_one();
    }
}

impl ClientContext for Membership {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.heard.log(level, facility, text);
    }

    fn error(&self, _error: Source, reason: &str) {
        self.heard.error(reason);
    }
}

impl ConsumerContext for Membership {
    /// librdkafka commits the stored offsets, and only then gives a partition up.
    fn pre_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            self.note(Change::Others(numbers(partitions)));
        }
    }

    fn post_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(partitions) = rebalance {
            // A partition that was paused when it was revoked would still be paused.
            if consumer.resume(partitions).is_err() {
                self.heard.error("partitions that came could not be resumed");
            }
            self.note(Change::Ours(numbers(partitions)));
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
