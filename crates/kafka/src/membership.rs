//! Which partitions are ours: what the group says.

use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::TopicPartitionList;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError as Source;
use tokio::sync::Notify;

use crate::client::Heard;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These partitions are ours from now on.
    Ours(Vec<i32>),
    /// These are no longer.
    Others(Vec<i32>),
}

/// Collects what the group says, in its order, until somebody looks.
#[derive(Default)]
pub(crate) struct Membership {
    pub(crate) heard: Arc<Heard>,
    changes: Mutex<Vec<Change>>,
    changed: Notify,
}

impl Membership {
    /// What changed since the last look.
    pub(crate) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until something has changed. Where no message comes, nothing else tells.
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
    /// librdkafka notes the place of what is done, and only then lets a partition go.
    fn pre_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            self.note(Change::Others(numbers(partitions)));
        }
    }

    fn post_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(partitions) = rebalance {
            // One that was ours before, and stood still when it went, would still stand.
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
