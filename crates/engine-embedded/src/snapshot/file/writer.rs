use std::io::{self, Write};

use crate::journal::bytes::{field, index, put};
use crate::storage::{Storage, StorageError, StorageFile};

use super::{
    CHUNK_BYTES_MAX, CHUNK_HEADER_BYTES, CHUNKS_OFFSET, DigestOf, FOOTER_BYTES, FOOTER_MAGIC, SnapshotError,
    SnapshotInfo, SnapshotReader, load,
};

/// Produces a payload.
type Fill<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// Where a state is written of which only the digest is wanted. A partition has one keeper, so there is one at a time.
pub(super) const DIGEST_NAME: &str = "snapshot-digest.tmp";

pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with("snapshot-") && name.ends_with(".tmp")
}

pub(super) fn write(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut Fill<'_>,
) -> Result<SnapshotInfo, SnapshotError> {
    write_with(storage, info, fill, &mut |_| Ok(info.digest))
}

pub(super) fn write_with(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut Fill<'_>,
    digest: &mut DigestOf<'_>,
) -> Result<SnapshotInfo, SnapshotError> {
    let temporary = format!("snapshot-{:016x}.tmp", info.sequence);
    let written = write_temporary(storage, info, fill, &temporary)
        .and_then(|written| finish_temporary(storage, &written, digest, &temporary))
        .inspect_err(|_| {
            // Best effort, to give the room back; `retain` removes what is left.
            let _ = storage.remove(&temporary);
        })?;
    storage.rename(&temporary, &info.name())?;
    storage.sync_directory()?;
    read_back(storage, &written)?;
    Ok(written)
}

pub(super) fn digest_only(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut Fill<'_>,
    digest: &mut DigestOf<'_>,
) -> Result<u128, SnapshotError> {
    let written = write_temporary(storage, info, fill, DIGEST_NAME);
    let open = || SnapshotReader::open(storage.open(DIGEST_NAME)?, storage.locate(DIGEST_NAME));
    let found = written.and_then(|_| digest(&open));
    // Best effort, to give the room back; the next start or snapshot removes what is left.
    let _ = storage.remove(DIGEST_NAME);
    found
}

/// Puts the digest into the header, and makes the file durable.
fn finish_temporary(
    storage: &dyn Storage,
    written: &SnapshotInfo,
    digest: &mut DigestOf<'_>,
    temporary: &str,
) -> Result<SnapshotInfo, SnapshotError> {
    let path = storage.locate(temporary);
    let digest = digest(&|| SnapshotReader::open(storage.open(temporary)?, path.clone()))?;
    let info = SnapshotInfo { digest, ..*written };
    let mut file = storage.open(temporary)?;
    file.write_at(0, &header_page(&info))?;
    file.sync_data()?;
    Ok(info)
}

fn header_page(info: &SnapshotInfo) -> Vec<u8> {
    let mut page = info.encode().to_vec();
    page.resize(index(CHUNKS_OFFSET), 0);
    page
}

fn write_temporary(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut Fill<'_>,
    temporary: &str,
) -> Result<SnapshotInfo, SnapshotError> {
    match storage.remove(temporary) {
        Err(error) if !error.is_not_found() => return Err(error.into()),
        _ => {}
    }
    let mut chunks = Chunks::new(storage.create(temporary)?, info.seed());
    let filled = fill(&mut chunks);
    if let Some(failure) = chunks.failure.take() {
        return Err(failure.into());
    }
    filled.map_err(|source| SnapshotError::Payload { sequence: info.sequence, source })?;
    chunks.write_chunk()?;
    let info = SnapshotInfo { payload_bytes: chunks.payload_bytes, ..*info };
    chunks.finish(&info)?;
    Ok(info)
}

/// The cache is dropped first, so that it is the device that answers.
fn read_back(storage: &dyn Storage, info: &SnapshotInfo) -> Result<(), SnapshotError> {
    let name = info.name();
    storage.open(&name)?.forget_cached()?;
    let read = load(storage, &name, &info.owner).and_then(SnapshotReader::finish);
    match read {
        Ok(found) if found == *info => Ok(()),
        Err(SnapshotError::Storage(error)) => Err(error.into()),
        Ok(_) => reject(storage, &name, "the header is another one"),
        Err(error) => {
            storage.remove(&name)?;
            storage.sync_directory()?;
            Err(SnapshotError::ReadBack { path: storage.locate(&name), source: Box::new(error) })
        }
    }
}

fn reject(storage: &dyn Storage, name: &str, reason: &'static str) -> Result<(), SnapshotError> {
    storage.remove(name)?;
    storage.sync_directory()?;
    let path = storage.locate(name);
    let source = Box::new(SnapshotError::Corrupt { path: path.clone(), offset: 0, reason });
    Err(SnapshotError::ReadBack { path, source })
}

/// Cuts what is written into checksummed chunks.
struct Chunks {
    file: Box<dyn StorageFile>,
    /// The chunk being filled, after room for its header.
    chunk: Vec<u8>,
    offset: u64,
    crc: u32,
    payload_bytes: u64,
    /// `io::Write` cannot carry our error, so it waits here.
    failure: Option<StorageError>,
}

impl Chunks {
    fn new(file: Box<dyn StorageFile>, seed: u32) -> Self {
        let chunk = vec![0; CHUNK_HEADER_BYTES];
        Self { file, chunk, offset: CHUNKS_OFFSET, crc: seed, payload_bytes: 0, failure: None }
    }

    fn write_chunk(&mut self) -> Result<(), StorageError> {
        let payload = self.chunk.len() - CHUNK_HEADER_BYTES;
        if payload == 0 {
            return Ok(());
        }
        put(&mut self.chunk, 0, &field(payload).to_le_bytes());
        let crc = crc32c::crc32c_append(self.crc, &self.chunk[..4]);
        self.crc = crc32c::crc32c_append(crc, &self.chunk[CHUNK_HEADER_BYTES..]);
        let crc = self.crc.to_le_bytes();
        put(&mut self.chunk, 4, &crc);
        self.file.write_at(self.offset, &self.chunk)?;
        self.offset += self.chunk.len() as u64;
        self.payload_bytes += payload as u64;
        self.chunk.truncate(CHUNK_HEADER_BYTES);
        Ok(())
    }

    fn finish(mut self, info: &SnapshotInfo) -> Result<(), StorageError> {
        let mut footer = [0; FOOTER_BYTES];
        put(&mut footer, 4, &self.crc.to_le_bytes());
        put(&mut footer, 8, &FOOTER_MAGIC);
        put(&mut footer, 16, &self.payload_bytes.to_le_bytes());
        let crc = crc32c::crc32c(&footer[..24]);
        put(&mut footer, 24, &crc.to_le_bytes());
        self.file.write_at(self.offset, &footer)?;
        self.file.write_at(0, &header_page(info))
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = CHUNK_HEADER_BYTES + CHUNK_BYTES_MAX - self.chunk.len();
        let taken = bytes.len().min(room);
        self.chunk.extend_from_slice(&bytes[..taken]);
        if taken == room
            && let Err(error) = self.write_chunk()
        {
            let kind = error.source.kind();
            self.failure = Some(error);
            return Err(io::Error::from(kind));
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
