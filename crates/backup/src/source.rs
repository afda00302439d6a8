//! A backup as a directory of files, to restore from: read piece by piece, and each piece is checked.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use scarce_engine_embedded::storage::{Storage, StorageError, StorageFile};

use crate::log::ShippedFile;
use crate::manifest::{FilePart, Manifest};
use crate::{BackupError, PartitionPart, ShippedLog, Vault};

/// The files of a deployment or of one partition, as a backup has them. Nothing can be changed.
pub struct BackupStorage {
    vault: Arc<Vault>,
    manifest: Arc<Manifest>,
    files: BTreeMap<String, Arc<FilePart>>,
    log: Option<Shipped>,
    place: String,
}

/// What the log that follows a backup has of a partition.
struct Shipped {
    log: Arc<ShippedLog>,
    files: BTreeMap<String, Arc<ShippedFile>>,
}

impl Shipped {
    fn of(log: &Arc<ShippedLog>, partition: u32) -> Self {
        let files = log.files_of(partition).map(|(name, file)| (name.to_owned(), Arc::new(file.clone())));
        Self { log: log.clone(), files: files.collect() }
    }
}

impl BackupStorage {
    /// The files of the deployment.
    #[must_use]
    pub fn of_deployment(vault: &Arc<Vault>, manifest: &Arc<Manifest>) -> Self {
        Self::new(vault, manifest, &manifest.files, format!("backup {}", manifest.id))
    }

    /// The files of each partition, with what they gained by the log that follows the backup.
    #[must_use]
    pub fn of_partitions(
        vault: &Arc<Vault>,
        manifest: &Arc<Manifest>,
        log: Option<&Arc<ShippedLog>>,
    ) -> Vec<(u32, Self)> {
        let part = |part: &PartitionPart| {
            let place = format!("backup {}, partition {}", manifest.id, part.partition);
            let mut storage = Self::new(vault, manifest, &part.files, place);
            storage.log = log.map(|log| Shipped::of(log, part.partition));
            storage.add_new_files();
            (part.partition, storage)
        };
        manifest.partitions.iter().map(part).collect()
    }

    /// Files that the backup itself does not have.
    fn add_new_files(&mut self) {
        let gained = self.log.iter().flat_map(|shipped| &shipped.files);
        for (name, file) in gained {
            let empty = FilePart { name: name.clone(), length: file.length, pieces: Vec::new() };
            self.files.entry(name.clone()).or_insert_with(|| Arc::new(empty));
        }
    }

    fn new(vault: &Arc<Vault>, manifest: &Arc<Manifest>, files: &[FilePart], place: String) -> Self {
        let files = files.iter().map(|file| (file.name.clone(), Arc::new(file.clone()))).collect();
        Self { vault: vault.clone(), manifest: manifest.clone(), files, log: None, place }
    }

    fn read_only(&self, operation: &'static str, name: &str) -> StorageError {
        StorageError::new(operation, self.locate(name), io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl Storage for BackupStorage {
    fn list(&self) -> Result<Vec<String>, StorageError> {
        Ok(self.files.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        let file = self.files.get(name);
        let file =
            file.ok_or_else(|| StorageError::new("open", self.locate(name), io::ErrorKind::NotFound.into()))?;
        Ok(Box::new(BackupFile {
            vault: self.vault.clone(),
            manifest: self.manifest.clone(),
            part: file.clone(),
            gained: self.log.as_ref().and_then(|its| Some((its.log.clone(), its.files.get(name)?.clone()))),
            place: self.locate(name),
            read: Mutex::new(None),
        }))
    }

    fn create(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError> {
        Err(self.read_only("create", name))
    }

    fn rename(&self, from: &str, _to: &str) -> Result<(), StorageError> {
        Err(self.read_only("rename", from))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        Err(self.read_only("remove", name))
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn available_bytes(&self) -> Result<u64, StorageError> {
        Ok(0)
    }

    fn locate(&self, name: &str) -> String {
        format!("{}, {name}", self.place)
    }
}

struct BackupFile {
    vault: Arc<Vault>,
    manifest: Arc<Manifest>,
    part: Arc<FilePart>,
    gained: Option<(Arc<ShippedLog>, Arc<ShippedFile>)>,
    place: String,
    /// The piece that was read last: files are mostly read from their beginning to their end.
    read: Mutex<Option<(usize, Vec<u8>)>>,
}

impl BackupFile {
    fn error(&self, operation: &'static str, source: io::Error) -> StorageError {
        StorageError::new(operation, self.place.clone(), source)
    }

    /// Copies what the piece at `index` has from `skip` on; answers how many bytes that were.
    fn copy(&self, index: usize, skip: u64, buffer: &mut [u8]) -> Result<usize, BackupError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let content = match read.take() {
            Some((at, content)) if at == index => content,
            _ => self.vault.get(&self.part.pieces[index], self.vault.key_of(&self.manifest)?)?,
        };
        let from = usize::try_from(skip).unwrap_or(usize::MAX).min(content.len());
        let bytes = buffer.len().min(content.len() - from);
        buffer[..bytes].copy_from_slice(&content[from..from + bytes]);
        *read = Some((index, content));
        Ok(bytes)
    }
}

impl StorageFile for BackupFile {
    fn len(&self) -> Result<u64, StorageError> {
        Ok(self.part.length)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let left = usize::try_from(self.part.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let (mut done, mut begin) = (0, 0);
        for (index, piece) in self.part.pieces.iter().enumerate() {
            let at = offset + done as u64;
            if done < wanted && at < begin + piece.bytes {
                let copied = self.copy(index, at - begin, &mut buffer[done..wanted]);
                done += copied.map_err(|error| self.error("read", io::Error::other(error)).at(at))?;
            }
            begin += piece.bytes;
        }
        buffer[done..wanted].fill(0);
        if let Some((log, file)) = &self.gained {
            let overlaid = log.overlay(file, offset, &mut buffer[..wanted]);
            overlaid.map_err(|error| self.error("read", error).at(offset))?;
        }
        Ok(wanted)
    }

    fn write_at(&mut self, _offset: u64, _bytes: &[u8]) -> Result<(), StorageError> {
        Err(self.error("write", io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    fn allocate(&mut self, _length: u64) -> Result<(), StorageError> {
        Err(self.error("allocate", io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    fn sync_data(&mut self) -> Result<(), StorageError> {
        Ok(())
    }
}
