//! Out: the log of the engine to a topic. A partition of the topic is one of the engine's, and holds its events
//! in their order, each at least once.

mod follow;
mod following;
mod last;
mod record;
mod writer;

use std::sync::Arc;

pub use follow::{Ends, ends, follow, source};
pub use following::{Following, Levels};
pub use writer::EventWriter;

use crate::producer::Publisher;
use crate::topics::{self, Wanted};
use crate::{KafkaError, KafkaSettings};

/// The topic that events go to. Its writers share one producer.
#[derive(Clone)]
pub struct EventTopic {
    settings: Arc<KafkaSettings>,
    publisher: Publisher,
}

impl EventTopic {
    /// Sees to it that the topic is there, with a partition for each of the engine's.
    ///
    /// # Errors
    /// When no broker answers, or the topic is not as it must be and may not be made so.
    pub async fn open(settings: &KafkaSettings, partitions: u32) -> Result<Self, KafkaError> {
        let publisher = Publisher::new(settings)?;
        let events = Wanted { topic: &settings.topics.events, partitions, exactly: true };
        topics::ensure(settings, &[events]).await?;
        Ok(Self { settings: Arc::new(settings.clone()), publisher })
    }

    /// Who writes the events of a partition. There may be one for each only.
    #[must_use]
    pub fn writer(&self, partition: u32) -> EventWriter {
        EventWriter::new(self.settings.clone(), self.publisher.clone(), partition)
    }
}
