//! Where a partition's files are.

use std::sync::Arc;

use crate::journal;
use crate::snapshot;
use crate::storage::Storage;

/// What a partition needs of the deployment to find its files.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) deployment_id: [u8; 16],
    pub(crate) partition: u32,
    pub(crate) segment_bytes: u64,
}

impl Place {
    pub(crate) fn journal_settings(&self) -> journal::Settings {
        let settings = journal::Settings::new(self.deployment_id, self.partition);
        journal::Settings { segment_bytes: self.segment_bytes, ..settings }
    }

    pub(crate) fn snapshot_owner(&self) -> snapshot::Owner {
        snapshot::Owner { deployment_id: self.deployment_id, partition: self.partition }
    }
}

/// The name of a partition's directory.
#[must_use]
pub fn partition_directory(partition: u32) -> String {
    format!("partition-{partition:04}")
}
