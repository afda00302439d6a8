//! Opening a data directory, starting its owners, and ending them.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use scarce_core::state::StateSettings;
use scarce_engine::clock::ClockNote;
use scarce_engine::stop::Stop;

use crate::deployment::Deployment;
use crate::lock::DirectoryLock;
use crate::memory::{Memory, MemoryWatch};
use crate::partition::{PartitionHome, partition_directory};
use crate::storage::{FileStorage, Storage, StorageError};
use crate::timekeeper::{self, Timekeeper};

use crate::{
    ClockChoice, Embedded, EmbeddedError, EmbeddedSettings, Owner, Port, RecoveryProgress, recovery,
    relocation::{self, Standby},
    run,
};

/// A recovered deployment whose owners have not been started.
pub struct RecoveredDeployment {
    lock: Option<DirectoryLock>,
    deployment: Deployment,
    state: StateSettings,
    owners: Vec<Owner>,
    timekeeper: Option<Timekeeper>,
    memory: Arc<Memory>,
    memory_watch: Option<MemoryWatch>,
}

/// A deployment's files.
pub struct DeploymentFiles {
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
    settings: &EmbeddedSettings,
    progress: &mut dyn FnMut(RecoveryProgress),
) -> Result<RecoveredDeployment, EmbeddedError> {
    let root: Arc<dyn Storage> = Arc::new(FileStorage::open(directory)?);
    let lock = DirectoryLock::acquire(directory)?;
    let partitions = (0..settings.partitions)
        .map(|partition| {
            let storage = FileStorage::open(directory.join(partition_directory(partition)))?;
            Ok(Arc::new(storage) as Arc<dyn Storage>)
        })
        .collect::<Result<Vec<_>, StorageError>>()?;
    let mut recovered = open_files(&DeploymentFiles { root, partitions }, settings, progress)?;
    recovered.lock = Some(lock);
    Ok(recovered)
}

/// Opens a deployment on any storage.
///
/// # Errors
/// When its files cannot be trusted.
pub fn open_files(
    files: &DeploymentFiles,
    settings: &EmbeddedSettings,
    progress: &mut dyn FnMut(RecoveryProgress),
) -> Result<RecoveredDeployment, EmbeddedError> {
    relocation::check_served(&*files.root)?;
    let opening = Opening::begin(&files.root, settings)?;
    let homes: Vec<_> = files
        .partitions
        .iter()
        .zip(0..)
        .map(|(storage, partition)| PartitionHome {
            storage: storage.clone(),
            deployment_id: opening.deployment.deployment_id,
            partition,
            segment_bytes: settings.segment_bytes,
        })
        .collect();
    opening.memory.check_snapshots(&homes)?;
    let Opening { deployment, clock_note, memory, .. } = &opening;
    let recover = |home: &PartitionHome| {
        recovery::recover_owner(home, deployment, settings, clock_note.clone(), memory, progress)
    };
    let owners = homes.iter().map(recover).collect::<Result<Vec<_>, _>>()?;
    opening.finish(settings, owners)
}

/// Opens a data directory of which the caller has the lock and every partition: they go on from where they are.
///
/// # Errors
/// When the directory cannot be used, or a thread cannot be started.
pub fn open_standbys(
    directory: &Path,
    lock: DirectoryLock,
    standbys: Vec<Standby>,
    settings: &EmbeddedSettings,
) -> Result<RecoveredDeployment, EmbeddedError> {
    let root: Arc<dyn Storage> = Arc::new(FileStorage::open(directory)?);
    relocation::check_served(&*root)?;
    let opening = Opening::begin(&root, settings)?;
    let Opening { deployment, clock_note, memory, .. } = &opening;
    let start = |standby: Standby| standby.start(deployment, settings, clock_note.clone(), memory);
    let owners = standbys.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let recovered = opening.finish(settings, owners)?;
    Ok(RecoveredDeployment { lock: Some(lock), ..recovered })
}

/// What owners have in common when they start.
struct Opening {
    root: Arc<dyn Storage>,
    deployment: Deployment,
    clock_note: Option<ClockNote>,
    memory: Arc<Memory>,
    memory_watch: Option<MemoryWatch>,
}

impl Opening {
    fn begin(root: &Arc<dyn Storage>, settings: &EmbeddedSettings) -> Result<Self, EmbeddedError> {
        let deployment = Deployment::load_or_create(&**root, settings.partitions)?;
        let memory = Memory::new(settings.memory.clone());
        let memory_watch = MemoryWatch::start(&memory)?;
        let clock_note = timekeeper::load(&**root);
        Ok(Self { root: root.clone(), deployment, clock_note, memory, memory_watch })
    }

    fn finish(
        self,
        settings: &EmbeddedSettings,
        owners: Vec<Owner>,
    ) -> Result<RecoveredDeployment, EmbeddedError> {
        let timekeeper = match &settings.clock {
            ClockChoice::System(system) => {
                let stamp = owners.iter().map(Owner::last_stamp).max().unwrap_or(0);
                let is_doubted = owners.iter().any(|owner| owner.doubted_ms() > 0);
                let clock = system.start(self.clock_note, stamp, is_doubted);
                Some(Timekeeper::start(self.root, clock)?)
            }
            ClockChoice::Manual(_) => None,
        };
        let Self { deployment, memory, memory_watch, .. } = self;
        let state = settings.state.clone();
        Ok(RecoveredDeployment { lock: None, deployment, state, owners, timekeeper, memory, memory_watch })
    }
}

impl RecoveredDeployment {
    /// What is fixed for the deployment.
    #[must_use]
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// What is to be known of the clock, in words.
    #[must_use]
    pub fn clock_notices(&self) -> Vec<String> {
        self.owners.iter().filter_map(Owner::clock_notice).collect()
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
        let engine = Arc::new(Embedded::new(&self.deployment, self.state, inboxes, self.memory));
        engine.note_all_divergences().map_err(EmbeddedError::Positions)?;
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
        let (_timekeeper, _memory_watch) = (self.timekeeper, self.memory_watch);
        Ok((engine, Running { stop, threads, _timekeeper, _memory_watch, _lock: self.lock }))
    }
}

/// The running threads of a deployment. The data directory stays locked until they have ended.
pub struct Running {
    stop: Stop,
    threads: Vec<JoinHandle<Result<(), EmbeddedError>>>,
    _timekeeper: Option<Timekeeper>,
    _memory_watch: Option<MemoryWatch>,
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
