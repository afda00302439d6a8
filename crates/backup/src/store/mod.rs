//! Where backups are put: named objects, each written and read as a whole.

mod folder;
#[cfg(feature = "s3")]
mod s3;

use std::error::Error;
use std::path::PathBuf;

pub use folder::Folder;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The object is not there.
    #[error("{place} is missing")]
    Missing {
        /// Which object.
        place: String,
    },
    /// The store failed.
    #[error("cannot {operation} {place}")]
    Failed {
        /// What was attempted, as a verb.
        operation: &'static str,
        /// Which object.
        place: String,
        /// What the store said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store has not said whether it did it: it may do so yet.
    #[error("cannot {operation} {place}")]
    Unanswered {
        /// What was attempted, as a verb.
        operation: &'static str,
        /// Which object.
        place: String,
        /// Why there is no answer.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The object is larger than anything that is ever written.
    #[error("{place} is larger than {bytes_max} bytes, and so nothing that a backup consists of")]
    TooLarge {
        /// Which object.
        place: String,
        /// The limit.
        bytes_max: u64,
    },
    /// Something else has the name of an object.
    #[error("{place} is no regular file, and so nothing that a backup consists of")]
    NoFile {
        /// Which object.
        place: String,
    },
    /// The address names no known kind of store.
    #[error("{url} names no store; write a folder, file:///folder, or s3://bucket/prefix")]
    Address {
        /// The address.
        url: String,
    },
    /// This binary was built without what the address needs.
    #[error(
        "{url} needs a binary with S3, and this one was built without it: \
         cargo build --release --features s3, or install a package"
    )]
    WithoutS3 {
        /// The address.
        url: String,
    },
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// Named objects, with `/` in the names. An object is there as a whole or not at all.
pub trait Store: Send + Sync {
    /// Puts an object, in the place of one of the same name. It is durable after [`Store::settle`].
    ///
    /// # Errors
    /// When the store fails.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Puts an object unless there is one of the same name; answers whether it did.
    ///
    /// # Errors
    /// When the store fails.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError>;

    /// Makes everything durable that was put or removed.
    ///
    /// # Errors
    /// When the store fails.
    fn settle(&self) -> Result<(), StoreError>;

    /// The content of an object.
    ///
    /// # Errors
    /// When it is not there, larger than `bytes_max`, or the store fails.
    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError>;

    /// All objects whose names begin with a folder's, which ends in `/`, in the order of their names.
    ///
    /// # Errors
    /// When the store fails.
    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError>;

    /// Folders below a folder in which nothing is, ending in `/`: what a process leaves that was killed. There are none
    /// where folders are only parts of names.
    ///
    /// # Errors
    /// When the store fails.
    fn empty_folders(&self, _folder: &str) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Removes an object, or a folder that is still empty. That it is not there is no error.
    ///
    /// # Errors
    /// When the store fails.
    fn remove(&self, name: &str) -> Result<(), StoreError>;

    /// Where an object lies, for messages.
    fn locate(&self, name: &str) -> String;
}

/// Opens the store of an address: a folder, `file:///folder`, or `s3://bucket/prefix`.
///
/// # Errors
/// When the address names none.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    match url.split_once("://") {
        None => Ok(Box::new(Folder::new(PathBuf::from(url)))),
        Some(("file", path)) if path.starts_with('/') => Ok(Box::new(Folder::new(PathBuf::from(path)))),
        #[cfg(feature = "s3")]
        Some(("s3", _)) => Ok(Box::new(s3::Bucket::open(url)?)),
        #[cfg(not(feature = "s3"))]
        Some(("s3", _)) => Err(StoreError::WithoutS3 { url: url.to_owned() }),
        Some(_) => Err(StoreError::Address { url: url.to_owned() }),
    }
}
