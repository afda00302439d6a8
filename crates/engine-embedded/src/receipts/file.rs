//! A file of receipts, in the order of their sequences.
//!
//! ```text
//! offset  bytes  header                              bytes  each receipt, from offset 72
//!      0      8  magic "SCRECEIP"                        4  bytes of the content
//!      8      4  format version                          4  CRC32C of the content
//!     12      4  partition                                  content: epoch, first sequence, stamp,
//!     16     16  deployment id                              operation, outcome; encoded as in an entry
//!     32      8  number of receipts
//!     40      8  first sequence                      bytes  index: each receipt
//!     48      8  last sequence                           8  last sequence of its operation
//!     56      8  offset of the index                     8  offset of the receipt
//!     64      4  CRC32C of the index
//!     68      4  CRC32C of bytes 0..68
//! ```

use scarce_core::codec::{Input, Malformed, Wire};
use scarce_core::event::{Entry, EntryHead, OperationMark};
use scarce_core::outcome::Outcome;

use crate::journal::bytes::{get_id, get_u32, get_u64, index};
use crate::snapshot::SnapshotOwner;
use crate::storage::{Storage, StorageError, StorageFile};

pub(super) const FORMAT_VERSION: u32 = 1;
pub(super) const MAGIC: [u8; 8] = *b"SCRECEIP";
pub(super) const HEADER_BYTES: usize = 72;
pub(super) const ROW_BYTES: usize = 16;
pub(super) const FRAME_BYTES: usize = 8;
const COPY_BYTES: usize = 1 << 20;
pub(super) const PREFIX: &str = "receipts-";
pub(super) const SUFFIX: &str = ".rcpt";
pub(super) const TEMPORARY_NAME: &str = "receipts.tmp";

/// Why receipts that left the log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptsError {
    /// The disk failed, or is full.
    #[error("the disk failed for a file of receipts; the journal still has what was being moved")]
    Storage(#[from] StorageError),
    /// The file is damaged, newer than this release, or of another partition.
    #[error(
        "{path} {reason}; restore it from a copy, or remove it: duplicates of the operations in it are then refused as UNAVAILABLE until their ids are forgotten"
    )]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong.
        reason: &'static str,
    },
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

pub(super) fn is_temporary(name: &str) -> bool {
    name == TEMPORARY_NAME
}

/// A file whose header and index are good.
#[derive(Debug)]
pub(super) struct ReceiptFile {
    pub(super) name: String,
    path: String,
    first: u64,
    last: u64,
    count: u64,
    index_offset: u64,
}

impl ReceiptFile {
    pub(super) fn open(
        storage: &dyn Storage,
        name: &str,
        owner: &SnapshotOwner,
    ) -> Result<Self, ReceiptsError> {
        let (path, file) = (storage.locate(name), storage.open(name)?);
        let mut header = [0; HEADER_BYTES];
        let read = file.read_at(0, &mut header)?;
        check_header(&header[..read], owner).map_err(|reason| unusable(&path, reason))?;
        let found = Self {
            name: name.to_owned(),
            path,
            count: get_u64(&header, 32),
            first: get_u64(&header, 40),
            last: get_u64(&header, 48),
            index_offset: get_u64(&header, 56),
        };
        if found.index_crc(&*file)? != Some(get_u32(&header, 64)) {
            return Err(unusable(&found.path, "has a damaged index"));
        }
        Ok(found)
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn covers(&self, sequence: u64) -> bool {
        (self.first..=self.last).contains(&sequence)
    }

    /// The checksum of the index; none if the file is too short or too long for it.
    fn index_crc(&self, file: &dyn StorageFile) -> Result<Option<u32>, StorageError> {
        let bytes = self.count.checked_mul(ROW_BYTES as u64);
        let Some(end) = bytes.and_then(|bytes| bytes.checked_add(self.index_offset)) else { return Ok(None) };
        if file.len()? != end {
            return Ok(None);
        }
        let (mut crc, mut at, mut part) = (0, self.index_offset, vec![0; COPY_BYTES]);
        while at < end {
            let length = index((end - at).min(COPY_BYTES as u64));
            let read = file.read_at(at, &mut part[..length])?;
            crc = crc32c::crc32c_append(crc, &part[..read]);
            at += length as u64;
        }
        Ok(Some(crc))
    }

    /// The entry that ends at a sequence, without its events.
    pub(super) fn find(
        &self,
        storage: &dyn Storage,
        sequence_last: u64,
    ) -> Result<Option<Entry>, ReceiptsError> {
        let file = storage.open(&self.name)?;
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut row = [0; ROW_BYTES];
            file.read_at(self.index_offset + middle * ROW_BYTES as u64, &mut row)?;
            match get_u64(&row, 0).cmp(&sequence_last) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.read(&*file, get_u64(&row, 8)).map(Some),
            }
        }
        Ok(None)
    }

    fn read(&self, file: &dyn StorageFile, offset: u64) -> Result<Entry, ReceiptsError> {
        let damaged = || unusable(&self.path, "has a damaged receipt");
        let mut frame = [0; FRAME_BYTES];
        file.read_at(offset, &mut frame)?;
        let length = u64::from(get_u32(&frame, 0));
        let start = offset + FRAME_BYTES as u64;
        if start.checked_add(length).is_none_or(|end| end > self.index_offset) {
            return Err(damaged());
        }
        let mut content = vec![0; index(length)];
        file.read_at(start, &mut content)?;
        if crc32c::crc32c(&content) != get_u32(&frame, 4) {
            return Err(damaged());
        }
        decode(&content).map_err(|Malformed| damaged())
    }

    /// Copies the file byte by byte.
    pub(super) fn copy(&self, from: &dyn Storage, to: &dyn Storage) -> Result<(), StorageError> {
        let source = from.open(&self.name)?;
        let mut target = to.create(&self.name)?;
        let (mut at, mut part) = (0, vec![0; COPY_BYTES]);
        loop {
            let read = source.read_at(at, &mut part)?;
            if read == 0 {
                break;
            }
            target.write_at(at, &part[..read])?;
            at += read as u64;
        }
        target.sync_data()?;
        to.sync_directory()
    }
}

fn unusable(path: &str, reason: &'static str) -> ReceiptsError {
    ReceiptsError::Unusable { path: path.to_owned(), reason }
}

fn check_header(header: &[u8], owner: &SnapshotOwner) -> Result<(), &'static str> {
    if header.len() < HEADER_BYTES || header[..8] != MAGIC {
        return Err("is no file of receipts");
    }
    if crc32c::crc32c(&header[..68]) != get_u32(header, 68) {
        return Err("has a damaged header");
    }
    if get_u32(header, 8) != FORMAT_VERSION {
        return Err("was written by a newer release");
    }
    let found = SnapshotOwner { deployment_id: get_id(header, 16), partition: get_u32(header, 12) };
    if found == *owner { Ok(()) } else { Err("belongs to another deployment or partition") }
}

fn decode(bytes: &[u8]) -> Result<Entry, Malformed> {
    let mut input = Input::new(bytes);
    let head = EntryHead {
        epoch: Wire::get(&mut input)?,
        sequence_first: Wire::get(&mut input)?,
        at: Wire::get(&mut input)?,
        operation: Option::<OperationMark>::get(&mut input)?,
        more: false,
    };
    let outcome = Option::<Outcome>::get(&mut input)?;
    Ok(Entry { head, outcome, events: Vec::new() })
}
