//! The one door to the disk: a flat directory of files, with the calls whose durability matters made explicit.
//!
//! Everything that must survive a power loss goes through [`Storage`], so that tests can put a faulty disk
//! in its place and try every fault at every call.

mod error;
pub mod faulty;
pub mod files;
mod whole;

pub use error::StorageError;
pub use faulty::FaultyDisk;
pub use files::FileStorage;
pub(crate) use whole::{lay, read_small, replace, sealed, unsealed};

/// A flat directory of files.
///
/// Creations, renames and removals are durable only after [`Storage::sync_directory`].
pub trait Storage: Send + Sync {
    /// Names of all files, in ascending order.
    fn list(&self) -> Result<Vec<String>, StorageError>;

    /// Opens an existing file for reading and writing.
    fn open(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError>;

    /// Creates an empty file, readable by its owner only; it is an error if the name is taken.
    fn create(&self, name: &str) -> Result<Box<dyn StorageFile>, StorageError>;

    /// Renames a file, replacing `to` if it exists.
    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError>;

    /// Removes a file.
    fn remove(&self, name: &str) -> Result<(), StorageError>;

    /// Makes all creations, renames and removals durable.
    fn sync_directory(&self) -> Result<(), StorageError>;

    /// Bytes that this process could still allocate.
    fn available_bytes(&self) -> Result<u64, StorageError>;

    /// Locks a file of this name, made if it is absent, against every other process; none while another one holds
    /// it. Storage that no other process can see has nothing to lock.
    fn lock_alone(&self, _name: &str) -> Result<Option<FileLock>, StorageError> {
        Ok(Some(FileLock { _file: None }))
    }

    /// Where `name` lies, for messages.
    fn locate(&self, name: &str) -> String;
}

/// A lock on a file, held until dropped. The kernel releases it when the process dies.
#[derive(Debug)]
pub struct FileLock {
    _file: Option<std::fs::File>,
}

/// One open file. Dropping it closes it and syncs nothing.
pub trait StorageFile: Send {
    /// Length of the file.
    fn len(&self) -> Result<u64, StorageError>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool, StorageError> {
        Ok(self.len()? == 0)
    }

    /// Reads until `buffer` is full or the file ends; answers how many bytes were read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StorageError>;

    /// Writes all of `bytes`, or fails with an unknown part of them written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), StorageError>;

    /// Reserves room up to `length` and fills what is new with written zeros, so that later writes inside
    /// need neither room nor metadata.
    fn allocate(&mut self, length: u64) -> Result<(), StorageError>;

    /// Makes the content and the length durable.
    fn sync_data(&mut self) -> Result<(), StorageError>;

    /// Notes the name that the file was given, for messages.
    fn note_name(&mut self, _name: &str) {}

    /// Drops what is cached, so that the next read shows what the device holds. Advice: it may do nothing.
    fn forget_cached(&self) -> Result<(), StorageError> {
        Ok(())
    }
}
