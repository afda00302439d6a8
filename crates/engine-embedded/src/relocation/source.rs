//! A partition whose files rest: its state at the end of its log.

use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_engine::consumers::Consumption;

use crate::EmbeddedError;
use crate::consumers::Registry;
use crate::fold::fold;
use crate::journal::{self, JournalProgress};
use crate::look::PartitionFiles;
use crate::recovery::{look_at, machine_settings, newest_machine_at};
use crate::runs::FoundRuns;

/// What a partition's files come to.
#[derive(Debug)]
pub struct RestingPartition {
    /// Its state at the end of the log, with all operations that it remembers in memory.
    pub machine: Machine,
    /// The highest epoch of any of its frames.
    pub epoch: u64,
}

/// How far the consumers of a partition's log are, by its files.
///
/// # Errors
/// When they cannot be read.
pub fn read_consumptions(files: &PartitionFiles<'_>) -> Result<Vec<Consumption>, EmbeddedError> {
    Ok(Registry::load(&*files.storage, u64::MAX)?.list())
}

/// Reads a partition that no server writes to: its newest good snapshot, then the log. Nothing is changed.
///
/// # Errors
/// When its files cannot be trusted, or do not lead to a state.
pub fn read_resting(
    files: &PartitionFiles<'_>,
    settings: &StateSettings,
    on_progress: &mut dyn FnMut(JournalProgress),
) -> Result<RestingPartition, EmbeddedError> {
    let settings = machine_settings(settings, files.deployment);
    let home = look_at(&files.storage, files.deployment, files.partition);
    let (mut machine, newest) = newest_machine_at(&home, &settings)?;
    let found = FoundRuns::open(&home)?;
    let mut epoch = machine.epoch();
    journal::read(
        &*home.storage,
        &home.journal_settings(),
        machine.sequence() + 1,
        newest.durable_through(),
        &mut |frame| {
            epoch = epoch.max(frame.epoch);
            Ok(fold(&mut machine, frame.payload)?)
        },
        on_progress,
    )?;
    found.check(&home, &machine, machine.state().operations.numbers())?;
    machine.take_back(|take| found.each_in_order(take))?;
    Ok(RestingPartition { machine, epoch })
}
