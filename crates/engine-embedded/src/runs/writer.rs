//! Writing a run: beside the others, under a temporary name until it is whole and durable.

use std::collections::BTreeSet;

use scarce_core::operations::OldOperation;

use crate::journal::bytes::{field, put};
use crate::snapshot::SnapshotOwner;
use crate::storage::{Storage, StorageError, StorageFile};

use super::RunError;
use super::file::{FRAME_BYTES, Fence, HEADER_BYTES, Run, RunHead, TEMPORARY_NAME, put_index};
use super::filter::FilterBuilder;
use super::record::Base;

/// From how many bytes on a block is full.
const BLOCK_BYTES: usize = 4_000;
/// How much is written at a time.
const WRITE_BYTES: usize = 1 << 20;

/// Writes operations, in the order of their numbers, into a run that follows another one. They are in the order of their keys then.
pub(super) fn write_run(
    storage: &dyn Storage,
    owner: &SnapshotOwner,
    operations: &mut [OldOperation],
    follows: Follows,
) -> Result<Run, RunError> {
    let head = head_of(operations, follows);
    operations.sort_unstable_by_key(|old| (old.key, u64::MAX - old.number));
    let mut writer = RunWriter::create(storage, owner, head, operations.len() as u64)?;
    operations.iter().try_for_each(|old| writer.add(old))?;
    writer.finish(storage)
}

/// What a new run follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Follows {
    /// The end of the run before, if there is one.
    pub(super) end: Option<u64>,
    /// The epoch of the log that it is of, if none of its records is of that.
    pub(super) epoch: Option<u64>,
}

fn head_of(operations: &[OldOperation], follows: Follows) -> RunHead {
    let (first, last) = (operations.first(), operations.last());
    let epochs = operations.iter().map(|old| old.epoch).chain(follows.epoch).collect::<BTreeSet<_>>();
    let base = Base {
        start: follows.end.or(first.map(|old| old.number)).unwrap_or(0),
        at: operations.iter().map(|old| old.at).min().unwrap_or(0),
        sequence: operations.iter().map(|old| old.sequence_last).min().unwrap_or(0),
        epochs: epochs.into_iter().collect(),
    };
    RunHead { base, end: last.map_or(0, |old| old.number + 1), ..RunHead::default() }
}

/// Takes the records of a run in the order of their keys.
pub(super) struct RunWriter {
    file: Box<dyn StorageFile>,
    owner: SnapshotOwner,
    head: RunHead,
    filter: FilterBuilder,
    fences: Vec<Fence>,
    buffer: Vec<u8>,
    /// Where the buffer will be written, and where in it the open block begins.
    offset: u64,
    block: usize,
    last_key: Option<[u64; 2]>,
}

impl RunWriter {
    /// Begins a run of at most `records_max` records, of which `head` says everything but what is counted.
    pub(super) fn create(
        storage: &dyn Storage,
        owner: &SnapshotOwner,
        head: RunHead,
        records_max: u64,
    ) -> Result<Self, StorageError> {
        match storage.remove(TEMPORARY_NAME) {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
        Ok(Self {
            file: storage.create(TEMPORARY_NAME)?,
            owner: *owner,
            head: RunHead { records: 0, blocks_crc: 0, at_max: 0, sequence_last: 0, ..head },
            filter: FilterBuilder::new(records_max),
            fences: Vec::new(),
            buffer: Vec::with_capacity(WRITE_BYTES + 2 * BLOCK_BYTES),
            offset: HEADER_BYTES as u64,
            block: 0,
            last_key: None,
        })
    }

    /// Adds a record. Of those with the same key the latest one comes first. The others stay: a copy as of an earlier time may
    /// need them.
    pub(super) fn add(&mut self, old: &OldOperation) -> Result<(), StorageError> {
        if self.buffer.len() == self.block {
            self.fences.push((old.key[0], self.offset + self.block as u64));
            self.buffer.extend_from_slice(&[0; FRAME_BYTES]);
        }
        self.head.base.put(old, &mut self.buffer);
        if self.last_key.replace(old.key) != Some(old.key) {
            self.filter.push(old.key);
        }
        self.head.records += 1;
        self.head.at_max = self.head.at_max.max(old.at);
        self.head.sequence_last = self.head.sequence_last.max(old.sequence_last);
        if self.buffer.len() - self.block >= BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), StorageError> {
        if self.buffer.len() > self.block {
            let records = &self.buffer[self.block + FRAME_BYTES..];
            let (length, crc) = (field(records.len()), crc32c::crc32c(records));
            put(&mut self.buffer, self.block, &length.to_le_bytes());
            put(&mut self.buffer, self.block + 4, &crc.to_le_bytes());
            self.head.blocks_crc = crc32c::crc32c_append(self.head.blocks_crc, &self.buffer[self.block..]);
            self.block = self.buffer.len();
        }
        if self.buffer.len() >= WRITE_BYTES { self.write_buffer() } else { Ok(()) }
    }

    fn write_buffer(&mut self) -> Result<(), StorageError> {
        self.file.write_at(self.offset, &self.buffer)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        self.block = 0;
        Ok(())
    }

    /// Makes the run durable under its own name.
    pub(super) fn finish(mut self, storage: &dyn Storage) -> Result<Run, RunError> {
        self.end_block()?;
        self.write_buffer()?;
        let index = put_index(&self.head.base.epochs, &self.fences, &self.filter.finish());
        self.head.index_offset = self.offset;
        self.head.index_bytes = index.len() as u64;
        self.head.index_crc = crc32c::crc32c(&index);
        self.file.write_at(self.offset, &index)?;
        self.file.write_at(0, &self.head.bytes(&self.owner))?;
        self.file.sync_data()?;
        drop(self.file);
        let name = self.head.name();
        storage.rename(TEMPORARY_NAME, &name)?;
        storage.sync_directory()?;
        Run::open(storage, &name, &self.owner)
    }
}
