//! Making the new files: a copy with the log where partitions stay as they are, otherwise a state for each new one.

use std::path::Path;
use std::sync::Arc;

use scarce_core::event::epoch;
use scarce_core::machine::Machine;
use scarce_core::machine::regroup::{Regrouped, Totals, align, regroup};
use scarce_core::state::StateSettings;
use scarce_engine::random;
use scarce_engine_embedded::relocation::{read_resting, write_partition};
use scarce_engine_embedded::storage::FileStorage;
use scarce_engine_embedded::{EmbeddedError, PartitionFiles, Until, partition_directory};

use super::Move;
use super::report::Part;
use crate::files::{Opened, advance, progress_bar};
use crate::restore::Origin;
use crate::{Exit, Failed};

/// How many leaderships the epoch is raised by, as after a restore: the old files may have been started again from a copy.
pub(super) const EPOCH_MARGIN: u64 = 1_000;

/// Writes a new partition that was made of the old ones' files. Gives how many receipts those do not have any more.
type WriteNew<'a> = dyn FnMut(&mut Regrouped, &[PartitionFiles<'_>]) -> Result<u64, Failed> + 'a;

impl Move<'_> {
    /// Makes the new files in a directory.
    pub(super) fn make(&self, to: &Path) -> Result<Vec<Part>, Failed> {
        if self.keeps_partitions() {
            let origin = Origin::at_rest(&self.options.from)?;
            return Ok(origin.restore(to, &|_| Until::End)?.iter().map(Part::of_copy).collect());
        }
        let deployment = self.source.deployment.among(self.partitions);
        deployment.create_in(&storage(to)?).map_err(EmbeddedError::from)?;
        self.regroup(&mut |made, sources| {
            let partition = made.machine.partition();
            let files = Arc::new(storage(&to.join(partition_directory(partition)))?);
            let target = PartitionFiles { storage: files, deployment: &deployment, partition };
            Ok(write_partition(&target, made, sources, &settings())?)
        })
    }

    /// Does all of it in memory.
    pub(super) fn try_out(&self) -> Result<Vec<Part>, Failed> {
        self.regroup(&mut |_, _| Ok(0))
    }

    /// Makes one new partition after the other, has each written, and compares them all with what there was.
    fn regroup(&self, write: &mut WriteNew<'_>) -> Result<Vec<Part>, Failed> {
        let opened = Opened::open(&self.options.from, None)?;
        let files: Vec<PartitionFiles<'_>> = opened.partitions().collect();
        let (mut machines, last_epoch) = read_all(&files)?;
        align(&mut machines);
        let salt = random::bytes().map(u32::from_le_bytes)?;
        let higher = epoch::advanced(last_epoch, EPOCH_MARGIN, salt);
        let (mut totals, mut parts) = (Totals::default(), Vec::new());
        for partition in 0..self.partitions {
            let mut made = regroup(&machines, partition, self.partitions, higher)
                .map_err(|error| Failed::new(Exit::Refused, &error))?;
            check_balanced(&made.machine)?;
            totals.add(made.machine.state());
            let missing = write(&mut made, &files)?;
            parts.push(Part::of_new(&made.machine, missing));
        }
        if totals == Totals::of(&machines) { Ok(parts) } else { Err(differs()) }
    }
}

/// No id is forgotten for lack of room: how many a server remembers is its setting, which is not asked here.
pub(super) fn settings() -> StateSettings {
    StateSettings { operations_max: usize::MAX, ..StateSettings::default() }
}

pub(super) fn read_all(files: &[PartitionFiles<'_>]) -> Result<(Vec<Machine>, u64), Failed> {
    let (mut machines, mut last_epoch) = (Vec::new(), 0);
    for its in files {
        let bar = progress_bar("reading", its.partition);
        let read = read_resting(its, &settings(), &mut advance(&bar));
        bar.finish_and_clear();
        let read = read?;
        last_epoch = last_epoch.max(read.epoch);
        machines.push(read.machine);
    }
    Ok((machines, last_epoch))
}

pub(super) fn check_balanced(machine: &Machine) -> Result<(), Failed> {
    let Some(asset) = machine.unbalanced().into_iter().next() else { return Ok(()) };
    let (asset, partition) = (asset.as_str(), machine.partition());
    let text = format!(
        "the balances of {asset} in the new partition {partition} do not sum to zero; nothing was moved. Look into the old files with 'scarce reconcile'"
    );
    Err(Failed::text(Exit::Broken, text))
}

pub(super) fn differs() -> Failed {
    let text = "the new partitions do not come to what the old ones hold; nothing was moved. This is a fault of the program: \
                keep the files and report it";
    Failed::text(Exit::Broken, text)
}

fn storage(path: &Path) -> Result<FileStorage, Failed> {
    super::storage(path)
}
