//! Remembered operations that left memory: in runs on disk, each in the order of keys and with a filter in memory, so that an
//! id that is not there is mostly not looked for. What is outside of memory is exactly what the machine says; see
//! [`OperationNumbers`](scarce_core::operations::OperationNumbers).

mod file;
mod filter;
mod floor;
mod merge;
mod outcomes;
mod record;
mod spiller;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::Arc;

use scarce_core::machine::{Machine, Outline};
use scarce_core::operations::{OldOperation, OperationNumbers};
use scarce_core::state::StateSettings;

use crate::EmbeddedError;
use crate::partition::PartitionHome;
use crate::snapshot;
use crate::storage::{Storage, StorageError};

pub(crate) use file::Run;
pub(crate) use floor::RunFloor;
pub(crate) use spiller::{SpillSettings, Spiller, SpillerEnd};
use writer::{Follows, write_run};

/// How many records are in memory at most to be put in another order.
const SORTED_RECORDS_MAX: usize = 1 << 19;

/// Why runs cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The disk failed, or is full.
    #[error("the disk failed for a run of operation ids")]
    Storage(#[from] StorageError),
    /// The file is damaged, newer than this release, or of another partition.
    #[error(
        "{path} {reason}; duplicates of the operations in it cannot be told from new ones: restore it from a backup"
    )]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Not all of them are there.
    #[error(
        "partition {partition} remembers operations {from} to {to}, and no file in {path} has them; duplicates of these cannot be \
         told from new ones: restore the runs (ids-*.run) from a backup"
    )]
    Missing {
        /// Which partition.
        partition: u32,
        /// Its directory.
        path: String,
        /// The first number, and the last one.
        from: u64,
        /// The last one.
        to: u64,
    },
    /// They are of another history than the log.
    #[error(
        "{path} has operations that the journal does not have; do not serve this directory, restore it from a backup as a whole"
    )]
    Foreign {
        /// The file.
        path: String,
    },
}

/// A partition's runs.
pub(crate) struct FoundRuns {
    /// Those that follow one another.
    pub(crate) runs: Vec<Arc<Run>>,
    /// Those of which others have all, because a merge was interrupted.
    pub(crate) covered: Vec<Arc<Run>>,
}

impl FoundRuns {
    /// Opens all runs; none of their records is read.
    pub(crate) fn open(home: &PartitionHome) -> Result<Self, RunError> {
        let names = names(&*home.storage)?;
        let open = |name: &String| Run::open(&*home.storage, name, &home.snapshot_owner()).map(Arc::new);
        let mut all = names.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        // Of those that begin together, the one that reaches farthest is first.
        all.sort_by_key(|run| (run.start(), u64::MAX - run.end()));
        let (mut runs, mut covered) = (Vec::<Arc<Run>>::new(), Vec::new());
        for run in all {
            let is_covered = runs.last().is_some_and(|last| run.end() <= last.end());
            if is_covered { covered.push(run) } else { runs.push(run) }
        }
        Ok(Self { runs, covered })
    }

    /// The number behind the last one that is in a run.
    pub(crate) fn end(&self) -> u64 {
        self.runs.last().map_or(0, |last| last.end())
    }

    /// Whether they have all that is remembered and not in memory, and nothing that the log does not have, whose end the
    /// machine is at.
    pub(crate) fn check(
        &self,
        home: &PartitionHome,
        machine: &Machine,
        OperationNumbers { oldest, in_memory, .. }: OperationNumbers,
    ) -> Result<(), RunError> {
        for run in &self.runs {
            if !is_of_log(run, machine) {
                return Err(RunError::Foreign { path: run.path.clone() });
            }
        }
        let Some((from, to)) = self.missing(oldest, in_memory) else { return Ok(()) };
        let path = home.storage.locate("");
        Err(RunError::Missing { partition: home.partition, path, from, to })
    }

    /// Gives all records to `take`, those of a run in the order of their keys.
    pub(crate) fn each(&self, mut take: impl FnMut(OldOperation)) -> Result<(), RunError> {
        self.runs.iter().try_for_each(|run| merge::each(run, &mut take))
    }

    /// Gives all records to `take` in the order of their numbers. Each run is read as often as needed for a bounded number of records
    /// to be in memory.
    pub(crate) fn each_in_order(&self, take: &mut dyn FnMut(&OldOperation)) -> Result<(), RunError> {
        let mut next = 0;
        for run in &self.runs {
            for start in (run.start().max(next)..run.end()).step_by(SORTED_RECORDS_MAX) {
                let numbers = start..run.end().min(start + SORTED_RECORDS_MAX as u64);
                let mut records = Vec::new();
                merge::each(run, &mut |old| {
                    records.extend(Some(old).filter(|old| numbers.contains(&old.number)));
                })?;
                records.sort_unstable_by_key(|old| old.number);
                records.iter().for_each(&mut *take);
            }
            next = run.end();
        }
        Ok(())
    }

    /// Reads all from their beginnings to their ends.
    pub(crate) fn check_records(&self) -> Result<(), RunError> {
        self.runs.iter().try_for_each(|run| merge::check(run))
    }

    /// The first and the last number of those from `oldest` on, and before `in_memory`, that are in no run.
    fn missing(&self, oldest: u64, in_memory: u64) -> Option<(u64, u64)> {
        let mut next = oldest;
        for run in self.runs.iter().filter(|run| run.end() > oldest) {
            if run.start() > next {
                break;
            }
            next = run.end();
        }
        (next < in_memory).then(|| (next, in_memory - 1))
    }
}

/// Whether a run has only what the log of a machine has.
fn is_of_log(run: &Run, machine: &Machine) -> bool {
    let epoch = machine.histories().epoch_at(run.head.sequence_last);
    let is_known = run.head.records == 0 || epoch == 0 || run.head.base.epochs.contains(&epoch);
    let next = machine.state().operations.numbers().next;
    is_known && run.head.sequence_last <= machine.sequence() && run.end() <= next
}

/// The names of a partition's runs.
pub(crate) fn names(storage: &dyn Storage) -> Result<Vec<String>, StorageError> {
    Ok(storage.list()?.into_iter().filter(|name| file::is_name(name)).collect())
}

/// Checks a run's header and index.
pub(crate) fn check(home: &PartitionHome, name: &str) -> Result<(), RunError> {
    Run::open(&*home.storage, name, &home.snapshot_owner()).map(drop)
}

/// Reads all runs from their beginnings to their ends, and compares them with the newest snapshot, which rests on them, and
/// with a machine at the log's end.
pub(crate) fn verify(
    home: &PartitionHome,
    settings: &StateSettings,
    machine: &Machine,
) -> Result<(), EmbeddedError> {
    let found = FoundRuns::open(home)?;
    let newest = snapshot::newest_good(&*home.storage, &home.snapshot_owner())?.snapshot;
    let needed = match newest {
        None => OperationNumbers::default(),
        Some((listed, _)) => {
            let reader = snapshot::load(&*home.storage, &listed.name, &home.snapshot_owner())?;
            let outline = reader.read_pieces(|next| Outline::read(settings.clone(), next))?;
            outline.operation_numbers()
        }
    };
    found.check(home, machine, needed)?;
    Ok(found.check_records()?)
}

/// Writes operations that follow one another into runs, which are of a log of this epoch.
pub(crate) fn write_all(
    home: &PartitionHome,
    mut operations: impl Iterator<Item = OldOperation>,
    epoch: u64,
) -> Result<(), RunError> {
    let mut follows = Follows { end: None, epoch: Some(epoch) };
    loop {
        let mut records: Vec<_> = operations.by_ref().take(SORTED_RECORDS_MAX).collect();
        if records.is_empty() {
            return Ok(());
        }
        let run = write_run(&*home.storage, &home.snapshot_owner(), &mut records, follows)?;
        follows.end = Some(run.end());
    }
}

/// Copies the records whose numbers are below `end`.
pub(crate) fn copy_before(from: &PartitionHome, to: &PartitionHome, end: u64) -> Result<(), RunError> {
    for run in FoundRuns::open(from)?.runs.iter().filter(|run| run.start() < end) {
        let numbers = run.start()..run.end().min(end);
        merge::merge(&*to.storage, &to.snapshot_owner(), &[run.as_ref()], &numbers, 0, run.head.level)?;
    }
    Ok(())
}
