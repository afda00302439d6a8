//! Finds the last event of a partition of the topic.

use rdkafka::Message as _;
use rdkafka::message::BorrowedMessage;
use scarce_core::event::Position;
use scarce_outflow::HeldStretch;

use crate::cloud_event::{header, text};
use crate::reader::Reader;
use crate::{KafkaError, KafkaSettings};

/// How far back from the end the first search begins. The last offsets may hold no event: compaction and
/// transaction markers leave holes, and other producers may write messages.
const OFFSETS_FIRST: i64 = 16;

/// How far back from the end the last search begins.
const OFFSETS_MAX: i64 = 1 << 16;

/// The same, where it is looked for what the topic shares with the log: beyond that, what the engine knows has to do.
const HELD_OFFSETS_MAX: i64 = 1 << 20;

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

/// What a partition of the topic holds behind a sequence, as its readers have it: an event takes the place of those that
/// had its sequence, or a later one, before. Blocks.
///
/// # Errors
/// When no broker answers, or the topic cannot be read.
pub fn held_after(
    settings: &KafkaSettings,
    partition: u32,
    after: u64,
) -> Result<Vec<HeldStretch>, KafkaError> {
    read_back(settings, partition, after, |held, position, _| put(held, position), |first| first.first)
}

/// An event that a topic holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldEvent {
    /// Its position in the log that it was of.
    pub position: Position,
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// What changed.
    pub subject: Option<String>,
}

/// The events that a partition of the topic holds behind a sequence, as its readers have them. Blocks.
///
/// # Errors
/// When no broker answers, or the topic cannot be read.
pub fn held_events(
    settings: &KafkaSettings,
    partition: u32,
    after: u64,
) -> Result<Vec<HeldEvent>, KafkaError> {
    let put = |held: &mut Vec<HeldEvent>, position: Position, message: &BorrowedMessage<'_>| {
        while held.last().is_some_and(|event| event.position.sequence >= position.sequence) {
            held.pop();
        }
        let told = |name| text(message.headers(), name).map(str::to_owned);
        let (id, kind) = (told(header::ID).unwrap_or_default(), told(header::TYPE).unwrap_or_default());
        held.push(HeldEvent { position, id, kind, subject: told(header::SUBJECT) });
    };
    let mut held = read_back(settings, partition, after, put, |first| first.position.sequence)?;
    held.retain(|event| event.position.sequence > after);
    Ok(held)
}

/// Reads the end of a partition, from so far back that it reaches a sequence.
fn read_back<T>(
    settings: &KafkaSettings,
    partition: u32,
    after: u64,
    put: impl Fn(&mut Vec<T>, Position, &BorrowedMessage<'_>),
    first_sequence: impl Fn(&T) -> u64,
) -> Result<Vec<T>, KafkaError> {
    let number = i32::try_from(partition).unwrap_or(i32::MAX);
    let reader = Reader::new(settings, &settings.topics.events)?;
    let (begin, end) = reader.bounds(number)?;
    let mut offsets = OFFSETS_FIRST;
    loop {
        let from = begin.max(end - offsets);
        let mut held = Vec::new();
        reader.read(number, from, end, &mut |message| {
            let mark = Mark::of(message);
            if let Some(mark) =
                mark.filter(|mark| mark.source == settings.source && mark.partition == partition)
            {
                put(&mut held, mark.position, message);
            }
            true
        })?;
        let reaches = held.first().is_some_and(|first| first_sequence(first) <= after + 1);
        if reaches || from == begin || offsets >= HELD_OFFSETS_MAX {
            return Ok(held);
        }
        offsets *= OFFSETS_FIRST;
    }
}

/// Puts a further event behind those that are held.
fn put(held: &mut Vec<HeldStretch>, Position { epoch, sequence }: Position) {
    while held.last().is_some_and(|stretch| stretch.first >= sequence) {
        held.pop();
    }
    match held.last_mut() {
        Some(stretch) if stretch.epoch == epoch && stretch.last + 1 >= sequence => stretch.last = sequence,
        last => {
            if let Some(stretch) = last {
                stretch.last = stretch.last.min(sequence - 1);
            }
            held.push(HeldStretch { epoch, first: sequence, last: sequence });
        }
    }
}

/// The event's description in a message's headers.
pub(super) struct Mark {
    pub(super) source: String,
    pub(super) partition: u32,
    pub(super) position: Position,
}

impl Mark {
    /// `None` if the message is not an event.
    pub(super) fn of(message: &BorrowedMessage<'_>) -> Option<Self> {
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
pub(super) fn explained(error: &KafkaError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_behind_a_break_is_not_held() {
        let mut held = Vec::new();
        for (epoch, sequences) in [(1, 5..=20), (2, 11..=14), (2, 13..=16), (3, 8..=9)] {
            sequences.for_each(|sequence| put(&mut held, Position { epoch, sequence }));
        }
        let stretch = |epoch, first, last| HeldStretch { epoch, first, last };
        assert_eq!(held, [stretch(1, 5, 7), stretch(3, 8, 9)]);
        put(&mut held, Position { epoch: 4, sequence: 12 });
        assert_eq!(held[2], stretch(4, 12, 12), "with a gap before it");
    }
}
