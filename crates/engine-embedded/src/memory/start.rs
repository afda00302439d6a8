//! Whether a start fits into the budget, so that it ends with advice before the kernel ends it.

use crate::partition::PartitionHome;
use crate::snapshot::{self, SnapshotInfo};
use crate::storage::{Storage, StorageError, read_small, replace, sealed, unsealed};

use super::Memory;

const FILE_NAME: &str = "memory";
const TEMPORARY_NAME: &str = "memory.tmp";
const FILE_BYTES_MAX: u64 = 1 << 10;

/// What a state is taken to take where no note says it, in percent of its snapshot's payload: rather too much.
const STATE_PERCENT: u64 = 150;

/// The data does not fit into the memory that the process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// By its snapshots.
    #[error(
        "the state in this directory takes about {} MiB of memory, and {} MiB are allowed; give the machine more memory, or raise --memory-max. To start all the same, set --memory-max off",
        needed_bytes.div_ceil(1 << 20),
        max_bytes >> 20
    )]
    Snapshots {
        /// What is needed.
        needed_bytes: u64,
        /// What is allowed.
        max_bytes: u64,
    },
    /// The budget was used up while the journal was read.
    #[error(
        "the state in this directory takes more than the {} MiB of memory that are allowed: these were used up after {done_percent} % of the journal of partition {partition}; give the machine more memory, or raise --memory-max. To start all the same, set --memory-max off",
        max_bytes >> 20
    )]
    Journal {
        /// Which partition's.
        partition: u32,
        /// How much of it was read.
        done_percent: u64,
        /// What is allowed.
        max_bytes: u64,
    },
}

/// Notes how much memory the state in a snapshot takes.
pub(crate) fn save(storage: &dyn Storage, info: &SnapshotInfo, state_bytes: u64) -> Result<(), StorageError> {
    let text = format!("{}{state_bytes}\n", of_snapshot(info));
    replace(storage, TEMPORARY_NAME, FILE_NAME, sealed(&text).as_bytes())
}

/// The note of this snapshot. Beside one that was put back it may be another one's.
fn load(storage: &dyn Storage, info: &SnapshotInfo) -> Option<u64> {
    let bytes = read_small(storage, FILE_NAME, FILE_BYTES_MAX).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    unsealed(&text)?.trim().strip_prefix(&of_snapshot(info))?.parse().ok()
}

/// Which snapshot a note is of.
fn of_snapshot(info: &SnapshotInfo) -> String {
    format!("snapshot = {} {} {}\nstate_bytes = ", info.sequence, info.payload_bytes, info.digest)
}

/// What the newest snapshot's state takes.
fn state_bytes(home: &PartitionHome) -> u64 {
    let listed = snapshot::list(&*home.storage).ok().and_then(|mut listed| listed.pop());
    let newest =
        listed.and_then(|newest| snapshot::load(&*home.storage, &newest.name, &home.snapshot_owner()).ok());
    newest.map_or(0, |reader| {
        let info = reader.info();
        let noted = load(&*home.storage, info);
        noted.unwrap_or_else(|| info.payload_bytes.saturating_mul(STATE_PERCENT) / 100)
    })
}

impl Memory {
    /// Whether what the newest snapshots hold fits.
    pub(crate) fn check_snapshots(&self, homes: &[PartitionHome]) -> Result<(), TooLarge> {
        let Some((used_bytes, max_bytes)) = self.used() else { return Ok(()) };
        let states: u64 = homes.iter().map(state_bytes).sum();
        let needed_bytes = used_bytes.saturating_add(states);
        if needed_bytes > max_bytes { Err(TooLarge::Snapshots { needed_bytes, max_bytes }) } else { Ok(()) }
    }

    /// Whether there is memory left while a journal is read.
    pub(crate) fn check_recovery(&self, partition: u32, done_percent: u64) -> Result<(), TooLarge> {
        match self.used() {
            Some((used_bytes, max_bytes)) if used_bytes >= max_bytes => {
                Err(TooLarge::Journal { partition, done_percent, max_bytes })
            }
            _ => Ok(()),
        }
    }

    fn used(&self) -> Option<(u64, u64)> {
        let budget = self.budget.as_ref()?;
        Some((budget.meter.used_bytes()?, budget.max_bytes))
    }
}
