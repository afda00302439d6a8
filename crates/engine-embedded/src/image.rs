//! A state read from a snapshot's file, row by row: only its outline is in memory.

use scarce_core::machine::{Machine, Moment, Outline, TakeRow};
use scarce_core::state::StateSettings;
use scarce_engine::Image;
use scarce_engine::engine::Failure;

use crate::EmbeddedError;
use crate::error::explain;
use crate::fold::FoldError;
use crate::partition::PartitionHome;
use crate::snapshot::{self, SnapshotError, SnapshotReader};

/// A snapshot's file, which stays readable while it is open, also once it is removed.
pub(crate) struct SnapshotImage {
    reader: SnapshotReader,
    outline: Outline,
    settings: StateSettings,
}

impl SnapshotImage {
    /// Opens a snapshot and reads all of it once.
    ///
    /// # Errors
    /// When it cannot be read, or its digest is not that of its state.
    pub(crate) fn open(
        home: &PartitionHome,
        name: &str,
        settings: &StateSettings,
    ) -> Result<Self, EmbeddedError> {
        let mut reader = snapshot::load(&*home.storage, name, &home.snapshot_owner())?;
        let outline = reader.read_whole(|next| Outline::read(settings.clone(), next))?;
        let found = reader.read_whole(|next| outline.digest(None, next))?;
        let info = reader.info();
        if found != info.digest || outline.sequence() != info.sequence {
            return Err(FoldError::Digest { sequence: info.sequence, since: info.sequence }.into());
        }
        Ok(Self { reader, outline, settings: settings.clone() })
    }
}

impl Image for SnapshotImage {
    fn moment(&self) -> Moment {
        self.outline.moment()
    }

    fn rows(&mut self, take: TakeRow<'_>) -> Result<(), Failure> {
        self.reader.read_whole(|next| self.outline.rows(next, take)).map_err(|error| unread(&error))
    }

    fn into_machine(mut self: Box<Self>) -> Result<Machine, Failure> {
        let settings = self.settings;
        self.reader.read_whole(|next| Machine::load_pieces(settings, next)).map_err(|error| unread(&error))
    }
}

fn unread(error: &SnapshotError) -> Failure {
    Failure::Unavailable { reason: explain(error) }
}
