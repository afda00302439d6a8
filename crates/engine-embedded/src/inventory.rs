//! Which files of a partition a copy needs, and how much of each, while a server may be writing to them.

use scarce_core::event::Entry;
use scarce_core::types::TimeMs;

use crate::EmbeddedError;
use crate::consumers;
use crate::fold::FoldError;
use crate::inputs;
use crate::journal::{self, Evidence, Extent};
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::receipts;
use crate::recovery::{BEGUN_MARK, look_at};
use crate::restore::RestoreError;
use crate::runs;
use crate::snapshot::{self, SnapshotError, SnapshotInfo, SnapshotReader};
use crate::storage::{Storage, StorageError, read_small};

/// What a copy of a partition consists of.
#[derive(Debug)]
pub struct Inventory {
    /// The files, in no order that matters.
    pub files: Vec<InventoryFile>,
    /// The epoch of its end. A restore begins one before there is any event of it.
    pub epoch: u64,
    /// The first sequence of the journal.
    pub first_sequence: u64,
    /// The last sequence.
    pub last_sequence: u64,
    /// Its stamp.
    pub last_at: TimeMs,
    /// Whether events follow that may not be durable yet.
    pub is_cut: bool,
    /// The sequences of the snapshots.
    pub snapshots: Vec<u64>,
    /// What was left out because it cannot be used.
    pub problems: Vec<String>,
}

/// A file: `head`, then what it holds up to `end`, then zeros up to `length`.
#[derive(Debug)]
pub struct InventoryFile {
    /// Its name.
    pub name: String,
    /// Bytes of the file.
    pub length: u64,
    /// Its first bytes, which may differ from what is on disk.
    pub head: Vec<u8>,
    /// Behind here are only zeros in the copy. What lies before does not change as long as the files are held.
    pub end: u64,
    /// Whether it is complete and was known, so that it was not read.
    pub is_known: bool,
}

/// The end of a file that is complete and known by its name, its length and its first bytes.
pub type KnownFile<'a> = dyn Fn(&str, u64, &[u8]) -> Option<u64> + 'a;

/// As much of a file says whether it is known: a segment's first page, the header of the others.
const HEAD_BYTES: u64 = 4096;

/// Lists what a copy of a partition needs, as of what is durable. Files that are not known are read and checked. Hold
/// the files before, so that none is removed: see [`Hold`](crate::lock::Hold).
///
/// # Errors
/// When the journal cannot be read, is corrupt, or no snapshot leads to its beginning.
pub fn inventory(
    files: &PartitionFiles<'_>,
    is_at_rest: bool,
    known: &KnownFile<'_>,
) -> Result<Inventory, EmbeddedError> {
    let home = look_at(&files.storage, files.deployment, files.partition);
    let mut found = Inventory {
        files: Vec::new(),
        epoch: 0,
        first_sequence: 1,
        last_sequence: 0,
        last_at: 0,
        is_cut: false,
        snapshots: Vec::new(),
        problems: Vec::new(),
    };
    // What refers to the log is read before the log's end, so that it refers to nothing beyond.
    for (name, bytes_max) in [consumers::FILE, inputs::FILE, (BEGUN_MARK, 0)] {
        if let Some(head) = read_small(&*home.storage, name, bytes_max)? {
            let length = head.len() as u64;
            found.files.push(InventoryFile {
                name: name.to_owned(),
                length,
                head,
                end: length,
                is_known: false,
            });
        }
    }
    for name in receipts::names(&*home.storage)? {
        receipts::check(&home, &name)?;
        found.files.push(whole_file(&*home.storage, &name)?);
    }
    let durable_through = found.take_snapshots(&home, known)?;
    // After the snapshots, which rest on them, and before the log's end.
    for name in runs::names(&*home.storage)? {
        let mut file = whole_file(&*home.storage, &name)?;
        file.is_known = known(&name, file.length, &file.head) == Some(file.end);
        if !file.is_known {
            runs::check(&home, &name)?;
        }
        found.files.push(file);
    }
    let evidence = Evidence { durable_through, is_at_rest };
    let segment_bytes = |name: &str| home.storage.open(name).and_then(|file| file.len()).unwrap_or(0);
    let known_end = |name: &str, head: &[u8]| known(name, segment_bytes(name), head);
    let extents = journal::extents(&*home.storage, &home.journal_settings(), evidence, &known_end)?;
    found.take_extents(&home, extents)?;
    Ok(found)
}

fn whole_file(storage: &dyn Storage, name: &str) -> Result<InventoryFile, StorageError> {
    let file = storage.open(name)?;
    let length = file.len()?;
    let mut head = vec![0; usize::try_from(length.min(HEAD_BYTES)).unwrap_or(0)];
    let read = file.read_at(0, &mut head)?;
    head.truncate(read);
    Ok(InventoryFile { name: name.to_owned(), length, head, end: length, is_known: false })
}

impl Inventory {
    /// Takes the good snapshots, and gives the sequence that any of them shows to be durable.
    fn take_snapshots(&mut self, home: &PartitionHome, known: &KnownFile<'_>) -> Result<u64, EmbeddedError> {
        let mut durable_through = 0;
        for listed in snapshot::list(&*home.storage)? {
            durable_through = durable_through.max(listed.sequence);
            let mut file = whole_file(&*home.storage, &listed.name)?;
            file.is_known = known(&listed.name, file.length, &file.head) == Some(file.end);
            match check_snapshot(home, &listed.name, file.is_known) {
                Ok(info) => {
                    self.snapshots.push(info.sequence);
                    (self.epoch, self.last_at) = (self.epoch.max(info.epoch), info.stamp_ms);
                    self.files.push(file);
                }
                Err(error @ SnapshotError::Corrupt { .. }) => {
                    self.problems.push(format!("left out: {error}"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(durable_through)
    }

    fn take_extents(&mut self, home: &PartitionHome, extents: Vec<Extent>) -> Result<(), EmbeddedError> {
        let (Some(first), Some(last)) = (extents.first(), extents.last()) else {
            return Err(RestoreError::NoSnapshot { partition: home.partition, first: 1 }.into());
        };
        (self.first_sequence, self.last_sequence) = (first.first_sequence, last.last_sequence);
        self.is_cut = last.is_cut;
        let first = self.first_sequence;
        if first > 1 && !self.snapshots.iter().any(|sequence| sequence + 1 >= first) {
            return Err(RestoreError::NoSnapshot { partition: home.partition, first }.into());
        }
        if let Some(frame) = extents.iter().rev().find_map(|extent| extent.last.as_ref()) {
            let entries = Entry::read_all(&frame.payload);
            let entries =
                entries.map_err(|source| FoldError::Malformed { sequence: self.last_sequence, source })?;
            self.epoch = self.epoch.max(frame.epoch);
            self.last_at = entries.last().map_or(self.last_at, |entry| entry.head.at);
        }
        let begun = extents.iter().filter_map(|extent| extent.epoch).max();
        self.epoch = self.epoch.max(begun.unwrap_or(0));
        self.files.extend(extents.into_iter().map(|extent| InventoryFile {
            name: extent.name,
            length: extent.segment_bytes,
            head: extent.head,
            end: extent.end,
            is_known: extent.is_known,
        }));
        Ok(())
    }
}

fn check_snapshot(home: &PartitionHome, name: &str, is_known: bool) -> Result<SnapshotInfo, SnapshotError> {
    let reader = snapshot::load(&*home.storage, name, &home.snapshot_owner())?;
    if is_known { Ok(*reader.info()) } else { SnapshotReader::finish(reader) }
}
