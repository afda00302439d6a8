//! The log that follows a backup, shipped in parts: each an object that proves itself, numbered without gaps.
//!
//! ```text
//! log/<backup>/<number>-<time>    a line of JSON, a line with its checksum, then what the files gained
//! ```

mod end;
mod read;

use scarce_engine_embedded::journal::PAYLOAD_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::key::Keys;
use crate::manifest::{FILE_BYTES_MAX, Manifest, is_plain, seal_of};
use crate::piece::name_of;
use crate::store::StoredObject;

pub use end::{LogEnd, log_end};
pub(crate) use read::{ShippedFile, for_each_part};
pub use read::{ShippedLog, read_log};

pub(crate) const LOG: &str = "log/";
const FORMAT: &str = "scarce-backup-log";
const VERSION: u64 = 1;

/// Bytes of log in a part, at most about: one frame may go beyond.
pub(crate) const PART_BYTES: usize = 16 << 20;
/// What a part says of itself and of a partition, at most about.
const HEAD_BYTES: u64 = 64 << 10;

/// No object of the log behind a backup is larger: of each partition one frame may go beyond its share.
pub(crate) fn part_bytes_max(manifest: &Manifest) -> u64 {
    let partitions = manifest.partitions.len() as u64;
    (PART_BYTES as u64 + (partitions + 1) * (PAYLOAD_BYTES_MAX + HEAD_BYTES)).max(PART_BYTES_MAX_LEAST)
}

/// The limit where there are few partitions.
const PART_BYTES_MAX_LEAST: u64 = 64 << 20;

/// The folder of the log that follows a backup.
pub(crate) fn log_folder(backup: &str) -> String {
    format!("{LOG}{backup}/")
}

/// The number of a part and when it was taken, by the name of its object.
pub(crate) fn parse_name(name: &str) -> Option<(&str, u64, u64)> {
    let (backup, part) = name.strip_prefix(LOG)?.split_once('/')?;
    let (number, taken_at_ms) = part.split_once('-')?;
    Some((backup, number.parse().ok()?, taken_at_ms.parse().ok()?))
}

/// What a part of the log says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogHead {
    format: String,
    version: u64,
    /// The backup that it follows.
    pub(crate) backup: String,
    /// Its number, from 1.
    pub(crate) number: u64,
    /// All timestamps up to this one are in it or before it, in Unix milliseconds.
    pub(crate) taken_at_ms: u64,
    /// The id of the key, if it is encrypted.
    key: Option<String>,
    /// The hash of the content, keyed if it is encrypted.
    hash: String,
    /// What it has of each partition.
    pub(crate) partitions: Vec<LogPartition>,
}

/// What a part of the log has of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogPartition {
    pub(crate) partition: u32,
    /// The last sequence in it or before it.
    pub(crate) last_sequence: u64,
    /// The epoch there.
    #[serde(default)]
    pub(crate) epoch: u64,
    /// What the files gain; their bytes follow each other in the content.
    pub(crate) files: Vec<LogFile>,
}

/// What a file gains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogFile {
    pub(crate) name: String,
    /// Bytes of the whole file.
    pub(crate) length: u64,
    /// Where in the file.
    pub(crate) offset: u64,
    /// How many bytes.
    pub(crate) bytes: u64,
}

/// A part of the log, ready to be put.
pub(crate) struct EncodedPart {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// What is to be put, besides the content.
pub(crate) struct NewPart<'a> {
    pub(crate) backup: &'a str,
    pub(crate) number: u64,
    pub(crate) taken_at_ms: u64,
    pub(crate) partitions: Vec<LogPartition>,
}

pub(crate) fn encode(part: NewPart<'_>, content: &[u8], keys: &Keys) -> EncodedPart {
    let NewPart { backup, number, taken_at_ms, partitions } = part;
    let hash = name_of(content, keys.first());
    let head = LogHead {
        format: FORMAT.to_owned(),
        version: VERSION,
        backup: backup.to_owned(),
        number,
        taken_at_ms,
        key: keys.first().map(|key| key.id().to_owned()),
        hash,
        partitions,
    };
    let mut bytes = serde_json::to_vec(&head).expect("a head is plain data");
    let seal = seal_of(&bytes, head.key.as_deref(), keys).unwrap_or_default();
    bytes.extend_from_slice(format!("\n{seal}\n").as_bytes());
    match keys.first() {
        None => bytes.extend_from_slice(content),
        Some(key) => bytes.extend_from_slice(&key.encrypt(&head.hash, content)),
    }
    EncodedPart { name: format!("{}{number:010}-{taken_at_ms}", log_folder(backup)), bytes }
}

/// Reads a part and checks all of it.
pub(crate) fn decode(
    object: &StoredObject,
    place: &str,
    bytes: &[u8],
    (manifest, keys): (&Manifest, &Keys),
) -> Result<(LogHead, Vec<u8>), BackupError> {
    let damaged = |reason: &str| BackupError::Damaged { place: place.to_owned(), reason: reason.to_owned() };
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let (Some(json), Some(seal), Some(content)) = (lines.next(), lines.next(), lines.next()) else {
        return Err(damaged("it ends too early"));
    };
    let known: Known = serde_json::from_slice(json).map_err(|_| damaged("it is no part of a log"))?;
    if known.format != FORMAT {
        return Err(damaged("it is no part of a log"));
    }
    if known.version > VERSION {
        let (place, found) = (place.to_owned(), known.version);
        return Err(BackupError::Newer { place, found, supported: VERSION });
    }
    if known.key != manifest.key {
        return Err(damaged("it is not encrypted with the key of its backup"));
    }
    let wanted = seal_of(json, known.key.as_deref(), keys).ok_or_else(|| BackupError::WrongKey {
        backup: place.to_owned(),
        wanted: known.key.clone().unwrap_or_default(),
        given: keys.ids(),
    })?;
    if wanted.as_bytes() != seal {
        return Err(damaged("its checksum does not match"));
    }
    let head: LogHead = serde_json::from_slice(json).map_err(|error| damaged(&error.to_string()))?;
    if parse_name(&object.name) != Some((&*head.backup, head.number, head.taken_at_ms)) {
        return Err(damaged("it is another part of a log"));
    }
    let content = open(&head, content, keys).ok_or_else(|| damaged("its content is not what was put"))?;
    Ok((head, content))
}

/// None where the content is not the one in the head.
fn open(head: &LogHead, content: &[u8], keys: &Keys) -> Option<Vec<u8>> {
    let key = match &head.key {
        None => None,
        Some(id) => Some(keys.find(id)?),
    };
    let content = match key {
        None => content.to_vec(),
        Some(key) => key.decrypt(&head.hash, content.to_vec())?,
    };
    let bytes = head.content_bytes()?;
    (name_of(&content, key) == head.hash && bytes == content.len() as u64).then_some(content)
}

impl LogHead {
    /// The length of the content. None where a name leads elsewhere, or a number is beyond what is ever written.
    fn content_bytes(&self) -> Option<u64> {
        self.partitions.iter().flat_map(|part| &part.files).try_fold(0_u64, |bytes, file| {
            let is_plausible = is_plain(&file.name)
                && file.length <= FILE_BYTES_MAX
                && file.offset.checked_add(file.bytes)? <= file.length;
            bytes.checked_add(file.bytes).filter(|_| is_plausible)
        })
    }
}

/// What every version says.
#[derive(Deserialize)]
struct Known {
    format: String,
    version: u64,
    #[serde(default)]
    key: Option<String>,
}
