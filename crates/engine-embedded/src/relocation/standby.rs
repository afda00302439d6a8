//! A partition's copy that follows the files of a running server, until it takes that one's place.

use std::path::Path;
use std::sync::Arc;

use scarce_core::codec::Input;
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_engine::clock::ClockNote;

use crate::consumers::Registry;
use crate::deployment::Deployment;
use crate::fold::{FoldError, fold_entry};
use crate::journal::{JournalProgress, JournalTail};
use crate::lock::Hold;
use crate::look::PartitionFiles;
use crate::memory::Memory;
use crate::partition::PartitionHome;
use crate::recovery::{OwnerStart, look_at, machine_settings, start_owner};
use crate::restore::{self, Copied, Opened, RestoreError, Until};
use crate::{EmbeddedError, EmbeddedSettings, Owner};

/// A copy of a partition up to a sequence, made while a server writes to it.
pub struct StandbyCopy {
    source: PartitionHome,
    settings: StateSettings,
    copied: Copied,
    tail: JournalTail,
    /// The source's server removes no files meanwhile.
    held: Option<Hold>,
}

/// What a source says its state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The last event in it.
    pub sequence: u64,
    /// Its digest.
    pub digest: u128,
}

/// A partition's copy, in memory and on disk, that follows its source.
pub struct Standby {
    source: PartitionHome,
    tail: JournalTail,
    opened: Opened,
    _held: Option<Hold>,
}

impl StandbyCopy {
    /// Copies a partition from the files in `directory` up to a durable sequence into the empty directory `target`.
    ///
    /// # Errors
    /// When the source cannot be read up to there, or the target cannot be written.
    pub fn make(
        (source, directory): (&PartitionFiles<'_>, &Path),
        target: &PartitionFiles<'_>,
        durable_through: u64,
        settings: &StateSettings,
        on_progress: &mut dyn FnMut(JournalProgress),
    ) -> Result<Self, EmbeddedError> {
        let held = Hold::take(directory)?;
        let settings = machine_settings(settings, source.deployment);
        let until = Until::Sequence(durable_through);
        let copied = restore::copy_partition(source, target, until, &settings, on_progress)?;
        let source = look_at(&source.storage, source.deployment, source.partition);
        let tail = JournalTail::behind(&*source.storage, &source.journal_settings(), copied.boundary())?;
        Ok(Self { source, settings, copied, tail, held })
    }

    /// Opens the copy where it is now, and compares it with what was read.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was read.
    pub fn open(self, target: &PartitionFiles<'_>) -> Result<Standby, EmbeddedError> {
        let opened = self.copied.open(target, &self.settings)?;
        Ok(Standby { source: self.source, tail: self.tail, opened, _held: self.held })
    }
}

impl Standby {
    /// The state so far.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.opened.machine
    }

    /// Takes what the source has logged up to a durable sequence, durably. Gives how many bytes that were. Compares the
    /// state with what the source said of it, where it passes there.
    ///
    /// # Errors
    /// When the source cannot be read, the disk fails, or the states differ.
    pub fn follow(&mut self, durable_through: u64, told: Option<Told>) -> Result<u64, EmbeddedError> {
        let Self { source, tail, opened, .. } = self;
        let Opened { machine, writer, unsaved_bytes, .. } = opened;
        compare(machine, told)?;
        let settings = source.journal_settings();
        let bytes = tail.follow(&*source.storage, &settings, durable_through, &mut |frame| {
            if frame.last_sequence >= frame.first_sequence {
                take(machine, frame.payload, told)?;
                writer.append(frame.epoch, frame.first_sequence, frame.last_sequence, frame.payload)?;
                *unsaved_bytes += frame.payload.len() as u64;
            }
            Ok(())
        })?;
        writer.sync()?;
        Ok(bytes)
    }

    /// Takes the rest, up to the last event of a source that is at rest, and a higher epoch than it had.
    ///
    /// # Errors
    /// As [`Standby::follow`], and when the log does not end there.
    pub fn settle(&mut self, last: u64) -> Result<(), EmbeddedError> {
        self.follow(last, None)?;
        let partition = self.source.partition;
        if self.opened.machine.sequence() != last || self.tail.sequence() != last {
            return Err(RestoreError::Differs { partition }.into());
        }
        let epoch = restore::epoch_after(self.opened.machine.epoch().max(self.tail.epoch()))?;
        restore::raise_epoch(&mut self.opened.writer, epoch)?;
        self.opened.machine.set_epoch(epoch);
        self.take_positions()
    }

    /// Takes over how far consumers of the log and inputs of commands are.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn take_positions(&self) -> Result<(), EmbeddedError> {
        let (from, to) = (&*self.source.storage, &*self.opened.home.storage);
        Ok(Registry::copy_through(from, to, self.opened.machine.sequence())?)
    }

    /// Starts its owner.
    pub(crate) fn start(
        self,
        deployment: &Deployment,
        settings: &EmbeddedSettings,
        clock_note: Option<ClockNote>,
        memory: &Arc<Memory>,
    ) -> Result<Owner, EmbeddedError> {
        let Opened { mut home, machine, newest, writer, unsaved_bytes, runs } = self.opened;
        home.segment_bytes = settings.segment_bytes;
        let last_epoch = machine.epoch();
        let start = OwnerStart { machine, newest, writer, last_epoch, unsaved_bytes, runs };
        start_owner(&home, deployment, settings, clock_note, memory, start)
    }
}

/// Folds a frame's entries, and compares at the place that was told.
fn take(machine: &mut Machine, payload: &[u8], told: Option<Told>) -> Result<(), EmbeddedError> {
    let mut input = Input::new(payload);
    while !input.is_empty() {
        let sequence = machine.sequence();
        let entry = Entry::read(&mut input).map_err(|source| FoldError::Malformed { sequence, source })?;
        fold_entry(machine, &entry)?;
        compare(machine, told)?;
    }
    Ok(())
}

fn compare(machine: &Machine, told: Option<Told>) -> Result<(), EmbeddedError> {
    match told {
        Some(told) if told.sequence == machine.sequence() && told.digest != machine.state().digest(None) => {
            Err(RestoreError::Differs { partition: machine.partition() }.into())
        }
        _ => Ok(()),
    }
}
