//! The reading half of recovery: walks the frames and finds where the journal ends. Changes nothing.

use std::collections::VecDeque;

use crate::storage::{Storage, StorageFile};

use super::JournalError;
use super::bytes::index;
use super::catalog::{Catalog, Mark};
use super::frame::{Flaw, FrameHeader, frame_bytes};
use super::listing::{Listing, SegmentFile};
use super::scan::{SCAN_BYTES, Window, claimed_after, read_frame};
use super::segment::{FORMAT_VERSION, SEGMENT_HEADER_BYTES};

/// A frame as it lies in the journal.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Number of the segment.
    pub segment: u32,
    /// Where in the segment.
    pub offset: u64,
    /// Epoch of the writer.
    pub epoch: u64,
    /// First sequence covered.
    pub first_sequence: u64,
    /// Last sequence covered; one less than the first if the frame covers none.
    pub last_sequence: u64,
    /// Everything up to this sequence was durable when the frame was written.
    pub synced_through: u64,
    /// The bytes that were appended.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Its bytes in the segment, with header and padding.
    pub fn bytes(&self) -> u64 {
        frame_bytes(self.payload.len() as u64)
    }
}

/// How far a recovery has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalProgress {
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes to read at most.
    pub bytes_total: u64,
}

/// A tail that was never durable, and was or would be cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The segment's file.
    pub path: String,
    /// Where the first bad frame begins.
    pub offset: u64,
    /// The sequence that it would have had.
    pub sequence: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Where the journal ends.
#[derive(Debug, Clone)]
pub(crate) struct JournalEnd {
    pub(crate) offset: u64,
    pub(crate) next_sequence: u64,
    pub(crate) previous_crc: u32,
    pub(crate) epoch: u64,
    /// From here on no frame's durability is proven by a later one.
    pub(crate) unproven_offset: u64,
    /// The highest sequence that a frame says was durable.
    pub(crate) synced_through: u64,
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) cut: Option<Cut>,
}

/// Why the receiver of a frame refused it.
pub type Refusal = Box<dyn std::error::Error + Send + Sync>;
/// Receives the frames in order; an error stops the reading.
pub type OnFrame<'a> = dyn FnMut(&Frame<'_>) -> Result<(), Refusal> + 'a;
/// Hears now and then how far the reading has come.
pub type OnProgress<'a> = dyn FnMut(JournalProgress) + 'a;

/// What is asked of a survey.
pub(crate) struct SurveyTask<'a> {
    pub(crate) storage: &'a dyn Storage,
    pub(crate) listing: &'a Listing,
    pub(crate) from_sequence: u64,
    pub(crate) durable_through: u64,
}

struct Survey<'a, 'b> {
    task: &'a SurveyTask<'a>,
    catalog: &'a mut Catalog,
    on_frame: &'a mut OnFrame<'b>,
    on_progress: &'a mut OnProgress<'b>,
    progress: JournalProgress,
    end: JournalEnd,
    /// Frames of the current segment of which no later frame says that they were synced.
    unproven: VecDeque<(u64, FrameHeader)>,
}

/// Walks all frames from the segment that holds `from_sequence`; there must be a segment.
pub(crate) fn survey<'b>(
    task: &SurveyTask<'_>,
    catalog: &mut Catalog,
    on_frame: &mut OnFrame<'b>,
    on_progress: &mut OnProgress<'b>,
) -> Result<JournalEnd, JournalError> {
    let segments = &task.listing.segments;
    let first = start_segment(task)?;
    let header = &segments[first].header;
    let end = JournalEnd {
        offset: SEGMENT_HEADER_BYTES,
        next_sequence: header.first_sequence,
        previous_crc: header.previous_crc,
        epoch: 0,
        unproven_offset: SEGMENT_HEADER_BYTES,
        synced_through: 0,
        frames: 0,
        bytes: 0,
        cut: None,
    };
    let bytes_total = segments[first..].iter().map(|segment| segment.header.segment_bytes).sum();
    let progress = JournalProgress { bytes_done: 0, bytes_total };
    let unproven = VecDeque::new();
    let mut survey = Survey { task, catalog, on_frame, on_progress, progress, end, unproven };
    for at in first..segments.len() {
        survey.walk(&segments[at], segments.get(at + 1))?;
    }
    (survey.on_progress)(JournalProgress { bytes_done: bytes_total, bytes_total });
    Ok(survey.end)
}

fn start_segment(task: &SurveyTask<'_>) -> Result<usize, JournalError> {
    let segments = &task.listing.segments;
    let before = segments.partition_point(|segment| segment.header.first_sequence < task.from_sequence);
    if before == 0 && segments[0].header.first_sequence > task.from_sequence {
        return Err(JournalError::Incomplete {
            directory: segments[0].path.clone(),
            reason: format!(
                "sequence {} is needed, but the oldest segment begins at {}",
                task.from_sequence, segments[0].header.first_sequence
            ),
        });
    }
    Ok(before.saturating_sub(1))
}

impl Survey<'_, '_> {
    fn walk(&mut self, segment: &SegmentFile, next: Option<&SegmentFile>) -> Result<(), JournalError> {
        let file = self.task.storage.open(&segment.header.name())?;
        let mut window = Window::new(SCAN_BYTES.min(index(segment.header.segment_bytes)));
        let seed = segment.header.seed();
        let base = self.progress.bytes_done;
        self.end.offset = SEGMENT_HEADER_BYTES;
        self.unproven.clear();
        let flaw = loop {
            let offset = self.end.offset;
            let found = read_frame(&mut window, &*file, offset, segment.header.segment_bytes, seed)?;
            let checked =
                found.and_then(|(header, payload)| self.check_order(&header).map(|()| (header, payload)));
            match checked {
                Ok((header, payload)) => self.accept(segment, &header, payload)?,
                Err(flaw) => break flaw,
            }
            self.report(base + self.end.offset);
        };
        match next {
            Some(next) => self.check_complete(segment, next, flaw)?,
            None => self.judge_tail(segment, &*file, &mut window, flaw)?,
        }
        self.progress.bytes_done = base + segment.header.segment_bytes;
        Ok(())
    }

    fn check_order(&self, header: &FrameHeader) -> Result<(), Flaw> {
        if header.previous_crc != self.end.previous_crc {
            return Err(Flaw::Chain);
        }
        let next = self.end.next_sequence;
        let covered = header.last_sequence.checked_add(1).is_some_and(|after| after >= header.first_sequence);
        if header.first_sequence != next || !covered || header.synced_through >= next {
            return Err(Flaw::Sequence);
        }
        if header.epoch < self.end.epoch { Err(Flaw::Epoch) } else { Ok(()) }
    }

    fn accept(
        &mut self,
        segment: &SegmentFile,
        header: &FrameHeader,
        payload: &[u8],
    ) -> Result<(), JournalError> {
        let offset = self.end.offset;
        let wanted = if header.covers_any() {
            header.last_sequence >= self.task.from_sequence
        } else {
            header.first_sequence >= self.task.from_sequence && !payload.is_empty()
        };
        if wanted {
            let frame = Frame {
                segment: segment.header.segment,
                offset,
                epoch: header.epoch,
                first_sequence: header.first_sequence,
                last_sequence: header.last_sequence,
                synced_through: header.synced_through,
                payload,
            };
            (self.on_frame)(&frame).map_err(|source| JournalError::Consumer {
                sequence: header.first_sequence,
                path: segment.path.clone(),
                offset,
                source,
            })?;
        }
        if header.covers_any() {
            self.catalog.mark(segment.header.segment, Mark { sequence: header.first_sequence, offset });
        }
        self.prove(header.synced_through);
        self.end.synced_through = self.end.synced_through.max(header.synced_through);
        self.unproven.push_back((offset, *header));
        self.end.offset += header.bytes();
        self.end.next_sequence = header.last_sequence + 1;
        self.end.previous_crc = header.crc;
        self.end.epoch = header.epoch;
        self.end.frames += 1;
        self.end.bytes += header.bytes();
        Ok(())
    }

    /// A frame that covers nothing is proven only by what follows it.
    fn prove(&mut self, synced_through: u64) {
        let proven = self
            .unproven
            .iter()
            .rposition(|(_, frame)| frame.covers_any() && frame.last_sequence <= synced_through);
        if let Some(at) = proven {
            self.unproven.drain(..=at);
        }
    }

    fn report(&mut self, bytes_done: u64) {
        if bytes_done - self.progress.bytes_done >= SCAN_BYTES as u64 {
            self.progress.bytes_done = bytes_done;
            (self.on_progress)(self.progress);
        }
    }

    /// A segment that has a successor was synced to its end before the successor was made.
    fn check_complete(
        &self,
        segment: &SegmentFile,
        next: &SegmentFile,
        flaw: Flaw,
    ) -> Result<(), JournalError> {
        let complete = next.header.previous_crc == self.end.previous_crc
            && next.header.first_sequence == self.end.next_sequence;
        if complete { Ok(()) } else { Err(self.corrupt(segment, flaw)) }
    }

    /// Torn or corrupt: the tail may be cut only if nothing says that it had been durable.
    fn judge_tail(
        &mut self,
        segment: &SegmentFile,
        file: &dyn StorageFile,
        window: &mut Window,
        flaw: Flaw,
    ) -> Result<(), JournalError> {
        if let Flaw::Version(found) = flaw {
            return Err(JournalError::Newer {
                path: segment.path.clone(),
                found: u32::from(found),
                supported: FORMAT_VERSION,
            });
        }
        let offset = self.end.offset;
        let seed = segment.header.seed();
        let claimed = claimed_after(window, file, offset, segment.header.segment_bytes, seed)?;
        let durable = self.task.durable_through.max(self.task.from_sequence - 1).max(claimed);
        if durable >= self.end.next_sequence {
            return Err(self.corrupt(segment, flaw));
        }
        self.end.unproven_offset = self.unproven.front().map_or(offset, |(offset, _)| *offset);
        if flaw != Flaw::Absent {
            self.end.cut = Some(Cut {
                path: segment.path.clone(),
                offset,
                sequence: self.end.next_sequence,
                reason: flaw.reason(),
            });
        }
        Ok(())
    }

    fn corrupt(&self, segment: &SegmentFile, flaw: Flaw) -> JournalError {
        JournalError::Corrupt {
            path: segment.path.clone(),
            offset: self.end.offset,
            sequence: self.end.next_sequence,
            reason: format!("{}, though it had been durable", flaw.reason()),
        }
    }
}
