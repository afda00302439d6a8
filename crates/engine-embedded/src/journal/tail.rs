//! Following a journal that is being written: the frames behind a place, as they are in the files.

use crate::storage::Storage;

use super::bytes::index;
use super::extent::{FrameSpan, Walk};
use super::frame::Flaw;
use super::listing::{self, SegmentFile};
use super::segment::{SEGMENT_HEADER_BYTES, segment_name};
use super::survey::OnFrame;
use super::{Boundary, JournalError, JournalSettings};

/// Bytes of a segment that a copy lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TailPart {
    /// The file's name.
    pub name: String,
    /// Bytes of the file.
    pub segment_bytes: u64,
    /// Where in the file the bytes are.
    pub offset: u64,
    /// Whole frames; in front of a segment's first ones its first page, without a seal.
    pub bytes: Vec<u8>,
}

/// A place in a journal behind a frame, from which it is followed.
#[derive(Debug, Clone)]
pub struct JournalTail {
    segment: SegmentFile,
    offset: u64,
    crc: u32,
    next_sequence: u64,
    epoch: u64,
}

impl JournalTail {
    /// The place in a segment where a frame ends. The segment is read up to there.
    ///
    /// # Errors
    /// When it cannot be read, or no frame ends there.
    pub fn open(
        storage: &dyn Storage,
        settings: &JournalSettings,
        name: &str,
        end: u64,
    ) -> Result<Self, JournalError> {
        let sequence = segment_name(name).map_or(0, |(_, first)| first);
        let segment =
            open_segment(storage, settings, name).map_err(|error| dropped(error, storage, name, sequence))?;
        let mut walk = Walk::begin(storage, &segment)?;
        while walk.offset < end {
            walk.step()?.map_err(|flaw| walk.corrupt(flaw))?;
        }
        if walk.offset != end {
            return Err(walk.corrupt(Flaw::Length));
        }
        let (offset, crc, next_sequence, epoch) = (walk.offset, walk.crc, walk.next_sequence, walk.epoch);
        Ok(Self { offset, crc, next_sequence, epoch, segment })
    }

    /// The place where a copy ends that was made up to a boundary with whole frames.
    ///
    /// # Errors
    /// As [`JournalTail::open`].
    pub fn behind(
        storage: &dyn Storage,
        settings: &JournalSettings,
        boundary: &Boundary,
    ) -> Result<Self, JournalError> {
        let is_wanted = |name: &String| segment_name(name).is_some_and(|(its, _)| its == boundary.segment);
        let Some(name) = storage.list()?.into_iter().find(is_wanted) else {
            let (path, sequence) = (storage.locate(""), boundary.last_sequence);
            return Err(JournalError::Dropped { path, sequence });
        };
        Self::open(storage, settings, &name, boundary.offset)
    }

    /// The last sequence before this place.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.next_sequence - 1
    }

    /// The epoch at this place.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What comes behind this place up to a durable sequence, of about so many bytes at most, and the place behind that.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or was removed.
    pub fn advance(
        &self,
        storage: &dyn Storage,
        settings: &JournalSettings,
        durable_through: u64,
        bytes_max: usize,
    ) -> Result<(Self, Vec<TailPart>), JournalError> {
        let mut tail = self.clone();
        let (mut parts, mut room) = (Vec::new(), bytes_max);
        let mut head = Vec::new();
        while tail.next_sequence <= durable_through && room > 0 {
            let from = tail.offset - head.len() as u64;
            let (name, sequence) = (tail.segment.header.name(), tail.next_sequence);
            let taken = tail.take_frames(storage, durable_through, room, head);
            let (bytes, stopped) = taken.map_err(|error| dropped(error, storage, &name, sequence))?;
            room = room.saturating_sub(bytes.len());
            if !bytes.is_empty() {
                let (name, segment_bytes) = (tail.segment.header.name(), tail.segment.header.segment_bytes);
                parts.push(TailPart { name, segment_bytes, offset: from, bytes });
            }
            let Some(flaw) = stopped else { break };
            tail.enter_next(storage, settings, flaw)?;
            head = tail.segment.header.encode();
        }
        Ok((tail, parts))
    }

    /// Hands out the frames behind this place up to a durable sequence, and goes there. Gives how many bytes they have.
    ///
    /// # Errors
    /// When they cannot be read, are damaged or were removed, or are refused.
    pub fn follow(
        &mut self,
        storage: &dyn Storage,
        settings: &JournalSettings,
        durable_through: u64,
        on_frame: &mut OnFrame<'_>,
    ) -> Result<u64, JournalError> {
        let mut bytes = 0;
        while self.next_sequence <= durable_through {
            let (name, path) = (self.segment.header.name(), self.segment.path.clone());
            let sequence = self.next_sequence;
            let taken = self.each_frame(storage, durable_through, &mut |walk, place| {
                bytes += place.end - place.offset;
                let frame = walk.frame(place)?;
                on_frame(&frame).map_err(|source| JournalError::Consumer {
                    sequence: place.header.first_sequence,
                    path: path.clone(),
                    offset: place.offset,
                    source,
                })?;
                Ok(true)
            });
            let stopped = taken.map_err(|error| dropped(error, storage, &name, sequence))?;
            let Some(flaw) = stopped else { break };
            self.enter_next(storage, settings, flaw)?;
        }
        Ok(bytes)
    }

    /// Appends whole frames to `bytes`; gives what ended the segment, if it ended.
    fn take_frames(
        &mut self,
        storage: &dyn Storage,
        durable_through: u64,
        room: usize,
        mut bytes: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<Flaw>), JournalError> {
        if bytes.len() >= room {
            return Ok((bytes, None));
        }
        let stopped = self.each_frame(storage, durable_through, &mut |walk, place| {
            // From what was checked: the file itself may be another segment's by now.
            let frame = walk.window.fetch(&*walk.file, place.offset, index(place.end - place.offset))?;
            bytes.extend_from_slice(frame);
            Ok(bytes.len() < room)
        })?;
        Ok((bytes, stopped))
    }

    /// Walks over the frames of this segment behind this place, until `take` says that it is enough; gives what ended the
    /// segment, if it ended.
    fn each_frame(
        &mut self,
        storage: &dyn Storage,
        durable_through: u64,
        take: &mut TakeFrame<'_>,
    ) -> Result<Option<Flaw>, JournalError> {
        let segment = self.segment.clone();
        let mut walk = Walk::begin(storage, &segment)?;
        (walk.offset, walk.crc) = (self.offset, self.crc);
        (walk.next_sequence, walk.epoch) = (self.next_sequence, self.epoch);
        while walk.next_sequence <= durable_through {
            let place = match walk.step()? {
                // A batch becomes durable as a whole.
                Ok(place) if place.header.last_sequence <= durable_through => place,
                Ok(_) => break,
                Err(flaw) => return Ok(Some(flaw)),
            };
            let goes_on = take(&mut walk, place)?;
            (self.offset, self.crc) = (walk.offset, walk.crc);
            (self.next_sequence, self.epoch) = (walk.next_sequence, walk.epoch);
            if !goes_on {
                break;
            }
        }
        Ok(None)
    }

    /// Goes on to the segment that follows, which there must be where the next frame cannot be read here.
    fn enter_next(
        &mut self,
        storage: &dyn Storage,
        settings: &JournalSettings,
        flaw: Flaw,
    ) -> Result<(), JournalError> {
        let wanted = (self.segment.header.segment + 1, self.next_sequence);
        let name = storage.list()?.into_iter().find(|name| segment_name(name) == Some(wanted));
        let Some(name) = name else {
            let (path, sequence) = (self.segment.path.clone(), self.next_sequence);
            if storage.list()?.iter().filter_map(|name| segment_name(name)).all(|(_, first)| first > sequence)
            {
                return Err(JournalError::Dropped { path, sequence });
            }
            return Err(JournalError::Corrupt {
                path: self.segment.path.clone(),
                offset: self.offset,
                sequence: self.next_sequence,
                reason: format!("{}, though it had been durable", flaw.reason()),
            });
        };
        let next = open_segment(storage, settings, &name)?;
        if next.header.previous_crc != self.crc {
            let (directory, path) = (storage.locate(""), &self.segment.path);
            let reason = format!("segment {} does not follow {path}", next.path);
            return Err(JournalError::Incomplete { directory, reason });
        }
        (self.segment, self.offset) = (next, SEGMENT_HEADER_BYTES);
        Ok(())
    }
}

/// Takes a frame that was walked over; says whether it takes more.
type TakeFrame<'t> = dyn FnMut(&mut Walk<'_>, FrameSpan) -> Result<bool, JournalError> + 't;

/// A missing file is no failure of the disk: the journal drops segments that nobody keeps.
fn dropped(error: JournalError, storage: &dyn Storage, name: &str, sequence: u64) -> JournalError {
    match error {
        JournalError::Storage(error) if error.is_not_found() => {
            JournalError::Dropped { path: storage.locate(name), sequence }
        }
        error => error,
    }
}

fn open_segment(
    storage: &dyn Storage,
    settings: &JournalSettings,
    name: &str,
) -> Result<SegmentFile, JournalError> {
    let segment = listing::open_segment(storage, name)?;
    segment.header.check_owner(settings, &segment.path)?;
    Ok(segment)
}
