//! Records that leave memory: the engine, which keeps them outside, is given them, and gives one back when its id comes again.

use smallvec::SmallVec;

use super::records::{Details, Identity, Moment};
use super::{Answered, Encoded, Known, Operations, Stamps, answer};
use crate::codec::{Input, Malformed, Wire};
use crate::outcome::{Code, Outcome};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::StateSettings;
use crate::store::Slice;
use crate::types::{OperationId, TimeMs};

/// A remembered operation as it is kept outside of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldOperation {
    /// The hash of its namespace and id.
    pub key: [u64; 2],
    /// How many were remembered before it.
    pub number: u64,
    /// The content hash of its request.
    pub fingerprint: u64,
    /// When it was decided.
    pub at: TimeMs,
    /// The epoch of the partition's leadership at that time.
    pub epoch: u64,
    /// Its last event.
    pub sequence_last: u64,
    /// How many events it made.
    pub events: u32,
    /// The encoded outcome; `None` if only the log has it, in the entry that ends at the last event.
    pub outcome: Option<SmallVec<[u8; 16]>>,
}

impl OldOperation {
    /// What is known of it by its id; `None` if its outcome is not one.
    fn known(&self) -> Option<Known> {
        let answered = match &self.outcome {
            None => Answered::InLog,
            Some(bytes) => match Outcome::get(&mut Input::new(bytes)).ok()? {
                outcome if outcome.code == Code::ResolvedAbsent => Answered::Absent,
                outcome => Answered::Outcome(outcome),
            },
        };
        Some(Known {
            answered,
            fingerprint: self.fingerprint,
            sequence_first: (self.sequence_last + 1).saturating_sub(u64::from(self.events)),
            sequence_last: self.sequence_last,
            at: self.at,
            epoch: self.epoch,
        })
    }
}

/// Which records are where: a record's number says how many were remembered before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationNumbers {
    /// The oldest that is remembered.
    pub oldest: u64,
    /// The oldest in memory.
    pub in_memory: u64,
    /// The one that comes next.
    pub next: u64,
}

impl Operations {
    /// Which records are where.
    #[must_use]
    pub fn numbers(&self) -> OperationNumbers {
        let in_memory = self.old.end();
        OperationNumbers { oldest: self.old.first(), in_memory, next: in_memory + self.records.len() as u64 }
    }

    /// The hash by which an id is kept.
    #[must_use]
    pub fn key_of(&self, namespace: &str, id: &OperationId) -> [u64; 2] {
        self.key_of_bytes(namespace, id.as_str().as_bytes())
    }

    /// The same for an id that is not parsed.
    #[must_use]
    pub fn key_of_bytes(&self, namespace: &str, id: &[u8]) -> [u64; 2] {
        self.key(namespace.as_bytes(), id)
    }

    /// When an operation would have been made by the clock of today.
    #[must_use]
    pub fn made_at_of(&self, operation: &OldOperation) -> TimeMs {
        let place = operation.number.saturating_sub(self.old.first());
        self.moves.made_at(usize::try_from(place).unwrap_or(usize::MAX), operation.at)
    }

    /// The stamp of the youngest operation that was forgotten for lack of space; 0 if none was.
    #[must_use]
    pub fn forgotten_at(&self) -> TimeMs {
        self.forgotten_at
    }

    /// The records in memory from a number on.
    pub fn from_number(&self, number: u64) -> impl Iterator<Item = OldOperation> + '_ {
        let first = number.max(self.old.end());
        let position = usize::try_from(first - self.old.end()).unwrap_or(usize::MAX).min(self.records.len());
        let (records, mut bytes) = (self.records.iter_from(position), Vec::new());
        records.zip(first..).map(move |((identity, details), number)| {
            bytes.clear();
            details.answer.put_outcome(&mut bytes);
            let outcome = (!details.answer.is_in_log()).then(|| SmallVec::from_slice(&bytes));
            self.old_of(identity, &details, number, outcome)
        })
    }

    fn old_of(
        &self,
        Identity { key, fingerprint }: Identity,
        details: &Details<'_>,
        number: u64,
        outcome: Option<SmallVec<[u8; 16]>>,
    ) -> OldOperation {
        OldOperation {
            key,
            number,
            fingerprint,
            at: details.moment.at,
            epoch: self.epoch_of(details.moment),
            sequence_last: details.moment.sequence_last,
            events: details.events,
            outcome,
        }
    }

    /// Lets the records before a number leave memory, `count_max` at most: they are kept outside now. None leaves while
    /// a snapshot is written. Returns how many have left.
    pub fn let_go(&mut self, before: u64, count_max: usize) -> usize {
        if self.is_frozen() {
            return 0;
        }
        let mut left = 0;
        while left < count_max && self.old.end() < before {
            let Some(at) = self.records.first_at() else { break };
            self.old.push(at);
            self.records.pop_front();
            self.first = self.first.wrapping_add(1);
            left += 1;
        }
        left
    }

    /// Takes all records that are outside back into memory, before those that are there. `outside` gives them in the order of their
    /// numbers.
    ///
    /// # Errors
    /// Those of `outside`.
    pub(crate) fn take_back<E>(
        &mut self,
        outside: impl FnOnce(&mut dyn FnMut(&OldOperation)) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut whole = Self {
            old: Stamps::empty_from(self.old.first()),
            forgotten_at: self.forgotten_at,
            moves: self.moves,
            ..Self::new(self.seed)
        };
        let remembered = self.old.first()..self.old.end();
        outside(&mut |old| {
            if remembered.contains(&old.number) {
                whole.append_old(old);
            }
        })?;
        self.from_number(0).for_each(|old| whole.append_old(&old));
        *self = whole;
        Ok(())
    }

    fn append_old(&mut self, old: &OldOperation) {
        let sought = self.sought(old.key);
        let identity = Identity { key: old.key, fingerprint: old.fingerprint };
        let moment = Moment { at: old.at, sequence_last: old.sequence_last, epoch: self.place_of(old.epoch) };
        let bytes = old.outcome.as_deref().unwrap_or(answer::TOO_LARGE);
        let outcome = answer::decoded(bytes);
        self.append(sought, identity, moment, old.events, Encoded::new(&outcome, bytes));
    }

    fn is_frozen(&self) -> bool {
        self.frozen.is_some() || self.old.is_frozen()
    }

    /// Takes what is kept outside under the id of the next command, nothing if there is nothing.
    pub fn recall(&mut self, found: Option<OldOperation>) {
        self.recalled = found;
    }

    /// The record of an id that is not in memory, if it was recalled and is within the window.
    pub(super) fn known_outside(
        &self,
        key: [u64; 2],
        settings: &StateSettings,
        now: TimeMs,
    ) -> Option<Known> {
        let old = self.recalled.as_ref().filter(|old| old.key == key)?;
        let position = usize::try_from(old.number.checked_sub(self.old.first())?).ok()?;
        let made_at = self.moves.made_at(position, old.at);
        if made_at + settings.window_ms > now { old.known() } else { None }
    }

    /// Appends which records are outside, for a snapshot.
    pub(crate) fn put_old(&self, out: &mut PieceWriter<'_>) {
        self.old.put(out);
    }

    /// Reads what [`Operations::put_old`] wrote.
    pub(crate) fn load_old(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.old = Stamps::load(input)?;
        Ok(())
    }

    /// Writes a slice of the same, as it was when the snapshot began. Returns whether that was the last.
    pub(crate) fn put_old_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        self.old.put_slice(slice)
    }
}
