//! Reading back while the writer appends: for event cursors, and for single operations.

use crate::storage::StorageFile;

use super::JournalError;
use super::catalog::{Mark, SegmentView};
use super::frame::Flaw;
use super::handle::Journal;
use super::scan::{Window, read_frame};
use super::segment::SEGMENT_HEADER_BYTES;

/// Bytes read at a time; small, because most reads are near the end or of one operation.
const READ_BYTES: usize = 64 << 10;

/// A frame that was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedFrame {
    /// Number of the segment.
    pub segment: u32,
    /// Where in the segment.
    pub offset: u64,
    /// Epoch of the writer.
    pub epoch: u64,
    /// First sequence covered.
    pub first_sequence: u64,
    /// Last sequence covered.
    pub last_sequence: u64,
    /// The bytes that were appended.
    pub payload: Vec<u8>,
}

/// Reads frames from any thread. It remembers where it stopped, so reading on is cheap.
pub struct JournalReader {
    journal: Journal,
    open: Option<(u32, Box<dyn StorageFile>)>,
    position: Option<FramePosition>,
    window: Window,
}

#[derive(Debug, Clone, Copy)]
struct FramePosition {
    segment: u32,
    offset: u64,
    next_sequence: u64,
}

impl JournalReader {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, open: None, position: None, window: Window::new(READ_BYTES) }
    }

    /// Frames in order from the one that covers `sequence`, until their payloads reach `bytes_max` (one frame
    /// comes in any case). None that covers anything after `durable_through` is answered, nor any that covers
    /// no sequence. Empty means: nothing there yet.
    ///
    /// `durable_through` must be a value of [`super::JournalWriter::sync`], taken before the call.
    pub fn read_from(
        &mut self,
        sequence: u64,
        durable_through: u64,
        bytes_max: u64,
    ) -> Result<Vec<OwnedFrame>, JournalError> {
        let mut frames = Vec::new();
        if sequence > durable_through {
            return Ok(frames);
        }
        // The writer may have overwritten zeros that were read ahead.
        self.window.clear();
        let mut position = self.start(sequence)?;
        let mut bytes = 0;
        while position.next_sequence <= durable_through && (frames.is_empty() || bytes < bytes_max) {
            let Some(frame) = self.step(&mut position, sequence)? else { continue };
            if frame.last_sequence > durable_through {
                break;
            }
            if frame.last_sequence >= sequence {
                bytes += frame.payload.len() as u64;
                self.position = Some(position);
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    /// The frame that covers `sequence`, if that is durable.
    pub fn read_one(
        &mut self,
        sequence: u64,
        durable_through: u64,
    ) -> Result<Option<OwnedFrame>, JournalError> {
        Ok(self.read_from(sequence, durable_through, 1)?.into_iter().next())
    }

    fn start(&self, sequence: u64) -> Result<FramePosition, JournalError> {
        let catalog = self.journal.shared().catalog();
        if let Some(position) = self.position
            && position.next_sequence == sequence
            && catalog.view(position.segment).is_some()
        {
            return Ok(position);
        }
        let (segment, Mark { sequence: next_sequence, offset }) = catalog
            .locate(sequence)
            .ok_or(JournalError::Retired { sequence, first_available: catalog.first_available() })?;
        Ok(FramePosition { segment, offset, next_sequence })
    }

    /// Moves over one frame, or on to the next segment. Frames that cover nothing answer nothing.
    fn step(
        &mut self,
        position: &mut FramePosition,
        sequence: u64,
    ) -> Result<Option<OwnedFrame>, JournalError> {
        let view = self.view(position.segment, sequence)?;
        if view.end_sequence.is_some_and(|end| position.next_sequence >= end) {
            position.segment += 1;
            position.offset = SEGMENT_HEADER_BYTES;
            return Ok(None);
        }
        self.open(&view, sequence)?;
        let Some((_, file)) = &self.open else { return Ok(None) };
        let end = view.header.segment_bytes;
        let found = read_frame(&mut self.window, &**file, position.offset, end, view.header.seed())?;
        let frame = found.and_then(|(header, payload)| {
            if header.first_sequence != position.next_sequence {
                return Err(Flaw::Sequence);
            }
            let frame = OwnedFrame {
                segment: position.segment,
                offset: position.offset,
                epoch: header.epoch,
                first_sequence: header.first_sequence,
                last_sequence: header.last_sequence,
                payload: payload.to_vec(),
            };
            Ok((header, frame))
        });
        match frame {
            Ok((header, frame)) => {
                let mark = Mark { sequence: header.first_sequence, offset: position.offset };
                position.offset += header.bytes();
                position.next_sequence = header.last_sequence + 1;
                if !header.covers_any() {
                    return Ok(None);
                }
                if frame.last_sequence < sequence {
                    self.journal.shared().catalog().mark(position.segment, mark);
                }
                Ok(Some(frame))
            }
            Err(flaw) => Err(self.unreadable(*position, sequence, flaw)),
        }
    }

    fn view(&self, segment: u32, sequence: u64) -> Result<SegmentView, JournalError> {
        let catalog = self.journal.shared().catalog();
        catalog
            .view(segment)
            .ok_or(JournalError::Retired { sequence, first_available: catalog.first_available() })
    }

    fn open(&mut self, view: &SegmentView, sequence: u64) -> Result<(), JournalError> {
        let segment = view.header.segment;
        if self.open.as_ref().is_some_and(|(open, _)| *open == segment) {
            return Ok(());
        }
        self.window.clear();
        match self.journal.shared().storage.open(&view.header.name()) {
            Ok(file) => self.open = Some((segment, file)),
            Err(error) => {
                self.view(segment, sequence)?;
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// A segment that was retired meanwhile may be another one's file by now: that is no corruption.
    fn unreadable(&self, position: FramePosition, sequence: u64, flaw: Flaw) -> JournalError {
        match self.view(position.segment, sequence) {
            Err(retired) => retired,
            Ok(view) => JournalError::Corrupt {
                path: self.journal.shared().storage.locate(&view.header.name()),
                offset: position.offset,
                sequence: position.next_sequence,
                reason: format!("{}, though it had been durable", flaw.reason()),
            },
        }
    }
}
