//! The container of a snapshot: header, checksummed chunks, footer. The payload is opaque.
//!
//! ```text
//! offset  bytes  header                                  bytes  each chunk
//!      0      8  magic "SCSNAPSH"                            4  payload bytes, 1 to 1 MiB
//!      8      4  format version                              4  CRC32C from the CRC of the chunk before
//!     12      4  partition                                      payload
//!     16     16  deployment id
//!     32      8  epoch                                   bytes  footer
//!     40      8  sequence                                    4  zero
//!     48      8  stamp in milliseconds                       4  CRC of the last chunk
//!     56     16  digest of the state                         8  magic "SCSNAPND"
//!     72      8  payload bytes                               8  payload bytes
//!     80      4  CRC32C of bytes 0..80                       4  CRC32C of the footer's first 24 bytes
//! ```
//!
//! Chunks begin at 512. The first continues from the CRC of bytes 0..56, so that chunks of another snapshot do not fit;
//! the digest is known only once they are written. In format version 1 it was that of bytes 0..72.

mod error;
mod reader;
mod writer;

use std::io::Write;

use scarce_engine::random::hex;

use crate::journal::bytes::{get_id, get_u32, get_u64, get_u128, put};
use crate::storage::Storage;

pub use error::SnapshotError;
pub use reader::SnapshotReader;

/// Newest version of the snapshot's format.
pub const FORMAT_VERSION: u32 = 2;

const MAGIC: [u8; 8] = *b"SCSNAPSH";
const FOOTER_MAGIC: [u8; 8] = *b"SCSNAPND";
const HEADER_FIELDS_BYTES: usize = 84;
/// What the chain of chunk CRCs begins with, by format version.
const IDENTITY_BYTES: usize = 56;
const IDENTITY_BYTES_1: usize = 72;
const CHUNKS_OFFSET: u64 = 512;
const CHUNK_BYTES_MAX: usize = 1 << 20;
const CHUNK_HEADER_BYTES: usize = 8;
const FOOTER_BYTES: usize = 28;

/// Whose snapshots are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotOwner {
    /// The deployment.
    pub deployment_id: [u8; 16],
    /// The partition.
    pub partition: u32,
}

/// What a snapshot says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Whose state it is.
    pub owner: SnapshotOwner,
    /// Epoch of the last frame that is folded in.
    pub epoch: u64,
    /// The last sequence that is folded in.
    pub sequence: u64,
    /// The sequencer's stamp at that sequence, in milliseconds.
    pub stamp_ms: u64,
    /// Digest of the state.
    pub digest: u128,
    /// Bytes of the payload; [`write()`] finds it out by itself.
    pub payload_bytes: u64,
}

/// A snapshot's file, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The file's name.
    pub name: String,
    /// The sequence in the name.
    pub sequence: u64,
}

/// What [`newest_good`] found.
#[derive(Debug)]
pub struct Newest {
    /// The newest snapshot that is good, wholly read and checked.
    pub snapshot: Option<(Listed, SnapshotInfo)>,
    /// Newer ones that are not, and why.
    pub damaged: Vec<(Listed, SnapshotError)>,
}

impl Newest {
    /// The highest sequence that any snapshot, also a damaged one, shows to have been durable: for
    /// [`crate::journal::RecoveryStart::durable_through`].
    pub fn durable_through(&self) -> u64 {
        let good = self.snapshot.iter().map(|(listed, _)| listed.sequence);
        self.damaged.iter().map(|(listed, _)| listed.sequence).chain(good).max().unwrap_or(0)
    }
}

impl SnapshotInfo {
    /// The file's name.
    pub fn name(&self) -> String {
        format!("snapshot-{:016x}.snap", self.sequence)
    }

    fn encode(&self) -> [u8; HEADER_FIELDS_BYTES] {
        let mut bytes = [0; HEADER_FIELDS_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 8, &FORMAT_VERSION.to_le_bytes());
        put(&mut bytes, 12, &self.owner.partition.to_le_bytes());
        put(&mut bytes, 16, &self.owner.deployment_id);
        put(&mut bytes, 32, &self.epoch.to_le_bytes());
        put(&mut bytes, 40, &self.sequence.to_le_bytes());
        put(&mut bytes, 48, &self.stamp_ms.to_le_bytes());
        put(&mut bytes, 56, &self.digest.to_le_bytes());
        put(&mut bytes, 72, &self.payload_bytes.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..80]);
        put(&mut bytes, 80, &crc.to_le_bytes());
        bytes
    }

    /// Where the chain of chunk CRCs begins.
    fn seed(&self) -> u32 {
        crc32c::crc32c(&self.encode()[..IDENTITY_BYTES])
    }

    /// What a header says, and where its chain of chunk CRCs begins.
    fn decode(bytes: &[u8], path: &str) -> Result<(Self, u32), SnapshotError> {
        let corrupt = |reason| Err(SnapshotError::Corrupt { path: path.to_owned(), offset: 0, reason });
        if bytes.len() < HEADER_FIELDS_BYTES || bytes[..8] != MAGIC {
            return corrupt("the file does not begin like a snapshot");
        }
        let found = get_u32(bytes, 8);
        if found > FORMAT_VERSION && !is_version_damaged(&bytes[..HEADER_FIELDS_BYTES]) {
            return Err(SnapshotError::Newer { path: path.to_owned(), found, supported: FORMAT_VERSION });
        }
        if crc32c::crc32c(&bytes[..80]) != get_u32(bytes, 80) || found == 0 {
            return corrupt("the header's checksum does not match");
        }
        let identity = if found == 1 { IDENTITY_BYTES_1 } else { IDENTITY_BYTES };
        let info = Self {
            owner: SnapshotOwner { partition: get_u32(bytes, 12), deployment_id: get_id(bytes, 16) },
            epoch: get_u64(bytes, 32),
            sequence: get_u64(bytes, 40),
            stamp_ms: get_u64(bytes, 48),
            digest: get_u128(bytes, 56),
            payload_bytes: get_u64(bytes, 72),
        };
        Ok((info, crc32c::crc32c(&bytes[..identity])))
    }
}

/// Whether a header's checksum fits once a version that is known here is put into it. Then no newer release wrote it.
fn is_version_damaged(header: &[u8]) -> bool {
    (1..=FORMAT_VERSION).any(|version| {
        let mut header = header.to_vec();
        put(&mut header, 8, &version.to_le_bytes());
        crc32c::crc32c(&header[..80]) == get_u32(&header, 80)
    })
}

fn sequence_of(name: &str) -> Option<u64> {
    let sequence = name.strip_prefix("snapshot-")?.strip_suffix(".snap")?;
    (sequence.len() == 16).then(|| u64::from_str_radix(sequence, 16).ok()).flatten()
}

/// Writes a snapshot whose payload `fill` produces, and answers only once it is durable, has its name, and
/// has been read back and checked. `info.payload_bytes` is ignored. Whatever fails leaves the older snapshots as they were.
pub fn write(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
) -> Result<SnapshotInfo, SnapshotError> {
    writer::write(storage, info, fill)
}

/// Gives the digest of a payload that was written, which it may read as often as it wants.
pub type DigestOf<'a> =
    dyn FnMut(&dyn Fn() -> Result<SnapshotReader, SnapshotError>) -> Result<u128, SnapshotError> + 'a;

/// The same where the digest is known only from the payload. `info.digest` is ignored, too.
pub fn write_with(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
    digest: &mut DigestOf<'_>,
) -> Result<SnapshotInfo, SnapshotError> {
    writer::write_with(storage, info, fill, digest)
}

/// Writes a payload that is read back by `digest`, and keeps nothing of it.
pub fn digest_only(
    storage: &dyn Storage,
    info: &SnapshotInfo,
    fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
    digest: &mut DigestOf<'_>,
) -> Result<u128, SnapshotError> {
    writer::digest_only(storage, info, fill, digest)
}

/// Removes what a digest that was broken off has written.
pub fn remove_digest(storage: &dyn Storage) -> Result<(), SnapshotError> {
    match storage.remove(writer::DIGEST_NAME) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// All snapshots by name, oldest first. Nothing is opened.
pub fn list(storage: &dyn Storage) -> Result<Vec<Listed>, SnapshotError> {
    let listed = |name: String| sequence_of(&name).map(|sequence| Listed { name, sequence });
    Ok(storage.list()?.into_iter().filter_map(listed).collect())
}

/// Opens a snapshot for reading. Its end is checked only when it is read: see [`SnapshotReader::finish`].
pub fn load(
    storage: &dyn Storage,
    name: &str,
    owner: &SnapshotOwner,
) -> Result<SnapshotReader, SnapshotError> {
    let path = storage.locate(name);
    let reader = SnapshotReader::open(storage.open(name)?, path.clone())?;
    let found = reader.info();
    if found.owner != *owner {
        let text = |owner: &SnapshotOwner| {
            format!("deployment {}, partition {}", hex(&owner.deployment_id), owner.partition)
        };
        return Err(SnapshotError::Foreign { path, found: text(&found.owner), expected: text(owner) });
    }
    if found.name() != name {
        let reason = "the sequence inside is not the one in the name: the file was renamed";
        return Err(SnapshotError::Corrupt { path, offset: 0, reason });
    }
    Ok(reader)
}

/// Looks for the newest snapshot that is good, reading each from the newest on. Damaged ones are passed
/// over and named; one of a newer format, or of another owner, is refused.
pub fn newest_good(storage: &dyn Storage, owner: &SnapshotOwner) -> Result<Newest, SnapshotError> {
    let mut newest = Newest { snapshot: None, damaged: Vec::new() };
    for listed in list(storage)?.into_iter().rev() {
        match load(storage, &listed.name, owner).and_then(SnapshotReader::finish) {
            Ok(info) => {
                newest.snapshot = Some((listed, info));
                return Ok(newest);
            }
            Err(error @ SnapshotError::Corrupt { .. }) => newest.damaged.push((listed, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(newest)
}

/// Removes old snapshots, and what crashes left half written. `keep` are needed, and one more is kept; only
/// good ones count. Answers the sequence of the oldest good one kept: the journal must reach back to there.
pub fn retain(
    storage: &dyn Storage,
    owner: &SnapshotOwner,
    keep: usize,
) -> Result<Option<u64>, SnapshotError> {
    let mut good = 0;
    let mut oldest = None;
    for listed in list(storage)?.into_iter().rev() {
        if good > keep {
            storage.remove(&listed.name)?;
            continue;
        }
        match load(storage, &listed.name, owner).and_then(SnapshotReader::finish) {
            Ok(_) => {
                good += 1;
                oldest = Some(listed.sequence);
            }
            Err(SnapshotError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for name in storage.list()?.into_iter().filter(|name| writer::is_temporary(name)) {
        storage.remove(&name)?;
    }
    storage.sync_directory()?;
    Ok(oldest)
}
