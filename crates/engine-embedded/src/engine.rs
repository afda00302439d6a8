//! The engine as every other thread sees it: each partition's inbox.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::{Entry, Histories, Position};
use scarce_core::state::StateSettings;
use scarce_engine::clock::wall_ms;
use scarce_engine::consumers::{self, ConsumerName, Consumption, Lease};
use scarce_engine::engine::{Engine, Failure, Log, Reply, Request, SnapshotDone, Watch};
use scarce_engine::inputs::InputPosition;
use scarce_engine::memory::MemoryLevels;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::random::hex;
use scarce_engine::standing;
use scarce_engine::stop::Waker;
use scarce_engine::{Image, Standing};

use crate::Inbox;
use crate::deployment::Deployment;
use crate::memory::Memory;

/// The handle that gateways without sockets of their own in an owner's thread use.
pub struct Embedded {
    deployment_id: String,
    secret: [u8; 32],
    state: StateSettings,
    inboxes: Vec<Inbox>,
    memory: Arc<Memory>,
}

impl Embedded {
    pub(crate) fn new(
        deployment: &Deployment,
        state: StateSettings,
        inboxes: Vec<Inbox>,
        memory: Arc<Memory>,
    ) -> Self {
        Self {
            deployment_id: hex(&deployment.deployment_id),
            secret: deployment.secret,
            state,
            inboxes,
            memory,
        }
    }

    /// A partition's inbox.
    #[must_use]
    pub fn inbox(&self, partition: u32) -> Option<&Inbox> {
        self.inboxes.get(partition as usize)
    }

    /// Keeps a partition's log from a sequence on, for a backup that lacks it; or not any more.
    ///
    /// # Errors
    /// When there is no such partition.
    pub fn keep_log_from(&self, partition: u32, sequence: Option<u64>) -> Result<(), Failure> {
        self.known(partition)?.keep_log_from(sequence);
        Ok(())
    }

    /// Bytes of a partition's log that were on disk at the start although no recovery and no consumer needed them: a
    /// former process kept them for a backup.
    ///
    /// # Errors
    /// When there is no such partition.
    pub fn surplus_log_bytes(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.surplus_log_bytes())
    }

    /// Takes no changes any more, until [`Embedded::resume`], and gives the last sequence of each partition, which is
    /// durable. Reads are answered. Nothing is logged meanwhile, and no deadline ends.
    ///
    /// # Errors
    /// When a partition does not come to rest; it takes changes again then.
    pub fn rest(&self) -> Result<Vec<u64>, Failure> {
        self.inboxes.iter().for_each(|inbox| inbox.set_resting(true));
        let settled: Result<Vec<u64>, Failure> = self.inboxes.iter().map(Inbox::settle).collect();
        if settled.is_err() {
            self.resume();
        }
        settled
    }

    /// Takes changes again.
    pub fn resume(&self) {
        self.inboxes.iter().for_each(|inbox| inbox.set_resting(false));
    }

    /// Answers everything with the new place from now on.
    pub fn move_to(&self, address: &str) {
        self.inboxes.iter().for_each(|inbox| inbox.move_to(address));
    }

    /// Writes down how far consumers of the log and inputs of commands are.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn save_positions(&self) -> Result<(), Failure> {
        self.inboxes.iter().try_for_each(Inbox::request_save)
    }

    /// Notes which consumers stand on a position that the log does not have: files were put back one by one, and the
    /// list of consumers is newer than the journal.
    pub(crate) fn note_all_divergences(&self) -> Result<(), Failure> {
        for (inbox, partition) in self.inboxes.iter().zip(0..) {
            for its in inbox.consumers().list() {
                if let Standing::Diverged { .. } = self.standing(partition, its.confirmed)? {
                    self.note_divergence(partition, &its.name, its.confirmed)?;
                }
            }
        }
        Ok(())
    }

    fn known(&self, partition: u32) -> Result<&Inbox, Failure> {
        self.inbox(partition).ok_or_else(|| no_partition(partition))
    }
}

fn no_partition(partition: u32) -> Failure {
    Failure::Unavailable { reason: format!("there is no partition {partition}") }
}

impl Log for Embedded {
    fn partitions(&self) -> u32 {
        u32::try_from(self.inboxes.len()).unwrap_or(u32::MAX)
    }

    fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    fn entries(&self, partition: u32, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        self.known(partition)?.entries(sequence, bytes_max)
    }

    fn entries_up_to(
        &self,
        partition: u32,
        sequence: u64,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, Failure> {
        self.known(partition)?.entries_up_to(sequence, events_max, bytes_max)
    }

    fn watch(&self, partition: u32, wake: Waker) -> Result<Watch, Failure> {
        Ok(self.known(partition)?.watch(wake))
    }

    fn durable_through(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.durable_through())
    }

    fn first_sequence(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.first_sequence())
    }

    fn image(&self, partition: u32) -> Result<Box<dyn Image>, Failure> {
        self.known(partition)?.request_image()
    }

    fn consumers(&self, partition: u32) -> Result<Vec<Consumption>, Failure> {
        Ok(self.known(partition)?.consumers().list())
    }

    fn confirm(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
    ) -> Result<Lease, Failure> {
        let registry = self.known(partition)?.consumers();
        if let Some(held) = registry.diverged(name) {
            return Err(consumers::diverged(name, partition, held));
        }
        let is_known = match self.standing(partition, confirmed)? {
            Standing::Known => true,
            Standing::Passed { .. } | Standing::Trimmed { .. } => {
                registry.confirmed(name).is_some_and(|its| its >= confirmed)
            }
            Standing::Diverged { .. } => false,
        };
        if !is_known {
            return Err(consumers::not_of_this_log(partition, confirmed));
        }
        Ok(registry.confirm(name, holder, confirmed, wall_ms()))
    }

    fn lease(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure> {
        let registry = self.known(partition)?.consumers();
        match registry.diverged(name) {
            Some(held) => Err(consumers::diverged(name, partition, held)),
            None => registry.lease(name, holder, ttl).ok_or_else(|| consumers::unknown(name)),
        }
    }

    fn forget_consumer(&self, partition: u32, name: &ConsumerName) -> Result<bool, Failure> {
        Ok(self.known(partition)?.consumers().forget(name))
    }

    // It is the same until the engine ends: the directory is locked, and a restore writes into an empty one, so an older copy
    // is only put back between two starts. Each start has an epoch of its own.
    fn epoch(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.histories().last().map_or(0, |last| last.epoch))
    }

    fn histories(&self, partition: u32) -> Result<Histories, Failure> {
        Ok(self.known(partition)?.histories().clone())
    }

    fn standing(&self, partition: u32, position: Position) -> Result<Standing, Failure> {
        // What was logged since the start needs no look at the disk.
        if self.known(partition)?.has_logged(position) {
            return Ok(Standing::Known);
        }
        standing::read(self, partition, position)
    }

    fn note_divergence(&self, partition: u32, name: &ConsumerName, held: Position) -> Result<(), Failure> {
        let inbox = self.known(partition)?;
        inbox.consumers().note_divergence(name, held, inbox.first_sequence());
        Ok(())
    }

    fn rebase_consumer(&self, partition: u32, name: &ConsumerName, to: Position) -> Result<(), Failure> {
        let registry = self.known(partition)?.consumers();
        if self.standing(partition, to)? != Standing::Known && registry.confirmed(name) != Some(to) {
            return Err(consumers::not_of_this_log(partition, to));
        }
        registry.rebase(name, to, wall_ms());
        Ok(())
    }
}

impl Engine for Embedded {
    fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    fn state_settings(&self) -> &StateSettings {
        &self.state
    }

    fn submit(&self, partition: u32, batch: Vec<Request>, reply: Reply) {
        match self.inbox(partition) {
            Some(inbox) => inbox.post(batch, reply),
            None => reply(vec![Err(no_partition(partition)); batch.len()]),
        }
    }

    fn snapshot(&self, partition: u32) -> Result<SnapshotDone, Failure> {
        self.known(partition)?.request_snapshot()
    }

    fn inputs(&self, partition: u32) -> Result<Vec<InputPosition>, Failure> {
        Ok(self.known(partition)?.consumers().inputs.list())
    }

    fn keep_inputs(&self, partition: u32, positions: &[InputPosition]) -> Result<(), Failure> {
        self.known(partition)?.consumers().inputs.keep(positions);
        Ok(())
    }

    fn check_ready(&self, partition: u32) -> Result<(), Failure> {
        let known = self.known(partition)?;
        known.check_ready()?;
        known.metrics().levels().check_ids(self.state_settings().operations_max)?;
        known.metrics().runs.check_room()?;
        self.memory.check_ready()
    }

    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure> {
        Ok(self.known(partition)?.metrics())
    }

    fn memory(&self) -> Option<MemoryLevels> {
        self.memory.levels()
    }
}
