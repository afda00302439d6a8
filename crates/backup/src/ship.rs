//! Shipping the log that follows a backup, part by part, from the files of a running server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal::{JournalSettings, JournalTail, TailPart};
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_engine_embedded::{EmbeddedError, partition_directory};

use crate::catalog::{MANIFESTS, manifest_name};
use crate::history::is_later;
use crate::log::{EncodedPart, LogFile, LogPartition, NewPart, PART_BYTES, encode, log_folder, parse_name};
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest, PartitionPart};
use crate::there::Pieces;
use crate::{BackupError, Vault};

/// The log behind a backup on its way to the store.
pub struct Stream {
    backup: String,
    manifest: Manifest,
    /// The number of the last part in the store.
    number: u64,
    /// Its name and its length.
    last: Option<(String, u64)>,
    taken_at_ms: u64,
    partitions: Vec<Followed>,
    /// What was taken from the files and may not be in the store yet: it is put again as it is.
    unsent: Option<Unsent>,
    /// Backups whose epochs are not later than those of the engine.
    earlier: BTreeSet<String>,
}

struct Followed {
    partition: u32,
    storage: Arc<dyn Storage>,
    settings: JournalSettings,
    tail: JournalTail,
}

struct Unsent {
    part: EncodedPart,
    taken_at_ms: u64,
    tails: Vec<JournalTail>,
    bytes: u64,
}

/// What was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Bytes of log.
    pub bytes: u64,
    /// Whether there was more than fits into a part.
    pub has_more: bool,
}

/// Begins to follow the files of a data directory where a backup ends.
///
/// # Errors
/// When the files cannot be read, or do not continue the backup.
pub fn open_stream(data: &Path, manifest: &Manifest) -> Result<Stream, BackupError> {
    let root = FileStorage::open_read_only(data).map_err(EmbeddedError::from)?;
    let deployment = Deployment::load(&root).map_err(EmbeddedError::from)?;
    let deployment = deployment
        .ok_or_else(|| BackupError::NotFound(format!("{} holds no deployment any more", data.display())))?;
    let follow = |part: &PartitionPart| {
        let directory = data.join(partition_directory(part.partition));
        let storage = FileStorage::open_read_only(directory).map_err(EmbeddedError::from)?;
        let settings = JournalSettings::new(deployment.deployment_id, part.partition);
        let (name, end) = newest_segment(part)?;
        let tail = JournalTail::open(&storage, &settings, name, end).map_err(EmbeddedError::from)?;
        Ok(Followed { partition: part.partition, storage: Arc::new(storage), settings, tail })
    };
    let partitions = manifest.partitions.iter().map(follow).collect::<Result<_, BackupError>>()?;
    Ok(Stream {
        backup: manifest.id.clone(),
        manifest: manifest.clone(),
        number: 0,
        last: None,
        taken_at_ms: manifest.begun_at_ms,
        partitions,
        unsent: None,
        earlier: BTreeSet::new(),
    })
}

/// The segment at whose end the backup of a partition ends.
fn newest_segment(part: &PartitionPart) -> Result<(&str, u64), BackupError> {
    let segments = part.files.iter().filter(|file| file.name.ends_with(".seg"));
    let newest = segments.max_by(|left, right| left.name.cmp(&right.name));
    let newest = newest.map(|file| (file.name.as_str(), file.bytes()));
    newest.ok_or_else(|| {
        BackupError::NotFound(format!("the backup has no journal of partition {}", part.partition))
    })
}

impl Stream {
    /// The backup that it continues.
    #[must_use]
    pub fn backup(&self) -> &str {
        &self.backup
    }

    /// How many parts were put.
    #[must_use]
    pub const fn parts(&self) -> u64 {
        self.number
    }

    /// Whether the store still has every piece of the backup, with its length.
    ///
    /// # Errors
    /// When one is lacking, or the store fails.
    pub fn check_pieces(&self, vault: &Vault) -> Result<(), BackupError> {
        let there = Pieces::list_for(vault, &self.manifest)?;
        there.lacking(vault, &self.manifest).map_or(Ok(()), |lacks| Err(BackupError::PieceLost(lacks)))
    }

    /// Whether every part that was put is still in the store, which may have been put back to what it held earlier.
    ///
    /// # Errors
    /// When one is not, or the store fails.
    pub fn check_parts(&self, vault: &Vault) -> Result<(), BackupError> {
        let folder = log_folder(&self.backup);
        let objects = vault.store.list(&folder)?;
        let numbered = objects.iter().filter_map(|object| Some((parse_name(&object.name)?.1, object)));
        let there: BTreeMap<_, _> = numbered.collect();
        let lost = (1..=self.number).find(|number| !there.contains_key(number));
        let last = there.get(&self.number).zip(self.last.as_ref());
        let is_other =
            last.is_some_and(|(found, (name, bytes))| found.name != *name || found.bytes != *bytes);
        match lost.or(is_other.then_some(self.number)) {
            None => Ok(()),
            Some(number) => Err(BackupError::PartLost { place: vault.store.locate(&folder), number }),
        }
    }

    /// The last sequence of each partition that is in the store.
    pub fn sequences(&self) -> impl Iterator<Item = (u32, u64)> {
        self.partitions.iter().map(|followed| (followed.partition, followed.tail.sequence()))
    }

    /// Puts what is durable through these sequences and not in the store yet, as one part of the log. Puts one without
    /// any log, too: it says that nothing was logged until now. `past_ms` is a time that no timestamp will have
    /// any more.
    ///
    /// # Errors
    /// When the files cannot be read or the store fails. It can be called again: nothing is put twice, and nothing left
    /// out.
    pub fn ship(
        &mut self,
        vault: &Vault,
        past_ms: u64,
        durable_through: &dyn Fn(u32) -> u64,
    ) -> Result<Shipped, BackupError> {
        let unsent = match self.unsent.take() {
            Some(unsent) => unsent,
            None => self.take_part(vault, past_ms, durable_through)?,
        };
        // Until the store has said that it has it, it may or may not be there.
        let Unsent { part, taken_at_ms, tails, bytes } = self.unsent.insert(unsent);
        vault.store.put(&part.name, &part.bytes)?;
        vault.store.settle()?;
        self.last = Some((part.name.clone(), part.bytes.len() as u64));
        (self.number, self.taken_at_ms) = (self.number + 1, *taken_at_ms);
        let shipped = *bytes;
        for (followed, tail) in self.partitions.iter_mut().zip(std::mem::take(tails)) {
            followed.tail = tail;
        }
        self.unsent = None;
        let mut left = self.partitions.iter();
        let has_more = left.any(|followed| followed.tail.sequence() < durable_through(followed.partition));
        Ok(Shipped { bytes: shipped, has_more })
    }

    /// Whether the backup that it continues is still in the store, and nobody else has gone on with the data:
    /// `epoch` is the engine's own of each partition.
    ///
    /// # Errors
    /// When the backup is not there, the store has one of a later start or log that was put by another process, or fails.
    pub fn check_backup(&mut self, vault: &Vault, epoch: &dyn Fn(u32) -> u64) -> Result<(), BackupError> {
        vault.store.get(&manifest_name(&self.backup), MANIFEST_BYTES_MAX)?;
        for object in vault.store.list(MANIFESTS)? {
            self.check_other(vault, &object.name, epoch)?;
        }
        let last = self.number + u64::from(self.unsent.is_some());
        for object in vault.store.list(&log_folder(&self.backup))? {
            if parse_name(&object.name).is_some_and(|(_, number, _)| number > last) {
                let place = vault.store.locate(&object.name);
                return Err(BackupError::Superseded(format!(
                    "{place} was put by another server with the same data; stop the one that is not to go on"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a backup of a later start than the engine's.
    fn check_other(
        &mut self,
        vault: &Vault,
        name: &str,
        epoch: &dyn Fn(u32) -> u64,
    ) -> Result<(), BackupError> {
        if self.earlier.contains(name) {
            return Ok(());
        }
        let place = vault.store.locate(name);
        // One that is not whole, or was removed, says nothing.
        let Ok(bytes) = vault.read(name, MANIFEST_BYTES_MAX) else { return Ok(()) };
        let Ok((manifest, _)) = Manifest::decode(&bytes, &place, &vault.keys) else { return Ok(()) };
        let later = manifest.partitions.iter().find(|part| is_later(part.epoch, epoch(part.partition)));
        let Some(part) = later else {
            self.earlier.insert(name.to_owned());
            return Ok(());
        };
        let (id, own) = (&manifest.id, epoch(part.partition));
        Err(BackupError::Superseded(format!(
            "backup {id} in the store is of a later start (epoch {}) than this server's (epoch {own}): the data was restored \
             or put back, and another server went on with it; stop this one, or give it another store if it is the \
             one to go on",
            part.epoch
        )))
    }

    fn take_part(
        &self,
        vault: &Vault,
        past_ms: u64,
        durable_through: &dyn Fn(u32) -> u64,
    ) -> Result<Unsent, BackupError> {
        let durable: Vec<_> =
            self.partitions.iter().map(|followed| durable_through(followed.partition)).collect();
        let (mut content, mut tails, mut partitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_whole = true;
        for (followed, durable) in self.partitions.iter().zip(durable) {
            // Each partition gets its share, so that none waits for another.
            let room = PART_BYTES / self.partitions.len();
            let advanced = followed.tail.advance(&*followed.storage, &followed.settings, durable, room);
            let (tail, parts) = advanced.map_err(EmbeddedError::from)?;
            is_whole &= tail.sequence() >= durable;
            let files = parts.iter().map(file_of).collect();
            partitions.push(LogPartition {
                partition: followed.partition,
                last_sequence: tail.sequence(),
                epoch: tail.epoch(),
                files,
            });
            parts.iter().for_each(|part| content.extend_from_slice(&part.bytes));
            tails.push(tail);
        }
        // A part that does not have all of it says nothing about the time.
        let taken_at_ms = if is_whole { past_ms } else { past_ms.min(self.taken_at_ms) };
        let (backup, number) = (self.backup.as_str(), self.number + 1);
        let part = encode(NewPart { backup, number, taken_at_ms, partitions }, &content, &vault.keys);
        Ok(Unsent { part, taken_at_ms, tails, bytes: content.len() as u64 })
    }
}

fn file_of(part: &TailPart) -> LogFile {
    let (length, offset, bytes) = (part.segment_bytes, part.offset, part.bytes.len() as u64);
    LogFile { name: part.name.clone(), length, offset, bytes }
}
