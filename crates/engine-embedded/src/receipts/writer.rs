//! Writing a file of receipts.

use scarce_core::codec::Wire;
use scarce_core::event::{Entry, EntryHead};

use crate::journal::bytes::{field, put};
use crate::snapshot::SnapshotOwner;
use crate::storage::{Storage, StorageError, StorageFile};

use super::ReceiptsError;
use super::file::{
    FORMAT_VERSION, FRAME_BYTES, HEADER_BYTES, MAGIC, PREFIX, ROW_BYTES, ReceiptFile, SUFFIX, TEMPORARY_NAME,
};

const WRITE_BYTES: usize = 1 << 20;

/// Writes a file of receipts beside the others, under a temporary name until it is whole.
pub(super) struct ReceiptFileWriter {
    file: Box<dyn StorageFile>,
    owner: SnapshotOwner,
    buffer: Vec<u8>,
    /// Where the buffer will be written.
    offset: u64,
    index: Vec<u8>,
    last: u64,
    first: u64,
}

impl ReceiptFileWriter {
    pub(super) fn create(
        storage: &dyn Storage,
        owner: &SnapshotOwner,
        first: u64,
    ) -> Result<Self, StorageError> {
        match storage.remove(TEMPORARY_NAME) {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
        let file = storage.create(TEMPORARY_NAME)?;
        let (offset, last) = (HEADER_BYTES as u64, first);
        Ok(Self { file, owner: *owner, buffer: Vec::new(), offset, index: Vec::new(), last, first })
    }

    /// Adds the receipt of an entry; entries come in the order of their sequences.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), StorageError> {
        self.last = entry.sequence_last();
        let start = self.buffer.len();
        self.index.extend_from_slice(&self.last.to_le_bytes());
        self.index.extend_from_slice(&(self.offset + start as u64).to_le_bytes());
        self.buffer.extend_from_slice(&[0; FRAME_BYTES]);
        encode(entry, &mut self.buffer);
        let content = &self.buffer[start + FRAME_BYTES..];
        let (length, crc) = (field(content.len()), crc32c::crc32c(content));
        put(&mut self.buffer, start, &length.to_le_bytes());
        put(&mut self.buffer, start + 4, &crc.to_le_bytes());
        if self.buffer.len() >= WRITE_BYTES { self.write_buffer() } else { Ok(()) }
    }

    fn write_buffer(&mut self) -> Result<(), StorageError> {
        self.file.write_at(self.offset, &self.buffer)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes the file durable under its own name.
    pub(super) fn finish(mut self, storage: &dyn Storage) -> Result<ReceiptFile, ReceiptsError> {
        self.write_buffer()?;
        self.file.write_at(self.offset, &self.index)?;
        self.file.write_at(0, &self.header())?;
        self.file.sync_data()?;
        let name = format!("{PREFIX}{:016x}{SUFFIX}", self.first);
        storage.rename(TEMPORARY_NAME, &name)?;
        storage.sync_directory()?;
        ReceiptFile::open(storage, &name, &self.owner)
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        put(&mut header, 0, &MAGIC);
        put(&mut header, 8, &FORMAT_VERSION.to_le_bytes());
        put(&mut header, 12, &self.owner.partition.to_le_bytes());
        put(&mut header, 16, &self.owner.deployment_id);
        put(&mut header, 32, &((self.index.len() / ROW_BYTES) as u64).to_le_bytes());
        put(&mut header, 40, &self.first.to_le_bytes());
        put(&mut header, 48, &self.last.to_le_bytes());
        put(&mut header, 56, &self.offset.to_le_bytes());
        put(&mut header, 64, &crc32c::crc32c(&self.index).to_le_bytes());
        let crc = crc32c::crc32c(&header[..68]);
        put(&mut header, 68, &crc.to_le_bytes());
        header
    }
}

fn encode(entry: &Entry, out: &mut Vec<u8>) {
    let EntryHead { epoch, sequence_first, at, operation, more: _ } = &entry.head;
    epoch.put(out);
    sequence_first.put(out);
    at.put(out);
    operation.put(out);
    entry.outcome.put(out);
}
