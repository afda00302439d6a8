//! Whether a topic still is the one that is written to. If it is deleted and created again, a producer goes on in the new one without
//! an error, so that it begins in the middle of the log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::Message as _;

use super::last::{Mark, explained};
use crate::KafkaSettings;
use crate::cloud_event::{header, text};
use crate::producer::Session;
use crate::reader::Reader;
use crate::topic_id::TopicId;
use scarce_api::message::schemas::RESUMED_TYPE;

/// How long after one question to the brokers the next one is.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// How long brokers may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Which topic it is, as the brokers said last. All writers share it.
#[derive(Default)]
pub(super) struct Identity {
    told: Mutex<Option<(Instant, TopicId)>>,
}

impl Identity {
    /// The topic's identity, which may be a second old; nothing if the brokers do not tell it, which other requests say, too.
    pub(super) async fn look(&self, session: &Arc<Session>, topic: &str) -> Option<TopicId> {
        let told = *self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, id)) = told.filter(|(at, _)| at.elapsed() < ASK_INTERVAL) {
            return Some(id);
        }
        let (session, topic) = (Arc::clone(session), topic.to_owned());
        let asked = tokio::task::spawn_blocking(move || session.topic_id(&topic, ANSWER_TIMEOUT)).await;
        let id = asked.ok()?.ok()?;
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), id));
        Some(id)
    }
}

/// What is known of a topic's beginning. Blocks.
pub(super) struct Beginning {
    pub(super) id: TopicId,
    /// Whether its first message is an event with others before it, and nothing told its readers.
    pub(super) is_in_the_middle: bool,
}

/// Looks at the beginning of a partition, unless it is that of a topic which was looked at before.
pub(super) fn of(
    settings: &KafkaSettings,
    partition: u32,
    known: Option<TopicId>,
) -> Result<Beginning, String> {
    let reader = Reader::new(settings, &settings.topics.events).map_err(|error| explained(&error))?;
    let id = reader.topic_id().map_err(|error| explained(&error))?;
    let is_in_the_middle = known != Some(id) && is_in_the_middle(&reader, settings, partition)?;
    Ok(Beginning { id, is_in_the_middle })
}

/// Where messages were removed from the front, nothing can be told. What follows such a beginning is little: as soon as it is
/// noticed, readers are told.
fn is_in_the_middle(reader: &Reader, settings: &KafkaSettings, partition: u32) -> Result<bool, String> {
    let number = i32::try_from(partition).unwrap_or(i32::MAX);
    let said = |error: crate::KafkaError| explained(&error);
    let (begin, end) = reader.bounds(number).map_err(said)?;
    if begin > 0 {
        return Ok(false);
    }
    let (mut seen, mut is_in_the_middle) = (0, false);
    reader
        .read(number, begin, end, &mut |message| {
            // A compacted topic has holes.
            let is_first = message.offset() == seen;
            seen += 1;
            if text(message.headers(), header::TYPE) == Some(RESUMED_TYPE) {
                is_in_the_middle = false;
                return false;
            }
            let event = Mark::of(message).filter(|mark| mark.source == settings.source);
            match event {
                Some(mark) if !is_in_the_middle => {
                    is_in_the_middle = is_first && mark.position.sequence > 1;
                    is_in_the_middle
                }
                _ => true,
            }
        })
        .map_err(said)?;
    Ok(is_in_the_middle)
}
