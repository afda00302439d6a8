//! The embedded engine: one owner thread per partition, a thread beside it that writes and syncs, and one that
//! makes snapshots.
//!
//! ```text
//! sockets, inbox → owner: stamp, decide, apply, encode → committer: append, sync → answers
//!                                                      → keeper: snapshots, spare segments
//! ```
//!
//! State lives in memory; the journal and snapshots are files in a data directory. A port may serve its sockets on
//! an owner's own thread ([`Port`]); everybody else hands batches to the [`Inbox`] through
//! [`Engine`](scarce_engine::Engine).
//!
//! This crate must not know sockets, wire formats, an asynchronous runtime, or another engine, and touches the disk
//! only through [`storage::Storage`].
//!
//! Begin reading at [`open`] and [`Owner`]; then [`journal`].

mod commit;
pub mod consumers;
pub mod deployment;
mod engine;
mod error;
mod fold;
mod inbox;
pub mod journal;
mod keeper;
pub mod lock;
mod look;
mod owner;
mod partition;
mod recovery;
mod restore;
mod run;
pub mod snapshot;
pub mod storage;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use scarce_core::state;
use scarce_engine::clock::{Clock, ManualClock, SystemClock};
use scarce_engine::stop::Stop;

use crate::deployment::Deployment;
use crate::lock::DirectoryLock;
use crate::partition::Place;
use crate::storage::{FileStorage, Storage, StorageError};

pub use engine::Embedded;
pub use error::EmbeddedError;
pub use fold::FoldError;
pub use inbox::{Inbox, Mail};
pub use look::{
    LogVerdict, OnEntries, PartitionFiles, Refusal, SnapshotVerdict, read_entries, verify_snapshots,
};
pub use owner::{Held, Owner};
pub use partition::partition_directory;
pub use recovery::{RecoveryProgress, machine_settings, newest_machine, verify_partition};
pub use restore::{RestoreError, Restored, Until, restore_partition};
pub use run::{Port, SilentPort};

/// Where stamps come from.
#[derive(Clone, Debug)]
pub enum ClockChoice {
    /// The system's clock; `accept_leap` believes it whatever the log's last stamp is.
    System {
        /// Whether a leap at the start is believed.
        accept_leap: bool,
    },
    /// A clock that stands still until it is set.
    Manual(ManualClock),
}

impl ClockChoice {
    fn clock(&self, last_stamp: u64) -> Box<dyn Clock> {
        match self {
            Self::System { accept_leap } => Box::new(SystemClock::after(last_stamp, *accept_leap)),
            Self::Manual(clock) => Box::new(clock.clone()),
        }
    }
}

/// How many events may wait for the slowest consumer by default: some ten gigabytes of journal.
const OUTFLOW_LAG_MAX: u64 = 100_000_000;

/// What may be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many partitions; fixed when the deployment is created.
    pub partitions: u32,
    /// What outcomes depend on.
    pub state: state::StateSettings,
    /// Bytes of a journal segment.
    pub segment_bytes: u64,
    /// A snapshot is made whenever so many bytes of journal were written since the last.
    pub snapshot_bytes: u64,
    /// How many batches from other threads may wait for a partition.
    pub inbox_batches_max: usize,
    /// How many bytes of log may be decided ahead of the disk.
    pub commit_bytes_max: usize,
    /// How many events may wait for the slowest consumer of the log before commands are refused.
    pub outflow_lag_max: u64,
    /// Where stamps come from.
    pub clock: ClockChoice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            partitions: 1,
            state: state::StateSettings::default(),
            segment_bytes: 64 << 20,
            snapshot_bytes: 512 << 20,
            inbox_batches_max: 1_024,
            commit_bytes_max: 2 << 20,
            outflow_lag_max: OUTFLOW_LAG_MAX,
            clock: ClockChoice::System { accept_leap: false },
        }
    }
}

/// A recovered deployment whose owners have not been started.
pub struct Recovered {
    lock: Option<DirectoryLock>,
    deployment: Deployment,
    state: state::StateSettings,
    owners: Vec<Owner>,
}

/// A deployment's files.
pub struct Files {
    /// The deployment's own directory.
    pub root: Arc<dyn Storage>,
    /// A directory for each partition.
    pub partitions: Vec<Arc<dyn Storage>>,
}

/// Opens a data directory: locks it, recovers every partition.
///
/// # Errors
/// When the directory is in use or its files cannot be trusted.
pub fn open(
    directory: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(RecoveryProgress),
) -> Result<Recovered, EmbeddedError> {
    let root: Arc<dyn Storage> = Arc::new(FileStorage::open(directory)?);
    let lock = DirectoryLock::acquire(directory)?;
    let partitions = (0..settings.partitions)
        .map(|partition| {
            let storage = FileStorage::open(directory.join(partition_directory(partition)))?;
            Ok(Arc::new(storage) as Arc<dyn Storage>)
        })
        .collect::<Result<Vec<_>, StorageError>>()?;
    let mut recovered = open_files(&Files { root, partitions }, settings, progress)?;
    recovered.lock = Some(lock);
    Ok(recovered)
}

/// Opens a deployment on any storage.
///
/// # Errors
/// When its files cannot be trusted.
pub fn open_files(
    files: &Files,
    settings: &Settings,
    progress: &mut dyn FnMut(RecoveryProgress),
) -> Result<Recovered, EmbeddedError> {
    let deployment = Deployment::load_or_create(&*files.root, settings.partitions)?;
    let owners = files
        .partitions
        .iter()
        .zip(0..)
        .map(|(storage, partition)| {
            let place = Place {
                storage: storage.clone(),
                deployment_id: deployment.deployment_id,
                partition,
                segment_bytes: settings.segment_bytes,
            };
            recovery::recover_owner(&place, &deployment, settings, progress)
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Recovered { lock: None, deployment, state: settings.state.clone(), owners })
}

impl Recovered {
    /// What is fixed for the deployment.
    #[must_use]
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// Starts an owner thread per partition, each with the port that `port` makes for it.
    ///
    /// # Errors
    /// When a thread cannot be started or a port cannot be made.
    pub fn start(
        self,
        mut port: impl FnMut(u32, &Arc<Embedded>) -> std::io::Result<Box<dyn Port>>,
    ) -> Result<(Arc<Embedded>, Running), EmbeddedError> {
        let inboxes = self.owners.iter().map(|owner| owner.inbox().clone()).collect();
        let engine = Arc::new(Embedded::new(&self.deployment, self.state, inboxes));
        let stop = Stop::default();
        let mut threads = Vec::new();
        for owner in self.owners {
            let partition = owner.partition();
            let port =
                port(partition, &engine).map_err(|source| EmbeddedError::Port { partition, source })?;
            owner.inbox().set_waker(port.waker());
            stop.add(port.waker());
            let (stop, name) = (stop.clone(), format!("owner-{partition}"));
            let thread =
                std::thread::Builder::new().name(name.clone()).spawn(move || run::run(owner, port, &stop));
            threads.push(thread.map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?);
        }
        Ok((engine, Running { stop, threads, _lock: self.lock }))
    }
}

/// The running threads of a deployment. The data directory stays locked until they have ended.
pub struct Running {
    stop: Stop,
    threads: Vec<JoinHandle<Result<(), EmbeddedError>>>,
    _lock: Option<DirectoryLock>,
}

impl Running {
    /// What stops the owners from any thread.
    #[must_use]
    pub fn stop_handle(&self) -> Stop {
        self.stop.clone()
    }

    /// Asks the owners to end and waits for them.
    ///
    /// # Errors
    /// The first failure of a thread.
    pub fn shut_down(self) -> Result<(), EmbeddedError> {
        self.stop.request();
        self.join()
    }

    /// Waits until the owners have ended. When one fails, the others are asked to end too.
    ///
    /// # Errors
    /// The first failure of a thread.
    pub fn join(self) -> Result<(), EmbeddedError> {
        let mut result = Ok(());
        for thread in self.threads {
            let name = thread.thread().name().unwrap_or("owner").to_owned();
            let ended = thread
                .join()
                .unwrap_or_else(|_| Err(EmbeddedError::Thread { name, what: "ended by a panic".to_owned() }));
            if ended.is_err() {
                self.stop.request();
            }
            result = result.and(ended);
        }
        result
    }
}
