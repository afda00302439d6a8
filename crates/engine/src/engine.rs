//! What every engine does. The boundary lies above sequencing, because an engine may fuse sequence,
//! log and change into one step.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use scarce_core::command::{Body, Command, Envelope, work};
use scarce_core::event::{Entry, Histories, Position};
use scarce_core::outcome::{Code, Outcome, Receipt, Value, overload};
use scarce_core::types::{Id, TimeMs};
use scarce_core::{facts, placement, state};

use crate::consumers::{ConsumerName, Consumption, Lease};
use crate::image::Image;
use crate::inputs::InputPosition;
use crate::memory::MemoryLevels;
use crate::metrics::PartitionMetrics;
use crate::scripts::ScriptRunner;
use crate::standing::{self, Standing};

/// One request to a partition.
#[derive(Clone, Debug)]
pub enum Request {
    /// A command or an atomic batch.
    Write(Envelope),
    /// A command that only reads, and in whose namespace operation ids are looked up.
    Read(String, Command),
    /// What a command or a batch would be answered; nothing is changed.
    DryRun(Envelope),
    /// End up to so many holds and reservations whose deadline has passed.
    Expire(usize),
}

impl Request {
    /// The work that it asks for; see [`scarce_core::command::work`].
    #[must_use]
    pub fn work(&self) -> u64 {
        match self {
            Self::Write(envelope) => work::sum(envelope.commands()),
            // In a batch each line is one step.
            Self::DryRun(envelope) => match &envelope.body {
                Body::Single(command) => work::foretold(std::slice::from_ref(command)),
                Body::Atomic(commands) => work::sum(commands),
            },
            Self::Read(_, command) => command.work(),
            Self::Expire(limit) => *limit as u64,
        }
    }
}

/// The engine could not decide. What was asked may be asked again with the same id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A bounded queue is full; nothing was done.
    #[error("{}", overload::sentence(queue, None))]
    Overloaded {
        /// Which queue.
        queue: &'static str,
    },
    /// The engine takes no commands; nothing was done.
    #[error("{reason}")]
    Unavailable {
        /// Why, and what to do.
        reason: String,
    },
    /// The deployment is served elsewhere; nothing was done.
    #[error("this deployment has moved to {address}; send the request there, with the same id")]
    Migrated {
        /// Where.
        address: String,
    },
    /// What was asked may or may not have been done.
    #[error(
        "the outcome was not learned: {reason}; ask OPERATION.GET, or send the command again with the same id"
    )]
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Failure {
    /// The failure as an outcome, for gateways that show both alike.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Overloaded { queue } => {
                Outcome { code: Code::Overloaded, facts: facts![*queue, Value::Absent] }
            }
            Self::Unavailable { reason } => {
                Outcome { code: Code::Unavailable, facts: facts![reason.as_str()] }
            }
            Self::Migrated { address } => Outcome { code: Code::Migrated, facts: facts![address.as_str()] },
            Self::Unknown { reason } => Outcome { code: Code::Unknown, facts: facts![reason.as_str()] },
        }
    }
}

/// Keeps a waker called; dropping it ends that.
pub struct Watch(
    #[allow(dead_code, reason = "kept alive for the weak reference to it")] Arc<dyn Fn() + Send + Sync>,
);

impl Watch {
    /// Keeps `wake` alive.
    pub fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self(wake)
    }
}

/// What is called with the answers to a batch, in the order of its requests, once they are durable.
pub type Reply = Box<dyn FnOnce(Answers) + Send>;

/// One answer for each request of a batch, in their order.
pub type Answers = Vec<Result<Receipt, Failure>>;

/// A snapshot that was made and read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotDone {
    /// The last sequence that is in it.
    pub sequence: u64,
    /// The digest of the state.
    pub digest: u128,
    /// Its size.
    pub payload_bytes: u64,
    /// How many old segments were dropped.
    pub segments_retired: u64,
    /// Whether it was made just now; otherwise nothing has changed since the newest one.
    pub is_new: bool,
}

/// The log of a deployment, partition by partition, and who consumes it.
pub trait Log: Send + Sync {
    /// How many partitions there are.
    fn partitions(&self) -> u32;

    /// The deployment's id, in hexadecimal digits.
    fn deployment_id(&self) -> &str;

    /// When the deployment was created, where that is known.
    fn deployment_created_at(&self) -> Option<TimeMs> {
        None
    }

    /// Entries of a partition's log from the one that holds `sequence` on, as far as they are
    /// durable, until they make up `bytes_max`. One comes in any case where there is one.
    ///
    /// # Errors
    /// When the log no longer reaches so far back, or cannot be read.
    fn entries(&self, partition: u32, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure>;

    /// The same, but no entries after those that hold `events_max` events: a caller that wants few has few decoded.
    ///
    /// # Errors
    /// As [`Log::entries`].
    fn entries_up_to(
        &self,
        partition: u32,
        sequence: u64,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, Failure> {
        let mut entries = self.entries(partition, sequence, bytes_max)?;
        let mut events = 0;
        let is_wanted = |entry: &&Entry| {
            let before = events;
            events += entry.events.len();
            before < events_max.max(1)
        };
        let count = entries.iter().take_while(is_wanted).count();
        entries.truncate(count);
        Ok(entries)
    }

    /// Calls `wake` from a thread of the engine whenever more of a partition's log has become durable,
    /// until the watch is dropped. It must not block.
    ///
    /// # Errors
    /// When there is no such partition.
    fn watch(&self, partition: u32, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Watch, Failure>;

    /// The last sequence of a partition that is durable.
    ///
    /// # Errors
    /// When there is no such partition.
    fn durable_through(&self, partition: u32) -> Result<u64, Failure>;

    /// The first sequence that a partition's log still has; of an empty log the one that comes next.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be learned.
    fn first_sequence(&self, partition: u32) -> Result<u64, Failure>;

    /// The state of a partition at one durable position, from which the log goes on: where a consumer begins that
    /// comes after the log's beginning was trimmed. May take long.
    ///
    /// # Errors
    /// When there is no such partition, or the state cannot be read.
    fn image(&self, partition: u32) -> Result<Box<dyn Image>, Failure>;

    /// Who consumes a partition's log, in the order of their names, and how far each is.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be learned.
    fn consumers(&self, partition: u32) -> Result<Vec<Consumption>, Failure>;

    /// Notes that a consumer needs nothing at or before `confirmed`, so that the log may be trimmed there once
    /// no consumer needs it. A position never moves back. The first one registers the consumer. It is refused while a
    /// process other than `holder` has the lease.
    ///
    /// # Errors
    /// When there is no such partition, the position cannot be stored, or this log does not have it; and while the
    /// consumer has diverged.
    fn confirm(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
    ) -> Result<Lease, Failure>;

    /// Gives `holder` the lease of a known consumer for a while, or prolongs it; with no time it ends it.
    ///
    /// # Errors
    /// When there is no such partition or consumer, or it cannot be noted; and while the consumer has diverged.
    fn lease(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure>;

    /// Forgets a consumer: the log is no longer kept for it. Whether it was known.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be noted.
    fn forget_consumer(&self, partition: u32, name: &ConsumerName) -> Result<bool, Failure>;

    /// The epoch of a partition's leadership. A request whose [`Envelope::epoch`] says so is only decided in that one.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be learned.
    fn epoch(&self, partition: u32) -> Result<u64, Failure>;

    /// Which epochs wrote a partition's log, also of events that were trimmed, as far as that is known.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be learned.
    fn histories(&self, partition: u32) -> Result<Histories, Failure>;

    /// What the log says of a position.
    ///
    /// # Errors
    /// When there is no such partition, or the log cannot be read.
    fn standing(&self, partition: u32, position: Position) -> Result<Standing, Failure> {
        standing::read(self, partition, position)
    }

    /// Notes that a consumer holds a position which this log does not have. It stays so until the consumer is rebased
    /// or forgotten: meanwhile it gets no lease and confirms nothing, and what it has not confirmed is kept for it.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be noted.
    fn note_divergence(&self, partition: u32, name: &ConsumerName, held: Position) -> Result<(), Failure>;

    /// Sets a consumer onto a position of this log, also an earlier one, and ends its divergence: what it held is
    /// abandoned. The holder of its lease loses it.
    ///
    /// # Errors
    /// When there is no such partition, this log does not have the position, or it cannot be noted.
    fn rebase_consumer(&self, partition: u32, name: &ConsumerName, to: Position) -> Result<(), Failure>;
}

/// An engine: whatever sequences, logs and applies commands.
pub trait Engine: Log {
    /// The deployment's secret, which keys the cuts of red packets.
    fn secret(&self) -> &[u8; 32];

    /// The settings in effect that outcomes depend on, such as how long operation ids are remembered.
    fn state_settings(&self) -> &state::StateSettings;

    /// Hands a batch to a partition. `reply` is called exactly once, from a thread of the engine; it
    /// must not block.
    fn submit(&self, partition: u32, batch: Vec<Request>, reply: Reply);

    /// Makes a snapshot of a partition, from which it starts faster, and waits for it.
    ///
    /// # Errors
    /// When it fails, or the engine keeps none.
    fn snapshot(&self, partition: u32) -> Result<SnapshotDone, Failure> {
        let _ = partition;
        Err(Failure::Unavailable { reason: "this engine keeps no snapshots of its own".to_owned() })
    }

    /// How far inputs of commands were consumed, as a partition keeps it.
    ///
    /// # Errors
    /// When there is no such partition, or it cannot be learned.
    fn inputs(&self, partition: u32) -> Result<Vec<InputPosition>, Failure>;

    /// Keeps how far inputs of commands were consumed, each in place of its earlier position. A crash soon after may
    /// bring the earlier positions back.
    ///
    /// # Errors
    /// When there is no such partition, or the positions cannot be stored.
    fn keep_inputs(&self, partition: u32, positions: &[InputPosition]) -> Result<(), Failure>;

    /// Whether a partition takes commands that change something.
    ///
    /// # Errors
    /// When it does not, and why.
    fn check_ready(&self, partition: u32) -> Result<(), Failure>;

    /// What a partition counts.
    ///
    /// # Errors
    /// When there is no such partition.
    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure>;

    /// How much memory the process takes and may take, where the engine has a budget.
    fn memory(&self) -> Option<MemoryLevels> {
        None
    }

    /// What runs scripts of the operator's.
    ///
    /// # Errors
    /// Where the engine runs none for clients: why, and what to do.
    fn scripts(&self) -> Result<&dyn ScriptRunner, &'static str> {
        Err(
            "the embedded engine runs no scripts; to run your own, start the server with --engine redis --redis-scripts run",
        )
    }

    /// Hands a batch to a partition and waits for the answers.
    fn call(&self, partition: u32, batch: Vec<Request>) -> Vec<Result<Receipt, Failure>> {
        let count = batch.len();
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit(partition, batch, Box::new(move |answers| drop(sender.send(answers))));
        receiver.recv().unwrap_or_else(|_| {
            let failure = Failure::Unknown { reason: "the engine has stopped".to_owned() };
            vec![Err(failure); count]
        })
    }
}

/// The partition of what belongs together, or the outcome that it has none.
///
/// # Errors
/// `CROSS_PARTITION` when what it touches does not live in one.
pub fn partition_of(commands: &[Command], partitions: u32) -> Result<u32, Box<Outcome>> {
    let mut first: Option<(Id, u32)> = None;
    let mut crossing = None;
    if partitions <= 1 {
        return Ok(0);
    }
    for command in commands {
        command.route(&mut |id| {
            let partition = placement::partition(id, partitions);
            match &first {
                None => first = Some((id.clone(), partition)),
                Some((known, its)) if *its != partition && crossing.is_none() => {
                    let facts = facts![known, id];
                    crossing = Some(Box::new(Outcome { code: Code::CrossPartition, facts }));
                }
                Some(_) => {}
            }
        });
    }
    match crossing {
        Some(outcome) => Err(outcome),
        None => Ok(first.map_or(0, |(_, partition)| partition)),
    }
}
