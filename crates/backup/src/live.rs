//! Backups of state that is in no data directory: its engine gives it as files, each partition at one sequence.

use crate::create::{Making, new_id, now_ms, publish, take_back};
use crate::manifest::{FilePart, Manifest, PartitionPart};
use crate::prune::pending_name;
use crate::store::StoreError;
use crate::{BackupError, Vault};

/// A file that is made while it is backed up.
#[derive(Clone, Debug)]
pub struct MadeFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// A partition at one sequence.
#[derive(Clone, Debug)]
pub struct MadePartition {
    /// Its epoch.
    pub epoch: u64,
    /// The sequence.
    pub sequence: u64,
    /// The stamp of the last event, in Unix milliseconds.
    pub at_ms: u64,
    /// Its files.
    pub files: Vec<MadeFile>,
}

/// What is backed up.
pub trait LiveSource {
    /// Which engine has it, as the manifest says.
    fn engine(&self) -> &str;

    /// The deployment, in hexadecimal digits.
    fn deployment(&self) -> &str;

    /// The number of partitions.
    fn partitions(&self) -> u32;

    /// The files that belong to no partition.
    ///
    /// # Errors
    /// When they cannot be read.
    fn files(&mut self) -> Result<Vec<MadeFile>, BackupError>;

    /// Reads a partition.
    ///
    /// # Errors
    /// When it cannot be read.
    fn partition(&mut self, partition: u32) -> Result<MadePartition, BackupError>;
}

/// Makes a backup, and gives its manifest. It is there once this has returned, and not before, unless the store did not answer
/// when the manifest was put. `on_partition` gets each partition before it is read.
///
/// # Errors
/// When the source cannot be read, the store fails, or has backups of another deployment. Then nothing is left but what
/// [`prune`](crate::prune()) removes.
pub fn create_live(
    vault: &Vault,
    source: &mut dyn LiveSource,
    is_full: bool,
    on_partition: &mut dyn FnMut(u32),
) -> Result<Manifest, BackupError> {
    let id = new_id()?;
    vault.store.put(&pending_name(&id), b"")?;
    vault.store.settle()?;
    let whose = (source.deployment().to_owned(), is_full);
    let made = Making::begin(vault, whose, &|| None, &id);
    let made = made.and_then(|making| making.run_live(source, on_partition));
    let published = made.and_then(|manifest| publish(vault, &manifest).map(|()| manifest));
    if matches!(published, Err(BackupError::Store(StoreError::Unanswered { .. }))) {
        // A manifest that gets there later needs its pieces; pruning removes them.
        return published;
    }
    if published.is_err() {
        // Where the store fails again, pruning removes it later.
        let _ = take_back(vault, &id);
    }
    let _ = vault.store.remove(&pending_name(&id)).and_then(|()| vault.store.settle());
    published
}

impl Making<'_> {
    fn run_live(
        mut self,
        source: &mut dyn LiveSource,
        on_partition: &mut dyn FnMut(u32),
    ) -> Result<Manifest, BackupError> {
        self.manifest.engine = Some(source.engine().to_owned());
        self.manifest.begun_at_ms = now_ms();
        self.manifest.files = self.put_all(&source.files()?)?;
        for partition in 0..source.partitions() {
            on_partition(partition);
            let MadePartition { epoch, sequence, at_ms, files } = source.partition(partition)?;
            let files = self.put_all(&files)?;
            self.manifest.partitions.push(PartitionPart {
                partition,
                epoch,
                first_sequence: sequence.saturating_add(1),
                last_sequence: sequence,
                last_at_ms: at_ms,
                looked_at_ms: now_ms(),
                is_cut: false,
                snapshots: vec![sequence],
                files,
            });
        }
        self.manifest.ended_at_ms = now_ms();
        Ok(self.manifest)
    }

    fn put_all(&mut self, files: &[MadeFile]) -> Result<Vec<FilePart>, BackupError> {
        files.iter().map(|file| self.put_made(&file.name, &file.content)).collect()
    }
}

/// The content of a file of a backup, every piece of it checked.
///
/// # Errors
/// When the backup has no such file, the store fails, or a piece is damaged.
pub fn read_file(
    vault: &Vault,
    manifest: &Manifest,
    files: &[FilePart],
    name: &str,
) -> Result<Vec<u8>, BackupError> {
    let file = files.iter().find(|file| file.name == name).ok_or_else(|| BackupError::Damaged {
        place: format!("backup {}", manifest.id),
        reason: format!("it has no file '{name}'"),
    })?;
    let key = vault.key_of(manifest)?;
    let mut content = Vec::new();
    for piece in &file.pieces {
        content.append(&mut vault.get(piece, key)?);
    }
    Ok(content)
}
