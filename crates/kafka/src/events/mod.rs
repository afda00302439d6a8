//! Out: the engine's log to a topic. A partition of the topic corresponds to one of the engine's, and holds
//! its events in order, each at least once.

mod beginning;
mod copy;
mod follow;
mod following;
mod last;
mod record;
mod resumed;
mod writer;

use std::sync::Arc;

pub use copy::TopicCopy;
pub use follow::{Ends, ends, follow, source};
pub use following::{Following, Levels};
pub use scarce_outflow::HeldStretch;

pub use last::{HeldEvent, held_after, held_events};
pub use writer::EventWriter;

use crate::producer::Publisher;
use crate::topics::{self, Wanted};
use crate::{KafkaError, KafkaSettings};

/// The topic of events. Its writers share one producer.
#[derive(Clone)]
pub struct EventTopic {
    settings: Arc<KafkaSettings>,
    publisher: Publisher,
    identity: Arc<beginning::Identity>,
}

impl EventTopic {
    /// Ensures that the topic exists, with a partition for each of the engine's.
    ///
    /// # Errors
    /// When no broker answers, or the topic is missing or wrong and may not be created.
    pub async fn open(settings: &KafkaSettings, partitions: u32) -> Result<Self, KafkaError> {
        let publisher = Publisher::new(settings)?;
        let events = Wanted { topic: &settings.topics.events, partitions, exactly: true };
        topics::ensure(settings, &[events]).await?;
        Ok(Self { settings: Arc::new(settings.clone()), publisher, identity: Arc::default() })
    }

    /// The writer of a partition's events. Each partition may have only one.
    #[must_use]
    pub fn writer(&self, partition: u32) -> EventWriter {
        EventWriter::new(self.settings.clone(), self.publisher.clone(), self.identity.clone(), partition)
    }
}
