//! Looking at a partition's files without changing them: the log's entries, and what its snapshots are worth.

use std::sync::Arc;

use scarce_core::codec::Input;
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine::Image;

use crate::EmbeddedError;
use crate::deployment::Deployment;
use crate::fold::{FoldError, fold_without_ids};
use crate::image::SnapshotImage;
use crate::journal::{self, Verification};
use crate::partition::PartitionHome;
use crate::recovery::{load_machine, look_at, machine_settings};
use crate::snapshot::{self, SnapshotInfo};
use crate::storage::Storage;

/// A partition's files and whose they are.
#[derive(Clone)]
pub struct PartitionFiles<'a> {
    /// The partition's directory.
    pub storage: Arc<dyn Storage>,
    /// The deployment that owns it.
    pub deployment: &'a Deployment,
    /// Which partition.
    pub partition: u32,
}

/// Why the receiver of an entry refused it.
pub use crate::journal::Refusal;

/// Receives the entries of a frame that was durable for certain through a sequence.
pub type OnEntries<'a> = dyn FnMut(u64, Vec<Entry>) -> Result<(), Refusal> + 'a;

/// Reads the entries of a partition's log in order from a sequence on, or from the oldest for 0, frame by frame. An
/// entry that begins before the sequence is among them if its last event does not.
///
/// # Errors
/// When the log cannot be read, or `on_entries` refuses.
pub fn read_entries(
    files: &PartitionFiles<'_>,
    from_sequence: u64,
    on_entries: &mut OnEntries<'_>,
    on_progress: &mut dyn FnMut(journal::JournalProgress),
) -> Result<Verification, EmbeddedError> {
    let home = look_at(&files.storage, files.deployment, files.partition);
    let read = journal::read(
        &*home.storage,
        &home.journal_settings(),
        from_sequence,
        0,
        &mut |frame| {
            let mut input = Input::new(frame.payload);
            let mut entries = Vec::new();
            while !input.is_empty() {
                let sequence = frame.first_sequence;
                let entry =
                    Entry::read(&mut input).map_err(|source| FoldError::Malformed { sequence, source })?;
                if entry.sequence_last() >= from_sequence {
                    entries.push(entry);
                }
            }
            on_entries(frame.synced_through, entries)
        },
        on_progress,
    )?;
    Ok(read)
}

/// The state that the oldest event in a partition's journal follows: an empty one where the journal has its beginning,
/// otherwise that of the oldest snapshot which the journal goes on from.
///
/// # Errors
/// When a snapshot cannot be read or its digest is not that of its state, and when no snapshot reaches to the journal.
pub fn base_machine(
    files: &PartitionFiles<'_>,
    settings: &state::StateSettings,
) -> Result<Machine, EmbeddedError> {
    let settings = machine_settings(settings, files.deployment);
    let home = look_at(&files.storage, files.deployment, files.partition);
    match base_snapshot(&home)? {
        None => Ok(Machine::new(settings, files.partition)),
        Some(name) => load_machine(&home, &name, &settings).map(|(machine, _)| machine),
    }
}

/// The same state, to be read row by row: it is not in memory.
///
/// # Errors
/// As [`base_machine`].
pub fn base_image(
    files: &PartitionFiles<'_>,
    settings: &state::StateSettings,
) -> Result<Box<dyn Image>, EmbeddedError> {
    let settings = machine_settings(settings, files.deployment);
    let home = look_at(&files.storage, files.deployment, files.partition);
    Ok(match base_snapshot(&home)? {
        None => Box::new(Machine::new(settings, files.partition)),
        Some(name) => Box::new(SnapshotImage::open(&home, &name, &settings)?),
    })
}

/// The snapshot that the journal goes on from; none where it begins with the first event.
fn base_snapshot(home: &PartitionHome) -> Result<Option<String>, EmbeddedError> {
    let first = journal::oldest(&*home.storage)?.map_or(1, |oldest| oldest.first_sequence);
    if first == 1 {
        return Ok(None);
    }
    let base = snapshot::list(&*home.storage)?.into_iter().find(|listed| listed.sequence + 1 >= first);
    Ok(Some(base.ok_or(FoldError::Gap { sequence: 0, found: first })?.name))
}

/// What a snapshot is worth.
#[derive(Debug)]
pub struct SnapshotVerdict {
    /// The file's name.
    pub name: String,
    /// The sequence in the name.
    pub sequence: u64,
    /// What the snapshot says of itself, if it is whole and its digest is that of its content; else what is wrong.
    pub content: Result<SnapshotInfo, EmbeddedError>,
    /// What the log says of it.
    pub log: LogVerdict,
}

/// What the log says of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogVerdict {
    /// The state folded since this sequence (0 is the beginning) is that of the snapshot.
    Agrees {
        /// Since when.
        since: u64,
    },
    /// It is another.
    Differs {
        /// Since when.
        since: u64,
    },
    /// The log does not have the events any more that lead from the snapshot before to this one.
    NotCovered,
}

/// Reads each snapshot of a partition, and folds the log from each to the next.
///
/// # Errors
/// When the log cannot be read or folded. What is wrong with a snapshot is in its verdict.
pub fn verify_snapshots(
    files: &PartitionFiles<'_>,
    settings: &state::StateSettings,
    on_progress: &mut dyn FnMut(journal::JournalProgress),
) -> Result<Vec<SnapshotVerdict>, EmbeddedError> {
    let settings = machine_settings(settings, files.deployment);
    let home = look_at(&files.storage, files.deployment, files.partition);
    let first = journal::oldest(&*home.storage)?.map_or(1, |oldest| oldest.first_sequence);
    let mut folded = (first == 1).then(|| Machine::new(settings.clone(), files.partition));
    let mut verdicts = Vec::new();
    let mut next = None;
    for listed in snapshot::list(&*home.storage)? {
        let loaded = load_machine(&home, &listed.name, &settings);
        let (machine, content) = match loaded {
            Ok((machine, info)) => (Some(machine), Ok(info)),
            Err(error) => (None, Err(error)),
        };
        verdicts.push(SnapshotVerdict {
            name: listed.name,
            sequence: listed.sequence,
            content,
            log: LogVerdict::NotCovered,
        });
        if folded.is_none() && listed.sequence + 1 >= first {
            folded = machine;
            next = Some(verdicts.len());
        }
    }
    let Some(mut machine) = folded else { return Ok(verdicts) };
    let mut check =
        SnapshotCheck { since: machine.sequence(), at: next.unwrap_or(0), verdicts: &mut verdicts };
    check.reach(&machine);
    let (from, durable_through) =
        (machine.sequence() + 1, check.verdicts.last().map_or(0, |last| last.sequence));
    journal::read(
        &*home.storage,
        &home.journal_settings(),
        from,
        durable_through,
        &mut |frame| {
            fold_without_ids(&mut machine, frame.payload)?;
            check.reach(&machine);
            Ok(())
        },
        on_progress,
    )?;
    Ok(verdicts)
}

/// The snapshots that the fold has still to come by.
struct SnapshotCheck<'a> {
    since: u64,
    at: usize,
    verdicts: &'a mut Vec<SnapshotVerdict>,
}

impl SnapshotCheck<'_> {
    /// Compares with the snapshots at the machine's sequence. A snapshot is made at the end of a frame, so one that was
    /// jumped over is not of this log.
    fn reach(&mut self, machine: &Machine) {
        while let Some(verdict) = self.verdicts.get_mut(self.at) {
            if verdict.sequence > machine.sequence() {
                return;
            }
            let since = self.since;
            let is_same = verdict.sequence == machine.sequence()
                && verdict.content.as_ref().is_ok_and(|info| info.digest == machine.state().digest(None));
            verdict.log = match (&verdict.content, is_same) {
                (Err(_), _) => LogVerdict::NotCovered,
                (Ok(_), true) => LogVerdict::Agrees { since },
                (Ok(_), false) => LogVerdict::Differs { since },
            };
            if is_same {
                self.since = verdict.sequence;
            }
            self.at += 1;
        }
    }
}
