//! Looking at a journal without changing it, for people.

use crate::storage::Storage;

use super::frame::{Flaw, FrameHeader};
use super::listing::{self, SegmentFile, open_segment};
use super::recovery::catalog_of;
use super::scan::{SCAN_BYTES, Window, claimed_after, read_frame};
use super::segment::{SEGMENT_HEADER_BYTES, segment_name};
use super::survey::{Cut, OnFrame, OnProgress, SurveyTask, survey};
use super::{JournalError, JournalSettings};

/// What a segment looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentState {
    /// Complete; another one follows.
    Sealed,
    /// Still being written, or the crash came before the seal.
    Open,
    /// Ends in something that is no frame and was never durable as far as this file says.
    Torn {
        /// Where.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// Damaged where a later frame, or the seal, says that everything had been durable.
    Corrupt {
        /// Where.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// Not even the header can be read.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// One segment, looked at on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentSummary {
    /// The file's name.
    pub name: String,
    /// Number of the segment.
    pub segment: u32,
    /// First sequence that it can hold.
    pub first_sequence: u64,
    /// Last sequence in it; one less than the first if there is none.
    pub last_sequence: u64,
    /// Good frames.
    pub frames: u64,
    /// Bytes of good frames.
    pub bytes: u64,
    /// Bytes of the file.
    pub segment_bytes: u64,
    /// Epoch of its last frame; 0 if there is none.
    pub last_epoch: u64,
    /// What it looks like.
    pub state: SegmentState,
}

/// A journal that recovery would accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Number of segments.
    pub segments: u64,
    /// Oldest sequence.
    pub first_sequence: u64,
    /// Newest sequence.
    pub last_sequence: u64,
    /// The highest sequence that a frame says was durable; later frames were durable too if the writer has stopped.
    pub synced_through: u64,
    /// Good frames.
    pub frames: u64,
    /// Bytes of good frames.
    pub bytes: u64,
    /// The torn tail that recovery would cut.
    pub cut: Option<Cut>,
}

/// The oldest segment, as its name and length have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oldest {
    /// Number of the segment.
    pub segment: u32,
    /// First sequence that it can hold, and so the first of the journal.
    pub first_sequence: u64,
    /// Bytes of the file.
    pub segment_bytes: u64,
}

/// The oldest segment, if there is any; nothing is read.
pub fn oldest(storage: &dyn Storage) -> Result<Option<Oldest>, JournalError> {
    let names = storage.list()?;
    let found = names.iter().find_map(|name| segment_name(name).map(|found| (name, found)));
    let Some((name, (segment, first_sequence))) = found else { return Ok(None) };
    Ok(Some(Oldest { segment, first_sequence, segment_bytes: storage.open(name)?.len()? }))
}

/// Summaries of all segments, each looked at on its own; damage is described, not answered as an error.
pub fn inspect(storage: &dyn Storage) -> Result<Vec<SegmentSummary>, JournalError> {
    let mut summaries = Vec::new();
    for name in storage.list()? {
        let Some((segment, first_sequence)) = segment_name(&name) else { continue };
        let mut summary = SegmentSummary {
            name: name.clone(),
            segment,
            first_sequence,
            last_sequence: first_sequence.saturating_sub(1),
            frames: 0,
            bytes: 0,
            segment_bytes: 0,
            last_epoch: 0,
            state: SegmentState::Open,
        };
        match open_segment(storage, &name) {
            Ok(file) => summarize(storage, &file, &mut summary)?,
            Err(error) => summary.state = SegmentState::Unreadable { reason: error.to_string() },
        }
        summaries.push(summary);
    }
    Ok(summaries)
}

fn summarize(
    storage: &dyn Storage,
    segment: &SegmentFile,
    summary: &mut SegmentSummary,
) -> Result<(), JournalError> {
    let file = storage.open(&summary.name)?;
    let mut window = Window::new(SCAN_BYTES);
    let (seed, end) = (segment.header.seed(), segment.header.segment_bytes);
    let mut offset = SEGMENT_HEADER_BYTES;
    let mut crc = segment.header.previous_crc;
    summary.segment_bytes = end;
    let flaw = loop {
        let found = read_frame(&mut window, &*file, offset, end, seed)?;
        match found.and_then(|(header, _)| follows(&header, crc, summary.last_sequence).map(|()| header)) {
            Ok(header) => {
                offset += header.bytes();
                crc = header.crc;
                summary.last_sequence = header.last_sequence;
                summary.last_epoch = header.epoch;
                summary.frames += 1;
                summary.bytes += header.bytes();
            }
            Err(flaw) => break flaw,
        }
    };
    let reason = flaw.reason();
    summary.state = match segment.seal {
        Some(seal) if seal.last_crc == crc => SegmentState::Sealed,
        Some(_) => SegmentState::Corrupt { offset, reason },
        None if claimed_after(&mut window, &*file, offset, end, seed)? > summary.last_sequence => {
            SegmentState::Corrupt { offset, reason }
        }
        None if flaw == Flaw::Absent => SegmentState::Open,
        None => SegmentState::Torn { offset, reason },
    };
    Ok(())
}

fn follows(header: &FrameHeader, crc: u32, last_sequence: u64) -> Result<(), Flaw> {
    if header.previous_crc == crc && header.first_sequence == last_sequence.wrapping_add(1) {
        return Ok(());
    }
    Err(Flaw::Chain)
}

/// The payload of the newest good frame that has one, if any segment holds such a frame. The newest
/// segment that does is read; a torn end is passed over, and a writer at work does not disturb.
pub fn newest_payload(storage: &dyn Storage) -> Result<Option<Vec<u8>>, JournalError> {
    let mut names: Vec<_> = storage.list()?.into_iter().filter(|name| segment_name(name).is_some()).collect();
    while let Some(name) = names.pop() {
        let segment = open_segment(storage, &name)?;
        if let Some(payload) = last_payload(storage, &name, &segment)? {
            return Ok(Some(payload));
        }
    }
    Ok(None)
}

fn last_payload(
    storage: &dyn Storage,
    name: &str,
    segment: &SegmentFile,
) -> Result<Option<Vec<u8>>, JournalError> {
    let file = storage.open(name)?;
    let mut window = Window::new(SCAN_BYTES);
    let (seed, end) = (segment.header.seed(), segment.header.segment_bytes);
    let (mut offset, mut payload) = (SEGMENT_HEADER_BYTES, None);
    while let Ok((header, bytes)) = read_frame(&mut window, &*file, offset, end, seed)? {
        if !bytes.is_empty() {
            payload = Some(bytes.to_vec());
        }
        offset += header.bytes();
    }
    Ok(payload)
}

/// Reads the whole journal as recovery would, with the same errors, and changes nothing.
pub fn verify(
    storage: &dyn Storage,
    settings: &JournalSettings,
    durable_through: u64,
    on_frame: &mut OnFrame<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<Verification, JournalError> {
    read(storage, settings, 0, durable_through, on_frame, on_progress)
}

/// Reads the journal as recovery would from a sequence on, or from its beginning for 0, and changes nothing. A
/// frame that covers sequences on both sides of it is handed out whole.
pub fn read(
    storage: &dyn Storage,
    settings: &JournalSettings,
    from_sequence: u64,
    durable_through: u64,
    on_frame: &mut OnFrame<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<Verification, JournalError> {
    let listing = listing::list(storage, Some(settings))?;
    listing.check_chain(&storage.locate(""))?;
    let Some(first) = listing.segments.first() else {
        return Err(JournalError::Incomplete {
            directory: storage.locate(""),
            reason: "there is no segment".to_owned(),
        });
    };
    let first_sequence = first.header.first_sequence;
    let from_sequence = if from_sequence == 0 { first_sequence } else { from_sequence };
    let task = SurveyTask { storage, listing: &listing, from_sequence, durable_through };
    let end = survey(&task, &mut catalog_of(&listing, settings), on_frame, on_progress)?;
    Ok(Verification {
        segments: listing.segments.len() as u64,
        first_sequence,
        last_sequence: end.next_sequence - 1,
        synced_through: end.synced_through,
        frames: end.frames,
        bytes: end.bytes,
        cut: end.cut,
    })
}
