//! What is fixed when a deployment is created: its id, its number of partitions, its secret.

use std::fmt;
use std::io;

use scarce_engine::random::{self, hex, unhex};

use crate::storage::{Storage, StorageError, read_small, replace};

/// Newest version of the deployment file.
pub const FORMAT_VERSION: u32 = 1;

const FILE_NAME: &str = "deployment.toml";
const TEMPORARY_NAME: &str = "deployment.tmp";
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Why the deployment file could not be created or used.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// The disk failed.
    #[error("the deployment file could not be read or written; check the data directory")]
    Storage(#[from] StorageError),
    /// No randomness for id and secret.
    #[error("no random bytes for the deployment's id and secret; start again once the system has some")]
    Random(#[source] io::Error),
    /// The file is not one of ours, or was changed.
    #[error(
        "{path} is damaged, line {line}: {reason}; restore the file from a copy, it is never edited by hand"
    )]
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file was written by a newer release.
    #[error(
        "{path} has format version {found}, and this release reads up to {supported}; start the newer release that wrote it"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// The number of partitions is fixed.
    #[error(
        "{path} was created with {found} partitions, and {wanted} are asked for; the number is fixed when a deployment is created, so set it back to {found}"
    )]
    Partitions {
        /// The file.
        path: String,
        /// What it was created with.
        found: u32,
        /// What was asked for.
        wanted: u32,
    },
    /// There must be at least one partition.
    #[error("a deployment needs at least one partition; set the number to 1 or more")]
    NoPartition,
}

/// What is fixed when a deployment is created.
#[derive(Clone, PartialEq, Eq)]
pub struct Deployment {
    /// In every file of the deployment, so that none is taken for another's.
    pub deployment_id: [u8; 16],
    /// Number of partitions.
    pub partitions: u32,
    /// Key of all keyed hashes and signatures of the deployment. Never shown.
    pub secret: [u8; 32],
}

impl fmt::Debug for Deployment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Deployment")
            .field("deployment_id", &hex(&self.deployment_id))
            .field("partitions", &self.partitions)
            .finish_non_exhaustive()
    }
}

impl Deployment {
    /// Loads the deployment, or creates it durably with `partitions` if there is none. An existing one with
    /// another number of partitions is refused.
    pub fn load_or_create(storage: &dyn Storage, partitions: u32) -> Result<Self, DeploymentError> {
        if partitions == 0 {
            return Err(DeploymentError::NoPartition);
        }
        match Self::load(storage)? {
            Some(found) if found.partitions == partitions => {
                // It may be one that a process created just before it was killed.
                storage.sync_directory()?;
                Ok(found)
            }
            Some(found) => Err(DeploymentError::Partitions {
                path: storage.locate(FILE_NAME),
                found: found.partitions,
                wanted: partitions,
            }),
            None => Self::create(storage, partitions),
        }
    }

    /// Loads the deployment, if there is one.
    pub fn load(storage: &dyn Storage) -> Result<Option<Self>, DeploymentError> {
        let bytes = read_small(storage, FILE_NAME, FILE_BYTES_MAX)?;
        let text = bytes.as_deref().map(String::from_utf8_lossy);
        text.map(|text| parse(&text, &storage.locate(FILE_NAME))).transpose()
    }

    fn create(storage: &dyn Storage, partitions: u32) -> Result<Self, DeploymentError> {
        let deployment_id = random::bytes().map_err(DeploymentError::Random)?;
        let secret = random::bytes().map_err(DeploymentError::Random)?;
        let deployment = Self { deployment_id, partitions, secret };
        deployment.save(storage)?;
        Ok(deployment)
    }

    /// Writes the file of a deployment that moves into an empty directory.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn create_in(&self, storage: &dyn Storage) -> Result<(), DeploymentError> {
        self.save(storage)
    }

    fn save(&self, storage: &dyn Storage) -> Result<(), DeploymentError> {
        Ok(replace(storage, TEMPORARY_NAME, FILE_NAME, self.text().as_bytes())?)
    }

    /// The same deployment among another number of partitions.
    #[must_use]
    pub fn among(&self, partitions: u32) -> Self {
        Self { partitions, ..self.clone() }
    }

    fn text(&self) -> String {
        let body = format!(
            "# Written when the deployment was created. Do not edit: the journal and all snapshots depend on it.\n\
             format_version = {FORMAT_VERSION}\n\
             deployment_id = \"{}\"\n\
             partitions = {}\n\
             secret = \"{}\"\n",
            hex(&self.deployment_id),
            self.partitions,
            hex(&self.secret)
        );
        let checksum = crc32c::crc32c(body.as_bytes());
        format!("{body}checksum = \"{checksum:08x}\"\n")
    }
}

/// The fields in the order in which they are written; anything else is damage.
struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    path: &'a str,
    line: usize,
}

impl<'a> Lines<'a> {
    fn value(&mut self, key: &str) -> Result<&'a str, DeploymentError> {
        let next = self.lines.find(|(_, text)| !text.starts_with('#'));
        self.line = next.map_or(self.line + 1, |(at, _)| at + 1);
        let value = next.and_then(|(_, text)| text.strip_prefix(key)?.strip_prefix(" = "));
        let value = value.ok_or_else(|| self.damaged(format!("{key} was expected")))?;
        Ok(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
    }

    fn number(&mut self, key: &str) -> Result<u32, DeploymentError> {
        let value = self.value(key)?;
        value.parse().map_err(|_| self.damaged(format!("{key} is no number")))
    }

    fn bytes<const BYTES: usize>(&mut self, key: &str) -> Result<[u8; BYTES], DeploymentError> {
        let value = self.value(key)?;
        // The value itself may be the secret, and is not repeated in the error.
        unhex(value).ok_or_else(|| self.damaged(format!("{key} is not {BYTES} bytes in hexadecimal")))
    }

    fn damaged(&self, reason: String) -> DeploymentError {
        DeploymentError::Damaged { path: self.path.to_owned(), line: self.line, reason }
    }
}

fn parse(text: &str, path: &str) -> Result<Deployment, DeploymentError> {
    let mut lines = Lines { lines: text.lines().enumerate(), path, line: 0 };
    let version = lines.number("format_version")?;
    if version > FORMAT_VERSION {
        let path = path.to_owned();
        return Err(DeploymentError::Newer { path, found: version, supported: FORMAT_VERSION });
    }
    let deployment = Deployment {
        deployment_id: lines.bytes("deployment_id")?,
        partitions: lines.number("partitions")?,
        secret: lines.bytes("secret")?,
    };
    lines.value("checksum")?;
    if deployment.text() != text {
        return Err(lines.damaged("the checksum does not match, or something was added".to_owned()));
    }
    Ok(deployment)
}
