//! Reading frames out of a segment file.

use crate::storage::{StorageError, StorageFile};

use super::bytes::index;
use super::frame::{FRAME_HEADER_BYTES, Flaw, FrameHeader};

/// Bytes read at a time when a whole journal is read.
pub(crate) const SCAN_BYTES: usize = 1 << 20;

/// A stretch of a file, read ahead.
pub(crate) struct Window {
    data: Vec<u8>,
    start: u64,
    read_bytes: usize,
}

impl Window {
    pub(crate) fn new(read_bytes: usize) -> Self {
        Self { data: Vec::new(), start: 0, read_bytes }
    }

    /// Forgets what was read: another file follows, or the file has grown.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
    }

    /// Up to `length` bytes at `offset`; fewer only where the file ends.
    pub(crate) fn fetch(
        &mut self,
        file: &dyn StorageFile,
        offset: u64,
        length: usize,
    ) -> Result<&[u8], StorageError> {
        let held = offset >= self.start && offset + length as u64 <= self.start + self.data.len() as u64;
        if !held {
            self.data.resize(length.max(self.read_bytes), 0);
            let read = file.read_at(offset, &mut self.data);
            self.data.truncate(*read.as_ref().unwrap_or(&0));
            self.start = offset;
            read?;
        }
        let from = index(offset - self.start);
        Ok(&self.data[from..(from + length).min(self.data.len())])
    }
}

/// The frame at `offset` of a segment that ends at `end`, with its payload.
pub(crate) fn read_frame<'a>(
    window: &'a mut Window,
    file: &dyn StorageFile,
    offset: u64,
    end: u64,
    seed: u32,
) -> Result<Result<(FrameHeader, &'a [u8]), Flaw>, StorageError> {
    if offset + FRAME_HEADER_BYTES as u64 > end {
        return Ok(Err(Flaw::Absent));
    }
    let bytes = window.fetch(file, offset, FRAME_HEADER_BYTES)?;
    if bytes.len() < FRAME_HEADER_BYTES {
        return Ok(Err(Flaw::Length));
    }
    let header = match FrameHeader::decode(bytes, seed) {
        Ok(header) if offset + header.bytes() <= end => header,
        Ok(_) => return Ok(Err(Flaw::Length)),
        Err(flaw) => return Ok(Err(flaw)),
    };
    let bytes = window.fetch(file, offset, index(header.bytes()))?;
    if (bytes.len() as u64) < header.bytes() {
        return Ok(Err(Flaw::Length));
    }
    Ok(header.check(bytes, seed).map(|()| {
        let until = FRAME_HEADER_BYTES + index(u64::from(header.payload_bytes));
        (header, &bytes[FRAME_HEADER_BYTES..until])
    }))
}

/// The highest sequence that any frame header from `offset` on claims to have been durable.
///
/// Headers are believed by their own checksum: a later payload may be torn, its claim stands.
pub(crate) fn claimed_after(
    window: &mut Window,
    file: &dyn StorageFile,
    offset: u64,
    end: u64,
    seed: u32,
) -> Result<u64, StorageError> {
    let mut claimed = 0;
    let mut at = offset;
    while at + FRAME_HEADER_BYTES as u64 <= end {
        let bytes = window.fetch(file, at, FRAME_HEADER_BYTES)?;
        if bytes.len() < FRAME_HEADER_BYTES {
            break;
        }
        if let Ok(header) = FrameHeader::decode(bytes, seed) {
            claimed = claimed.max(header.synced_through);
        }
        at += 8;
    }
    Ok(claimed)
}
