//! What is stored about operations, so that one id has one effect and one answer.

mod answer;
mod records;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::codec::{Input, Malformed, Wire};
use crate::event::{EntryHead, OperationMark};
use crate::outcome::{Code, Outcome};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::StateSettings;
use crate::store::{Chunks, Index};
use crate::types::{OperationId, TimeMs};

/// The largest encoded outcome in bytes that is stored in memory; a larger one is read back from the log.
const INLINE_BYTES_MAX: usize = 15;

/// An operation that was carried out, refused for good, or declared absent.
#[derive(Clone, Debug)]
struct Record {
    /// Two halves with small alignment, so that a record fills a cache line exactly.
    key: [u64; 2],
    fingerprint: u64,
    at: TimeMs,
    sequence_last: u64,
    events: u32,
    /// The place of its epoch among those that the store knows.
    epoch: u32,
    length: u8,
    outcome: [u8; INLINE_BYTES_MAX],
}

/// An id that was looked up: its hash, and where its record is, be it out of the window or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought {
    key: [u64; 2],
    position: Option<u32>,
}

/// What is stored about an operation id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The answer.
    pub answered: Answered,
    /// The content hash of its first request.
    pub fingerprint: u64,
    /// The first event of the operation.
    pub sequence_first: u64,
    /// The last event of the operation.
    pub sequence_last: u64,
    /// When it was decided.
    pub at: TimeMs,
    /// The epoch of the partition's leadership at that time.
    pub epoch: u64,
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// Stored here.
    Outcome(Outcome),
    /// Stored in the log, in the entry that ends at the operation's last event.
    InLog,
    /// No answer: the id was declared absent.
    Absent,
}

/// The records by id and in stamp order.
#[derive(Debug)]
pub struct Operations {
    index: Index,
    records: Chunks<Record>,
    /// The position of the first record; positions only rise, and wrap.
    first: u32,
    seed: u64,
    /// The stamp of the youngest record that was forgotten for lack of space.
    forgotten_at: TimeMs,
    /// The epochs of records, each once; there are as many as there were starts.
    epochs: Vec<u64>,
    moves: Moves,
}

/// How the stamps of older records compare with those of today, once the clock was put forward or back.
#[derive(Clone, Copy, Debug, Default)]
struct Moves {
    /// How many of the records, from the oldest on, are from before the last move.
    count: usize,
    /// By how much the clock was put forward in all.
    forward_ms: u64,
    /// Where it was put last.
    to_ms: TimeMs,
}

impl Moves {
    /// When the record at a place would have been made by the clock of today; rather too late than too early.
    fn made_at(&self, place: usize, at: TimeMs) -> TimeMs {
        if place < self.count { at.saturating_add(self.forward_ms).min(self.to_ms) } else { at }
    }
}

impl Operations {
    /// An empty store; `seed` keys the hash of ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            index: Index::default(),
            records: Chunks::default(),
            first: 0,
            seed,
            forgotten_at: 0,
            epochs: Vec::new(),
            moves: Moves::default(),
        }
    }

    /// Notes that the clock was put forward or back. All that is remembered then counts as made by the new clock, at
    /// the latest just now: to remember an id too long does no harm.
    pub fn note_move(&mut self, from: TimeMs, to: TimeMs) {
        self.moves.count = self.records.len();
        self.moves.forward_ms = self.moves.forward_ms.saturating_add(to.saturating_sub(from));
        self.moves.to_ms = to;
        // Ids that carry a time are refused up to here, which the clock must be able to pass.
        self.forgotten_at = self.forgotten_at.min(to);
    }

    /// How many operations are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no operation is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The earliest sequence whose entry's receipt may still be asked for and is not kept here.
    #[must_use]
    pub fn sequence_first(&self) -> Option<u64> {
        let in_log = |record: &&Record| record.length == IN_LOG;
        self.records.iter().find(in_log).map(|record| record.sequence_last)
    }

    /// The sequences from `first` on whose entries hold a receipt that is too large to be kept here, in
    /// ascending order.
    pub fn sequences_in_log(&self, first: u64) -> impl Iterator<Item = u64> + '_ {
        let in_log = self.records.iter().filter(|record| record.length == IN_LOG);
        in_log.map(|record| record.sequence_last).filter(move |sequence| *sequence >= first)
    }

    /// The stamp up to which ids may have been forgotten.
    #[must_use]
    pub fn horizon(&self, settings: &StateSettings, now: TimeMs) -> TimeMs {
        now.saturating_sub(settings.window_ms).max(self.forgotten_at)
    }

    /// The record of an id.
    #[must_use]
    pub fn find(
        &self,
        namespace: &str,
        id: &OperationId,
        settings: &StateSettings,
        now: TimeMs,
    ) -> Option<Known> {
        self.known(self.seek(namespace, id), settings, now)
    }

    /// Looks an id up.
    pub(crate) fn seek(&self, namespace: &str, id: &OperationId) -> Sought {
        let key = self.key(namespace, id);
        Sought { key, position: self.index.find(key[0], |position| self.is_at(position, key)) }
    }

    /// The record of an id that was looked up, if it is within the window.
    pub(crate) fn known(&self, sought: Sought, settings: &StateSettings, now: TimeMs) -> Option<Known> {
        let position = sought.position?;
        let record = self
            .record(position)
            .filter(|record| self.made_at(position, record) + settings.window_ms > now)?;
        Some(record.known(self.epoch_of(record)))
    }

    /// How long no new id can be stored, because it would evict one that must not be forgotten yet.
    #[must_use]
    pub fn wait_ms(&self, settings: &StateSettings, now: TimeMs) -> Option<u64> {
        if self.records.len() < settings.operations_max {
            return None;
        }
        let oldest = self.records.get(0).map_or(now, |oldest| self.moves.made_at(0, oldest.at));
        (oldest + settings.window_ms_min).checked_sub(now).filter(|wait_ms| *wait_ms > 0)
    }

    /// How many records must not be forgotten yet.
    #[must_use]
    pub fn locked_count(&self, settings: &StateSettings, now: TimeMs) -> usize {
        let is_free = |place: usize| {
            let record = self.records.get(place);
            record.is_some_and(|record| self.moves.made_at(place, record.at) + settings.window_ms_min <= now)
        };
        let (mut first, mut end) = (0, self.records.len());
        while first < end {
            let middle = usize::midpoint(first, end);
            if is_free(middle) { first = middle + 1 } else { end = middle }
        }
        self.records.len() - first
    }

    /// Whether the oldest record has left the window.
    #[must_use]
    pub fn has_overdue(&self, settings: &StateSettings, now: TimeMs) -> bool {
        let oldest = self.records.get(0);
        oldest.is_some_and(|oldest| self.moves.made_at(0, oldest.at) + settings.window_ms <= now)
    }

    /// Stores the encoded outcome of an operation, which made `events` up to `sequence_last`. `sought` is where its id was
    /// found, if it was looked up already.
    pub(crate) fn remember(
        &mut self,
        operation: &OperationMark,
        sought: Option<Sought>,
        outcome: &[u8],
        head: &EntryHead,
        made: (u64, u32),
    ) {
        let sought = sought.unwrap_or_else(|| self.seek(&operation.namespace, &operation.id));
        debug_assert_eq!(
            sought.key,
            self.key(&operation.namespace, &operation.id),
            "another id was looked up"
        );
        let epoch = self.place_of(head.epoch);
        let record = Record::new(sought.key, operation.fingerprint, outcome, (head.at, epoch), made);
        if sought.position.is_some() {
            self.remove(sought.key);
        }
        self.append(record);
    }

    /// The place of an epoch, which is mostly the last one.
    fn place_of(&mut self, epoch: u64) -> u32 {
        let known = self.epochs.iter().rposition(|its| *its == epoch);
        let place = known.unwrap_or_else(|| {
            self.epochs.push(epoch);
            self.epochs.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    fn epoch_of(&self, record: &Record) -> u64 {
        self.epochs.get(record.epoch as usize).copied().unwrap_or(0)
    }

    /// Forgets records that left the window, or have no space, by `now`: `count_max` at most, so that the first command
    /// after a quiet day does not forget a day's ids. Those that are left are not found any more all the same.
    pub fn forget(&mut self, settings: &StateSettings, now: TimeMs, count_max: usize) {
        for _ in 0..count_max {
            let Some(oldest) = self.records.get(0) else { break };
            let made_at = self.moves.made_at(0, oldest.at);
            let over = made_at + settings.window_ms <= now;
            // After a restart the limit may be lower than the number of records; none is evicted early
            // for that.
            let crowded =
                self.records.len() > settings.operations_max && made_at + settings.window_ms_min <= now;
            if !over && !crowded {
                break;
            }
            if crowded && !over {
                self.forgotten_at = made_at;
            }
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some(key) = self.records.get(0).map(|oldest| oldest.key) else { return };
        let position = self.first;
        self.records.pop_front();
        self.first = self.first.wrapping_add(1);
        self.moves.count = self.moves.count.saturating_sub(1);
        self.index.remove(key[0], |found| found == position);
    }

    /// Takes an older record of the same id out of the index; it stays in line until its time comes.
    fn remove(&mut self, key: [u64; 2]) {
        let (records, first) = (&self.records, self.first);
        let at = |position: u32| records.get(position.wrapping_sub(first) as usize);
        self.index.remove(key[0], |found| at(found).is_some_and(|record| record.key == key));
    }

    fn append(&mut self, record: Record) {
        let key = record.key;
        self.records.push(record);
        let position = self.first.wrapping_add(u32::try_from(self.records.len() - 1).unwrap_or(u32::MAX));
        self.index.insert(key[0], position);
    }

    fn record(&self, position: u32) -> Option<&Record> {
        self.records.get(position.wrapping_sub(self.first) as usize)
    }

    /// When the record at a position would have been made by the clock of today.
    fn made_at(&self, position: u32, record: &Record) -> TimeMs {
        self.moves.made_at(position.wrapping_sub(self.first) as usize, record.at)
    }

    fn is_at(&self, position: u32, key: [u64; 2]) -> bool {
        self.record(position).is_some_and(|record| record.key == key)
    }

    fn key(&self, namespace: &str, id: &OperationId) -> [u64; 2] {
        let (namespace, id) = (namespace.as_bytes(), id.as_str().as_bytes());
        let length = namespace.len() + 1 + id.len();
        // Most are short, and only they need to be quick.
        let hash = if length <= SHORT_BYTES {
            xxh3_128_with_seed(joined(namespace, id, &mut [0; SHORT_BYTES]), self.seed)
        } else {
            xxh3_128_with_seed(joined(namespace, id, &mut [0; 256]), self.seed)
        };
        [(hash << 64 >> 64) as u64, (hash >> 64) as u64]
    }

    /// Appends all, for a snapshot.
    pub fn put(&self, out: &mut PieceWriter<'_>) {
        out.value(&self.forgotten_at);
        out.count(self.records.len());
        for record in self.records.iter() {
            out.row(|out| record.put(self.epoch_of(record), out));
        }
    }

    /// Reads what [`Operations::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode such a list.
    pub fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.forgotten_at = input.value()?;
        for _ in 0..input.value::<u64>()? {
            let (record, epoch) = input.row(Record::get)?;
            let epoch = self.place_of(epoch);
            self.remove(record.key);
            self.append(Record { epoch, ..record });
        }
        Ok(())
    }
}

impl Operations {
    /// Appends how the clock was moved, for a snapshot.
    pub fn put_moves(&self, out: &mut PieceWriter<'_>) {
        out.count(self.moves.count);
        out.value(&self.moves.forward_ms);
        out.value(&self.moves.to_ms);
    }

    /// Reads what [`Operations::put_moves`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode it.
    pub fn load_moves(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        let count: u64 = input.value()?;
        self.moves = Moves {
            count: usize::try_from(count).map_err(|_| Malformed)?,
            forward_ms: input.value()?,
            to_ms: input.value()?,
        };
        Ok(())
    }
}

const SHORT_BYTES: usize = 40;

/// A namespace, a zero and an id, as far as they fit.
fn joined<'a>(namespace: &[u8], id: &[u8], bytes: &'a mut [u8]) -> &'a [u8] {
    let middle = namespace.len().min(bytes.len());
    bytes[..middle].copy_from_slice(&namespace[..middle]);
    let start = (middle + 1).min(bytes.len());
    let end = (start + id.len()).min(bytes.len());
    bytes[start..end].copy_from_slice(&id[..end - start]);
    &bytes[..end]
}

/// A length above the in-memory maximum means that the outcome is in the log.
const IN_LOG: u8 = u8::MAX;

impl Record {
    fn new(
        key: [u64; 2],
        fingerprint: u64,
        bytes: &[u8],
        (at, epoch): (TimeMs, u32),
        (sequence_last, events): (u64, u32),
    ) -> Self {
        let mut record = Self {
            key,
            fingerprint,
            at,
            sequence_last,
            events,
            epoch,
            length: IN_LOG,
            outcome: [0; INLINE_BYTES_MAX],
        };
        if bytes.len() <= INLINE_BYTES_MAX {
            record.length = u8::try_from(bytes.len()).unwrap_or(IN_LOG);
            record.outcome[..bytes.len()].copy_from_slice(bytes);
        }
        record
    }

    /// Appends it with its epoch, whose place is this store's own.
    fn put(&self, epoch: u64, out: &mut Vec<u8>) {
        self.key.iter().for_each(|half| out.extend_from_slice(&half.to_le_bytes()));
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        self.at.put(out);
        self.sequence_last.put(out);
        self.events.put(out);
        epoch.put(out);
        out.push(self.length);
        out.extend_from_slice(&self.outcome[..self.kept()]);
    }

    /// Reads what [`Record::put`] wrote: the record without a place of its epoch, and the epoch.
    fn get(input: &mut Input<'_>) -> Result<(Self, u64), Malformed> {
        let key = [u64::from_le_bytes(Wire::get(input)?), u64::from_le_bytes(Wire::get(input)?)];
        let mut record = Self {
            key,
            fingerprint: u64::from_le_bytes(Wire::get(input)?),
            at: Wire::get(input)?,
            sequence_last: Wire::get(input)?,
            events: Wire::get(input)?,
            epoch: 0,
            length: 0,
            outcome: [0; INLINE_BYTES_MAX],
        };
        let epoch = Wire::get(input)?;
        record.length = input.byte()?;
        let kept = record.kept();
        record.outcome[..kept].copy_from_slice(input.take(kept)?);
        Ok((record, epoch))
    }

    fn kept(&self) -> usize {
        if usize::from(self.length) <= INLINE_BYTES_MAX { usize::from(self.length) } else { 0 }
    }

    fn known(&self, epoch: u64) -> Known {
        let outcome = match usize::from(self.length) {
            kept if kept <= INLINE_BYTES_MAX => Outcome::get(&mut Input::new(&self.outcome[..kept])).ok(),
            _ => None,
        };
        let answered = match outcome {
            None => Answered::InLog,
            Some(outcome) if outcome.code == Code::ResolvedAbsent => Answered::Absent,
            Some(outcome) => Answered::Outcome(outcome),
        };
        Known {
            answered,
            fingerprint: self.fingerprint,
            sequence_first: (self.sequence_last + 1).saturating_sub(u64::from(self.events)),
            sequence_last: self.sequence_last,
            at: self.at,
            epoch,
        }
    }
}
