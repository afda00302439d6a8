//! A partition that others went into: a snapshot, runs of the operations that it remembers, and a log that begins behind it.

use std::io::Write;

use scarce_core::machine::regroup::Regrouped;
use scarce_core::operations::OldOperation;
use scarce_core::state::StateSettings;
use smallvec::SmallVec;

use super::outcomes::Outcomes;
use crate::EmbeddedError;
use crate::journal;
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::recovery::{BEGUN_MARK, load_machine, look_at, machine_settings};
use crate::runs::{self, FoundRuns};
use crate::snapshot::{self, SnapshotInfo};

/// Writes a partition that was made of the `sources` into its empty directory, and reads it back. Its operations are in runs then,
/// and not in memory. Gives how many receipts the sources do not have any more.
///
/// # Errors
/// When the disk fails, or what is read is not what was written.
pub fn write_partition(
    target: &PartitionFiles<'_>,
    made: &mut Regrouped,
    sources: &[PartitionFiles<'_>],
    settings: &StateSettings,
) -> Result<u64, EmbeddedError> {
    let home = look_at(&target.storage, target.deployment, target.partition);
    let missing = write_operations(&home, made, sources)?;
    let info = write_snapshot(&home, made)?;
    let begun = journal::begin(home.storage.clone(), home.journal_settings(), info.sequence + 1)?;
    begin_epoch(begun, info.epoch)?;
    home.storage.create(BEGUN_MARK)?.sync_data()?;
    home.storage.sync_directory()?;
    let settings = machine_settings(settings, target.deployment);
    let (machine, _) = load_machine(&home, &info.name(), &settings)?;
    let (written, meant) = (machine.state(), made.machine.state());
    let is_same = written.operations.numbers() == meant.operations.numbers()
        && written.resource_record_count() == meant.resource_record_count();
    let found = FoundRuns::open(&home)?;
    found.check(&home, &machine, written.operations.numbers())?;
    found.check_records()?;
    if is_same { Ok(missing) } else { Err(EmbeddedError::Miswritten { partition: target.partition }) }
}

/// What a partition remembers that was made of the sources, with all outcomes that these have.
pub struct CompleteOperations {
    outcomes: Outcomes,
}

impl CompleteOperations {
    /// Looks for the outcomes that only the sources have.
    ///
    /// # Errors
    /// When the sources cannot be read.
    pub fn read(made: &Regrouped, sources: &[PartitionFiles<'_>]) -> Result<Self, EmbeddedError> {
        Ok(Self { outcomes: Outcomes::read(sources, made)? })
    }

    /// How many receipts the sources do not have any more.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.outcomes.missing()
    }

    /// The operations that the partition has in memory, the oldest first.
    pub fn each<'a>(&'a self, made: &'a Regrouped) -> impl Iterator<Item = OldOperation> + 'a {
        let complete = |old: OldOperation| {
            let found = || self.outcomes.of(old.sequence_last).map(SmallVec::from_slice);
            let outcome = old.outcome.clone().or_else(found);
            OldOperation { outcome, ..old }
        };
        made.machine.state().operations.from_number(0).map(complete)
    }
}

/// Writes the operations into runs, with all outcomes that the sources have, and lets them leave memory.
fn write_operations(
    home: &PartitionHome,
    made: &mut Regrouped,
    sources: &[PartitionFiles<'_>],
) -> Result<u64, EmbeddedError> {
    let complete = CompleteOperations::read(made, sources)?;
    let operations = complete.each(made);
    runs::write_all(home, operations, made.machine.epoch())?;
    made.machine.let_go(u64::MAX, usize::MAX);
    Ok(complete.missing())
}

fn write_snapshot(home: &PartitionHome, made: &Regrouped) -> Result<SnapshotInfo, EmbeddedError> {
    let machine = &made.machine;
    let info = SnapshotInfo {
        owner: home.snapshot_owner(),
        epoch: machine.epoch(),
        sequence: machine.sequence(),
        stamp_ms: machine.state().at,
        digest: machine.state().digest(None),
        payload_bytes: 0,
    };
    let written = snapshot::write(&*home.storage, &info, &mut |out| {
        let mut failed = Ok(());
        machine.put_pieces(&mut |piece| {
            if failed.is_ok() {
                failed = Write::write_all(out, piece);
            }
        });
        failed
    })?;
    Ok(written)
}

/// Leaves the epoch in the log, so that a start without the snapshot would see it too.
fn begin_epoch(mut begun: journal::RecoveredJournal, epoch: u64) -> Result<(), EmbeddedError> {
    let next = begun.writer.next_sequence();
    begun.writer.append(epoch, next, next - 1, &[])?;
    begun.writer.sync()?;
    Ok(())
}
