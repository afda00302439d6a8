//! What of a journal a copy needs: each segment up to its last whole frame, which is durable by then. A writer at work does
//! not disturb.

use std::collections::VecDeque;

use crate::storage::{Storage, StorageFile};

use super::bytes::index;
use super::frame::{FRAME_HEADER_BYTES, Flaw, FrameHeader};
use super::listing::{self, SegmentFile};
use super::scan::{SCAN_BYTES, Window, claimed_after, read_frame};
use super::segment::{FORMAT_VERSION, SEGMENT_HEADER_BYTES};
use super::survey::Frame;
use super::{JournalError, JournalSettings};

/// What is known of a journal before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// Everything up to here is durable; 0 if nothing is known.
    pub durable_through: u64,
    /// Whether nothing writes to it, so that a start would keep every good frame.
    pub is_at_rest: bool,
}

/// The part of a segment that a copy needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The file's name.
    pub name: String,
    /// First sequence that it can hold.
    pub first_sequence: u64,
    /// Last sequence in it; one less than the first if there is none.
    pub last_sequence: u64,
    /// Bytes of the file.
    pub segment_bytes: u64,
    /// Its first page. That of the newest segment has no seal, because in the copy nothing follows it.
    pub head: Vec<u8>,
    /// Where its frames end.
    pub end: u64,
    /// Whether it is complete and its end was known, so that it was not read.
    pub is_known: bool,
    /// The epoch of the last frame, if this segment was read and has any.
    pub epoch: Option<u64>,
    /// The last frame that covers a sequence, if this segment was read and has one.
    pub last: Option<LastFrame>,
    /// Whether frames follow that may not be durable yet.
    pub is_cut: bool,
}

/// The last frame that covers a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastFrame {
    /// Epoch of its writer.
    pub epoch: u64,
    /// What was appended.
    pub payload: Vec<u8>,
}

/// Where the frames of a complete segment end, by its name and first page, if that is known without reading it.
pub type KnownEnd<'a> = dyn Fn(&str, &[u8]) -> Option<u64> + 'a;

/// The extents of all segments, in the order in which they were written. Segments that are not known are read, and
/// refused if they are damaged.
///
/// # Errors
/// When the journal cannot be read or is corrupt. With a writer at work, a segment that it begins at that moment may
/// look like a gap: then look again.
pub fn extents(
    storage: &dyn Storage,
    settings: &JournalSettings,
    evidence: Evidence,
    known: &KnownEnd<'_>,
) -> Result<Vec<Extent>, JournalError> {
    let listing = listing::list(storage, Some(settings))?;
    listing.check_chain(&storage.locate(""))?;
    let mut extents = Vec::new();
    let mut next: Option<&SegmentFile> = None;
    // From the newest on, because the last frame is looked for where it is.
    for segment in listing.segments.iter().rev() {
        let has_last = extents.iter().any(|extent: &Extent| extent.last.is_some());
        extents.push(match next {
            None => newest(storage, segment, evidence)?,
            Some(next) => {
                complete(storage, segment, next, &|name, head| known(name, head).filter(|_| has_last))?
            }
        });
        next = Some(segment);
    }
    extents.reverse();
    Ok(extents)
}

fn complete(
    storage: &dyn Storage,
    segment: &SegmentFile,
    next: &SegmentFile,
    known: &KnownEnd<'_>,
) -> Result<Extent, JournalError> {
    let mut walk = Walk::begin(storage, segment)?;
    let mut head = vec![0; index(SEGMENT_HEADER_BYTES)];
    walk.file.read_at(0, &mut head)?;
    // Only a seal says what the segment ended with.
    let known_end = segment.seal.and_then(|_| known(&segment.header.name(), &head));
    if let Some(end) = known_end {
        let last_sequence = next.header.first_sequence - 1;
        return Ok(Extent { last_sequence, is_known: true, ..walk.extent(head, end, None) });
    }
    let mut last = None;
    let flaw = loop {
        match walk.step()? {
            Ok(place) => last = Some(place).filter(|place| place.header.covers_any()).or(last),
            Err(flaw) => break flaw,
        }
    };
    if walk.crc != next.header.previous_crc || walk.next_sequence != next.header.first_sequence {
        return Err(walk.corrupt(flaw));
    }
    let last = last.map(|place| walk.last_frame(place)).transpose()?;
    let (end, last_sequence) = (walk.offset, walk.next_sequence - 1);
    Ok(Extent { last_sequence, ..walk.extent(head, end, last) })
}

fn newest(storage: &dyn Storage, segment: &SegmentFile, evidence: Evidence) -> Result<Extent, JournalError> {
    let mut walk = Walk::begin(storage, segment)?;
    let mut durable = evidence.durable_through;
    let mut unproven: VecDeque<FrameSpan> = VecDeque::new();
    let (mut end, mut last_sequence, mut last) = (walk.offset, walk.next_sequence - 1, None);
    let mut epoch = None;
    let mut read_again_at = None;
    loop {
        let stopped = match walk.step()? {
            Ok(place) => {
                durable = durable.max(place.header.synced_through);
                unproven.push_back(place);
                None
            }
            Err(flaw) => Some(flaw),
        };
        let is_over = match stopped {
            Some(_) if walk.claimed()?.max(durable) < walk.next_sequence => true,
            // A writer may have written it after it was read ahead.
            Some(_) if read_again_at != Some(walk.offset) => {
                read_again_at = Some(walk.offset);
                walk.window.clear();
                false
            }
            Some(flaw) => return Err(walk.corrupt(flaw)),
            None => false,
        };
        // What is behind the last frame that says what was durable is so once it is synced here, too. A writer that has
        // nothing more to write would never say it.
        if is_over && !unproven.is_empty() && walk.file.sync_data().is_ok() {
            durable = walk.next_sequence - 1;
        }
        let is_proven = |place: &FrameSpan| place.header.last_sequence <= durable || evidence.is_at_rest;
        while let Some(place) = unproven.pop_front_if(|place| is_proven(place)) {
            (end, last_sequence, epoch) = (place.end, place.header.last_sequence, Some(place.header.epoch));
            last = Some(place).filter(|place| place.header.covers_any()).or(last);
        }
        if is_over {
            break;
        }
    }
    let last = last.map(|place| walk.last_frame(place)).transpose()?;
    let head = segment.header.encode();
    let is_cut = end < walk.offset;
    Ok(Extent { last_sequence, epoch, is_cut, ..walk.extent(head, end, last) })
}

#[derive(Clone, Copy)]
pub(super) struct FrameSpan {
    pub(super) offset: u64,
    pub(super) end: u64,
    pub(super) header: FrameHeader,
}

/// Goes through the frames of one segment.
pub(super) struct Walk<'a> {
    segment: &'a SegmentFile,
    pub(super) file: Box<dyn StorageFile>,
    pub(super) window: Window,
    seed: u32,
    pub(super) offset: u64,
    pub(super) crc: u32,
    pub(super) next_sequence: u64,
    pub(super) epoch: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn begin(storage: &dyn Storage, segment: &'a SegmentFile) -> Result<Self, JournalError> {
        let header = &segment.header;
        Ok(Self {
            segment,
            file: storage.open(&header.name())?,
            window: Window::new(SCAN_BYTES.min(index(header.segment_bytes))),
            seed: header.seed(),
            offset: SEGMENT_HEADER_BYTES,
            crc: header.previous_crc,
            next_sequence: header.first_sequence,
            epoch: 0,
        })
    }

    pub(super) fn step(&mut self) -> Result<Result<FrameSpan, Flaw>, JournalError> {
        let (offset, bytes) = (self.offset, self.segment.header.segment_bytes);
        let found = read_frame(&mut self.window, &*self.file, offset, bytes, self.seed)?;
        let header = match found {
            Ok((header, _)) => header,
            Err(flaw) => return Ok(Err(flaw)),
        };
        if let Err(flaw) = self.check_order(&header) {
            return Ok(Err(flaw));
        }
        self.offset += header.bytes();
        self.crc = header.crc;
        self.next_sequence = header.last_sequence + 1;
        self.epoch = header.epoch;
        Ok(Ok(FrameSpan { offset, end: self.offset, header }))
    }

    fn check_order(&self, header: &FrameHeader) -> Result<(), Flaw> {
        if header.previous_crc != self.crc {
            return Err(Flaw::Chain);
        }
        let after = header.last_sequence.checked_add(1);
        if header.first_sequence != self.next_sequence
            || after.is_none_or(|after| after < header.first_sequence)
        {
            return Err(Flaw::Sequence);
        }
        if header.epoch < self.epoch { Err(Flaw::Epoch) } else { Ok(()) }
    }

    /// The highest sequence that any later frame claims to have been durable.
    fn claimed(&mut self) -> Result<u64, JournalError> {
        let bytes = self.segment.header.segment_bytes;
        Ok(claimed_after(&mut self.window, &*self.file, self.offset, bytes, self.seed)?)
    }

    fn last_frame(&mut self, place: FrameSpan) -> Result<LastFrame, JournalError> {
        let bytes = self.segment.header.segment_bytes;
        match read_frame(&mut self.window, &*self.file, place.offset, bytes, self.seed)? {
            Ok((header, payload)) => Ok(LastFrame { epoch: header.epoch, payload: payload.to_vec() }),
            Err(flaw) => Err(self.corrupt(flaw)),
        }
    }

    /// The frame that was stepped over last, from what was checked then.
    pub(super) fn frame(
        &mut self,
        FrameSpan { offset, end, header }: FrameSpan,
    ) -> Result<Frame<'_>, JournalError> {
        let bytes = self.window.fetch(&*self.file, offset, index(end - offset))?;
        let until = FRAME_HEADER_BYTES + index(header.payload_bytes.into());
        Ok(Frame {
            segment: self.segment.header.segment,
            offset,
            epoch: header.epoch,
            first_sequence: header.first_sequence,
            last_sequence: header.last_sequence,
            synced_through: header.synced_through,
            payload: bytes.get(FRAME_HEADER_BYTES..until).unwrap_or_default(),
        })
    }

    fn extent(&self, head: Vec<u8>, end: u64, last: Option<LastFrame>) -> Extent {
        let header = &self.segment.header;
        let (first_sequence, segment_bytes) = (header.first_sequence, header.segment_bytes);
        let last_sequence = first_sequence.saturating_sub(1);
        Extent {
            name: header.name(),
            first_sequence,
            last_sequence,
            segment_bytes,
            head,
            end,
            is_known: false,
            epoch: None,
            last,
            is_cut: false,
        }
    }

    pub(super) fn corrupt(&self, flaw: Flaw) -> JournalError {
        let path = self.segment.path.clone();
        if let Flaw::Version(found) = flaw {
            return JournalError::Newer { path, found: found.into(), supported: FORMAT_VERSION };
        }
        JournalError::Corrupt {
            path,
            offset: self.offset,
            sequence: self.next_sequence,
            reason: format!("{}, though it had been durable", flaw.reason()),
        }
    }
}
