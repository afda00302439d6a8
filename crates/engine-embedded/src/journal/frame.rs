//! The frame: what one append writes.
//!
//! ```text
//! offset  bytes  field
//!      0      4  magic "SCFR"
//!      4      2  format version
//!      6      2  reserved, zero
//!      8      4  payload bytes, at most 8 MiB
//!     12      4  CRC of the frame before, also across segments
//!     16      8  epoch
//!     24      8  first sequence
//!     32      8  last sequence; first - 1 if the frame covers none
//!     40      8  synced through: all up to this sequence was durable when the frame was written
//!     48      4  CRC32C of bytes 0..48
//!     52      4  CRC32C of bytes 0..52, payload and padding
//!     56         payload, then zeros up to a multiple of 8
//! ```
//!
//! Both CRCs continue from the segment's seed (the CRC of its header, which covers segment number and first
//! sequence), so that frames left over in a recycled file are not frames of the new segment. The CRC over the
//! header alone lets a frame's length, and its claim of what was synced, be believed when its payload is torn.

use super::bytes::{field, get_u16, get_u32, get_u64, index, put};

/// Version of the frame's layout, equal to that of the segment.
pub(crate) const FRAME_VERSION: u16 = 1;
/// Bytes before the payload.
pub(crate) const FRAME_HEADER_BYTES: usize = 56;
/// Largest payload of any frame.
pub const PAYLOAD_BYTES_MAX: u64 = 8 << 20;

const MAGIC: [u8; 4] = *b"SCFR";
const ALIGNMENT: u64 = 8;

/// A frame's header, without the magic and the reserved field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) payload_bytes: u32,
    pub(crate) previous_crc: u32,
    pub(crate) epoch: u64,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) synced_through: u64,
    /// CRC of the whole frame, the link for the next one.
    pub(crate) crc: u32,
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    Absent,
    Magic,
    Version(u16),
    Header,
    Length,
    Payload,
    Chain,
    Sequence,
    Epoch,
}

impl Flaw {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Flaw::Absent => "the frame is gone, only zeros are left",
            Flaw::Magic => "no frame begins here",
            Flaw::Version(_) => "the frame has an unknown version",
            Flaw::Header => "the frame header's checksum does not match",
            Flaw::Length => "the frame is longer than its segment or the limit",
            Flaw::Payload => "the frame's checksum does not match",
            Flaw::Chain => "the frame does not follow the one before it",
            Flaw::Sequence => "the frame's sequences do not follow those before it",
            Flaw::Epoch => "the frame's epoch is lower than that of the one before it",
        }
    }
}

/// Bytes on disk of a frame with such a payload.
pub(crate) fn frame_bytes(payload_bytes: u64) -> u64 {
    (FRAME_HEADER_BYTES as u64 + payload_bytes).next_multiple_of(ALIGNMENT)
}

impl FrameHeader {
    pub(crate) fn bytes(&self) -> u64 {
        frame_bytes(u64::from(self.payload_bytes))
    }

    /// Whether the frame covers any sequence.
    pub(crate) fn covers_any(&self) -> bool {
        self.last_sequence >= self.first_sequence
    }

    /// Encodes the frame into `buffer` (cleared first) and answers its CRC.
    pub(crate) fn encode(&self, payload: &[u8], seed: u32, buffer: &mut Vec<u8>) -> u32 {
        buffer.clear();
        buffer.resize(FRAME_HEADER_BYTES, 0);
        put(buffer, 0, &MAGIC);
        put(buffer, 4, &FRAME_VERSION.to_le_bytes());
        put(buffer, 8, &field(payload.len()).to_le_bytes());
        put(buffer, 12, &self.previous_crc.to_le_bytes());
        put(buffer, 16, &self.epoch.to_le_bytes());
        put(buffer, 24, &self.first_sequence.to_le_bytes());
        put(buffer, 32, &self.last_sequence.to_le_bytes());
        put(buffer, 40, &self.synced_through.to_le_bytes());
        let header_crc = crc32c::crc32c_append(seed, &buffer[..48]);
        put(buffer, 48, &header_crc.to_le_bytes());
        buffer.extend_from_slice(payload);
        buffer.resize(index(frame_bytes(payload.len() as u64)), 0);
        let crc = frame_crc(seed, buffer);
        put(buffer, 52, &crc.to_le_bytes());
        crc
    }

    /// Reads a header where there is one; most places have none.
    pub(crate) fn decode_any(bytes: &[u8], seed: u32) -> Option<Self> {
        if bytes.starts_with(&MAGIC) { Self::decode(bytes, seed).ok() } else { None }
    }

    /// Reads a header from at least [`FRAME_HEADER_BYTES`] bytes; the payload is not looked at.
    pub(crate) fn decode(bytes: &[u8], seed: u32) -> Result<Self, Flaw> {
        let bytes = &bytes[..FRAME_HEADER_BYTES];
        if bytes[..4] != MAGIC {
            return Err(if bytes.iter().all(|&byte| byte == 0) { Flaw::Absent } else { Flaw::Magic });
        }
        if crc32c::crc32c_append(seed, &bytes[..48]) != get_u32(bytes, 48) {
            return Err(Flaw::Header);
        }
        let version = get_u16(bytes, 4);
        if version != FRAME_VERSION {
            return Err(Flaw::Version(version));
        }
        let header = Self {
            payload_bytes: get_u32(bytes, 8),
            previous_crc: get_u32(bytes, 12),
            epoch: get_u64(bytes, 16),
            first_sequence: get_u64(bytes, 24),
            last_sequence: get_u64(bytes, 32),
            synced_through: get_u64(bytes, 40),
            crc: get_u32(bytes, 52),
        };
        if u64::from(header.payload_bytes) > PAYLOAD_BYTES_MAX {
            return Err(Flaw::Length);
        }
        Ok(header)
    }

    /// Checks the whole frame; `bytes` are all of its bytes.
    pub(crate) fn check(&self, bytes: &[u8], seed: u32) -> Result<(), Flaw> {
        if frame_crc(seed, bytes) == self.crc { Ok(()) } else { Err(Flaw::Payload) }
    }
}

fn frame_crc(seed: u32, bytes: &[u8]) -> u32 {
    let crc = crc32c::crc32c_append(seed, &bytes[..52]);
    crc32c::crc32c_append(crc, &bytes[FRAME_HEADER_BYTES..])
}

#[cfg(test)]
mod tests {
    use super::super::segment::SegmentHeader;
    use super::*;

    fn header() -> FrameHeader {
        FrameHeader {
            payload_bytes: 5,
            previous_crc: 1,
            epoch: 2,
            first_sequence: 3,
            last_sequence: 4,
            synced_through: 2,
            crc: 0,
        }
    }

    #[test]
    fn a_frame_belongs_to_one_segment_only() {
        let segment = SegmentHeader {
            partition: 0,
            deployment_id: [1; 16],
            segment: 1,
            first_sequence: 3,
            segment_bytes: 8192,
            previous_crc: 0,
        };
        let mut bytes = Vec::new();
        let crc = header().encode(b"bytes", segment.seed(), &mut bytes);
        let decoded = FrameHeader::decode(&bytes, segment.seed()).unwrap();
        assert_eq!(decoded, FrameHeader { crc, ..header() });
        decoded.check(&bytes, segment.seed()).unwrap();
        let others = [
            SegmentHeader { segment: 2, ..segment },
            SegmentHeader { first_sequence: 4, ..segment },
            SegmentHeader { deployment_id: [2; 16], ..segment },
        ];
        for other in others {
            assert_eq!(FrameHeader::decode(&bytes, other.seed()), Err(Flaw::Header), "{other:?}");
            assert_eq!(decoded.check(&bytes, other.seed()), Err(Flaw::Payload), "{other:?}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_not_believed() {
        let mut bytes = Vec::new();
        header().encode(b"bytes", 9, &mut bytes);
        for payload_bytes in [field(index(PAYLOAD_BYTES_MAX)) + 1, u32::MAX] {
            put(&mut bytes, 8, &payload_bytes.to_le_bytes());
            let crc = crc32c::crc32c_append(9, &bytes[..48]);
            put(&mut bytes, 48, &crc.to_le_bytes());
            assert_eq!(FrameHeader::decode(&bytes, 9), Err(Flaw::Length));
        }
    }
}
