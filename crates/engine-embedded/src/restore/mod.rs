//! Making a new data directory from another one, as it was at a sequence or a time.

mod plan;

use scarce_core::event::epoch;
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_core::types::TimeMs;

use crate::EmbeddedError;
use crate::consumers::Registry;
use crate::error::explain;
use crate::fold::fold;
use crate::journal::{self, Boundary, JournalWriter, RecoveryStart};
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::receipts;
use crate::recovery::{BEGUN_MARK, look_at, machine_settings, newest_machine_at, random_salt};
use crate::runs::{self, FoundRuns};
use crate::snapshot::Newest;
use plan::{RestorePlan, copy_file, good_snapshots};

/// How much of a partition is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// All of it.
    End,
    /// All entries that end at this sequence or before.
    Sequence(u64),
    /// All entries up to the last one with this stamp or an earlier one. Where stamps pass it twice, because the clock was
    /// ahead and was put right, that is refused.
    Time(TimeMs),
    /// All entries but those at the end whose stamps are later.
    LastBefore(TimeMs),
}

impl Until {
    fn covers(self, sequence: u64, at: TimeMs) -> bool {
        match self {
            Self::End => true,
            Self::Sequence(last) => sequence <= last,
            Self::Time(last) | Self::LastBefore(last) => at <= last,
        }
    }
}

/// What was restored of a partition, and what was not.
#[derive(Debug)]
pub struct Restored {
    /// The last sequence.
    pub sequence: u64,
    /// Its stamp.
    pub at: TimeMs,
    /// The digest of the state there.
    pub digest: u128,
    /// The epoch that the log was brought to; the first start has a higher one.
    pub epoch: u64,
    /// How many events of the source come later.
    pub events_left_out: u64,
    /// Why it is not known how many there are, or what else of the source could not be used.
    pub problems: Vec<String>,
}

/// Why a partition cannot be restored as asked.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The state at the wanted place cannot be made any more.
    #[error(
        "partition {partition} can be restored from sequence {first} on (stamp {first_at}); what lies before has been dropped from the journal"
    )]
    TooEarly {
        /// Which partition.
        partition: u32,
        /// The first sequence that can be reached.
        first: u64,
        /// Its stamp.
        first_at: TimeMs,
    },
    /// Nothing that leads to a state is there.
    #[error(
        "partition {partition} has no whole snapshot from which its journal, which begins at sequence {first}, goes on; look for an older or more complete copy"
    )]
    NoSnapshot {
        /// Which partition.
        partition: u32,
        /// Where the journal begins.
        first: u64,
    },
    /// Stamps go back, so a time does not name one place.
    #[error(
        "partition {partition} passes this time after sequence {first} and again after sequence {last}, because the clock was ahead and was put right; name one of them with --through {partition}:{first} or --through {partition}:{last}"
    )]
    PassedTwice {
        /// Which partition.
        partition: u32,
        /// The last sequence before it is passed first.
        first: u64,
        /// The last sequence before it is passed last.
        last: u64,
    },
    /// The log ends before the wanted sequence.
    #[error("partition {partition} ends at sequence {last}; ask for one up to that")]
    TooLate {
        /// Which partition.
        partition: u32,
        /// Its last sequence.
        last: u64,
    },
    /// The copy is not what was read: it is not to be used.
    #[error(
        "the copy of partition {partition} does not give the state that the source gives; the disk may be faulty"
    )]
    Differs {
        /// Which partition.
        partition: u32,
    },
}

/// How many leaderships the epoch is raised by. The source's server may have been started again since the copy was
/// taken: what is logged after the restore comes in the order of epochs after all of that.
const EPOCH_MARGIN: u64 = 1_000;

/// Restores a partition from `source` into the empty directory `target`, and verifies it by recovering it. `source` is
/// only read.
///
/// # Errors
/// When the source cannot be read up to the wanted place, the target cannot be written, or does not verify.
pub fn restore_partition(
    source: &PartitionFiles<'_>,
    target: &PartitionFiles<'_>,
    until: Until,
    settings: &state::StateSettings,
    on_progress: &mut dyn FnMut(journal::JournalProgress),
) -> Result<Restored, EmbeddedError> {
    let settings = machine_settings(settings, source.deployment);
    let copied = copy_partition(source, target, until, &settings, on_progress)?;
    let epoch = epoch_after(copied.epoch)?;
    raise_epoch(&mut copied.open(target, &settings)?.writer, epoch)?;
    let Copied { plan, problems, .. } = copied;
    Ok(Restored {
        sequence: plan.machine.sequence(),
        at: plan.machine.state().at,
        digest: plan.machine.state().digest(None),
        epoch,
        events_left_out: plan.events_left_out,
        problems,
    })
}

/// Leaves a higher epoch in a log, so that what is logged from then on comes later than all of its source.
pub(crate) fn raise_epoch(writer: &mut JournalWriter, epoch: u64) -> Result<(), EmbeddedError> {
    let next = writer.next_sequence();
    writer.append(epoch, next, next - 1, &[])?;
    writer.sync()?;
    Ok(())
}

/// The epoch that follows all that a source, or a start of an older copy of it, may have had.
pub(crate) fn epoch_after(epoch: u64) -> Result<u64, EmbeddedError> {
    Ok(epoch::advanced(epoch, EPOCH_MARGIN, random_salt()?))
}

/// A partition's copy that nobody has opened.
pub(crate) struct Copied {
    plan: RestorePlan,
    /// The highest epoch of the source.
    epoch: u64,
    problems: Vec<String>,
}

/// A partition's copy as a start would find it.
pub(crate) struct Opened {
    pub(crate) home: PartitionHome,
    pub(crate) machine: Machine,
    pub(crate) newest: Newest,
    pub(crate) writer: JournalWriter,
    /// How much journal lies behind the newest snapshot.
    pub(crate) unsaved_bytes: u64,
    /// The operations that are not in memory.
    pub(crate) runs: FoundRuns,
}

/// Copies what a partition consists of up to a place into an empty directory.
pub(crate) fn copy_partition(
    source: &PartitionFiles<'_>,
    target: &PartitionFiles<'_>,
    until: Until,
    settings: &state::StateSettings,
    on_progress: &mut dyn FnMut(journal::JournalProgress),
) -> Result<Copied, EmbeddedError> {
    let from = look_at(&source.storage, source.deployment, source.partition);
    let to = look_at(&target.storage, target.deployment, target.partition);
    let mut problems = Vec::new();
    let snapshots = good_snapshots(&from, until, settings, &mut problems)?;
    let mut plan = RestorePlan::new(&from, until, settings, &snapshots.eligible)?;
    let mut result = plan.read(&from, &snapshots, on_progress);
    if let Some(last) = plan.place_beyond()? {
        plan = RestorePlan::new(&from, Until::Sequence(last), settings, &snapshots.eligible)?;
        result = plan.read(&from, &snapshots, on_progress);
    }
    match result {
        // What comes after the place is not needed, and may be the reason for restoring.
        Err(error) if plan.is_reached() => problems.push(format!("what comes later cannot be read: {error}")),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    plan.check_end(until)?;
    journal::copy_through(&*from.storage, &*to.storage, &from.journal_settings(), &plan.boundary)?;
    for (name, info) in snapshots.eligible.iter().filter(|(_, info)| info.sequence <= plan.machine.sequence())
    {
        copy_file(&*from.storage, &*to.storage, name, info)?;
    }
    receipts::copy_through(&from, &to, plan.machine.sequence())?;
    runs::copy_before(&from, &to, plan.machine.state().operations.numbers().next)?;
    if let Err(error) = Registry::copy_through(&*from.storage, &*to.storage, plan.machine.sequence()) {
        problems.push(format!("what consumers had confirmed is left out: {}", explain(&error)));
    }
    to.storage.create(BEGUN_MARK)?.sync_data()?;
    to.storage.sync_directory()?;
    let epoch = plan.epoch.max(snapshots.epoch);
    Ok(Copied { plan, epoch, problems })
}

impl Copied {
    /// Where the copy ends.
    pub(crate) fn boundary(&self) -> &Boundary {
        &self.plan.boundary
    }

    /// Recovers the copy as a start would, and compares.
    pub(crate) fn open(
        &self,
        target: &PartitionFiles<'_>,
        settings: &state::StateSettings,
    ) -> Result<Opened, EmbeddedError> {
        let mut home = look_at(&target.storage, target.deployment, target.partition);
        home.segment_bytes = self.plan.segment_bytes;
        let (mut machine, newest) = newest_machine_at(&home, settings)?;
        let runs = FoundRuns::open(&home)?;
        machine.let_go(runs.end(), usize::MAX);
        let durable_through = newest.durable_through();
        let start = RecoveryStart { sequence: machine.sequence() + 1, durable_through, create: false };
        let mut unsaved_bytes = 0;
        let recovered = journal::recover(
            home.storage.clone(),
            home.journal_settings(),
            start,
            &mut |frame| {
                unsaved_bytes += frame.payload.len() as u64;
                fold(&mut machine, frame.payload)?;
                machine.let_go(runs.end(), usize::MAX);
                Ok(())
            },
            &mut |_| {},
        )?;
        let wanted = &self.plan.machine;
        let is_same = machine.sequence() == wanted.sequence()
            && recovered.last_sequence == machine.sequence()
            && machine.state().digest(None) == wanted.state().digest(None);
        if !is_same {
            return Err(RestoreError::Differs { partition: home.partition }.into());
        }
        runs.check(&home, &machine, machine.state().operations.numbers())?;
        Ok(Opened { home, machine, newest, writer: recovered.writer, unsaved_bytes, runs })
    }
}
