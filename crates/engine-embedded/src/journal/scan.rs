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

/// Bytes that are compared with zeros at once: most of what is behind the last frame was never written.
const BLOCK_BYTES: usize = 64 << 10;

static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

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
        let bytes = window.fetch(file, at, index((end - at).min(BLOCK_BYTES as u64)))?;
        if bytes.len() < FRAME_HEADER_BYTES {
            break;
        }
        if bytes == &ZEROS[..bytes.len()] {
            // No header begins here, since none begins with a zero.
            at += bytes.len().next_multiple_of(8) as u64;
            continue;
        }
        let places = (bytes.len() - FRAME_HEADER_BYTES) / 8 + 1;
        let headers = (0..places).filter_map(|place| FrameHeader::decode_any(&bytes[place * 8..], seed));
        at += places as u64 * 8;
        claimed = headers.fold(claimed, |claimed, header| claimed.max(header.synced_through));
    }
    Ok(claimed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in memory.
    struct Bytes(Vec<u8>);

    impl StorageFile for Bytes {
        fn len(&self) -> Result<u64, StorageError> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
            let rest = self.0.get(index(offset)..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }

        fn write_at(&mut self, _: u64, _: &[u8]) -> Result<(), StorageError> {
            unreachable!("it is only read")
        }

        fn allocate(&mut self, _: u64) -> Result<(), StorageError> {
            unreachable!("it is only read")
        }

        fn sync_data(&mut self) -> Result<(), StorageError> {
            unreachable!("it is only read")
        }
    }

    fn claimed(bytes: &[u8], offset: u64) -> u64 {
        let file = Bytes(bytes.to_vec());
        let end = bytes.len() as u64;
        claimed_after(&mut Window::new(SCAN_BYTES), &file, offset, end, 7).expect("it can be read")
    }

    /// Wherever a header is between zeros: at the edges of what is compared at once, too.
    #[test]
    fn a_claim_behind_zeros_is_found_at_every_place() {
        let header = FrameHeader {
            payload_bytes: 0,
            previous_crc: 1,
            epoch: 2,
            first_sequence: 3,
            last_sequence: 4,
            synced_through: 99,
            crc: 0,
        };
        let mut frame = Vec::new();
        header.encode(&[], 7, &mut frame);
        let length = 3 * BLOCK_BYTES + 24;
        let around = |edge: usize| (edge.saturating_sub(72)..=edge + 72).step_by(8);
        let places = [0, BLOCK_BYTES, 2 * BLOCK_BYTES].into_iter().flat_map(around);
        for place in places.chain([length - FRAME_HEADER_BYTES]) {
            for offset in [0, 8, 64] {
                let mut bytes = vec![0; length];
                bytes[place..place + frame.len()].copy_from_slice(&frame);
                let expected = if place >= offset { 99 } else { 0 };
                assert_eq!(claimed(&bytes, offset as u64), expected, "{place} from {offset}");
                // Beside something that is no header.
                bytes[BLOCK_BYTES + 200] = 1;
                assert_eq!(claimed(&bytes, offset as u64), expected, "{place} from {offset}, with more");
            }
        }
        assert_eq!(claimed(&vec![0; length], 0), 0);
    }
}
