//! Where servers keep their files.

use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use tempfile::TempDir;

use crate::LaunchError;

/// The folder in which Linux keeps files in memory.
const MEMORY_FOLDER: &str = "/dev/shm";

/// The files that a TLS server expects in a folder of certificates: its certificate and its key.
pub(crate) const CERTIFICATE: &str = "server.crt";
pub(crate) const KEY: &str = "server.key";

/// Where to create a temporary folder.
#[derive(Clone, Debug, Default)]
pub(crate) enum FolderPlace {
    /// The system's folder for temporary files.
    #[default]
    Temporary,
    /// In memory, if the system offers us that much space there.
    Memory { bytes_min: u64 },
    /// In this folder.
    In(PathBuf),
}

impl FolderPlace {
    /// Creates a folder there; it is removed when dropped.
    pub(crate) fn make(&self, prefix: &str) -> Result<TempDir, LaunchError> {
        Ok(match self {
            Self::Memory { bytes_min } if memory_bytes() >= *bytes_min => {
                TempDir::with_prefix_in(prefix, MEMORY_FOLDER).or_else(|_| TempDir::with_prefix(prefix))?
            }
            Self::In(folder) => TempDir::with_prefix_in(prefix, folder)?,
            _ => TempDir::with_prefix(prefix)?,
        })
    }
}

/// The free space for files in memory. Containers often have very little.
fn memory_bytes() -> u64 {
    statvfs(Path::new(MEMORY_FOLDER)).map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize))
}
