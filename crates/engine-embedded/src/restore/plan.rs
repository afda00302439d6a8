//! What of a partition is restored: found by folding its log up to the wanted place.

use std::io;

use scarce_core::codec::Input;
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state;

use super::{RestoreError, Until};
use crate::EmbeddedError;
use crate::fold::{FoldError, fold_entry};
use crate::journal::{self, Boundary, Frame, Refusal};
use crate::partition::PartitionHome;
use crate::recovery::load_machine;
use crate::snapshot::{self, SnapshotInfo};
use crate::storage::Storage;

pub(super) struct GoodSnapshots {
    /// Those that are good and not beyond the wanted place, oldest first.
    pub(super) eligible: Vec<(String, SnapshotInfo)>,
    /// The highest epoch of any.
    pub(super) epoch: u64,
    durable_through: u64,
}

pub(super) fn good_snapshots(
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
pub(crate) struct RestorePlan {
    partition: u32,
    until: Until,
    pub(super) machine: Machine,
    base: u64,
    pub(super) boundary: Boundary,
    pub(super) segment_bytes: u64,
    /// Whether the wanted place was passed.
    is_cut: bool,
    pub(super) events_left_out: u64,
    /// Behind the cut, the last sequences before the wanted time is passed again: the first and the last of them.
    again: Option<(u64, u64)>,
    was_beyond: bool,
    pub(super) epoch: u64,
}

impl RestorePlan {
    pub(super) fn new(
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
    pub(super) fn read(
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
            fold_entry(&mut self.machine, &entry)?;
            // Nobody asks for them here.
            self.machine.let_go(u64::MAX, usize::MAX);
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
    pub(super) fn place_beyond(&self) -> Result<Option<u64>, RestoreError> {
        let Some((behind, last)) = self.again else { return Ok(None) };
        let partition = self.partition;
        let first = if self.machine.sequence() > 0 { self.machine.sequence() } else { behind };
        match self.until {
            Until::Time(_) if first < last => Err(RestoreError::PassedTwice { partition, first, last }),
            _ => Ok(Some(last)),
        }
    }

    /// Whether nothing more is wanted.
    pub(super) fn is_reached(&self) -> bool {
        self.is_cut || self.until == Until::Sequence(self.machine.sequence())
    }

    /// Refuses what would be another place than the wanted one.
    pub(super) fn check_end(&self, until: Until) -> Result<(), EmbeddedError> {
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

pub(super) fn copy_file(
    source: &dyn Storage,
    target: &dyn Storage,
    name: &str,
    info: &SnapshotInfo,
) -> Result<(), EmbeddedError> {
    let mut reader = snapshot::load(source, name, &info.owner)?;
    snapshot::write(target, info, &mut |out| io::copy(&mut reader, out).map(|_| ()))?;
    Ok(())
}
