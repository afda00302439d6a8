//! Making a new data directory from another one, as it was at a sequence or a time.

use std::io;

use scarce_core::codec::Input;
use scarce_core::event::{Entry, epoch};
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_core::types::TimeMs;

use crate::EmbeddedError;
use crate::consumers::Registry;
use crate::error::explain;
use crate::fold::{FoldError, fold};
use crate::journal::{self, Boundary, Frame, RecoveryStart, Refusal};
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::receipts;
use crate::recovery::{BEGUN_MARK, load_machine, look_at, machine_settings, newest_machine_at, random_salt};
use crate::snapshot::{self, SnapshotInfo};
use crate::storage::Storage;

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
    let from = look_at(&source.storage, source.deployment, source.partition);
    let mut to = look_at(&target.storage, target.deployment, target.partition);
    let mut problems = Vec::new();
    let snapshots = good_snapshots(&from, until, &settings, &mut problems)?;
    let mut plan = RestorePlan::new(&from, until, &settings, &snapshots.eligible)?;
    let mut result = plan.read(&from, &snapshots, on_progress);
    if let Some(last) = plan.place_beyond()? {
        plan = RestorePlan::new(&from, Until::Sequence(last), &settings, &snapshots.eligible)?;
        result = plan.read(&from, &snapshots, on_progress);
    }
    match result {
        // What comes after the place is not needed, and may be the reason for restoring.
        Err(error) if plan.is_reached() => problems.push(format!("what comes later cannot be read: {error}")),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    plan.check_end(until)?;
    to.segment_bytes = plan.segment_bytes;
    journal::copy_through(&*from.storage, &*to.storage, &from.journal_settings(), &plan.boundary)?;
    for (name, info) in snapshots.eligible.iter().filter(|(_, info)| info.sequence <= plan.machine.sequence())
    {
        copy_file(&*from.storage, &*to.storage, name, info)?;
    }
    receipts::copy_through(&from, &to, plan.machine.sequence())?;
    if let Err(error) = Registry::copy_through(&*from.storage, &*to.storage, plan.machine.sequence()) {
        problems.push(format!("what consumers had confirmed is left out: {}", explain(&error)));
    }
    to.storage.create(BEGUN_MARK)?.sync_data()?;
    to.storage.sync_directory()?;
    let epoch = epoch::advanced(plan.epoch.max(snapshots.epoch), EPOCH_MARGIN, random_salt()?);
    settle(&to, &settings, &plan, epoch)?;
    Ok(Restored {
        sequence: plan.machine.sequence(),
        at: plan.machine.state().at,
        digest: plan.machine.state().digest(None),
        epoch,
        events_left_out: plan.events_left_out,
        problems,
    })
}

struct GoodSnapshots {
    /// Those that are good and not beyond the wanted place, oldest first.
    eligible: Vec<(String, SnapshotInfo)>,
    /// The highest epoch of any.
    epoch: u64,
    durable_through: u64,
}

fn good_snapshots(
    home: &PartitionHome,
    until: Until,
    settings: &state::StateSettings,
    problems: &mut Vec<String>,
) -> Result<GoodSnapshots, EmbeddedError> {
    let mut found = GoodSnapshots { eligible: Vec::new(), epoch: 0, durable_through: 0 };
    for listed in snapshot::list(&*home.storage)? {
        found.durable_through = found.durable_through.max(listed.sequence);
        match load_machine(home, &listed.name, settings) {
            Ok((_, info)) => {
                found.epoch = found.epoch.max(info.epoch);
                if until.covers(info.sequence, info.stamp_ms) {
                    found.eligible.push((listed.name, info));
                }
            }
            Err(error) => problems.push(format!("{} is left out: {error}", listed.name)),
        }
    }
    Ok(found)
}

/// What is to be copied, found by folding.
struct RestorePlan {
    partition: u32,
    until: Until,
    machine: Machine,
    base: u64,
    boundary: Boundary,
    segment_bytes: u64,
    /// Whether the wanted place was passed.
    is_cut: bool,
    events_left_out: u64,
    /// Behind the cut, the last sequences before the wanted time is passed again: the first and the last of them.
    again: Option<(u64, u64)>,
    was_beyond: bool,
    epoch: u64,
}

impl RestorePlan {
    fn new(
        home: &PartitionHome,
        until: Until,
        settings: &state::StateSettings,
        snapshots: &[(String, SnapshotInfo)],
    ) -> Result<Self, EmbeddedError> {
        let partition = home.partition;
        let oldest = journal::oldest(&*home.storage)?;
        let (first, segment) = oldest.map_or((1, 1), |oldest| (oldest.first_sequence, oldest.segment));
        let segment_bytes = oldest.map_or(home.segment_bytes, |oldest| oldest.segment_bytes);
        let machine = if first == 1 {
            Machine::new(settings.clone(), partition)
        } else {
            let base = snapshots.iter().find(|(_, info)| info.sequence + 1 >= first);
            let Some((name, _)) = base else { return Err(no_base(home, first, until)) };
            load_machine(home, name, settings)?.0
        };
        let boundary = Boundary::start_of(segment, first);
        let (base, epoch) = (machine.sequence(), machine.epoch());
        let (is_cut, events_left_out) = (false, 0);
        Ok(Self {
            partition,
            until,
            machine,
            base,
            boundary,
            segment_bytes,
            is_cut,
            events_left_out,
            again: None,
            was_beyond: false,
            epoch,
        })
    }

    /// Folds the journal up to the wanted place, comparing with the snapshots on the way, and counts what comes later.
    fn read(
        &mut self,
        home: &PartitionHome,
        snapshots: &GoodSnapshots,
        on_progress: &mut dyn FnMut(journal::JournalProgress),
    ) -> Result<(), EmbeddedError> {
        journal::read(
            &*home.storage,
            &home.journal_settings(),
            0,
            snapshots.durable_through,
            &mut |frame| self.take(frame, &snapshots.eligible),
            on_progress,
        )?;
        Ok(())
    }

    fn take(&mut self, frame: &Frame<'_>, snapshots: &[(String, SnapshotInfo)]) -> Result<(), Refusal> {
        self.epoch = self.epoch.max(frame.epoch);
        let mut input = Input::new(frame.payload);
        let mut kept = 0;
        while !input.is_empty() {
            let sequence = self.machine.sequence();
            let entry =
                Entry::read(&mut input).map_err(|source| FoldError::Malformed { sequence, source })?;
            let is_beyond = !self.until.covers(entry.sequence_last(), entry.head.at);
            // What a snapshot has is not asked again.
            self.is_cut |= is_beyond && entry.sequence_last() > self.base;
            if self.is_cut {
                self.look_behind(is_beyond, entry.sequence_last());
                self.events_left_out += entry.events.len() as u64;
                continue;
            }
            kept = frame.payload.len() - input.len();
            self.boundary.last_sequence = entry.sequence_last();
            self.fold(&entry)?;
        }
        if kept == frame.payload.len() {
            self.boundary.segment = frame.segment;
            self.boundary.offset = frame.offset + frame.bytes();
        } else if kept > 0 {
            self.boundary.segment = frame.segment;
            self.boundary.offset = frame.offset;
            self.boundary.payload_bytes = kept;
        }
        if kept > 0 { self.compare(snapshots) } else { Ok(()) }
    }

    fn fold(&mut self, entry: &Entry) -> Result<(), FoldError> {
        let sequence = self.machine.sequence();
        if entry.sequence_last() <= sequence {
            return Ok(());
        }
        if entry.head.sequence_first != sequence + 1 {
            return Err(FoldError::Gap { sequence, found: entry.head.sequence_first });
        }
        self.machine.apply(entry);
        Ok(())
    }

    fn compare(&self, snapshots: &[(String, SnapshotInfo)]) -> Result<(), Refusal> {
        let sequence = self.machine.sequence();
        let known = snapshots.iter().find(|(_, info)| info.sequence == sequence);
        match known {
            Some((_, info)) if info.digest != self.machine.state().digest(None) => {
                Err(FoldError::Digest { sequence, since: self.base }.into())
            }
            _ => Ok(()),
        }
    }

    fn look_behind(&mut self, is_beyond: bool, sequence: u64) {
        if !is_beyond {
            let first = match self.again {
                Some((first, last)) if self.was_beyond || first != last => first,
                _ => sequence,
            };
            self.again = Some((first, sequence));
        }
        self.was_beyond = is_beyond;
    }

    /// The wanted place where it lies behind the cut: stamps go back where the clock was put right.
    fn place_beyond(&self) -> Result<Option<u64>, RestoreError> {
        let Some((behind, last)) = self.again else { return Ok(None) };
        let partition = self.partition;
        let first = if self.machine.sequence() > 0 { self.machine.sequence() } else { behind };
        match self.until {
            Until::Time(_) if first < last => Err(RestoreError::PassedTwice { partition, first, last }),
            _ => Ok(Some(last)),
        }
    }

    /// Whether nothing more is wanted.
    fn is_reached(&self) -> bool {
        self.is_cut || self.until == Until::Sequence(self.machine.sequence())
    }

    /// Refuses what would be another place than the wanted one.
    fn check_end(&self, until: Until) -> Result<(), EmbeddedError> {
        let (partition, last) = (self.partition, self.machine.sequence());
        match until {
            Until::Sequence(wanted) if !self.is_cut && wanted > last => {
                Err(RestoreError::TooLate { partition, last }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Which snapshot is the first that could be gone on from tells how early a restore can begin.
fn no_base(home: &PartitionHome, first: u64, until: Until) -> EmbeddedError {
    let partition = home.partition;
    let infos = snapshot::list(&*home.storage).into_iter().flatten().filter_map(|listed| {
        let loaded = snapshot::load(&*home.storage, &listed.name, &home.snapshot_owner());
        loaded.and_then(snapshot::SnapshotReader::finish).ok()
    });
    let beyond = infos
        .into_iter()
        .find(|info| info.sequence + 1 >= first && !until.covers(info.sequence, info.stamp_ms));
    match beyond {
        Some(info) => {
            RestoreError::TooEarly { partition, first: info.sequence, first_at: info.stamp_ms }.into()
        }
        None => RestoreError::NoSnapshot { partition, first }.into(),
    }
}

fn copy_file(
    source: &dyn Storage,
    target: &dyn Storage,
    name: &str,
    info: &SnapshotInfo,
) -> Result<(), EmbeddedError> {
    let mut reader = snapshot::load(source, name, &info.owner)?;
    snapshot::write(target, info, &mut |out| io::copy(&mut reader, out).map(|_| ()))?;
    Ok(())
}

/// Recovers the copy as a start would, compares, and raises its epoch.
fn settle(
    home: &PartitionHome,
    settings: &state::StateSettings,
    plan: &RestorePlan,
    epoch: u64,
) -> Result<(), EmbeddedError> {
    let (mut machine, newest) = newest_machine_at(home, settings)?;
    let durable_through = newest.durable_through();
    let start = RecoveryStart { sequence: machine.sequence() + 1, durable_through, create: false };
    let mut recovered = journal::recover(
        home.storage.clone(),
        home.journal_settings(),
        start,
        &mut |frame| Ok(fold(&mut machine, frame.payload)?),
        &mut |_| {},
    )?;
    let is_same = machine.sequence() == plan.machine.sequence()
        && recovered.last_sequence == machine.sequence()
        && machine.state().digest(None) == plan.machine.state().digest(None);
    if !is_same {
        return Err(RestoreError::Differs { partition: home.partition }.into());
    }
    let next = recovered.writer.next_sequence();
    recovered.writer.append(epoch, next, next - 1, &[])?;
    recovered.writer.sync()?;
    Ok(())
}
