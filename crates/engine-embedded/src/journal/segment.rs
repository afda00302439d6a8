//! The segment: one preallocated file of frames, its header and its seal.
//!
//! ```text
//! offset  bytes  field                                   offset  bytes  seal, once the segment is complete
//!      0      8  magic "SCSEGMNT"                          2048      8  magic "SCSEALED"
//!      8      4  format version                            2056      8  first sequence of the next segment
//!     12      4  partition                                 2064      4  CRC of the last frame here
//!     16     16  deployment id                             2068      4  CRC32C of 2048..2068, from the seed
//!     32      4  segment number, from 1
//!     36      4  reserved, zero
//!     40      8  first sequence
//!     48      8  bytes of the file
//!     56      4  CRC of the last frame before this segment
//!     60      4  CRC32C of bytes 0..60: the seed of all frames
//! ```
//!
//! Frames begin at 4096, so that writing them never touches the sectors of header and seal.

use scarce_engine::random::hex;

use super::bytes::{get_id, get_u32, get_u64, put};
use super::{JournalError, JournalSettings};

/// Newest version of the journal's format.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes before the first frame.
pub(crate) const SEGMENT_HEADER_BYTES: u64 = 4096;

const MAGIC: [u8; 8] = *b"SCSEGMNT";
const SEAL_MAGIC: [u8; 8] = *b"SCSEALED";
const HEADER_FIELDS_BYTES: usize = 64;
/// Where the seal lies: in a sector of its own.
pub(crate) const SEAL_OFFSET: u64 = 2048;
pub(crate) const SEAL_BYTES: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) partition: u32,
    pub(crate) deployment_id: [u8; 16],
    pub(crate) segment: u32,
    pub(crate) first_sequence: u64,
    pub(crate) segment_bytes: u64,
    pub(crate) previous_crc: u32,
}

/// What the seal of a complete segment says of the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) next_first_sequence: u64,
    pub(crate) last_crc: u32,
}

impl SegmentHeader {
    /// The file's name: segment number, then first sequence, so that names sort in the order of writing.
    pub(crate) fn name(&self) -> String {
        format!("journal-{:08x}-{:016x}.seg", self.segment, self.first_sequence)
    }

    fn fields(&self) -> [u8; HEADER_FIELDS_BYTES] {
        let mut bytes = [0; HEADER_FIELDS_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 8, &FORMAT_VERSION.to_le_bytes());
        put(&mut bytes, 12, &self.partition.to_le_bytes());
        put(&mut bytes, 16, &self.deployment_id);
        put(&mut bytes, 32, &self.segment.to_le_bytes());
        put(&mut bytes, 40, &self.first_sequence.to_le_bytes());
        put(&mut bytes, 48, &self.segment_bytes.to_le_bytes());
        put(&mut bytes, 56, &self.previous_crc.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..60]);
        put(&mut bytes, 60, &crc.to_le_bytes());
        bytes
    }

    /// The CRC from which those of all frames continue.
    pub(crate) fn seed(&self) -> u32 {
        get_u32(&self.fields(), 60)
    }

    /// The whole page before the first frame; it also wipes the seal of a recycled file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = self.fields().to_vec();
        page.resize(super::bytes::index(SEGMENT_HEADER_BYTES), 0);
        page
    }

    /// Reads the header of the file at `path`.
    pub(crate) fn decode(bytes: &[u8], path: &str) -> Result<Self, JournalError> {
        let corrupt = |reason: &str| JournalError::Corrupt {
            path: path.to_owned(),
            offset: 0,
            sequence: segment_name(path).map_or(0, |(_, first_sequence)| first_sequence),
            reason: reason.to_owned(),
        };
        if bytes.len() < HEADER_FIELDS_BYTES || bytes[..8] != MAGIC {
            return Err(corrupt("the file does not begin like a journal segment"));
        }
        // Only the place of magic and version is fixed for ever, so the version is read before the rest is checked.
        let version = get_u32(bytes, 8);
        if version > FORMAT_VERSION {
            return Err(JournalError::Newer {
                path: path.to_owned(),
                found: version,
                supported: FORMAT_VERSION,
            });
        }
        if crc32c::crc32c(&bytes[..60]) != get_u32(bytes, 60) {
            return Err(corrupt("the segment header's checksum does not match"));
        }
        Ok(Self {
            partition: get_u32(bytes, 12),
            deployment_id: get_id(bytes, 16),
            segment: get_u32(bytes, 32),
            first_sequence: get_u64(bytes, 40),
            segment_bytes: get_u64(bytes, 48),
            previous_crc: get_u32(bytes, 56),
        })
    }

    /// Refuses a file of another deployment or partition.
    pub(crate) fn check_owner(&self, settings: &JournalSettings, path: &str) -> Result<(), JournalError> {
        if self.deployment_id == settings.deployment_id && self.partition == settings.partition {
            return Ok(());
        }
        let owner = |id: &[u8], partition| format!("deployment {}, partition {partition}", hex(id));
        Err(JournalError::Foreign {
            path: path.to_owned(),
            found: owner(&self.deployment_id, self.partition),
            expected: owner(&settings.deployment_id, settings.partition),
        })
    }
}

impl Seal {
    pub(crate) fn encode(&self, seed: u32) -> [u8; SEAL_BYTES] {
        let mut bytes = [0; SEAL_BYTES];
        put(&mut bytes, 0, &SEAL_MAGIC);
        put(&mut bytes, 8, &self.next_first_sequence.to_le_bytes());
        put(&mut bytes, 16, &self.last_crc.to_le_bytes());
        let crc = crc32c::crc32c_append(seed, &bytes[..20]);
        put(&mut bytes, 20, &crc.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8], seed: u32) -> Option<Self> {
        let sound = bytes.len() >= SEAL_BYTES
            && bytes[..8] == SEAL_MAGIC
            && crc32c::crc32c_append(seed, &bytes[..20]) == get_u32(bytes, 20);
        sound.then(|| Self { next_first_sequence: get_u64(bytes, 8), last_crc: get_u32(bytes, 16) })
    }
}

/// Segment number and first sequence in a file's name or path.
pub(crate) fn segment_name(path: &str) -> Option<(u32, u64)> {
    let name = path.rsplit('/').next()?;
    let (segment, first_sequence) = name.strip_prefix("journal-")?.strip_suffix(".seg")?.split_once('-')?;
    if segment.len() != 8 || first_sequence.len() != 16 {
        return None;
    }
    Some((u32::from_str_radix(segment, 16).ok()?, u64::from_str_radix(first_sequence, 16).ok()?))
}

/// A spare's file name. The number says which segment it will become, and so that all before it exist.
pub(crate) fn spare_file_name(segment: u32) -> String {
    format!("spare-{segment:08x}.seg")
}

/// The number in a spare's name.
pub(crate) fn spare_name(name: &str) -> Option<u32> {
    let segment = name.strip_prefix("spare-")?.strip_suffix(".seg")?;
    (segment.len() == 8).then(|| u32::from_str_radix(segment, 16).ok()).flatten()
}
