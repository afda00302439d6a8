use std::io;

use rustix::io::Errno;

/// A call to the disk that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {path}{}", at(*.offset))]
pub struct StorageError {
    /// What was attempted, as a verb.
    pub operation: &'static str,
    /// The file or directory.
    pub path: String,
    /// Where in the file, if that applies.
    pub offset: Option<u64>,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

fn at(offset: Option<u64>) -> String {
    offset.map(|offset| format!(" at offset {offset}")).unwrap_or_default()
}

impl StorageError {
    /// Describes `source` for an operation on a whole file or directory.
    pub fn new(operation: &'static str, path: impl Into<String>, source: io::Error) -> Self {
        Self { operation, path: path.into(), offset: None, source }
    }

    /// The same error at an offset.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Whether the disk or the quota is full: nothing is broken, and room cures it.
    pub fn is_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// Whether the process or the system has no free file descriptor. Only calls that open or create a file fail
    /// so, and they leave everything as it was.
    pub fn is_out_of_descriptors(&self) -> bool {
        let number = self.source.raw_os_error();
        [Errno::MFILE, Errno::NFILE].iter().any(|errno| number == Some(errno.raw_os_error()))
    }

    /// Whether the file does not exist.
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}
