use std::io::{self, Read};

use scarce_core::codec::Malformed;

use crate::journal::bytes::{get_u32, get_u64, index};
use crate::storage::StorageFile;

use super::{
    CHUNK_BYTES_MAX, CHUNK_HEADER_BYTES, CHUNKS_OFFSET, FOOTER_BYTES, FOOTER_MAGIC, HEADER_FIELDS_BYTES,
    SnapshotError, SnapshotInfo,
};

/// Reads a snapshot's payload; nothing unchecked is handed out.
pub struct SnapshotReader {
    file: Box<dyn StorageFile>,
    path: String,
    info: SnapshotInfo,
    /// Where the chain of chunk CRCs begins.
    seed: u32,
    offset: u64,
    crc: u32,
    payload_bytes: u64,
    chunk: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl SnapshotReader {
    pub(super) fn open(file: Box<dyn StorageFile>, path: String) -> Result<Self, SnapshotError> {
        let mut header = vec![0; HEADER_FIELDS_BYTES];
        let read = file.read_at(0, &mut header)?;
        let (info, crc) = SnapshotInfo::decode(&header[..read], &path)?;
        Ok(Self {
            file,
            path,
            info,
            seed: crc,
            offset: CHUNKS_OFFSET,
            crc,
            payload_bytes: 0,
            chunk: Vec::new(),
            taken: 0,
            ended: false,
        })
    }

    /// What the snapshot says of itself.
    pub fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    /// Reads and checks what is left, up to the footer. Call it after the payload was taken.
    pub fn finish(mut self) -> Result<SnapshotInfo, SnapshotError> {
        while self.next_chunk()? {}
        Ok(self.info)
    }

    /// Has the payload read by `read`, in pieces, and checks the whole file.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read, or its payload is not what `read` expects.
    pub fn read_pieces<T>(
        mut self,
        read: impl FnOnce(&mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<T, Malformed>,
    ) -> Result<T, SnapshotError> {
        self.read_whole(read)
    }

    /// The same from the beginning, however much was read before, so that it can be read again.
    pub(crate) fn read_whole<T>(
        &mut self,
        read: impl FnOnce(&mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<T, Malformed>,
    ) -> Result<T, SnapshotError> {
        self.rewind();
        let mut failed = None;
        let value = read(&mut |bytes| match self.next_chunk() {
            Ok(has_chunk) => {
                bytes.extend_from_slice(&self.chunk);
                has_chunk
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        while self.next_chunk()? {}
        value.map_err(|Malformed| self.corrupt("its rows cannot be read"))
    }

    fn rewind(&mut self) {
        (self.offset, self.crc, self.payload_bytes) = (CHUNKS_OFFSET, self.seed, 0);
        self.chunk.clear();
        (self.taken, self.ended) = (0, false);
    }

    /// Moves on to the next chunk; answers whether there is one.
    fn next_chunk(&mut self) -> Result<bool, SnapshotError> {
        self.chunk.clear();
        self.taken = 0;
        if self.ended {
            return Ok(false);
        }
        let mut head = [0; CHUNK_HEADER_BYTES];
        self.fill(&mut head)?;
        let length = get_u32(&head, 0);
        if length == 0 {
            return self.check_footer(get_u32(&head, 4));
        }
        let length = index(u64::from(length));
        if length > CHUNK_BYTES_MAX {
            return Err(self.corrupt("a chunk is longer than the limit"));
        }
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.resize(length, 0);
        self.offset += CHUNK_HEADER_BYTES as u64;
        self.fill(&mut chunk)?;
        let crc = crc32c::crc32c_append(self.crc, &head[..4]);
        self.crc = crc32c::crc32c_append(crc, &chunk);
        if self.crc != get_u32(&head, 4) {
            return Err(self.corrupt("a chunk's checksum does not match"));
        }
        self.offset += chunk.len() as u64;
        self.payload_bytes += chunk.len() as u64;
        self.chunk = chunk;
        Ok(true)
    }

    fn check_footer(&mut self, last_crc: u32) -> Result<bool, SnapshotError> {
        let mut footer = [0; FOOTER_BYTES];
        self.fill(&mut footer)?;
        let sound = footer[8..16] == FOOTER_MAGIC && crc32c::crc32c(&footer[..24]) == get_u32(&footer, 24);
        if !sound || last_crc != self.crc {
            return Err(self.corrupt("the footer does not fit the chunks"));
        }
        let file_bytes = self.offset + FOOTER_BYTES as u64;
        let lengths_agree = get_u64(&footer, 16) == self.payload_bytes
            && self.info.payload_bytes == self.payload_bytes
            && self.file.len()? == file_bytes;
        if !lengths_agree {
            return Err(self.corrupt("the payload is not as long as the header says"));
        }
        self.ended = true;
        Ok(false)
    }

    fn fill(&self, buffer: &mut [u8]) -> Result<(), SnapshotError> {
        if self.file.read_at(self.offset, buffer)? == buffer.len() {
            return Ok(());
        }
        Err(self.corrupt("the file ends too early"))
    }

    fn corrupt(&self, reason: &'static str) -> SnapshotError {
        SnapshotError::Corrupt { path: self.path.clone(), offset: self.offset, reason }
    }
}

impl Read for SnapshotReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.chunk.len() && !self.next_chunk().map_err(io::Error::other)? {
            return Ok(0);
        }
        let bytes = buffer.len().min(self.chunk.len() - self.taken);
        buffer[..bytes].copy_from_slice(&self.chunk[self.taken..self.taken + bytes]);
        self.taken += bytes;
        Ok(bytes)
    }
}
