//! The unit of the log: what one step of one operation changed, encoded once, with the same bytes in the
//! journal, in replication and for readers.
//!
//! | field | bytes |
//! |---|---|
//! | length of what follows | 4, little-endian |
//! | flags: 1 has an operation, 2 has an outcome, 4 more steps follow | 1 |
//! | epoch, first sequence, stamp | varints |
//! | operation: namespace, id (texts), content hash (8, little-endian) | where flagged |
//! | outcome: code number, facts | where flagged |
//! | number of events, then each: number, fields | varint, … |

use std::ops::Range;

use compact_str::CompactString;

use super::{Event, Position};
use crate::codec::{Input, Malformed, Wire};
use crate::draft::Draft;
use crate::outcome::{Facts, Outcome, draft_applied, draft_facts};
use crate::types::{OperationId, TimeMs};

const HAS_OPERATION: u8 = 1;
const HAS_OUTCOME: u8 = 2;
const HAS_MORE: u8 = 4;

/// The largest entry. Writers must stay below it, because a larger one could not be read back.
pub const ENTRY_BYTES_MAX: usize = 4 << 20;

/// The operation that made an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationMark {
    /// The namespace of the id.
    pub namespace: CompactString,
    /// The caller's id.
    pub id: OperationId,
    /// The content hash of the request.
    pub fingerprint: u64,
}

impl Wire for OperationMark {
    fn put(&self, out: &mut Vec<u8>) {
        self.namespace.put(out);
        self.id.put(out);
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            namespace: Wire::get(input)?,
            id: Wire::get(input)?,
            fingerprint: u64::from_le_bytes(Wire::get(input)?),
        })
    }
}

/// The header of an entry, before its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHead {
    /// The epoch of the partition's leadership.
    pub epoch: u64,
    /// The sequence of the first event.
    pub sequence_first: u64,
    /// The stamp.
    pub at: TimeMs,
    /// The operation that made the entry; absent for deadlines, and if the caller gave no id.
    pub operation: Option<OperationMark>,
    /// Whether further steps of the operation follow.
    pub more: bool,
}

/// An entry as read from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The header.
    pub head: EntryHead,
    /// The answer that is stored under the operation's id.
    pub outcome: Option<Outcome>,
    /// What changed, in order.
    pub events: Vec<Event>,
}

impl Entry {
    /// The sequence of the last event; every entry has at least one.
    #[must_use]
    pub fn sequence_last(&self) -> u64 {
        self.head.sequence_first + self.events.len() as u64 - 1
    }

    /// The position after its last event.
    #[must_use]
    pub fn end(&self) -> Position {
        Position { epoch: self.head.epoch, sequence: self.sequence_last() }
    }

    /// Appends an entry to the log's bytes. Returns where in them the outcome is.
    pub fn write(
        log: &mut Vec<u8>,
        head: &EntryHead,
        outcome: Option<&Outcome>,
        events: &[Event],
    ) -> Range<usize> {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(head.operation.is_some(), HAS_OPERATION)
            | flag(outcome.is_some(), HAS_OUTCOME)
            | flag(head.more, HAS_MORE);
        let start = log.len();
        log.extend_from_slice(&[0, 0, 0, 0, flags]);
        head.epoch.put(log);
        head.sequence_first.put(log);
        head.at.put(log);
        if let Some(operation) = &head.operation {
            operation.put(log);
        }
        let outcome_start = log.len();
        if let Some(outcome) = outcome {
            outcome.put(log);
        }
        let outcome_end = log.len();
        (events.len() as u64).put(log);
        events.iter().for_each(|event| event.put(log));
        debug_assert!(log.len() - start <= ENTRY_BYTES_MAX, "nobody could read this entry");
        let length = u32::try_from(log.len() - start - 4).unwrap_or(u32::MAX);
        log[start..start + 4].copy_from_slice(&length.to_le_bytes());
        outcome_start..outcome_end
    }

    /// The same in a draft, for an entry of one event without further steps, and an operation that was applied with these
    /// numbers, by the bytes of its ID and its content hash. `put_event` appends the event.
    pub(crate) fn draft(
        draft: &mut Draft,
        (epoch, sequence_first, at): (u64, u64, TimeMs),
        operation: Option<(&[u8], u64)>,
        numbers: [i64; 2],
        put_event: impl FnOnce(&mut Draft),
    ) -> Range<usize> {
        let start = draft.len();
        let flags = if operation.is_some() { HAS_OPERATION | HAS_OUTCOME } else { 0 };
        draft.put([0, 0, 0, 0, flags]);
        [epoch, sequence_first, at].into_iter().for_each(|number| draft.put_number(number));
        let mut outcome = 0..0;
        if let Some((id, fingerprint)) = operation {
            // The namespace.
            draft.put_text(b"");
            draft.put_text(id);
            draft.put(fingerprint.to_le_bytes());
            let outcome_start = draft.len();
            draft_applied(numbers, draft);
            outcome = outcome_start..draft.len();
        }
        draft.put_number(1);
        put_event(draft);
        let length = u32::try_from(draft.len() - start - 4).unwrap_or(u32::MAX);
        draft.put_at(start, length.to_le_bytes());
        outcome
    }

    /// The same in a draft, for an entry of few events without further steps, and an operation that was applied with these
    /// values, by its namespace, its ID and its content hash. `put_events` appends so many events.
    pub(crate) fn draft_several(
        draft: &mut Draft,
        (epoch, sequence_first, at): (u64, u64, TimeMs),
        operation: Option<(&str, &OperationId, u64)>,
        facts: &Facts,
        (count, put_events): (u8, impl FnOnce(&mut Draft)),
    ) -> Range<usize> {
        let start = draft.len();
        let flags = if operation.is_some() { HAS_OPERATION | HAS_OUTCOME } else { 0 };
        draft.put([0, 0, 0, 0, flags]);
        [epoch, sequence_first, at].into_iter().for_each(|number| draft.put_number(number));
        let mut outcome = 0..0;
        if let Some((namespace, id, fingerprint)) = operation {
            draft.put_text(namespace.as_bytes());
            draft.put_text(id.as_str().as_bytes());
            draft.put(fingerprint.to_le_bytes());
            let outcome_start = draft.len();
            draft_facts(facts, draft);
            outcome = outcome_start..draft.len();
        }
        draft.put_byte(count);
        put_events(draft);
        let length = u32::try_from(draft.len() - start - 4).unwrap_or(u32::MAX);
        draft.put_at(start, length.to_le_bytes());
        outcome
    }

    /// Reads the entry at the front of `input`.
    ///
    /// # Errors
    /// When the bytes are not an entry that this version can read.
    pub fn read(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let length = u32::from_le_bytes(Wire::get(input)?) as usize;
        if length > ENTRY_BYTES_MAX {
            return Err(Malformed);
        }
        let mut body = Input::new(input.take(length)?);
        let flags = body.byte()?;
        if flags & !(HAS_OPERATION | HAS_OUTCOME | HAS_MORE) != 0 {
            return Err(Malformed);
        }
        let (epoch, sequence_first, at) =
            (Wire::get(&mut body)?, Wire::get(&mut body)?, Wire::get(&mut body)?);
        let operation = if flags & HAS_OPERATION == 0 { None } else { Some(OperationMark::get(&mut body)?) };
        let outcome = if flags & HAS_OUTCOME == 0 { None } else { Some(Outcome::get(&mut body)?) };
        let count = body.count()?;
        let events: Vec<Event> = (0..count).map(|_| Event::get(&mut body)).collect::<Result<_, _>>()?;
        if !body.is_empty() || sequence_first == 0 || events.is_empty() {
            return Err(Malformed);
        }
        let head = EntryHead { epoch, sequence_first, at, operation, more: flags & HAS_MORE != 0 };
        Ok(Self { head, outcome, events })
    }

    /// Skips the entry at the front of `input` and returns the sequence of its first event.
    ///
    /// # Errors
    /// When the bytes do not start like an entry.
    pub fn skip(input: &mut Input<'_>) -> Result<u64, Malformed> {
        let length = u32::from_le_bytes(Wire::get(input)?) as usize;
        let mut body = Input::new(input.take(length)?);
        let (_flags, _epoch) = (body.byte()?, u64::get(&mut body)?);
        u64::get(&mut body)
    }

    /// Reads consecutive entries.
    ///
    /// # Errors
    /// When any of the bytes are not part of an entry.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<Self>, Malformed> {
        let mut input = Input::new(bytes);
        let mut entries = Vec::new();
        while !input.is_empty() {
            entries.push(Self::read(&mut input)?);
        }
        Ok(entries)
    }
}
