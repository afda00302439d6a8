//! What is remembered of operations, so that one id has one effect and one answer.

use std::collections::VecDeque;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::codec::{Input, Malformed, Wire};
use crate::event::OperationMark;
use crate::outcome::{Code, Outcome};
use crate::state::Settings;
use crate::types::{OperationId, TimeMs};

/// How many bytes of an encoded outcome are kept in place; a larger one is read back from the log.
const INLINE_BYTES_MAX: usize = 22;

/// An operation that was carried out, refused for good, or declared absent.
#[derive(Clone, Debug)]
struct Record {
    key: u128,
    fingerprint: u64,
    at: TimeMs,
    sequence_last: u64,
    events: u32,
    length: u8,
    outcome: [u8; INLINE_BYTES_MAX],
}

/// What is known of an operation id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// The answer, from where it is kept in place.
    Outcome {
        /// The answer.
        outcome: Outcome,
        /// The content hash it was given with.
        fingerprint: u64,
        /// The last event of the operation.
        sequence_last: u64,
        /// How many events it made in its last step.
        events: u32,
        /// When it was decided.
        at: TimeMs,
    },
    /// The answer is in the log, in the entry that ends at this sequence.
    InLog {
        /// The content hash it was given with.
        fingerprint: u64,
        /// The last event of the operation.
        sequence_last: u64,
    },
    /// The id was declared absent.
    Absent,
}

/// The records by id and in the order of their stamps.
#[derive(Debug)]
pub struct Operations {
    index: HashTable<u64>,
    records: VecDeque<Record>,
    /// The position of the first record; positions only rise.
    first: u64,
    seed: u64,
    scratch: Vec<u8>,
    /// The stamp of the youngest record that was forgotten for lack of room.
    forgotten_at: TimeMs,
}

impl Operations {
    /// Remembers nothing yet; `seed` keys the hash of ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { index: HashTable::new(), records: VecDeque::new(), first: 0, seed, scratch: Vec::new(), forgotten_at: 0 }
    }

    /// How many operations are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no operation is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The earliest sequence whose entry may still be read back for a receipt.
    #[must_use]
    pub fn sequence_first(&self) -> Option<u64> {
        let in_log = |record: &&Record| record.length == IN_LOG;
        self.records.iter().find(in_log).map(|record| record.sequence_last)
    }

    /// The stamp up to which ids may have been forgotten.
    #[must_use]
    pub fn horizon(&self, settings: &Settings, now: TimeMs) -> TimeMs {
        now.saturating_sub(settings.window_ms).max(self.forgotten_at)
    }

    /// What is known of an id.
    #[must_use]
    pub fn find(&self, namespace: &str, id: &OperationId, settings: &Settings, now: TimeMs) -> Option<Known> {
        let key = self.key(namespace, id);
        let position = self.index.find(short(key), |position| self.is_at(*position, key))?;
        let record = self.record(*position).filter(|record| record.at + settings.window_ms > now)?;
        Some(record.known())
    }

    /// Whether a new id would push one out that must not be forgotten yet.
    #[must_use]
    pub fn is_full(&self, settings: &Settings, now: TimeMs) -> bool {
        self.records.len() >= settings.operations_max
            && self.records.front().is_some_and(|oldest| oldest.at + settings.window_ms_min > now)
    }

    /// Keeps the outcome of an operation, and forgets what left the window or has no room.
    pub fn remember(
        &mut self,
        operation: &OperationMark,
        outcome: &Outcome,
        at: TimeMs,
        sequence_last: u64,
        events: u32,
        settings: &Settings,
    ) {
        let key = self.key(&operation.namespace, &operation.id);
        self.scratch.clear();
        outcome.put(&mut self.scratch);
        let fingerprint = operation.fingerprint;
        self.insert(Record::new(key, fingerprint, &self.scratch, at, sequence_last, events));
        self.forget(settings, at);
    }

    fn forget(&mut self, settings: &Settings, now: TimeMs) {
        while let Some(oldest) = self.records.front() {
            let over = oldest.at + settings.window_ms <= now;
            let crowded = self.records.len() > settings.operations_max;
            if !over && !crowded {
                break;
            }
            if crowded && !over {
                self.forgotten_at = oldest.at;
            }
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.records.pop_front() else { return };
        let position = self.first;
        self.first += 1;
        if let Ok(entry) = self.index.find_entry(short(oldest.key), |found| *found == position) {
            entry.remove();
        }
    }

    fn insert(&mut self, record: Record) {
        let (key, position) = (record.key, self.first + self.records.len() as u64);
        let (records, first) = (&self.records, self.first);
        let same = |found: &u64| records.get(place(*found, first)).is_some_and(|record| record.key == key);
        if let Ok(entry) = self.index.find_entry(short(key), same) {
            entry.remove();
        }
        self.records.push_back(record);
        let records = &self.records;
        let rehash =
            |position: &u64| records.get(place(*position, first)).map_or(0, |record| short(record.key));
        self.index.insert_unique(short(key), position, rehash);
    }

    fn record(&self, position: u64) -> Option<&Record> {
        self.records.get(place(position, self.first))
    }

    fn is_at(&self, position: u64, key: u128) -> bool {
        self.record(position).is_some_and(|record| record.key == key)
    }

    fn key(&self, namespace: &str, id: &OperationId) -> u128 {
        let mut bytes = [0_u8; 256];
        let parts = [namespace.as_bytes(), &[0], id.as_str().as_bytes()];
        let mut length = 0;
        for part in parts {
            let end = (length + part.len()).min(bytes.len());
            bytes[length..end].copy_from_slice(&part[..end - length]);
            length = end;
        }
        xxh3_128_with_seed(&bytes[..length], self.seed)
    }

    /// Appends all, for a snapshot.
    pub fn put(&self, out: &mut Vec<u8>) {
        self.forgotten_at.put(out);
        (self.records.len() as u64).put(out);
        for record in &self.records {
            out.extend_from_slice(&record.key.to_le_bytes());
            out.extend_from_slice(&record.fingerprint.to_le_bytes());
            record.at.put(out);
            record.sequence_last.put(out);
            record.events.put(out);
            out.push(record.length);
            out.extend_from_slice(&record.outcome[..record.kept()]);
        }
    }

    /// Reads what [`Operations::put`] wrote.
    ///
    /// # Errors
    /// When the bytes are no such list.
    pub fn load(&mut self, input: &mut Input<'_>) -> Result<(), Malformed> {
        self.forgotten_at = Wire::get(input)?;
        for _ in 0..input.count()? {
            let mut record = Record {
                key: u128::from_le_bytes(Wire::get(input)?),
                fingerprint: u64::from_le_bytes(Wire::get(input)?),
                at: Wire::get(input)?,
                sequence_last: Wire::get(input)?,
                events: Wire::get(input)?,
                length: input.byte()?,
                outcome: [0; INLINE_BYTES_MAX],
            };
            let kept = record.kept();
            record.outcome[..kept].copy_from_slice(input.take(kept)?);
            self.insert(record);
        }
        Ok(())
    }
}

fn short(key: u128) -> u64 {
    key as u64
}

fn place(position: u64, first: u64) -> usize {
    usize::try_from(position.wrapping_sub(first)).unwrap_or(usize::MAX)
}

/// A length beyond what is kept in place says that the outcome is in the log.
const IN_LOG: u8 = u8::MAX;

impl Record {
    fn new(
        key: u128,
        fingerprint: u64,
        bytes: &[u8],
        at: TimeMs,
        sequence_last: u64,
        events: u32,
    ) -> Self {
        let mut record = Self {
            key,
            fingerprint,
            at,
            sequence_last,
            events,
            length: IN_LOG,
            outcome: [0; INLINE_BYTES_MAX],
        };
        if bytes.len() <= INLINE_BYTES_MAX {
            record.length = u8::try_from(bytes.len()).unwrap_or(IN_LOG);
            record.outcome[..bytes.len()].copy_from_slice(bytes);
        }
        record
    }

    fn kept(&self) -> usize {
        if usize::from(self.length) <= INLINE_BYTES_MAX { usize::from(self.length) } else { 0 }
    }

    fn known(&self) -> Known {
        let in_log = Known::InLog { fingerprint: self.fingerprint, sequence_last: self.sequence_last };
        if self.length == IN_LOG {
            return in_log;
        }
        match Outcome::get(&mut Input::new(&self.outcome[..self.kept()])) {
            Ok(outcome) if outcome.code == Code::ResolvedAbsent => Known::Absent,
            Ok(outcome) => Known::Outcome {
                outcome,
                fingerprint: self.fingerprint,
                sequence_last: self.sequence_last,
                events: self.events,
                at: self.at,
            },
            Err(_) => in_log,
        }
    }
}
