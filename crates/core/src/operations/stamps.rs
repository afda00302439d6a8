//! When the records were made that are remembered and not in memory: they leave in their order, by their stamps and by their
//! number. Two bytes for as many records as share a millisecond.

use std::collections::VecDeque;

use crate::codec::{Input, Malformed, Wire};
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::Slice;
use crate::types::TimeMs;

/// How many steps a chunk has at most.
const CHUNK_STEPS: usize = 512;

/// A longer pause, or a step back in time, begins a new chunk.
const PAUSE_MS_MAX: u64 = 16 * u8::MAX as u64;

/// So many milliseconds later, so many records. Longer steps, and more records, are several of these.
type Step = [u8; 2];

/// Records in their order, from a first stamp on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chunk {
    /// The number of its first record.
    start: u64,
    count: u64,
    first_at: TimeMs,
    last_at: TimeMs,
    steps: Vec<Step>,
}

impl Chunk {
    fn new(start: u64, at: TimeMs) -> Self {
        Self { start, count: 0, first_at: at, last_at: at, steps: Vec::new() }
    }

    const fn end(&self) -> u64 {
        self.start + self.count
    }

    /// Whether a record with this stamp can be added.
    fn takes(&self, at: TimeMs) -> bool {
        let pause = at.checked_sub(self.last_at);
        self.steps.len() < CHUNK_STEPS && pause.is_some_and(|pause| pause <= PAUSE_MS_MAX)
    }

    fn push(&mut self, at: TimeMs) {
        let mut pause = at.saturating_sub(self.last_at);
        while pause > u64::from(u8::MAX) {
            self.steps.push([u8::MAX, 0]);
            pause -= u64::from(u8::MAX);
        }
        match self.steps.last_mut() {
            Some([_, count]) if pause == 0 && *count < u8::MAX => *count += 1,
            _ => self.steps.push([u8::try_from(pause).unwrap_or(u8::MAX), 1]),
        }
        self.last_at = at;
        self.count += 1;
    }

    /// The stamps that records have from the first step on, each with how many records have it.
    fn stamps(&self, from: usize, at: TimeMs) -> impl Iterator<Item = (TimeMs, u64)> + '_ {
        self.steps[from..].iter().scan(at, |at, [pause, count]| {
            *at += u64::from(*pause);
            Some((*at, u64::from(*count)))
        })
    }

    /// The stamp of a record, counted from the first one.
    fn at(&self, mut place: u64) -> Option<TimeMs> {
        self.stamps(0, self.first_at).find_map(|(at, count)| {
            let found = place < count;
            place = place.saturating_sub(count);
            found.then_some(at)
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        self.start.put(out);
        self.first_at.put(out);
        (self.steps.len() as u64).put(out);
        self.steps.iter().for_each(|step| out.extend_from_slice(step));
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let (start, at, steps): (u64, TimeMs, u64) =
            (Wire::get(input)?, Wire::get(input)?, Wire::get(input)?);
        let steps = usize::try_from(steps).map_err(|_| Malformed)?;
        let mut chunk = Self::new(start, at);
        for step in input.take(steps.checked_mul(2).ok_or(Malformed)?)?.chunks_exact(2) {
            chunk.steps.push([step[0], step[1]]);
        }
        chunk.count = chunk.steps.iter().map(|[_, count]| u64::from(*count)).sum();
        chunk.last_at = chunk.stamps(0, at).last().map_or(at, |(at, _)| at);
        Ok(chunk)
    }
}

/// Where the oldest record is in the first chunk.
#[derive(Clone, Copy, Debug, Default)]
struct Front {
    /// Its step, how many records of that step are gone, and the stamp.
    step: usize,
    taken: u8,
    at: TimeMs,
}

/// What a snapshot still needs.
#[derive(Debug)]
struct Frozen {
    /// The numbers of the oldest record and of the one after the last, until they are written.
    head: Option<(u64, u64)>,
    /// The chunk that is written next, and how many are left.
    next: u64,
    left: u64,
    /// Those that went before they could be written.
    kept: VecDeque<Chunk>,
}

/// The stamps of records that follow one another.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    chunks: VecDeque<Chunk>,
    front: Front,
    /// The numbers of the first record and of the one after the last.
    first: u64,
    end: u64,
    frozen: Option<Box<Frozen>>,
}

impl Stamps {
    /// None, after so many that came and went.
    pub(super) fn empty_from(number: u64) -> Self {
        Self { first: number, end: number, ..Self::default() }
    }

    /// The number of the oldest record: how many came before it.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    /// The number of the record after the last one.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    pub(super) const fn len(&self) -> u64 {
        self.end - self.first
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first == self.end
    }

    pub(super) const fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    pub(super) fn first_at(&self) -> Option<TimeMs> {
        (!self.is_empty()).then_some(self.front.at)
    }

    /// The stamp of the record at a place from the oldest on.
    pub(super) fn at(&self, place: u64) -> Option<TimeMs> {
        let number = self.first.checked_add(place).filter(|number| *number < self.end)?;
        let chunk = self.chunks.partition_point(|chunk| chunk.end() <= number);
        let chunk = self.chunks.get(chunk)?;
        chunk.at(number - chunk.start)
    }

    /// Adds a record.
    pub(super) fn push(&mut self, at: TimeMs) {
        if self.is_empty() {
            self.front = Front { step: 0, taken: 0, at };
        }
        if self.chunks.back().is_none_or(|last| !last.takes(at)) {
            self.chunks.push_back(Chunk::new(self.end, at));
        }
        if let Some(last) = self.chunks.back_mut() {
            last.push(at);
        }
        self.end += 1;
    }

    /// Removes the oldest record. Where there is none, the next one was forgotten without having been here.
    pub(super) fn pop_front(&mut self) {
        if self.is_empty() {
            self.end += 1;
            self.first += 1;
            return;
        }
        self.first += 1;
        if self.is_empty() {
            return self.drop_chunk();
        }
        self.front.taken += 1;
        while let Some(chunk) = self.chunks.front() {
            match chunk.steps.get(self.front.step) {
                Some([_, count]) if self.front.taken < *count => return,
                Some(_) => {
                    let step = self.front.step + 1;
                    let pause = chunk.steps.get(step).map_or(0, |[pause, _]| *pause);
                    self.front = Front { step, taken: 0, at: self.front.at + u64::from(pause) };
                }
                None => self.drop_chunk(),
            }
        }
    }

    fn drop_chunk(&mut self) {
        let Some(chunk) = self.chunks.pop_front() else { return };
        self.front = Front { step: 0, taken: 0, at: self.chunks.front().map_or(0, |next| next.first_at) };
        if let Some(frozen) = self.frozen.as_mut().filter(|its| its.left > 0 && its.next <= chunk.start) {
            frozen.kept.push_back(chunk);
        }
    }
}

impl Stamps {
    /// Appends all, for a snapshot.
    pub(super) fn put(&self, out: &mut PieceWriter<'_>) {
        out.value(&(self.first, self.end));
        out.count(self.chunks.len());
        self.chunks.iter().for_each(|chunk| out.row(|out| chunk.put(out)));
    }

    /// Reads what [`Stamps::put`] wrote.
    pub(super) fn load(input: &mut PieceReader<'_>) -> Result<Self, Malformed> {
        let (first, end): (u64, u64) = input.value()?;
        let mut stamps = Self { first: end.min(first), end, ..Self::default() };
        for _ in 0..input.value::<u64>()? {
            let chunk = input.row(Chunk::get)?;
            let follows = stamps.chunks.back().is_none_or(|last| last.end() == chunk.start);
            if !follows || chunk.count == 0 {
                return Err(Malformed);
            }
            stamps.chunks.push_back(chunk);
        }
        let (begin, over) = stamps.ends().unwrap_or((end, end));
        if first > end || begin > first || over != end || (stamps.is_empty() && begin < end) {
            return Err(Malformed);
        }
        stamps.first = begin;
        stamps.front.at = stamps.chunks.front().map_or(0, |chunk| chunk.first_at);
        while stamps.first < first {
            stamps.pop_front();
        }
        Ok(stamps)
    }

    /// The numbers of the first record in a chunk and of the one after the last.
    fn ends(&self) -> Option<(u64, u64)> {
        Some((self.chunks.front()?.start, self.chunks.back()?.end()))
    }

    /// From now on it is written as it is now. None is added meanwhile.
    pub(super) fn freeze(&mut self) {
        self.frozen = Some(Box::new(Frozen {
            head: Some((self.first, self.end)),
            next: self.chunks.front().map_or(self.end, |chunk| chunk.start),
            left: self.chunks.len() as u64,
            kept: VecDeque::new(),
        }));
    }

    /// Writes as much as fits. Returns whether that was the last.
    pub(super) fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        let Some(mut frozen) = self.frozen.take() else { return true };
        if let Some(head) = frozen.head.take() {
            slice.value(&head);
            slice.value(&frozen.left);
        }
        while frozen.left > 0 && slice.has_room() {
            let kept = frozen.kept.pop_front();
            let place = self.chunks.partition_point(|chunk| chunk.start < frozen.next);
            let Some(chunk) = kept.as_ref().or_else(|| self.chunks.get(place)) else { break };
            slice.row(|out| chunk.put(out));
            frozen.next = chunk.end();
            frozen.left -= 1;
        }
        let is_over = frozen.left == 0;
        if !is_over {
            self.frozen = Some(frozen);
        }
        is_over
    }

    /// About how many bytes it keeps for a snapshot.
    pub(super) fn remembered_bytes(&self) -> usize {
        let kept =
            |frozen: &Frozen| frozen.kept.iter().map(|chunk| chunk.steps.len() * size_of::<Step>()).sum();
        self.frozen.as_ref().map_or(0, |frozen| kept(frozen))
    }

    pub(super) fn thaw(&mut self) {
        self.frozen = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stamp of a record: many in a millisecond, pauses short and long, and a clock that goes back.
    fn stamp(number: u64) -> TimeMs {
        match number {
            0..2_000 => 5_000 + number / 700,
            2_000..4_000 => 6_000 + number * 300,
            4_000..6_000 => 1_000 + number * 9_000,
            _ => 900_000_000 + number,
        }
    }

    fn check(stamps: &Stamps, first: u64, end: u64) {
        assert_eq!((stamps.first(), stamps.end(), stamps.len()), (first, end, end - first));
        assert_eq!(stamps.first_at(), (first < end).then(|| stamp(first)));
        for number in [first, first.midpoint(end), end.saturating_sub(1)] {
            let expected = (first..end).contains(&number).then(|| stamp(number));
            assert_eq!(number.checked_sub(first).and_then(|place| stamps.at(place)), expected, "{number}");
        }
        assert_eq!(stamps.at(end - first), None);
    }

    fn written(stamps: &Stamps) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
        let mut out = PieceWriter::new(&mut take);
        stamps.put(&mut out);
        out.finish();
        bytes
    }

    fn loaded(bytes: &[u8]) -> Result<Stamps, Malformed> {
        let mut left = Some(bytes);
        let mut next = |out: &mut Vec<u8>| left.take().map(|bytes| out.extend_from_slice(bytes)).is_some();
        Stamps::load(&mut PieceReader::new(&mut next))
    }

    #[test]
    fn stamps_are_what_they_were_while_records_come_and_go() {
        let mut stamps = Stamps::default();
        let mut first = 0;
        for number in 0..9_000 {
            stamps.push(stamp(number));
            if number % 3 > 0 && number > 1_000 {
                stamps.pop_front();
                first += 1;
            }
            if number % 97 == 0 {
                check(&stamps, first, number + 1);
                check(&loaded(&written(&stamps)).expect("what was written"), first, number + 1);
            }
        }
        while first < 9_000 {
            stamps.pop_front();
            first += 1;
        }
        check(&stamps, 9_000, 9_000);
        stamps.pop_front();
        assert_eq!((stamps.first(), stamps.end()), (9_001, 9_001), "one that was never here");
        let bytes = written(&stamps);
        assert_eq!(loaded(&bytes).expect("an empty one").end(), 9_001);
        assert_eq!(loaded(&bytes[..bytes.len() - 1]).err(), Some(Malformed));
    }

    #[test]
    fn a_snapshot_in_slices_is_that_of_its_moment() {
        let mut stamps = Stamps::default();
        (0..9_000).for_each(|number| stamps.push(stamp(number)));
        (0..1_500).for_each(|_| stamps.pop_front());
        let expected = written(&stamps);
        stamps.freeze();
        let (mut bytes, mut is_over) = (Vec::new(), false);
        while !is_over {
            let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
            let mut out = PieceWriter::new(&mut take);
            is_over = stamps.put_slice(&mut Slice::new(&mut out, 5));
            out.finish();
            (0..2_000).for_each(|_| stamps.pop_front());
        }
        assert!(bytes == expected, "records of the moment, each once and in order");
    }
}
