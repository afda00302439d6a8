//! What is stored about operations, so that one id has one effect and one answer.

mod answer;
mod index;
mod moves;
mod old;
mod records;
mod regroup;
mod slices;
mod stamps;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::codec::{Input, Malformed, Wire};
use crate::event::{EntryHead, OperationMark};
use crate::outcome::{Code, Outcome};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::StateSettings;
use crate::types::{OperationId, TimeMs};

pub(crate) use answer::Encoded;
use index::Index;
use moves::Moves;
pub use old::{OldOperation, OperationNumbers};
use records::{Details, Identity, Moment, Records};
pub(crate) use regroup::{Clashes, TakenFrom};
use stamps::Stamps;

/// An id that was looked up: its hash, and where its record is, be it out of the window or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought {
    key: [u64; 2],
    place: Option<u32>,
}

impl Sought {
    /// Whether there is no record of the id, not even one that is out of the window.
    pub(crate) const fn is_new(self) -> bool {
        self.place.is_none()
    }
}

/// An operation that was decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// The content hash of its request.
    pub(crate) fingerprint: u64,
    pub(crate) at: TimeMs,
    pub(crate) epoch: u64,
    /// Its last event, and how many it made.
    pub(crate) sequence_last: u64,
    pub(crate) events: u32,
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

/// The records by id and in stamp order. The oldest may be kept outside, where only their stamps are here.
#[derive(Debug)]
pub struct Operations {
    index: Index,
    records: Records,
    /// The place of the first record in memory; places only rise, and wrap.
    first: u32,
    /// The stamps of those that are outside.
    old: Stamps,
    /// The one of them that the next command asks for, if there is one.
    recalled: Option<OldOperation>,
    seed: u64,
    /// The stamp of the youngest record that was forgotten for lack of space.
    forgotten_at: TimeMs,
    /// The epochs of records, each once; there are as many as there were starts.
    epochs: Vec<u64>,
    moves: Moves,
    /// While a snapshot is written.
    frozen: Option<Box<slices::FrozenOperations>>,
}

impl Operations {
    /// An empty store; `seed` keys the hash of ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            index: Index::default(),
            records: Records::default(),
            first: 0,
            old: Stamps::default(),
            recalled: None,
            seed,
            forgotten_at: 0,
            epochs: Vec::new(),
            moves: Moves::default(),
            frozen: None,
        }
    }

    /// Notes that the clock was put forward or back. All that is remembered then counts as made by the new clock, at
    /// the latest just now: to remember an id too long does no harm.
    pub fn note_move(&mut self, from: TimeMs, to: TimeMs) {
        self.moves.count = self.len();
        self.moves.forward_ms = self.moves.forward_ms.saturating_add(to.saturating_sub(from));
        self.moves.to_ms = to;
        // Ids that carry a time are refused up to here, which the clock must be able to pass.
        self.forgotten_at = self.forgotten_at.min(to);
    }

    /// How many operations are remembered, in memory and outside.
    #[must_use]
    pub fn len(&self) -> usize {
        self.old_len() + self.records.len()
    }

    /// Whether no operation is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them are in memory.
    #[must_use]
    pub fn in_memory(&self) -> usize {
        self.records.len()
    }

    fn old_len(&self) -> usize {
        usize::try_from(self.old.len()).unwrap_or(usize::MAX)
    }

    /// The earliest sequence whose entry's receipt may still be asked for and is not kept here.
    #[must_use]
    pub fn sequence_first(&self) -> Option<u64> {
        self.sequences_in_log(0).next()
    }

    /// The sequences from `first` on whose entries hold a receipt that is too large to be kept here, in
    /// ascending order.
    pub fn sequences_in_log(&self, first: u64) -> impl Iterator<Item = u64> + '_ {
        let in_log = self.records.iter().filter(|(_, details)| details.answer.is_in_log());
        in_log.map(|(_, details)| details.moment.sequence_last).filter(move |sequence| *sequence >= first)
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
        self.known(self.seek(namespace, id.as_str().as_bytes()), settings, now)
    }

    /// Looks an id up.
    pub(crate) fn seek(&self, namespace: &str, id: &[u8]) -> Sought {
        self.sought(self.key(namespace.as_bytes(), id))
    }

    /// The record of an id that was looked up, if it is within the window.
    pub(crate) fn known(&self, sought: Sought, settings: &StateSettings, now: TimeMs) -> Option<Known> {
        let Some(place) = sought.place else { return self.known_outside(sought.key, settings, now) };
        let position = self.position(place);
        let (identity, details) = (self.records.identity(position)?, self.records.details(position)?);
        let made_at = self.moves.made_at(self.old_len() + position, details.moment.at);
        (made_at + settings.window_ms > now).then(|| self.known_of(identity, details))
    }

    fn known_of(&self, identity: Identity, details: Details<'_>) -> Known {
        let Details { moment, events, answer } = details;
        let answered = match answer.outcome() {
            None => Answered::InLog,
            Some(outcome) if outcome.code == Code::ResolvedAbsent => Answered::Absent,
            Some(outcome) => Answered::Outcome(outcome),
        };
        Known {
            answered,
            fingerprint: identity.fingerprint,
            sequence_first: (moment.sequence_last + 1).saturating_sub(u64::from(events)),
            sequence_last: moment.sequence_last,
            at: moment.at,
            epoch: self.epoch_of(moment),
        }
    }

    /// When the oldest record would have been made by the clock of today.
    fn oldest_made_at(&self) -> Option<TimeMs> {
        let oldest = self.old.first_at().or_else(|| self.records.first_at());
        oldest.map(|at| self.moves.made_at(0, at))
    }

    /// When the record at a place from the oldest on was made.
    fn at(&self, place: usize) -> Option<TimeMs> {
        match place.checked_sub(self.old_len()) {
            None => self.old.at(place as u64),
            Some(position) => self.records.details(position).map(|details| details.moment.at),
        }
    }

    /// How long no new id can be stored, because it would evict one that must not be forgotten yet.
    #[must_use]
    pub fn wait_ms(&self, settings: &StateSettings, now: TimeMs) -> Option<u64> {
        if self.len() < settings.operations_max {
            return None;
        }
        let oldest = self.oldest_made_at().unwrap_or(now);
        (oldest + settings.window_ms_min).checked_sub(now).filter(|wait_ms| *wait_ms > 0)
    }

    /// How many records must not be forgotten yet.
    #[must_use]
    pub fn locked_count(&self, settings: &StateSettings, now: TimeMs) -> usize {
        let is_free = |place: usize| {
            self.at(place).is_some_and(|at| self.moves.made_at(place, at) + settings.window_ms_min <= now)
        };
        let (mut first, mut end) = (0, self.len());
        while first < end {
            let middle = usize::midpoint(first, end);
            if is_free(middle) { first = middle + 1 } else { end = middle }
        }
        self.len() - first
    }

    /// Whether the oldest record has left the window.
    #[must_use]
    pub fn has_overdue(&self, settings: &StateSettings, now: TimeMs) -> bool {
        self.oldest_made_at().is_some_and(|made_at| made_at + settings.window_ms <= now)
    }

    /// Stores the outcome of an operation, which made `events` up to `sequence_last`. `sought` is where its id was
    /// found, if it was looked up already.
    pub(crate) fn remember(
        &mut self,
        operation: &OperationMark,
        sought: Option<Sought>,
        outcome: Encoded<'_>,
        head: &EntryHead,
        (sequence_last, events): (u64, u32),
    ) {
        let sought =
            sought.unwrap_or_else(|| self.seek(&operation.namespace, operation.id.as_str().as_bytes()));
        debug_assert_eq!(
            sought.key,
            self.key(operation.namespace.as_bytes(), operation.id.as_str().as_bytes()),
            "another id was looked up"
        );
        let (fingerprint, at, epoch) = (operation.fingerprint, head.at, head.epoch);
        self.note(sought, &Done { fingerprint, at, epoch, sequence_last, events }, outcome);
    }

    /// Stores the outcome of an operation whose id was looked up.
    pub(crate) fn note(&mut self, sought: Sought, done: &Done, outcome: Encoded<'_>) {
        let moment =
            Moment { at: done.at, sequence_last: done.sequence_last, epoch: self.place_of(done.epoch) };
        let identity = Identity { key: sought.key, fingerprint: done.fingerprint };
        self.append(sought, identity, moment, done.events, outcome);
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

    fn epoch_of(&self, moment: Moment) -> u64 {
        self.epochs.get(moment.epoch as usize).copied().unwrap_or(0)
    }

    /// Forgets records that left the window, or have no space, by `now`: `count_max` at most, so that the first command
    /// after a quiet day does not forget a day's ids. Those that are left are not found any more all the same.
    #[inline]
    pub fn forget(&mut self, settings: &StateSettings, now: TimeMs, count_max: usize) {
        if self.len() > settings.operations_max || self.has_overdue(settings, now) {
            self.forget_oldest(settings, now, count_max);
        }
    }

    fn forget_oldest(&mut self, settings: &StateSettings, now: TimeMs, count_max: usize) {
        for _ in 0..count_max {
            let Some(made_at) = self.oldest_made_at() else { break };
            let over = made_at + settings.window_ms <= now;
            // After a restart the limit may be lower than the number of records; none is evicted early
            // for that.
            let crowded = self.len() > settings.operations_max && made_at + settings.window_ms_min <= now;
            if !over && !crowded {
                break;
            }
            if crowded && !over {
                self.forgotten_at = made_at;
            }
            self.drop_oldest();
        }
    }

    /// The index learns of it when it needs the room.
    fn drop_oldest(&mut self) {
        if self.old.is_empty() {
            self.save_oldest();
            self.records.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.old.pop_front();
        self.moves.count = self.moves.count.saturating_sub(1);
    }

    /// Appends a record. An older one of the same id is not found any more; it stays in line until its time comes.
    fn append(
        &mut self,
        sought: Sought,
        identity: Identity,
        moment: Moment,
        events: u32,
        outcome: Encoded<'_>,
    ) {
        let first = self.first;
        let count = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let place = first.wrapping_add(count);
        self.records.push(identity, moment, events, outcome);
        let hash = sought.key[0];
        if sought.place.is_none_or(|old| !self.index.replace(hash, old, place)) {
            self.index.insert(hash, place, |place| place.wrapping_sub(first) < count);
        }
    }

    /// The position of the record at a place.
    const fn position(&self, place: u32) -> usize {
        place.wrapping_sub(self.first) as usize
    }

    fn sought(&self, key: [u64; 2]) -> Sought {
        let is_it = |place| self.records.identity(self.position(place)).is_some_and(|its| its.key == key);
        Sought { key, place: self.index.find(key[0], is_it) }
    }

    fn key(&self, namespace: &[u8], id: &[u8]) -> [u64; 2] {
        hash_of(self.seed, namespace, id)
    }

    /// Appends all, for a snapshot.
    pub fn put(&self, out: &mut PieceWriter<'_>) {
        out.value(&self.forgotten_at);
        out.count(self.records.len());
        for (identity, details) in self.records.iter() {
            out.row(|out| put_record(&identity, &details, self.epoch_of(details.moment), out));
        }
    }

    /// Reads what [`Operations::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode such a list.
    pub fn load(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.forgotten_at = input.value()?;
        for _ in 0..input.value::<u64>()? {
            let Loaded { identity, moment, epoch, events, outcome } = input.row(get_record)?;
            let moment = Moment { epoch: self.place_of(epoch), ..moment };
            let decoded = answer::decoded(&outcome);
            let outcome = Encoded::new(&decoded, &outcome);
            self.append(self.sought(identity.key), identity, moment, events, outcome);
        }
        Ok(())
    }
}

impl Operations {
    /// Appends how the clock was moved, for a snapshot.
    pub fn put_moves(&self, out: &mut PieceWriter<'_>) {
        self.moves.put(out);
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

/// The hash by which an id is kept, keyed by a seed.
#[must_use]
pub fn hash_of(seed: u64, namespace: &[u8], id: &[u8]) -> [u64; 2] {
    let length = namespace.len() + 1 + id.len();
    // Most are short, and only they need to be quick.
    let hash = if length <= SHORT_BYTES {
        xxh3_128_with_seed(joined(namespace, id, &mut [0; SHORT_BYTES]), seed)
    } else {
        xxh3_128_with_seed(joined(namespace, id, &mut [0; 256]), seed)
    };
    [(hash << 64 >> 64) as u64, (hash >> 64) as u64]
}

/// A namespace, a zero and an id, as far as they fit.
fn joined<'a>(namespace: &[u8], id: &[u8], bytes: &'a mut [u8]) -> &'a [u8] {
    let middle = namespace.len().min(bytes.len());
    // Mostly there is none.
    if middle > 0 {
        bytes[..middle].copy_from_slice(&namespace[..middle]);
    }
    let start = (middle + 1).min(bytes.len());
    let end = (start + id.len()).min(bytes.len());
    bytes[start..end].copy_from_slice(&id[..end - start]);
    &bytes[..end]
}

/// The length of an outcome in a snapshot that says that it is in the log.
const IN_LOG: u8 = u8::MAX;

/// Appends a record with its epoch, whose place is this store's own.
fn put_record(identity: &Identity, details: &Details<'_>, epoch: u64, out: &mut Vec<u8>) {
    identity.key.iter().for_each(|half| out.extend_from_slice(&half.to_le_bytes()));
    out.extend_from_slice(&identity.fingerprint.to_le_bytes());
    details.moment.at.put(out);
    details.moment.sequence_last.put(out);
    details.events.put(out);
    epoch.put(out);
    out.push(IN_LOG);
    let start = out.len();
    details.answer.put_outcome(out);
    if !details.answer.is_in_log() {
        out[start - 1] = u8::try_from(out.len() - start).unwrap_or(IN_LOG);
    }
}

/// A record as it is in a snapshot: with its epoch, and its moment without the place of that.
struct Loaded {
    identity: Identity,
    moment: Moment,
    epoch: u64,
    events: u32,
    outcome: SmallVec<[u8; 16]>,
}

/// Reads what [`put_record`] wrote.
fn get_record(input: &mut Input<'_>) -> Result<Loaded, Malformed> {
    let key = [u64::from_le_bytes(Wire::get(input)?), u64::from_le_bytes(Wire::get(input)?)];
    let fingerprint = u64::from_le_bytes(Wire::get(input)?);
    let (at, sequence_last, events) = (Wire::get(input)?, Wire::get(input)?, Wire::get(input)?);
    let epoch = Wire::get(input)?;
    let outcome = match input.byte()? {
        IN_LOG => answer::TOO_LARGE,
        length => input.take(usize::from(length))?,
    };
    Ok(Loaded {
        identity: Identity { key, fingerprint },
        moment: Moment { at, sequence_last, epoch: 0 },
        epoch,
        events,
        outcome: SmallVec::from_slice(outcome),
    })
}
