//! Where a partition's files are.

use std::sync::Arc;

use crate::journal::JournalSettings;
use crate::snapshot::SnapshotOwner;
use crate::storage::Storage;

/// What a partition needs of the deployment to find its files.
#[derive(Clone)]
pub(crate) struct PartitionHome {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) deployment_id: [u8; 16],
    pub(crate) partition: u32,
    pub(crate) segment_bytes: u64,
}

impl PartitionHome {
    pub(crate) fn journal_settings(&self) -> JournalSettings {
        let settings = JournalSettings::new(self.deployment_id, self.partition);
        JournalSettings { segment_bytes: self.segment_bytes, ..settings }
    }

    pub(crate) fn snapshot_owner(&self) -> SnapshotOwner {
        SnapshotOwner { deployment_id: self.deployment_id, partition: self.partition }
    }
}

/// The name of a partition's directory.
#[must_use]
pub fn partition_directory(partition: u32) -> String {
    format!("partition-{partition:04}")
}
