//! Finds the last event of a partition of the topic.

use rdkafka::Message as _;
use rdkafka::message::BorrowedMessage;
use scarce_core::event::Position;

use crate::KafkaSettings;
use crate::cloud_event::{header, text};
use crate::reader::Reader;

/// How far back from the end the first search begins. The last offsets may hold no event: compaction and
/// transaction markers leave holes, and other producers may write messages.
const OFFSETS_FIRST: i64 = 16;

/// How far back from the end the last search begins.
const OFFSETS_MAX: i64 = 1 << 16;

/// The position of the last event of a partition; `None` if there is none near the end.
pub(super) fn position(settings: &KafkaSettings, partition: u32) -> Result<Option<Position>, String> {
    before(settings, partition, i64::MAX)
}

/// The position of the last event of a partition before an offset; `None` if there is none shortly before it.
pub(super) fn before(
    settings: &KafkaSettings,
    partition: u32,
    offset: i64,
) -> Result<Option<Position>, String> {
    let number = i32::try_from(partition).unwrap_or(i32::MAX);
    let said = |error: crate::KafkaError| explained(&error);
    let reader = Reader::new(settings, &settings.topics.events).map_err(said)?;
    let (begin, end) = reader.bounds(number).map_err(said)?;
    let end = end.min(offset);
    let mut offsets = OFFSETS_FIRST;
    loop {
        let from = begin.max(end - offsets);
        let mut last = None;
        reader
            .read(number, from, end, &mut |message| {
                last = Mark::of(message).or(last.take());
                true
            })
            .map_err(said)?;
        match last {
            Some(mark) => return judge(&mark, settings, partition).map(Some),
            None if from == begin || offsets >= OFFSETS_MAX => return Ok(None),
            None => offsets *= OFFSETS_FIRST,
        }
    }
}

/// The event's description in a message's headers.
struct Mark {
    source: String,
    partition: u32,
    position: Position,
}

impl Mark {
    /// `None` if the message is not an event.
    fn of(message: &BorrowedMessage<'_>) -> Option<Self> {
        let headers = message.headers();
        let number = |name| text(headers, name).and_then(|text| text.parse::<u64>().ok());
        Some(Self {
            source: text(headers, header::SOURCE)?.to_owned(),
            partition: u32::try_from(number(header::PARTITION)?).ok()?,
            position: Position { epoch: number(header::EPOCH)?, sequence: number(header::SEQUENCE)? },
        })
    }
}

/// If two deployments wrote to one topic, readers that drop duplicates would lose events of both.
fn judge(mark: &Mark, settings: &KafkaSettings, partition: u32) -> Result<Position, String> {
    if mark.source == settings.source && mark.partition == partition {
        return Ok(mark.position);
    }
    let (topic, source) = (&settings.topics.events, &mark.source);
    Err(format!(
        "partition {partition} of the topic '{topic}' ends with an event of '{source}', and this is '{}'; give each \
         deployment topics of its own, by their prefix, or this one its former source",
        settings.source
    ))
}

/// An error with its cause.
fn explained(error: &crate::KafkaError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
