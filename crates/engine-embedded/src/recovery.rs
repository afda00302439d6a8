//! Starting a partition: the newest good snapshot, then the tail of the journal.

use std::cell::Cell;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::epoch;
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine::clock::ClockNote;
use scarce_engine::random;

use crate::commit::milliseconds;
use crate::deployment::Deployment;
use crate::error::explain;
use crate::fold::{FoldError, fold, fold_without_ids};
use crate::journal::{self, JournalWriter, RecoveryStart};
use crate::memory::{Memory, TooLarge};
use crate::owner::OwnerParts;
use crate::partition::PartitionHome;
use crate::runs::{self, FoundRuns};
use crate::snapshot::{self, Newest, SnapshotError, SnapshotInfo, SnapshotReader};
use crate::storage::Storage;
use crate::{EmbeddedError, EmbeddedSettings, Owner};

/// How far a recovery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// Which partition.
    pub partition: u32,
    /// Bytes of journal that were read.
    pub bytes_done: u64,
    /// Bytes of journal in all.
    pub bytes_total: u64,
}

/// In the partition's directory once its journal exists: without segments it was lost, and is not new.
pub(crate) const BEGUN_MARK: &str = "journal-begun";

/// The settings of a deployment's machines: names are hashed under its secret.
#[must_use]
pub fn machine_settings(settings: &state::StateSettings, deployment: &Deployment) -> state::StateSettings {
    let mut seed = [0; 8];
    seed.copy_from_slice(&deployment.secret[..8]);
    state::StateSettings { hash_seed: u64::from_le_bytes(seed), ..settings.clone() }
}

/// How often a long recovery logs how far it has come.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

/// What the log says of a recovery.
struct RecoveryLog {
    partition: u32,
    begun: Instant,
    told_at: Instant,
}

impl RecoveryLog {
    fn begin(partition: u32, snapshot_sequence: u64) -> Self {
        tracing::debug!(partition, snapshot_sequence, "the recovery begins");
        let now = Instant::now();
        Self { partition, begun: now, told_at: now }
    }

    fn note(&mut self, at: &RecoveryProgress) {
        if self.told_at.elapsed() >= LOG_INTERVAL {
            self.told_at = Instant::now();
            let RecoveryProgress { partition, bytes_done, bytes_total } = *at;
            tracing::info!(partition, bytes_done, bytes_total, "the recovery goes on");
        }
    }

    fn finish(&self, recovered: &journal::RecoveredJournal) {
        let journal::RecoveredJournal { last_sequence: sequence, bytes, frames, cut, .. } = recovered;
        let (partition, took_ms) = (self.partition, milliseconds(self.begun.elapsed()));
        tracing::info!(partition, sequence, bytes, frames, took_ms, "the partition was recovered");
        if let Some(cut) = cut {
            tracing::info!(
                partition,
                ?cut,
                "the end of the journal was cut off, where nothing was acknowledged"
            );
        }
    }
}

/// How much journal is folded between two looks at the memory.
const CHECKED_BYTES: usize = 1 << 20;

/// Ends a recovery for which there is no memory.
struct MemoryCheck<'a> {
    memory: &'a Memory,
    partition: u32,
    done_percent: &'a Cell<u64>,
    unchecked: usize,
    too_large: Option<TooLarge>,
}

impl MemoryCheck<'_> {
    fn note(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.unchecked += bytes;
        if self.unchecked < CHECKED_BYTES {
            return Ok(());
        }
        self.unchecked = 0;
        let checked = self.memory.check_recovery(self.partition, self.done_percent.get());
        self.too_large = checked.err();
        checked
    }
}

pub(crate) fn recover_owner(
    home: &PartitionHome,
    deployment: &Deployment,
    settings: &EmbeddedSettings,
    clock_note: Option<ClockNote>,
    memory: &Arc<Memory>,
    progress: &mut dyn FnMut(RecoveryProgress),
) -> Result<Owner, EmbeddedError> {
    let state_settings = machine_settings(&settings.state, deployment);
    let (mut machine, newest) = newest_machine_at(home, &state_settings)?;
    let runs = FoundRuns::open(home)?;
    machine.let_go(runs.end(), usize::MAX);
    let durable_through = newest.durable_through();
    let begun = home.storage.list()?.iter().any(|name| name == BEGUN_MARK);
    let start = RecoveryStart { sequence: machine.sequence() + 1, durable_through, create: !begun };
    let partition = home.partition;
    let check_at = Cell::new(0);
    let mut check = MemoryCheck { memory, partition, done_percent: &check_at, unchecked: 0, too_large: None };
    let mut log = RecoveryLog::begin(partition, machine.sequence());
    let mut unsaved_bytes = 0;
    let recovered = journal::recover(
        home.storage.clone(),
        home.journal_settings(),
        start,
        &mut |frame| {
            fold(&mut machine, frame.payload)?;
            machine.let_go(runs.end(), usize::MAX);
            unsaved_bytes += frame.payload.len() as u64;
            Ok(check.note(frame.payload.len())?)
        },
        &mut |journal::JournalProgress { bytes_done, bytes_total }| {
            let at = RecoveryProgress { partition, bytes_done, bytes_total };
            check_at.set(bytes_done.saturating_mul(100).checked_div(bytes_total).unwrap_or(0));
            log.note(&at);
            progress(at);
        },
    )
    .map_err(|error| check.too_large.map_or_else(|| error.into(), EmbeddedError::Memory))?;
    log.finish(&recovered);
    runs.check(home, &machine, machine.state().operations.numbers())?;
    if !begun {
        home.storage.create(BEGUN_MARK)?.sync_data()?;
        home.storage.sync_directory()?;
    }
    let (last_epoch, writer) = (recovered.last_epoch, recovered.writer);
    let start = OwnerStart { machine, newest, writer, last_epoch, unsaved_bytes, runs };
    start_owner(home, deployment, settings, clock_note, memory, start)
}

/// What an owner goes on from.
pub(crate) struct OwnerStart {
    pub(crate) machine: Machine,
    pub(crate) newest: Newest,
    pub(crate) writer: JournalWriter,
    /// The epoch of the last frame.
    pub(crate) last_epoch: u64,
    /// How much journal lies behind the newest snapshot.
    pub(crate) unsaved_bytes: u64,
    /// The operations that are not in memory.
    pub(crate) runs: FoundRuns,
}

/// Starts an owner, in an epoch of its own.
pub(crate) fn start_owner(
    home: &PartitionHome,
    deployment: &Deployment,
    settings: &EmbeddedSettings,
    clock_note: Option<ClockNote>,
    memory: &Arc<Memory>,
    start: OwnerStart,
) -> Result<Owner, EmbeddedError> {
    let OwnerStart { mut machine, newest, writer, last_epoch, unsaved_bytes, runs } = start;
    let state_settings = machine_settings(&settings.state, deployment);
    let salt = settings.epoch_salt.map_or_else(random_salt, Ok)?;
    machine.set_epoch(epoch::next(machine.epoch().max(last_epoch), salt));
    let log = Arc::new(writer.journal().clone());
    let writer = Box::new(writer);
    let (home, memory) = (home.clone(), memory.clone());
    Owner::start(OwnerParts {
        machine,
        writer,
        log,
        home,
        newest,
        unsaved_bytes,
        state_settings,
        settings,
        clock_note,
        memory,
        runs,
    })
}

/// The random bits of an epoch, which tell it from that of another start of the same files.
pub(crate) fn random_salt() -> Result<u32, EmbeddedError> {
    random::bytes().map(u32::from_le_bytes).map_err(EmbeddedError::Random)
}

/// The newest good snapshot; those that are damaged are logged.
pub(crate) fn newest_at(home: &PartitionHome) -> Result<Newest, EmbeddedError> {
    let newest = snapshot::newest_good(&*home.storage, &home.snapshot_owner())?;
    for (_, error) in &newest.damaged {
        let (partition, reason) = (home.partition, explain(error));
        tracing::error!(partition, reason, "a snapshot is damaged and is passed over");
    }
    Ok(newest)
}

/// The machine of the newest good snapshot, or an empty one, and the snapshots that were found.
pub(crate) fn newest_machine_at(
    home: &PartitionHome,
    settings: &state::StateSettings,
) -> Result<(Machine, Newest), EmbeddedError> {
    let newest = newest_at(home)?;
    let machine = match &newest.snapshot {
        None => Machine::new(settings.clone(), home.partition),
        Some((listed, _)) => load_machine(home, &listed.name, settings)?.0,
    };
    Ok((machine, newest))
}

/// The machine of the newest good snapshot of a partition's files, read without changing anything.
///
/// # Errors
/// When a snapshot cannot be read or its digest is not that of its state.
pub fn newest_machine(
    storage: &Arc<dyn Storage>,
    deployment: &Deployment,
    partition: u32,
    settings: &state::StateSettings,
) -> Result<Machine, EmbeddedError> {
    let settings = machine_settings(settings, deployment);
    newest_machine_at(&look_at(storage, deployment, partition), &settings).map(|(machine, _)| machine)
}

pub(crate) fn look_at(storage: &Arc<dyn Storage>, deployment: &Deployment, partition: u32) -> PartitionHome {
    let segment_bytes = EmbeddedSettings::default().segment_bytes;
    PartitionHome {
        storage: storage.clone(),
        deployment_id: deployment.deployment_id,
        partition,
        segment_bytes,
    }
}

/// How much of a snapshot is read at a time.
const PIECE_BYTES: u64 = 1 << 20;

pub(crate) fn load_machine(
    home: &PartitionHome,
    name: &str,
    settings: &state::StateSettings,
) -> Result<(Machine, SnapshotInfo), EmbeddedError> {
    let mut reader = snapshot::load(&*home.storage, name, &home.snapshot_owner())?;
    let mut failed = None;
    let loaded = Machine::load_pieces(settings.clone(), &mut |bytes| {
        let before = bytes.len();
        failed = Read::by_ref(&mut reader).take(PIECE_BYTES).read_to_end(bytes).err();
        failed.is_none() && bytes.len() > before
    });
    if let Some(source) = failed {
        return Err(read_failed(home, name, source));
    }
    let info = reader.finish()?;
    let sequence = info.sequence;
    let machine = loaded.map_err(|source| FoldError::Malformed { sequence, source })?;
    if machine.state().digest(None) != info.digest || machine.sequence() != sequence {
        return Err(FoldError::Digest { sequence, since: sequence }.into());
    }
    Ok((machine, info))
}

fn read_failed(home: &PartitionHome, name: &str, source: std::io::Error) -> EmbeddedError {
    let source = match source.downcast::<SnapshotError>() {
        Ok(error) => return error.into(),
        Err(source) => source,
    };
    let path = home.storage.locate(name);
    let error = crate::storage::StorageError { operation: "read", path, offset: None, source };
    EmbeddedError::Snapshot(SnapshotError::from(error))
}

/// Reads a partition's whole journal and folds it, comparing with every snapshot on the way. Gives the
/// machine at its end and what the journal said of itself. Changes nothing.
///
/// # Errors
/// When the journal is corrupt, does not fold, or says something else than a snapshot, or a snapshot is damaged.
pub fn verify_partition(
    storage: &Arc<dyn Storage>,
    deployment: &Deployment,
    partition: u32,
    settings: &state::StateSettings,
    on_progress: &mut dyn FnMut(journal::JournalProgress),
) -> Result<(Machine, journal::Verification), EmbeddedError> {
    let settings = machine_settings(settings, deployment);
    let home = look_at(storage, deployment, partition);
    let owner = home.snapshot_owner();
    let (mut digests, mut damage) = (Vec::new(), None);
    for listed in snapshot::list(&*home.storage)? {
        match snapshot::load(&*home.storage, &listed.name, &owner).and_then(SnapshotReader::finish) {
            Ok(info) => digests.push((info.sequence, info.digest, listed.name)),
            // The journal is still compared with the others before that is reported.
            Err(error @ SnapshotError::Corrupt { .. }) => damage = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    digests.sort();
    let first = journal::oldest(&*home.storage)?.map_or(1, |oldest| oldest.first_sequence);
    let mut since = 0;
    let mut machine = Machine::new(settings.clone(), partition);
    if first > 1 {
        let base = digests.iter().find(|(sequence, ..)| *sequence + 1 >= first);
        let (_, _, name) = base.ok_or(FoldError::Gap { sequence: 0, found: first })?;
        machine = load_machine(&home, name, &settings)?.0;
        since = machine.sequence();
    }
    let durable_through = digests.last().map_or(0, |(sequence, ..)| *sequence);
    let verification = journal::verify(
        &*home.storage,
        &home.journal_settings(),
        durable_through,
        &mut |frame| {
            fold_without_ids(&mut machine, frame.payload)?;
            let sequence = machine.sequence();
            let known = digests.iter().find(|(at, ..)| *at == sequence && *at > since);
            if let Some((_, digest, _)) = known {
                if *digest != machine.state().digest(None) {
                    return Err(FoldError::Digest { sequence, since }.into());
                }
                since = sequence;
            }
            Ok(())
        },
        on_progress,
    )?;
    match damage {
        Some(error) => Err(error.into()),
        None => {
            runs::verify(&home, &settings, &machine)?;
            Ok((machine, verification))
        }
    }
}
