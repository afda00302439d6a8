//! The engine as every other thread sees it: each partition's inbox.

use std::time::Duration;

use scarce_core::event::{Entry, Position};
use scarce_core::state::StateSettings;
use scarce_engine::clock::wall_ms;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease, unknown};
use scarce_engine::engine::{Engine, Failure, Log, Reply, Request, SnapshotDone, Watch};
use scarce_engine::inputs::InputPosition;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::random::hex;
use scarce_engine::stop::Waker;

use crate::Inbox;
use crate::deployment::Deployment;

/// The handle that gateways without sockets of their own in an owner's thread use.
pub struct Embedded {
    deployment_id: String,
    secret: [u8; 32],
    state: StateSettings,
    inboxes: Vec<Inbox>,
}

impl Embedded {
    pub(crate) fn new(deployment: &Deployment, state: StateSettings, inboxes: Vec<Inbox>) -> Self {
        Self { deployment_id: hex(&deployment.deployment_id), secret: deployment.secret, state, inboxes }
    }

    /// A partition's inbox.
    #[must_use]
    pub fn inbox(&self, partition: u32) -> Option<&Inbox> {
        self.inboxes.get(partition as usize)
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

    fn watch(&self, partition: u32, wake: Waker) -> Result<Watch, Failure> {
        Ok(self.known(partition)?.watch(wake))
    }

    fn durable_through(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.durable_through())
    }

    fn first_sequence(&self, partition: u32) -> Result<u64, Failure> {
        Ok(self.known(partition)?.first_sequence())
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
        Ok(self.known(partition)?.consumers().confirm(name, holder, confirmed, wall_ms()))
    }

    fn lease(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure> {
        let lease = self.known(partition)?.consumers().lease(name, holder, ttl);
        lease.ok_or_else(|| unknown(name))
    }

    fn forget_consumer(&self, partition: u32, name: &ConsumerName) -> Result<bool, Failure> {
        Ok(self.known(partition)?.consumers().forget(name))
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
        self.known(partition)?.check_ready()
    }

    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure> {
        Ok(self.known(partition)?.metrics())
    }
}
