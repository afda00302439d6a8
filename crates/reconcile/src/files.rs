//! The log in the files of the embedded engine, beside a server or without one.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_engine::Image;
use scarce_engine::random::hex;
use scarce_engine_embedded::deployment::{Deployment, DeploymentError};
use scarce_engine_embedded::journal::JournalError;
use scarce_engine_embedded::lock::{Hold, LockError};
use scarce_engine_embedded::storage::{FileStorage, Storage, StorageError};
use scarce_engine_embedded::{
    EmbeddedError, PartitionFiles, Refusal, base_image, base_machine, partition_directory, read_entries,
};

use crate::ReconcileError;
use crate::source::{LogSource, Take};

/// How often a file is read again that a server may have changed meanwhile.
const ATTEMPTS_MAX: u32 = 5;

/// How many entries are handed over together.
const ENTRIES_AT_ONCE: usize = 1_000;

/// The files of a deployment, which are read only.
pub struct FilesLog {
    deployment: Deployment,
    deployment_id: String,
    partitions: Vec<Arc<dyn Storage>>,
    is_served: bool,
    ends: Box<EndOf>,
    /// Keeps a server from removing files that are still to be read.
    _holds: Vec<Hold>,
}

/// Says which sequence of a partition is durable.
pub type EndOf = dyn FnMut(u32) -> Result<Option<u64>, ReconcileError>;

/// Why the files of a deployment cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The files cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The deployment's file is unusable.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
    /// The files cannot be kept from being removed.
    #[error(transparent)]
    Hold(#[from] LockError),
    /// There is no deployment.
    #[error("{folder} holds no deployment; name the directory of 'scarce serve', or a copy of it")]
    Missing {
        /// The folder.
        folder: String,
    },
}

impl FilesLog {
    /// Opens a data directory. A server may be running on it: then what may not be on disk yet is left out, and the server
    /// removes no file until this is dropped.
    ///
    /// # Errors
    /// When there is no deployment, or its files cannot be read.
    pub fn open(folder: &Path, is_served: bool) -> Result<Self, OpenError> {
        let missing = || OpenError::Missing { folder: folder.display().to_string() };
        if !folder.is_dir() {
            return Err(missing());
        }
        let deployment = Deployment::load(&FileStorage::open_read_only(folder)?)?.ok_or_else(missing)?;
        let open = |partition| {
            let storage = FileStorage::open_read_only(folder.join(partition_directory(partition)))?;
            Ok::<_, OpenError>(Arc::new(storage) as Arc<dyn Storage>)
        };
        let hold = |partition| Hold::take(folder.join(partition_directory(partition))).transpose();
        let is_held = if is_served { deployment.partitions } else { 0 };
        let holds = (0..is_held).filter_map(hold).collect::<Result<_, _>>()?;
        let partitions = (0..deployment.partitions).map(open).collect::<Result<_, _>>()?;
        let deployment_id = hex(&deployment.deployment_id);
        Ok(Self {
            deployment,
            deployment_id,
            partitions,
            is_served,
            ends: Box::new(|_| Ok(None)),
            _holds: holds,
        })
    }

    /// The same, with what knows which sequence is durable: the server on these files.
    #[must_use]
    pub fn with_ends(self, ends: Box<EndOf>) -> Self {
        Self { ends, ..self }
    }

    fn files(&self, partition: u32) -> Result<PartitionFiles<'_>, ReconcileError> {
        let storage = self.partitions.get(partition as usize).cloned();
        let storage = storage.ok_or_else(|| ReconcileError::Broken {
            what: format!("there is no partition {partition}, only 0 to {}", self.partitions.len()),
        })?;
        Ok(PartitionFiles { storage, deployment: &self.deployment, partition })
    }

    /// Reads something, again where a server may have changed it meanwhile.
    fn look<T>(
        &self,
        partition: u32,
        mut look: impl FnMut() -> Result<T, EmbeddedError>,
    ) -> Result<T, ReconcileError> {
        let mut attempt = 1;
        loop {
            match look() {
                Err(_) if self.is_served && attempt < ATTEMPTS_MAX => attempt += 1,
                result => return result.map_err(|error| reason(partition, error)),
            }
        }
    }
}

/// Readable files with a wrong content are a difference; what cannot be read is a failure.
fn reason(partition: u32, error: EmbeddedError) -> ReconcileError {
    let is_unread = matches!(
        error,
        EmbeddedError::Storage(_)
            | EmbeddedError::Journal(
                JournalError::Storage(_) | JournalError::Newer { .. } | JournalError::Foreign { .. }
            )
    );
    if is_unread {
        return ReconcileError::Files { partition, source: Box::new(error) };
    }
    let mut what = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if !what.ends_with(&text) {
            what = format!("{what}: {text}");
        }
        source = cause.source();
    }
    ReconcileError::Broken { what }
}

impl LogSource for FilesLog {
    fn partitions(&self) -> u32 {
        self.deployment.partitions
    }

    fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        let files = self.files(partition)?;
        self.look(partition, || base_machine(&files, &StateSettings::default()))
    }

    fn base_image(&mut self, partition: u32) -> Result<Box<dyn Image>, ReconcileError> {
        let files = self.files(partition)?;
        self.look(partition, || base_image(&files, &StateSettings::default()))
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        // What the server has answered is on disk, also where nothing in the files proves it yet.
        let durable_through = if self.is_served { (self.ends)(partition)?.unwrap_or(0) } else { u64::MAX };
        let files = self.files(partition)?;
        let waiting = VecDeque::new();
        let mut part =
            Part { next: from, is_served: self.is_served, durable_through, waiting, take, ended: None };
        let read = self.look(partition, || part.read(&files));
        part.ended.unwrap_or(read)
    }

    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError> {
        (self.ends)(partition)
    }
}

/// One way through the log of a partition.
struct Part<'t> {
    /// The next sequence to hand over.
    next: u64,
    is_served: bool,
    /// What is durable for certain, whatever the files say.
    durable_through: u64,
    /// Entries of a server that are not yet known to be durable, or too few to be handed over.
    waiting: VecDeque<Entry>,
    take: Take<'t>,
    /// How the one that takes them ended it.
    ended: Option<Result<(), ReconcileError>>,
}

impl Part<'_> {
    /// Goes on where the attempt before ended.
    fn read(&mut self, files: &PartitionFiles<'_>) -> Result<(), EmbeddedError> {
        self.waiting.clear();
        if self.ended.is_some() {
            return Ok(());
        }
        let (is_served, from, durable_through) = (self.is_served, self.next, self.durable_through);
        let durable = |synced_through: u64| synced_through.max(durable_through);
        let read = read_entries(
            files,
            from,
            &mut |synced_through, entries| {
                self.waiting.extend(entries);
                self.hand_over(durable(synced_through), ENTRIES_AT_ONCE)
            },
            &mut |_| {},
        );
        match read {
            Err(_) if self.ended.is_some() => Ok(()),
            Err(error) => {
                // What can be read before the damage counts.
                if !is_served {
                    let _ = self.hand_over(u64::MAX, 1);
                }
                Err(error)
            }
            // A frame without events may say that more is durable.
            Ok(read) => {
                let _ = self.hand_over(durable(read.synced_through), 1);
                Ok(())
            }
        }
    }

    /// Hands over entries that are durable, if they are enough.
    fn hand_over(&mut self, durable_through: u64, count_min: usize) -> Result<(), Refusal> {
        let count = self.waiting.iter().take_while(|entry| entry.sequence_last() <= durable_through).count();
        if count < count_min || count == 0 {
            return Ok(());
        }
        let entries: Vec<Entry> = self.waiting.drain(..count).collect();
        self.next = entries.last().map_or(self.next, |entry| entry.sequence_last() + 1);
        self.ended = match (self.take)(entries) {
            Ok(true) => return Ok(()),
            Ok(false) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        Err("no more is wanted".into())
    }
}
