//! Where servers keep their files.

use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use tempfile::TempDir;

use crate::LaunchError;

/// Where Linux keeps files in memory.
const MEMORY_FOLDER: &str = "/dev/shm";

/// What a server that takes TLS finds in a folder of certificates: its own, and the key to it.
pub(crate) const CERTIFICATE: &str = "server.crt";
pub(crate) const KEY: &str = "server.key";

/// Where a temporary folder is made.
#[derive(Clone, Debug, Default)]
pub(crate) enum Place {
    /// Where the system has temporary files.
    #[default]
    Temporary,
    /// In memory, where the system has so much room there that we may use.
    Memory { bytes_min: u64 },
    /// In this folder.
    In(PathBuf),
}

impl Place {
    /// Makes a folder there; it is removed when dropped.
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

/// How much room there is for files in memory. Containers are often given very little.
fn memory_bytes() -> u64 {
    statvfs(Path::new(MEMORY_FOLDER)).map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize))
}
