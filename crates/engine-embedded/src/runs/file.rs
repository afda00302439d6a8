//! A run: the records of operations that followed one another, in the order of their keys, written once.
//!
//! ```text
//! offset  bytes  header                                  bytes  each block, from offset 128
//!      0      8  magic "SCRUNIDS"                            4  bytes of the records
//!      8      4  format version                              4  CRC32C of the records
//!     12      4  partition                                      records: as in record.rs, in the order of keys
//!     16     16  deployment id
//!     32      8  first number                            bytes  index
//!     40      8  number behind the last                      4  number of epochs, then each in 8 bytes
//!     48      8  number of records                           4  number of blocks, then of each:
//!     56      4  level: how often it was merged              8    first half of the first key
//!     60      4  zero                                        8    offset
//!     64      8  earliest stamp                                 filter, as in filter.rs
//!     72      8  latest stamp
//!     80      8  first sequence that ends a record
//!     88      8  last sequence that ends a record
//!     96      8  offset of the index
//!    104      8  bytes of the index
//!    112      4  CRC32C of all blocks
//!    116      4  CRC32C of the index
//!    120      4  zero
//!    124      4  CRC32C of bytes 0..124
//! ```

use std::sync::{Mutex, PoisonError};

use scarce_core::codec::Input;
use scarce_core::operations::OldOperation;

use crate::journal::bytes::{get_id, get_u32, get_u64, index, put};
use crate::snapshot::SnapshotOwner;
use crate::storage::{Storage, StorageError, StorageFile};

use super::RunError;
use super::filter::Filter;
use super::record::Base;

pub(super) const FORMAT_VERSION: u32 = 1;
pub(super) const MAGIC: [u8; 8] = *b"SCRUNIDS";
pub(super) const HEADER_BYTES: usize = 128;
pub(super) const FRAME_BYTES: usize = 8;
const PREFIX: &str = "ids-";
const SUFFIX: &str = ".run";
pub(super) const TEMPORARY_NAME: &str = "ids.tmp";

/// How much of a file is read at a time.
pub(super) const READ_BYTES: usize = 1 << 20;

/// Whether a file is a run.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// What a run says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunHead {
    pub(super) base: Base,
    /// The number behind its last one.
    pub(super) end: u64,
    pub(super) records: u64,
    pub(super) level: u32,
    pub(super) at_max: u64,
    pub(super) sequence_last: u64,
    pub(super) index_offset: u64,
    pub(super) index_bytes: u64,
    pub(super) blocks_crc: u32,
    pub(super) index_crc: u32,
}

impl RunHead {
    pub(super) fn name(&self) -> String {
        format!("{PREFIX}{:016x}-{:016x}{SUFFIX}", self.base.start, self.end)
    }

    pub(super) fn bytes(&self, owner: &SnapshotOwner) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 8, &FORMAT_VERSION.to_le_bytes());
        put(&mut bytes, 12, &owner.partition.to_le_bytes());
        put(&mut bytes, 16, &owner.deployment_id);
        put(&mut bytes, 56, &self.level.to_le_bytes());
        let Base { start, at, sequence, .. } = self.base;
        let fields = [(32, start), (40, self.end), (48, self.records), (64, at), (72, self.at_max)];
        let places =
            [(80, sequence), (88, self.sequence_last), (96, self.index_offset), (104, self.index_bytes)];
        for (offset, field) in fields.into_iter().chain(places) {
            put(&mut bytes, offset, &field.to_le_bytes());
        }
        put(&mut bytes, 112, &self.blocks_crc.to_le_bytes());
        put(&mut bytes, 116, &self.index_crc.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
        put(&mut bytes, HEADER_BYTES - 4, &crc.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8], owner: &SnapshotOwner) -> Result<Self, &'static str> {
        if bytes.len() < HEADER_BYTES || bytes[..8] != MAGIC {
            return Err("is no run of operation ids");
        }
        if crc32c::crc32c(&bytes[..HEADER_BYTES - 4]) != get_u32(bytes, HEADER_BYTES - 4) {
            return Err("has a damaged header");
        }
        if get_u32(bytes, 8) != FORMAT_VERSION {
            return Err("was written by a newer release");
        }
        let found = SnapshotOwner { deployment_id: get_id(bytes, 16), partition: get_u32(bytes, 12) };
        if found != *owner {
            return Err("belongs to another deployment or partition");
        }
        let base = Base {
            start: get_u64(bytes, 32),
            at: get_u64(bytes, 64),
            sequence: get_u64(bytes, 80),
            epochs: Vec::new(),
        };
        Ok(Self {
            base,
            end: get_u64(bytes, 40),
            records: get_u64(bytes, 48),
            level: get_u32(bytes, 56),
            at_max: get_u64(bytes, 72),
            sequence_last: get_u64(bytes, 88),
            index_offset: get_u64(bytes, 96),
            index_bytes: get_u64(bytes, 104),
            blocks_crc: get_u32(bytes, 112),
            index_crc: get_u32(bytes, 116),
        })
    }
}

/// The first half of a block's first key, and where the block is.
pub(super) type Fence = (u64, u64);

/// A run whose header and index are good.
pub(crate) struct Run {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) head: RunHead,
    pub(super) fences: Vec<Fence>,
    filter: Filter,
    file: Mutex<Box<dyn StorageFile>>,
}

impl Run {
    /// Opens a run, and reads its index.
    pub(super) fn open(storage: &dyn Storage, name: &str, owner: &SnapshotOwner) -> Result<Self, RunError> {
        let (path, file) = (storage.locate(name), storage.open(name)?);
        let mut header = [0; HEADER_BYTES];
        let read = file.read_at(0, &mut header)?;
        let mut head = RunHead::read(&header[..read], owner).map_err(|reason| unusable(&path, reason))?;
        let bytes = read_index(&*file, &head)?.ok_or_else(|| unusable(&path, "has a damaged index"))?;
        let (epochs, fences, filter) =
            split_index(&bytes).ok_or_else(|| unusable(&path, "has an index that cannot be read"))?;
        head.base.epochs = epochs;
        Ok(Self { name: name.to_owned(), path, head, fences, filter, file: Mutex::new(file) })
    }

    pub(super) const fn start(&self) -> u64 {
        self.head.base.start
    }

    pub(crate) const fn end(&self) -> u64 {
        self.head.end
    }

    /// Its size.
    pub(super) const fn bytes(&self) -> u64 {
        self.head.index_offset.saturating_add(self.head.index_bytes)
    }

    /// Whether the id of a key may have been used in it. `made_at` is the time that the id carries: one that was made later
    /// than the last record, by more than ids may be ahead of the clock, was not.
    pub(crate) fn may_have(&self, key: [u64; 2], made_at: Option<u64>, lead_ms: u64) -> bool {
        let is_later = made_at.is_some_and(|made_at| made_at > self.head.at_max.saturating_add(lead_ms));
        !is_later && self.filter.may_have(key)
    }

    /// The latest record of a key.
    pub(crate) fn find(&self, key: [u64; 2]) -> Result<Option<OldOperation>, RunError> {
        let first = self.fences.partition_point(|(half, _)| *half < key[0]).saturating_sub(1);
        for block in first..self.fences.len() {
            if block > first && self.fences[block].0 > key[0] {
                break;
            }
            let records = self.block(block)?;
            let mut input = Input::new(&records);
            while !input.is_empty() {
                let old = self.head.base.get(&mut input).map_err(|_| self.damaged())?;
                if old.key == key {
                    return Ok(Some(old));
                }
            }
        }
        Ok(None)
    }

    /// Where a block ends.
    pub(super) fn block_end(&self, block: usize) -> u64 {
        self.fences.get(block + 1).map_or(self.head.index_offset, |(_, offset)| *offset)
    }

    fn block(&self, block: usize) -> Result<Vec<u8>, RunError> {
        let (_, offset) = self.fences[block];
        let mut bytes = vec![0; index(self.block_end(block).saturating_sub(offset))];
        self.read_at(offset, &mut bytes)?;
        let records = unframed(&bytes).ok_or_else(|| self.damaged())?;
        Ok(records.to_vec())
    }

    pub(super) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), RunError> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.read_at(offset, bytes)?;
        if read == bytes.len() { Ok(()) } else { Err(self.damaged()) }
    }

    pub(super) fn damaged(&self) -> RunError {
        unusable(&self.path, "has a damaged block")
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("name", &self.name).field("head", &self.head).finish_non_exhaustive()
    }
}

pub(super) fn unusable(path: &str, reason: &'static str) -> RunError {
    RunError::Unusable { path: path.to_owned(), reason }
}

/// The records in the bytes of a block, if they are good.
pub(super) fn unframed(bytes: &[u8]) -> Option<&[u8]> {
    let (frame, records) = bytes.split_at_checked(FRAME_BYTES)?;
    let is_good = get_u32(frame, 0) as usize == records.len() && get_u32(frame, 4) == crc32c::crc32c(records);
    is_good.then_some(records)
}

/// The index; none if the file is too short for it, too long, or the index is damaged.
fn read_index(file: &dyn StorageFile, head: &RunHead) -> Result<Option<Vec<u8>>, StorageError> {
    if head.index_offset.checked_add(head.index_bytes) != Some(file.len()?) {
        return Ok(None);
    }
    let mut bytes = vec![0; index(head.index_bytes)];
    let read = file.read_at(head.index_offset, &mut bytes)?;
    let is_good = read == bytes.len() && crc32c::crc32c(&bytes) == head.index_crc;
    Ok(is_good.then_some(bytes))
}

pub(super) fn put_index(epochs: &[u64], fences: &[Fence], filter: &Filter) -> Vec<u8> {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut out = Vec::new();
    out.extend_from_slice(&count(epochs.len()));
    epochs.iter().for_each(|epoch| out.extend_from_slice(&epoch.to_le_bytes()));
    out.extend_from_slice(&count(fences.len()));
    for (half, offset) in fences {
        out.extend_from_slice(&half.to_le_bytes());
        out.extend_from_slice(&offset.to_le_bytes());
    }
    filter.put(&mut out);
    out
}

fn split_index(mut bytes: &[u8]) -> Option<(Vec<u64>, Vec<Fence>, Filter)> {
    let words = |bytes: &mut &[u8], each: usize| -> Option<Vec<u64>> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?.checked_mul(each * 8)?;
        let (words, rest) = rest.split_at_checked(count)?;
        *bytes = rest;
        Some(words.chunks_exact(8).map(|word| get_u64(word, 0)).collect())
    };
    let epochs = words(&mut bytes, 1)?;
    let fences = words(&mut bytes, 2)?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let filter = Filter::get(&mut bytes).ok()?;
    bytes.is_empty().then_some((epochs, fences, filter))
}
