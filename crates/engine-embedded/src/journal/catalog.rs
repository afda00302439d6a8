//! Which segments exist, and a sparse index into them. Shared by the writer and the readers.

use super::segment::{SEGMENT_HEADER_BYTES, SegmentHeader};

/// A frame's place: its first sequence and its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) sequence: u64,
    pub(crate) offset: u64,
}

#[derive(Debug)]
struct SegmentIndex {
    header: SegmentHeader,
    marks: Vec<Mark>,
}

/// A segment as a reader needs to see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentView {
    pub(crate) header: SegmentHeader,
    /// First sequence of the next segment, if there is one.
    pub(crate) end_sequence: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Catalog {
    entries: Vec<SegmentIndex>,
    index_bytes: u64,
}

impl Catalog {
    pub(crate) fn new(headers: impl IntoIterator<Item = SegmentHeader>, index_bytes: u64) -> Self {
        let entries = headers.into_iter().map(SegmentIndex::new).collect();
        Self { entries, index_bytes }
    }

    pub(crate) fn push(&mut self, header: SegmentHeader) {
        self.entries.push(SegmentIndex::new(header));
    }

    pub(crate) fn first_available(&self) -> u64 {
        self.entries.first().map_or(1, |entry| entry.header.first_sequence)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.header.segment_bytes).sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn view(&self, segment: u32) -> Option<SegmentView> {
        let at = self.position(segment)?;
        let end_sequence = self.entries.get(at + 1).map(|next| next.header.first_sequence);
        Some(SegmentView { header: self.entries[at].header, end_sequence })
    }

    /// The nearest known place at or before `sequence`.
    pub(crate) fn locate(&self, sequence: u64) -> Option<(u32, Mark)> {
        let after = self.entries.partition_point(|entry| entry.header.first_sequence <= sequence);
        let entry = &self.entries[after.checked_sub(1)?];
        let marks_before = entry.marks.partition_point(|mark| mark.sequence <= sequence);
        let mark = marks_before.checked_sub(1).map(|at| entry.marks[at]);
        Some((entry.header.segment, mark.unwrap_or(entry.start())))
    }

    /// Remembers a place, unless one nearby is known. Marks must be of frames that cover a sequence.
    pub(crate) fn mark(&mut self, segment: u32, mark: Mark) {
        let index_bytes = self.index_bytes;
        let Some(at) = self.position(segment) else { return };
        let entry = &mut self.entries[at];
        let place = entry.marks.partition_point(|known| known.offset < mark.offset);
        let before = place.checked_sub(1).map_or(entry.start().offset, |at| entry.marks[at].offset);
        let after = entry.marks.get(place).map_or(u64::MAX, |known| known.offset);
        if mark.offset - before >= index_bytes && after - mark.offset >= index_bytes {
            entry.marks.insert(place, mark);
        }
    }

    /// Drops and answers the first segment if all its sequences are below `sequence`; the last one stays.
    pub(crate) fn retire_first(&mut self, sequence: u64) -> Option<SegmentHeader> {
        let next = self.entries.get(1)?;
        (next.header.first_sequence <= sequence).then(|| self.entries.remove(0).header)
    }

    /// Bytes of what [`Catalog::retire_first`] would drop.
    pub(crate) fn bytes_before(&self, sequence: u64) -> u64 {
        let pairs = self.entries.iter().zip(self.entries.iter().skip(1));
        let before = pairs.take_while(|(_, next)| next.header.first_sequence <= sequence);
        before.map(|(entry, _)| entry.header.segment_bytes).sum()
    }

    /// The first sequence once [`Catalog::retire_first`] has dropped all that it would.
    pub(crate) fn first_after_retire(&self, sequence: u64) -> u64 {
        let firsts = self.entries.iter().map(|entry| entry.header.first_sequence);
        firsts.take_while(|first| *first <= sequence).last().unwrap_or_else(|| self.first_available())
    }

    fn position(&self, segment: u32) -> Option<usize> {
        let first = self.entries.first()?.header.segment;
        let at = usize::try_from(segment.checked_sub(first)?).ok()?;
        (at < self.entries.len()).then_some(at)
    }
}

impl SegmentIndex {
    fn new(header: SegmentHeader) -> Self {
        Self { header, marks: Vec::new() }
    }

    fn start(&self) -> Mark {
        Mark { sequence: self.header.first_sequence, offset: SEGMENT_HEADER_BYTES }
    }
}
