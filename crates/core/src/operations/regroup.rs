//! Remembered ids among another number of partitions. What is remembered of an id does not say of which resource it was,
//! so it goes wherever a resource of its partition may go.

use std::iter::Peekable;

use super::{Details, Identity, Moment, Operations, answer};
use crate::types::TimeMs;

/// The memory of a partition, and how far its sequences are put on: those of several then do not meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenFrom<'a> {
    pub(crate) operations: &'a Operations,
    pub(crate) shift: u64,
}

/// How many ids two partitions remember for different operations: in one partition, an id has one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clashes(pub(crate) usize);

/// A record of a partition, and when it would have been made by the clock of today.
type Aged<'a> = (TimeMs, Identity, Details<'a>);

/// What is left of a partition's records.
type Waiting<'a> = Peekable<Box<dyn Iterator<Item = Aged<'a>> + 'a>>;

impl Operations {
    /// Takes over what these partitions remember, in the order of the times at which it was made.
    pub(crate) fn take_over(&mut self, sources: &[TakenFrom<'_>]) -> Result<(), Clashes> {
        self.forgotten_at = sources.iter().map(|from| from.operations.forgotten_at).max().unwrap_or(0);
        let (mut origins, mut clashes) = (Vec::new(), 0);
        let mut waiting: Vec<Waiting<'_>> = sources.iter().map(waiting).collect();
        while let Some(number) = next(&mut waiting) {
            let Some((made_at, identity, details)) = waiting[number].next() else { break };
            // Of one partition, the clock's moves are kept as they are.
            let at = if sources.len() == 1 { details.moment.at } else { made_at };
            let is_of_same = |place: usize| origins.get(place) == Some(&number);
            match self.take_record(sources[number], at, (identity, details), is_of_same) {
                Taken::Added => origins.push(number),
                Taken::Same => {}
                Taken::Clash => clashes += 1,
            }
        }
        if let [from] = sources {
            self.moves = from.operations.moves;
        }
        if clashes == 0 { Ok(()) } else { Err(Clashes(clashes)) }
    }

    /// Takes a record over. Of an id that came from another partition, it must be the same record: both have it from a
    /// partition that was parted.
    fn take_record(
        &mut self,
        from: TakenFrom<'_>,
        at: TimeMs,
        (identity, details): (Identity, Details<'_>),
        is_of_same: impl Fn(usize) -> bool,
    ) -> Taken {
        let sought = self.sought(identity.key);
        let other = sought.place.map(|place| self.position(place)).filter(|place| !is_of_same(*place));
        if let Some(place) = other {
            let is_same = self.is_same(place, from.operations, (identity, details));
            return if is_same { Taken::Same } else { Taken::Clash };
        }
        let moment = Moment {
            at,
            sequence_last: details.moment.sequence_last.saturating_add(from.shift),
            epoch: self.place_of(from.operations.epoch_of(details.moment)),
        };
        let mut bytes = Vec::new();
        if details.answer.is_in_log() {
            bytes.extend_from_slice(answer::TOO_LARGE);
        } else {
            details.answer.put_outcome(&mut bytes);
        }
        let outcome = answer::decoded(&bytes);
        self.append(sought, identity, moment, details.events, super::Encoded::new(&outcome, &bytes));
        Taken::Added
    }

    /// Whether a record here is of the same operation as one of a partition. Sequences were put on, but an epoch is of one
    /// start alone.
    fn is_same(&self, position: usize, from: &Self, (identity, details): (Identity, Details<'_>)) -> bool {
        let Some((mine, its)) = self.records.identity(position).zip(self.records.details(position)) else {
            return false;
        };
        let (one, other) = (self.known_of(mine, its), from.known_of(identity, details));
        let is_operation =
            (one.fingerprint, one.epoch, its.events) == (other.fingerprint, other.epoch, details.events);
        is_operation && one.answered == other.answered
    }
}

enum Taken {
    Added,
    Same,
    Clash,
}

fn waiting<'a>(from: &TakenFrom<'a>) -> Waiting<'a> {
    let operations = from.operations;
    let aged = operations.records.iter().enumerate().map(|(position, (identity, details))| {
        (operations.moves.made_at(position, details.moment.at), identity, details)
    });
    let aged: Box<dyn Iterator<Item = Aged<'a>> + 'a> = Box::new(aged);
    aged.peekable()
}

/// The partition whose next record is the oldest.
fn next(waiting: &mut [Waiting<'_>]) -> Option<usize> {
    let ages = waiting.iter_mut().enumerate();
    let ages = ages.filter_map(|(number, records)| records.peek().map(|(at, ..)| (*at, number)));
    ages.min().map(|(_, number)| number)
}
