//! Where the keys of callers are kept: beside the journal, or beside the partitions in Redis, so that all processes in
//! front of it have the same. Anyone who may write there may make keys.

mod file;

use scarce_access::KeyError;

pub use file::FileKeys;

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A file cannot be used.
    #[error("cannot {doing} {path}: {error}")]
    File {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The keys themselves.
    #[error("{place}: {error}")]
    Keys {
        /// Where they are.
        place: String,
        /// What is wrong.
        error: KeyError,
    },
    /// The Redis did not answer as it should.
    #[error("the keys in Redis cannot be read or changed: {0}")]
    Redis(String),
    /// A change of the keys is not possible.
    #[error(transparent)]
    Change(#[from] KeyError),
    /// No thread or runtime.
    #[error(transparent)]
    System(#[from] std::io::Error),
}
