//! The manifest: what a backup consists of. Two lines, of JSON and of a checksum.

use std::collections::BTreeMap;

use ring::digest;
use scarce_engine::random::hex;
use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::key::Keys;
use crate::piece::{PIECE_BYTES, TAG_BYTES};

/// Newest version of the format.
pub(crate) const FORMAT_VERSION: u64 = 1;
const FORMAT: &str = "scarce-backup";

/// No file is longer.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 48;

/// No manifest is larger.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 256 << 20;

/// What a backup consists of. Everything that it needs is named in it, also what earlier backups brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u64,
    /// Its name: when it was begun, and random bits.
    pub id: String,
    /// The release that made it.
    pub release: String,
    /// The deployment.
    pub deployment: String,
    /// Counts the backups of the store: what was made later has a higher one, whatever clocks said.
    #[serde(default)]
    pub number: u64,
    /// When its making began, in Unix milliseconds; all that was durable then is in it.
    pub begun_at_ms: u64,
    /// When it was complete.
    pub ended_at_ms: u64,
    /// The backup whose pieces it refers to, unless it is a full one.
    pub builds_on: Option<String>,
    /// When the newest full one was begun, in Unix milliseconds: this one, or the one on which it builds in the end.
    #[serde(default)]
    pub full_at_ms: u64,
    /// The id of the key, if it is encrypted.
    pub key: Option<String>,
    /// The engine whose state it is, if it is no data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Files of the deployment.
    pub files: Vec<FilePart>,
    /// The partitions.
    pub partitions: Vec<PartitionPart>,
}

/// What a backup has of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionPart {
    /// Which partition.
    pub partition: u32,
    /// The epoch of its end, which names the history.
    pub epoch: u64,
    /// The first sequence of the journal.
    pub first_sequence: u64,
    /// The last sequence.
    pub last_sequence: u64,
    /// The stamp of the last event, in Unix milliseconds.
    pub last_at_ms: u64,
    /// When its log was looked at, in Unix milliseconds.
    #[serde(default)]
    pub looked_at_ms: u64,
    /// Whether events followed that were not known to be durable. They may have been answered before it was begun.
    #[serde(default)]
    pub is_cut: bool,
    /// The sequences of the snapshots.
    pub snapshots: Vec<u64>,
    /// Its files.
    pub files: Vec<FilePart>,
}

/// A file: its pieces one after the other, then zeros up to its length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// Its name.
    pub name: String,
    /// Bytes of the file.
    pub length: u64,
    /// What it begins with.
    pub pieces: Vec<Piece>,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The hash of its content, keyed if it is encrypted.
    pub hash: String,
    /// Its bytes, before encryption.
    pub bytes: u64,
    /// The backup that brought it.
    pub of: String,
}

impl FilePart {
    /// Bytes of its pieces.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }
}

impl Piece {
    /// The name of its object.
    pub(crate) fn object(&self) -> String {
        format!("data/{}/{}", self.of, self.hash)
    }

    /// The length of its object.
    pub(crate) const fn stored_bytes(&self, is_encrypted: bool) -> u64 {
        if is_encrypted { self.bytes + TAG_BYTES } else { self.bytes }
    }
}

pub(crate) struct Beginning {
    pub(crate) id: String,
    pub(crate) deployment: String,
    pub(crate) number: u64,
    pub(crate) builds_on: Option<String>,
    pub(crate) full_at_ms: u64,
    pub(crate) key: Option<String>,
}

impl Manifest {
    pub(crate) fn begin(beginning: Beginning) -> Self {
        let Beginning { id, deployment, number, builds_on, full_at_ms, key } = beginning;
        Self {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            id,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            deployment,
            number,
            begun_at_ms: 0,
            ended_at_ms: 0,
            builds_on,
            full_at_ms,
            key,
            engine: None,
            files: Vec::new(),
            partitions: Vec::new(),
        }
    }

    /// When the newest full backup was begun that it knows of, in Unix milliseconds; 0 if it knows of none.
    #[must_use]
    pub fn full_at_ms(&self) -> u64 {
        if self.builds_on.is_none() { self.begun_at_ms } else { self.full_at_ms }
    }

    /// All its pieces, by the names of their objects.
    #[must_use]
    pub fn pieces(&self) -> BTreeMap<String, &Piece> {
        let of_partitions = self.partitions.iter().flat_map(|partition| &partition.files);
        let files = self.files.iter().chain(of_partitions);
        files.flat_map(|file| &file.pieces).map(|piece| (piece.object(), piece)).collect()
    }

    /// The time at which to cut the partitions, so that none has what follows from what another lacks: they are read one
    /// after the other. None where there is one, or where timestamps are ahead of the clock, so that no time is known.
    #[must_use]
    pub fn common_time_ms(&self) -> Option<u64> {
        let is_known = |part: &PartitionPart| part.last_at_ms <= part.looked_at_ms;
        if self.partitions.len() < 2 || !self.partitions.iter().all(is_known) {
            return None;
        }
        // What was left out may have the timestamp of the last event that is there.
        let cut = self.partitions.iter().filter(|part| part.is_cut);
        let cut = cut.map(|part| part.last_at_ms.saturating_sub(1)).min();
        // The millisecond in which it was begun was not over.
        Some(cut.unwrap_or(u64::MAX).min(self.begun_at_ms.saturating_sub(1)))
    }

    /// Bytes of all its files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces().values().map(|piece| piece.bytes).sum()
    }

    /// Bytes that it brought itself.
    #[must_use]
    pub fn new_bytes(&self) -> u64 {
        self.pieces().values().filter(|piece| piece.of == self.id).map(|piece| piece.bytes).sum()
    }

    /// Whether no name leads elsewhere, and no number is beyond what is ever written.
    fn is_plausible(&self) -> bool {
        let mut files = self.files.iter().chain(self.partitions.iter().flat_map(|part| &part.files));
        files.all(|file| {
            let mut pieces = file.pieces.iter();
            is_plain(&file.name)
                && file.length <= FILE_BYTES_MAX
                && pieces.all(|piece| {
                    is_plain(&piece.of) && is_plain(&piece.hash) && piece.bytes <= PIECE_BYTES as u64
                })
                && file.bytes() <= file.length
        })
    }

    pub(crate) fn encode(&self, keys: &Keys) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a manifest is plain data");
        let seal = seal_of(&bytes, self.key.as_deref(), keys).unwrap_or_default();
        bytes.extend_from_slice(format!("\n{seal}\n").as_bytes());
        bytes
    }

    /// Reads a manifest and checks it. Without its key, an encrypted one is only read: see `is_checked`.
    pub(crate) fn decode(bytes: &[u8], place: &str, keys: &Keys) -> Result<(Self, bool), BackupError> {
        let damaged =
            |reason: &str| BackupError::Damaged { place: place.to_owned(), reason: reason.to_owned() };
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
        let (json, seal) = text.split_once('\n').ok_or_else(|| damaged("it ends too early"))?;
        let head: Head = serde_json::from_str(json).map_err(|_| damaged("it is no manifest"))?;
        if head.format != FORMAT {
            return Err(damaged("it is no manifest of a backup"));
        }
        if head.version > FORMAT_VERSION {
            let (place, found) = (place.to_owned(), head.version);
            return Err(BackupError::Newer { place, found, supported: FORMAT_VERSION });
        }
        let wanted = seal_of(json.as_bytes(), head.key.as_deref(), keys);
        if wanted.as_ref().is_some_and(|wanted| seal.strip_suffix('\n') != Some(wanted)) {
            return Err(damaged("its checksum does not match"));
        }
        let manifest: Self = serde_json::from_str(json).map_err(|error| damaged(&error.to_string()))?;
        if !manifest.is_plausible() {
            return Err(damaged("it names what no backup has"));
        }
        if !place.ends_with(&format!("{}.manifest", manifest.id)) {
            return Err(damaged("it is the manifest of another backup"));
        }
        Ok((manifest, wanted.is_some()))
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
    #[serde(default)]
    key: Option<String>,
}

/// Whether it is a name in a folder.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}

/// None where the key is not there.
pub(crate) fn seal_of(json: &[u8], key: Option<&str>, keys: &Keys) -> Option<String> {
    match key {
        None => Some(format!("sha256 {}", hex(digest::digest(&digest::SHA256, json).as_ref()))),
        Some(id) => Some(format!("hmac-sha256 {}", keys.find(id)?.seal(json))),
    }
}
