//! Copying a journal up to a place in it.

use crate::storage::{Storage, StorageFile};

use super::bytes::{field, index};
use super::frame::FrameHeader;
use super::listing::{self, SegmentFile};
use super::scan::{SCAN_BYTES, Window, read_frame};
use super::segment::SEGMENT_HEADER_BYTES;
use super::{JournalError, JournalSettings};

/// Where a copy ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The segment with the last frame.
    pub segment: u32,
    /// The frame at this offset, and what follows, is not copied as it is.
    pub offset: u64,
    /// Of that frame's payload so much is kept, in a frame of its own; nothing for 0.
    pub payload_bytes: usize,
    /// The last sequence of the copy.
    pub last_sequence: u64,
}

impl Boundary {
    /// Before the first frame of a segment that begins with a sequence.
    pub fn start_of(segment: u32, first_sequence: u64) -> Self {
        Self {
            segment,
            offset: SEGMENT_HEADER_BYTES,
            payload_bytes: 0,
            last_sequence: first_sequence.saturating_sub(1),
        }
    }
}

/// Copies the journal in `source` to the empty directory `target` up to `boundary`, durably. The frames before it
/// stay byte for byte as they are, and so the chain of their checksums; the segment that is now the last is no
/// longer sealed. `source` is only read.
pub fn copy_through(
    source: &dyn Storage,
    target: &dyn Storage,
    settings: &JournalSettings,
    boundary: &Boundary,
) -> Result<(), JournalError> {
    let listing = listing::list(source, Some(settings))?;
    listing.check_chain(&source.locate(""))?;
    for segment in &listing.segments {
        if segment.header.segment > boundary.segment {
            break;
        }
        let from = source.open(&segment.header.name())?;
        let mut to = target.create(&segment.header.name())?;
        if segment.header.segment < boundary.segment {
            copy_bytes(&*from, &mut *to, 0, segment.header.segment_bytes)?;
        } else {
            copy_last(segment, &*from, &mut *to, boundary)?;
        }
        to.sync_data()?;
    }
    Ok(target.sync_directory()?)
}

fn copy_last(
    segment: &SegmentFile,
    from: &dyn StorageFile,
    to: &mut dyn StorageFile,
    boundary: &Boundary,
) -> Result<(), JournalError> {
    let header = &segment.header;
    to.allocate(header.segment_bytes)?;
    to.write_at(0, &header.encode())?;
    copy_bytes(from, to, SEGMENT_HEADER_BYTES, boundary.offset)?;
    if boundary.payload_bytes == 0 {
        return Ok(());
    }
    let mut window = Window::new(SCAN_BYTES);
    let found = read_frame(&mut window, from, boundary.offset, header.segment_bytes, header.seed())?;
    let (frame, payload) = found.map_err(|flaw| JournalError::Corrupt {
        path: segment.path.clone(),
        offset: boundary.offset,
        sequence: boundary.last_sequence,
        reason: flaw.reason().to_owned(),
    })?;
    let kept = &payload[..boundary.payload_bytes.min(payload.len())];
    let frame =
        FrameHeader { payload_bytes: field(kept.len()), last_sequence: boundary.last_sequence, ..frame };
    let mut bytes = Vec::new();
    frame.encode(kept, header.seed(), &mut bytes);
    Ok(to.write_at(boundary.offset, &bytes)?)
}

fn copy_bytes(
    from: &dyn StorageFile,
    to: &mut dyn StorageFile,
    begin: u64,
    end: u64,
) -> Result<(), JournalError> {
    let mut buffer = vec![0; SCAN_BYTES];
    let mut offset = begin;
    while offset < end {
        let wanted = index((end - offset).min(buffer.len() as u64));
        let read = from.read_at(offset, &mut buffer[..wanted])?;
        if read == 0 {
            break;
        }
        to.write_at(offset, &buffer[..read])?;
        offset += read as u64;
    }
    Ok(())
}
