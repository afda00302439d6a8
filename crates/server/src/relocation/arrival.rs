//! Who moves a deployment away from its running server: a copy that follows, and takes that server's place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::state::StateSettings;
use scarce_engine::random::hex;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal::JournalProgress;
use scarce_engine_embedded::lock::DirectoryLock;
use scarce_engine_embedded::relocation::{
    Arriving, Moved, RelocationId, Standby, StandbyCopy, Told, copy_clock,
};
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_engine_embedded::{EmbeddedError, PartitionFiles, partition_directory};

use super::belongings::{BelongingError, take_along};
use super::wire::{self, Ask, Line};

/// How long the server may take for an answer: a digest of much takes a while.
const ANSWER_MAX: Duration = Duration::from_mins(10);

/// How long it may take once it takes no changes.
const ANSWER_AT_REST_MAX: Duration = Duration::from_mins(1);

/// How long the server takes no changes for this; then it goes on.
const REST_MAX: Duration = Duration::from_secs(10);

/// A round of following that takes no longer leaves little to do.
const ROUND_USUAL: Duration = Duration::from_millis(100);

/// In so many rounds a copy comes near that ever will.
const ROUNDS_MAX: u32 = 1_000;

/// Why a deployment does not arrive.
#[derive(Debug, thiserror::Error)]
pub enum ArrivalError {
    /// Nobody listens in the data directory.
    #[error(
        "the server on {directory} cannot be asked to move: it is of another release, or its data directory takes no socket; stop it, and move at rest"
    )]
    Unreachable {
        /// The data directory.
        directory: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Nothing has to be asked.
    #[error("no server runs on {directory}; move it at rest with 'scarce migrate', and start a server then")]
    NotServed {
        /// The data directory.
        directory: String,
    },
    /// The server does not do what is asked.
    #[error("the server on {directory} refuses: {reason}")]
    Refused {
        /// The data directory.
        directory: String,
        /// What it said.
        reason: String,
    },
    /// The server has ended, or says nothing.
    #[error(
        "the server on {directory} has ended the move; nothing was moved: look into its log, and move again"
    )]
    Ended {
        /// The data directory.
        directory: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The log grows too fast.
    #[error(
        "the log grows faster than this machine can follow it; nothing was moved: move again at a quieter time, or to a faster disk"
    )]
    Outrun,
    /// The server ended while it left its mark.
    #[error(
        "whether the deployment has moved to {to} is not known, because the server on {from} has ended meanwhile; if {from} has the file 'moved', serve {to}, otherwise serve {from}: neither starts where the other one is right"
    )]
    Unclear {
        /// The old directory.
        from: String,
        /// The new one.
        to: String,
    },
    /// The deployment has another number of partitions.
    #[error(
        "the deployment in {directory} has {found} partitions, not {wanted}; beside a running server it keeps them: say --partitions {found}, or stop the server and move at rest"
    )]
    Partitions {
        /// The old directory.
        directory: String,
        /// How many it has.
        found: u32,
        /// How many were asked for.
        wanted: u32,
    },
    /// It has moved, and not all that it needs.
    #[error(
        "the deployment has moved to {to}, but not all that it needs: copy keys.json, keys.used and waiting-rooms.json from {from} before you serve it"
    )]
    Incomplete {
        /// The old directory.
        from: String,
        /// The new one.
        to: String,
        /// What did not come along.
        #[source]
        source: BelongingError,
    },
    /// Who may call cannot be copied.
    #[error("nothing was moved")]
    Belongings(#[from] BelongingError),
    /// Files or disks are at fault.
    #[error(transparent)]
    Files(#[from] EmbeddedError),
}

/// Hears how far the copying of a partition is.
pub type OnCopied<'a> = dyn FnMut(u32, JournalProgress) + 'a;

/// A copy of a served deployment, in a directory that does not have its name yet.
pub struct ArrivalCopy {
    source: Source,
    deployment: Deployment,
    id: RelocationId,
    copies: Vec<StandbyCopy>,
}

/// A copy that follows the log of a served deployment.
pub struct Arrival {
    source: Source,
    id: RelocationId,
    to: PathBuf,
    lock: DirectoryLock,
    standbys: Vec<Standby>,
    unfinished: Unfinished,
}

/// A deployment that has arrived, and that nobody serves yet.
pub struct Arrived {
    /// The lock of its directory.
    pub lock: DirectoryLock,
    /// Its partitions.
    pub standbys: Vec<Standby>,
    /// For how long changes were not taken until it had arrived.
    pub rested: Duration,
}

/// Removes a directory that is never served, because the deployment did not come.
struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // Where it cannot be removed, its mark keeps servers away.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

impl ArrivalCopy {
    /// Copies the deployment of a running server into an empty directory.
    ///
    /// # Errors
    /// When the server refuses, or files cannot be read or written.
    pub fn make(
        (from, partitions): (&Path, Option<u32>),
        to: &Path,
        settings: &StateSettings,
        on_copied: &mut OnCopied<'_>,
    ) -> Result<Self, ArrivalError> {
        let root = FileStorage::open_read_only(from).map_err(EmbeddedError::from)?;
        let deployment = Deployment::load(&root).map_err(EmbeddedError::from)?;
        let mut source = Source::connect(from)?;
        let deployment = deployment.ok_or_else(|| source.refused("there is no deployment"))?;
        if let Some(wanted) = partitions.filter(|wanted| *wanted != deployment.partitions) {
            let (directory, found) = (source.name(), deployment.partitions);
            return Err(ArrivalError::Partitions { directory, found, wanted });
        }
        source.ask(&Ask::Begin { deployment: hex(&deployment.deployment_id) })?;
        let made = FileStorage::open(to).map_err(EmbeddedError::from)?;
        deployment.create_in(&made).map_err(EmbeddedError::from)?;
        let durable = source.durable()?;
        let mut copies = Vec::new();
        for (partition, through) in (0..deployment.partitions).zip(durable) {
            let directory = from.join(partition_directory(partition));
            let files = FileStorage::open_read_only(&directory).map_err(EmbeddedError::from)?;
            let files = PartitionFiles { storage: Arc::new(files), deployment: &deployment, partition };
            let target = partition_files(to, &deployment, partition)?;
            let mut note = |progress| on_copied(partition, progress);
            copies.push(StandbyCopy::make((&files, &directory), &target, through, settings, &mut note)?);
        }
        take_along(&source.directory, to)?;
        let id = RelocationId::random().map_err(EmbeddedError::from)?;
        let from = source.directory.display().to_string();
        Arriving { id: id.clone(), from }.leave(&made).map_err(EmbeddedError::from)?;
        Ok(Self { source, deployment, id, copies })
    }

    /// Opens the copy, which has its own name now.
    ///
    /// # Errors
    /// When it is in use, or is not what was read.
    pub fn open(self, to: &Path) -> Result<Arrival, ArrivalError> {
        let unfinished = Unfinished(Some(to.to_owned()));
        let lock = DirectoryLock::acquire(to).map_err(EmbeddedError::from)?;
        let Self { source, deployment, id, copies } = self;
        let open = |(copy, partition): (StandbyCopy, u32)| {
            Ok::<_, ArrivalError>(copy.open(&partition_files(to, &deployment, partition)?)?)
        };
        let standbys = copies.into_iter().zip(0..).map(open).collect::<Result<_, _>>()?;
        Ok(Arrival { source, id, to: to.to_owned(), lock, standbys, unfinished })
    }
}

fn partition_files<'a>(
    root: &Path,
    deployment: &'a Deployment,
    partition: u32,
) -> Result<PartitionFiles<'a>, ArrivalError> {
    let storage =
        FileStorage::open(root.join(partition_directory(partition))).map_err(EmbeddedError::from)?;
    Ok(PartitionFiles { storage: Arc::new(storage), deployment, partition })
}

impl Arrival {
    /// Follows the log until there is little left to do, and compares the whole state on the way.
    ///
    /// # Errors
    /// When the states differ, the log grows too fast, or the server ends the move.
    pub fn catch_up(&mut self) -> Result<(), ArrivalError> {
        self.come_near()?;
        let told = self.source.digests()?;
        let durable = self.source.durable()?;
        self.follow(&durable, Some(&told))?;
        self.come_near()
    }

    fn come_near(&mut self) -> Result<(), ArrivalError> {
        for _ in 0..ROUNDS_MAX {
            let begun = Instant::now();
            let durable = self.source.durable()?;
            self.follow(&durable, None)?;
            if begun.elapsed() <= ROUND_USUAL {
                return Ok(());
            }
        }
        Err(ArrivalError::Outrun)
    }

    fn follow(&mut self, durable: &[u64], told: Option<&[Told]>) -> Result<(), ArrivalError> {
        for (place, (standby, through)) in self.standbys.iter_mut().zip(durable).enumerate() {
            standby.follow(*through, told.and_then(|told| told.get(place)).copied())?;
        }
        Ok(())
    }

    /// Lets the server rest, takes what is left, and lets the deployment change its place.
    ///
    /// # Errors
    /// When the server ends the move or the rest takes longer than it may: then the server goes on.
    pub fn hand_over(mut self, address: &str) -> Result<Arrived, ArrivalError> {
        // What changed since it was copied first, in case this process is killed before it does so for good.
        take_along(&self.source.directory, &self.to)?;
        let begun = Instant::now();
        let last = self.source.rest(REST_MAX)?;
        for (standby, last) in self.standbys.iter_mut().zip(last) {
            standby.settle(last)?;
        }
        self.leave_mark(address)?;
        let rested = begun.elapsed();
        self.standbys.iter().try_for_each(Standby::take_positions)?;
        // No key changes behind the mark.
        take_along(&self.source.directory, &self.to).map_err(|source| self.incomplete(source))?;
        let root = FileStorage::open(&self.to).map_err(EmbeddedError::from)?;
        copy_clock(&self.source.root()?, &root).map_err(EmbeddedError::from)?;
        Arriving::end(&root).map_err(EmbeddedError::from)?;
        Ok(Arrived { lock: self.lock, standbys: self.standbys, rested })
    }

    fn incomplete(&self, source: BelongingError) -> ArrivalError {
        ArrivalError::Incomplete { from: self.source.name(), to: self.to.display().to_string(), source }
    }

    /// From the moment at which this is asked for, only the old directory knows where the deployment is.
    fn leave_mark(&mut self, address: &str) -> Result<(), ArrivalError> {
        self.unfinished.0 = None;
        let finish = Ask::Finish { id: self.id.as_str().to_owned(), address: address.to_owned() };
        let asked = self.source.ask(&finish);
        match (asked, self.is_marked()) {
            (Ok(_) | Err(ArrivalError::Ended { .. }), Ok(true)) => Ok(()),
            (Err(refused @ ArrivalError::Refused { .. }), Ok(false)) => {
                self.unfinished.0 = Some(self.to.clone());
                Err(refused)
            }
            _ => {
                let (from, to) = (self.source.name(), self.to.display().to_string());
                Err(ArrivalError::Unclear { from, to })
            }
        }
    }

    /// Whether the old directory has the mark of this move. One that is seen is made durable here as well, because the
    /// server may have been killed before.
    fn is_marked(&self) -> Result<bool, ArrivalError> {
        let root = self.source.root()?;
        let moved = Moved::load(&root).map_err(EmbeddedError::from)?;
        root.sync_directory().map_err(EmbeddedError::from)?;
        Ok(moved.is_some_and(|moved| moved.id == self.id))
    }
}

/// The server that is left.
struct Source {
    directory: PathBuf,
    line: Line,
}

impl Source {
    fn connect(from: &Path) -> Result<Self, ArrivalError> {
        let unreachable =
            |source| ArrivalError::Unreachable { directory: from.display().to_string(), source };
        let directory = from.canonicalize().map_err(unreachable)?;
        match wire::connect(&directory) {
            Ok(stream) => Ok(Self { directory, line: Line::new(stream) }),
            Err(_) if DirectoryLock::share(&directory).is_ok() => {
                Err(ArrivalError::NotServed { directory: directory.display().to_string() })
            }
            Err(source) => Err(unreachable(source)),
        }
    }

    fn name(&self) -> String {
        self.directory.display().to_string()
    }

    fn root(&self) -> Result<FileStorage, ArrivalError> {
        Ok(FileStorage::open_read_only(&self.directory).map_err(EmbeddedError::from)?)
    }

    fn refused(&self, reason: &str) -> ArrivalError {
        ArrivalError::Refused { directory: self.name(), reason: reason.to_owned() }
    }

    /// Asks, and gives the words of the answer.
    fn ask(&mut self, ask: &Ask) -> Result<String, ArrivalError> {
        let asked = self.line.write(&ask.to_string());
        let is_at_rest = matches!(ask, Ask::Rest(_) | Ask::Finish { .. });
        let answer = self.line.read(Some(if is_at_rest { ANSWER_AT_REST_MAX } else { ANSWER_MAX }));
        let directory = self.name();
        let answer = match (asked, answer) {
            // It may have said why it hears nothing any more.
            (_, Ok(Some(answer))) => answer,
            (Err(source), _) | (_, Err(source)) => return Err(ArrivalError::Ended { directory, source }),
            (Ok(()), Ok(None)) => {
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(ArrivalError::Ended { directory, source });
            }
        };
        match answer.split_once(' ').unwrap_or((&answer, "")) {
            ("ok", words) => Ok(words.to_owned()),
            ("refused", reason) => Err(self.refused(reason)),
            _ => Err(self.refused("its answer cannot be read, it is of another release")),
        }
    }

    fn durable(&mut self) -> Result<Vec<u64>, ArrivalError> {
        let answer = self.ask(&Ask::Durable)?;
        wire::read_sequences(&answer).ok_or_else(|| self.refused("its answer cannot be read"))
    }

    fn digests(&mut self) -> Result<Vec<Told>, ArrivalError> {
        let answer = self.ask(&Ask::Digests)?;
        wire::read_told(&answer).ok_or_else(|| self.refused("its answer cannot be read"))
    }

    fn rest(&mut self, most: Duration) -> Result<Vec<u64>, ArrivalError> {
        let answer = self.ask(&Ask::Rest(most))?;
        wire::read_sequences(&answer).ok_or_else(|| self.refused("its answer cannot be read"))
    }
}
