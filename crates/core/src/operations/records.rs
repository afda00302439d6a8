//! The records of operations in the order in which they were made. Of each, the key and the content hash have a fixed
//! size, and are found by position. The rest is written as what it differs by from the record before, mostly a byte and
//! the answer, and is read from the nearest mark on.

use std::collections::VecDeque;

use super::answer::{self, Encoded, FORM_MAX, StoredAnswer};
use crate::codec::{Input, Malformed, Wire};
use crate::types::TimeMs;

/// The number of records that are dropped together. Growing copies none of them.
const SEGMENT_RECORDS: usize = 1 << 9;
/// The number of records from one mark to the next.
const MARK_RECORDS: usize = 64;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Two halves, because a whole would have to be aligned to sixteen bytes.
    pub(super) key: [u64; 2],
    pub(super) fingerprint: u64,
}

/// An identity in bytes. For a type that has to be aligned, the allocator would ask for some bytes more than a segment of them
/// takes, and give it a block of the next size, a sixth larger.
#[derive(Clone, Copy, Debug)]
struct PackedIdentity([[u8; 8]; 3]);

impl From<Identity> for PackedIdentity {
    fn from(Identity { key: [first, second], fingerprint }: Identity) -> Self {
        Self([first, second, fingerprint].map(u64::to_le_bytes))
    }
}

impl From<PackedIdentity> for Identity {
    fn from(PackedIdentity(words): PackedIdentity) -> Self {
        let [first, second, fingerprint] = words.map(u64::from_le_bytes);
        Self { key: [first, second], fingerprint }
    }
}

/// When an operation was decided, and its last event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at: TimeMs,
    pub(super) sequence_last: u64,
    /// The place of its epoch among those that the store knows.
    pub(super) epoch: u32,
}

/// The part of a record beside its identity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details<'a> {
    pub(super) moment: Moment,
    pub(super) events: u32,
    pub(super) answer: StoredAnswer<'a>,
}

/// Where details can be read without those before them.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: TimeMs,
    sequence_last: u64,
    epoch: u32,
    offset: u32,
}

impl Mark {
    /// The moment of the record before.
    const fn before(&self) -> Moment {
        let Self { at, sequence_last, epoch, .. } = *self;
        Moment { at, sequence_last, epoch }
    }
}

#[derive(Debug)]
struct Segment {
    identities: Vec<PackedIdentity>,
    marks: Vec<Mark>,
    /// The details of all, once it is full. Those of the last segment are in [`Records::open`].
    details: Box<[u8]>,
}

/// Records by position; after the first is removed, positions count from the new first.
#[derive(Debug, Default)]
pub(super) struct Records {
    segments: VecDeque<Segment>,
    /// The details in the last segment, which grow.
    open: Vec<u8>,
    /// How many records of the first segment were removed and are dropped together with it.
    taken: usize,
    length: usize,
    /// Of the last record.
    last: Moment,
    /// Of the first record, and where the details of the one after it begin in its segment.
    first: (Moment, usize),
}

/// The form of the answer, in the first byte of details; the other bits say what follows it.
const FORM_BITS: u8 = FORM_MAX;
const AT_FOLLOWS: u8 = 1 << 5;
const EVENTS_FOLLOW: u8 = 1 << 6;
const EPOCH_FOLLOWS: u8 = 1 << 7;

impl Moment {
    /// Appends how details differ from those before, which have this moment, and the answer.
    fn put(self, moment: Moment, events: u32, outcome: Encoded<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(0);
        let mut bits = 0;
        if moment.at != self.at {
            bits |= AT_FOLLOWS;
            moment.at.wrapping_sub(self.at).cast_signed().put(out);
        }
        if moment.sequence_last != self.sequence_last.wrapping_add(1) || events != 1 {
            bits |= EVENTS_FOLLOW;
            moment.sequence_last.wrapping_sub(self.sequence_last).put(out);
            events.put(out);
        }
        if moment.epoch != self.epoch {
            bits |= EPOCH_FOLLOWS;
            moment.epoch.put(out);
        }
        let form = answer::put(outcome, out);
        out[start] = bits | form;
    }

    /// Reads what [`Moment::put`] wrote.
    fn get<'a>(self, input: &mut Input<'a>) -> Result<Details<'a>, Malformed> {
        let bits = input.byte()?;
        let mut moment = self;
        if bits & AT_FOLLOWS != 0 {
            moment.at = self.at.wrapping_add(i64::get(input)?.cast_unsigned());
        }
        let (mut passed, mut events) = (1, 1);
        if bits & EVENTS_FOLLOW != 0 {
            (passed, events) = (u64::get(input)?, u32::get(input)?);
        }
        moment.sequence_last = self.sequence_last.wrapping_add(passed);
        if bits & EPOCH_FOLLOWS != 0 {
            moment.epoch = u32::get(input)?;
        }
        Ok(Details { moment, events, answer: StoredAnswer::get(bits & FORM_BITS, input) })
    }
}

impl Segment {
    fn new() -> Self {
        Self {
            identities: Vec::with_capacity(SEGMENT_RECORDS),
            marks: Vec::with_capacity(SEGMENT_RECORDS / MARK_RECORDS),
            details: Box::default(),
        }
    }
}

impl Records {
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// When the first record was made.
    pub(super) fn first_at(&self) -> Option<TimeMs> {
        (self.length > 0).then_some(self.first.0.at)
    }

    /// The identity of the record at a position.
    pub(super) fn identity(&self, position: usize) -> Option<Identity> {
        let place = self.taken.checked_add(position)?;
        let identities = &self.segments.get(place / SEGMENT_RECORDS)?.identities;
        identities.get(place % SEGMENT_RECORDS).map(|packed| (*packed).into())
    }

    /// The rest of the record at a position.
    pub(super) fn details(&self, position: usize) -> Option<Details<'_>> {
        let place = self.taken.checked_add(position).filter(|_| position < self.length)?;
        let (number, within) = (place / SEGMENT_RECORDS, place % SEGMENT_RECORDS);
        let mark = self.segments.get(number)?.marks.get(within / MARK_RECORDS)?;
        let mut input = Input::new(self.bytes(number).get(mark.offset as usize..)?);
        let mut moment = mark.before();
        for _ in 0..within % MARK_RECORDS {
            moment = moment.get(&mut input).ok()?.moment;
        }
        moment.get(&mut input).ok()
    }

    /// Every record in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Identity, Details<'_>)> {
        self.iter_from(0)
    }

    /// The records from a position on.
    pub(super) fn iter_from(&self, position: usize) -> impl Iterator<Item = (Identity, Details<'_>)> {
        let place = self.taken + position;
        let (first, within) = (place / SEGMENT_RECORDS, place % SEGMENT_RECORDS);
        let of_segment = move |(number, segment)| {
            let segment: &Segment = segment;
            // The first one is read from the nearest mark on.
            let at = if number == first { within / MARK_RECORDS } else { 0 };
            let (mut moment, offset) = segment
                .marks
                .get(at)
                .map_or((Moment::default(), 0), |mark| (mark.before(), mark.offset as usize));
            let mut input = Input::new(self.bytes(number).get(offset..).unwrap_or_default());
            segment.identities.iter().skip(at * MARK_RECORDS).map_while(move |packed| {
                let details = moment.get(&mut input).ok()?;
                moment = details.moment;
                Some(((*packed).into(), details))
            })
        };
        let segments = self.segments.iter().enumerate().skip(first);
        segments.flat_map(of_segment).skip(within % MARK_RECORDS)
    }

    /// Appends a record with its outcome.
    pub(super) fn push(&mut self, identity: Identity, moment: Moment, events: u32, outcome: Encoded<'_>) {
        if self.segments.back().is_none_or(|last| last.identities.len() == SEGMENT_RECORDS) {
            self.begin_segment();
        }
        let Some(segment) = self.segments.back_mut() else { return };
        if segment.identities.len().is_multiple_of(MARK_RECORDS) {
            let offset = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
            let Moment { at, sequence_last, epoch } = self.last;
            segment.marks.push(Mark { at, sequence_last, epoch, offset });
        }
        segment.identities.push(identity.into());
        self.last.put(moment, events, outcome, &mut self.open);
        self.last = moment;
        self.length += 1;
        if self.length == 1 {
            self.first = (moment, self.open.len());
        }
    }

    /// Removes the first record.
    pub(super) fn pop_front(&mut self) {
        if self.length == 0 {
            return;
        }
        self.length -= 1;
        self.taken += 1;
        let (moment, mut offset) = self.first;
        if self.taken == SEGMENT_RECORDS {
            self.segments.pop_front();
            self.taken = 0;
            offset = 0;
            if self.segments.is_empty() {
                self.open.clear();
            }
        }
        if self.length > 0 {
            self.first = self.read_first(moment, offset).unwrap_or((moment, offset));
        }
    }

    /// What [`Records::first`] is, by the record before and where the first one's details begin.
    fn read_first(&self, before: Moment, offset: usize) -> Option<(Moment, usize)> {
        let bytes = self.bytes(0);
        let mut input = Input::new(bytes.get(offset..)?);
        let moment = before.get(&mut input).ok()?.moment;
        Some((moment, bytes.len() - input.len()))
    }

    /// The details in a segment.
    fn bytes(&self, number: usize) -> &[u8] {
        if number + 1 == self.segments.len() {
            return &self.open;
        }
        self.segments.get(number).map_or(&[], |segment| &segment.details)
    }

    /// Closes the last segment with exactly the bytes that it needs, and begins another one.
    fn begin_segment(&mut self) {
        if let Some(last) = self.segments.back_mut() {
            last.details = self.open.as_slice().into();
        }
        self.open.clear();
        self.segments.push_back(Segment::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts;
    use crate::outcome::{Code, Outcome};

    /// A record of a number: stamps that repeat, rise and fall, several events, epochs, and answers of all kinds.
    fn record(number: u64) -> (Identity, Moment, u32, Outcome) {
        let outcome = match number % 7 {
            0 => Outcome::applied(facts!["a text that is too long to be kept"]),
            1 => Outcome { code: Code::ResolvedAbsent, facts: facts![] },
            2 => Outcome::applied(facts!["frozen"]),
            _ => Outcome::applied(facts![number * 1_000, number]),
        };
        let at = if number > 2_000 { 500_000 + number / 3 } else { 1_000_000 + number / 5 };
        let moment = Moment {
            at,
            sequence_last: number + 5 * (number / 9),
            epoch: u32::try_from(number / 1_500).expect("small"),
        };
        let identity = Identity { key: [number, !number], fingerprint: number << 32 };
        (identity, moment, u32::from(number.is_multiple_of(9)) * 5 + 1, outcome)
    }

    fn push(records: &mut Records, number: u64) {
        let (identity, moment, events, outcome) = record(number);
        let bytes = outcome.to_bytes();
        records.push(identity, moment, events, Encoded::new(&outcome, &bytes));
    }

    fn check(records: &Records, position: usize, number: u64) {
        let (identity, moment, events, outcome) = record(number);
        assert_eq!(records.identity(position), Some(identity));
        let (its, details) = records.iter_from(position).next().expect("the record");
        assert_eq!(its, identity);
        check_details(details, moment, events, &outcome);
        check_details(records.details(position).expect("details"), moment, events, &outcome);
    }

    fn check_details(details: Details<'_>, moment: Moment, events: u32, outcome: &Outcome) {
        let outcome = outcome.to_bytes();
        assert_eq!((details.moment, details.events), (moment, events));
        let mut encoded = Vec::new();
        details.answer.put_outcome(&mut encoded);
        let is_large = outcome.len() > 15;
        assert_eq!(
            (details.answer.is_in_log(), encoded.as_slice()),
            (is_large, if is_large { &[][..] } else { &outcome })
        );
    }

    #[test]
    fn records_are_what_they_were_while_others_come_and_go() {
        let mut records = Records::default();
        for number in 0..6_000 {
            push(&mut records, number);
            if number >= 2_500 {
                records.pop_front();
            }
            let length = records.len();
            let first = number + 1 - length as u64;
            assert_eq!(records.first_at(), Some(record(first).1.at));
            for position in [0, length / 3, length / 2, length - 1] {
                check(&records, position, first + position as u64);
            }
        }
        assert!(records.details(records.len()).is_none());
        let first = 6_000 - records.len() as u64;
        assert_eq!(records.iter().count(), records.len());
        for (number, (identity, details)) in (first..).zip(records.iter()) {
            let (expected, moment, events, outcome) = record(number);
            assert_eq!(identity, expected);
            check_details(details, moment, events, &outcome);
        }
    }

    #[test]
    fn an_emptied_list_begins_anew() {
        let mut records = Records::default();
        for round in 0..3 {
            for number in 0..SEGMENT_RECORDS as u64 + round {
                push(&mut records, number);
            }
            while records.len() > 0 {
                records.pop_front();
            }
            records.pop_front();
            assert_eq!((records.first_at(), records.iter().count()), (None, 0));
        }
        push(&mut records, 3);
        check(&records, 0, 3);
    }
}
