//! Making a snapshot: the owner gives it in slices, and what was written is read back row by row, so that no second state
//! is ever in memory.

use std::io::Write;

use scarce_core::machine::Outline;
use scarce_core::types::Id;
use scarce_engine::engine::SnapshotDone;

use super::Keeper;
use super::digests::WithinRoom;
use super::trim::Remembered;
use crate::EmbeddedError;
use crate::fold::FoldError;
use crate::memory::save_note;
use crate::owner::slices::{Piece, Pieces};
use crate::recovery::newest_at;
use crate::snapshot::{self, DigestOf, SnapshotError, SnapshotInfo, SnapshotReader};

/// Opens a payload that was written; it can be read as often as needed.
type Open<'a> = &'a dyn Fn() -> Result<SnapshotReader, SnapshotError>;

impl Keeper {
    /// Makes a snapshot, unless the newest one is of this moment, and drops what nobody needs any more.
    pub(super) fn snapshot(&self) -> Result<SnapshotDone, EmbeddedError> {
        let newest = newest_at(&self.home)?.snapshot;
        let durable = self.progress.sequence().max(1);
        let newest = newest.filter(|(_, info)| info.sequence >= durable);
        let is_new = newest.is_none();
        let (info, outline) = match newest {
            Some((listed, info)) => (info, self.check(&listed.name, &info)?),
            None => self.write_new()?,
        };
        self.run_floor.note(info.sequence, outline.operation_numbers().oldest);
        let segments_retired = self.remove_old(&Remembered::of(&outline, self.log.first_sequence()))?;
        if segments_retired.is_none() {
            let partition = self.home.partition;
            tracing::info!(
                partition,
                "old segments stay until the next snapshot, because a backup is being made"
            );
        }
        let segments_retired = segments_retired.unwrap_or(0);
        if let Some(state_bytes) = self.memory.state_bytes(&self.memory_share) {
            // Without it a start estimates by the size of the snapshot.
            let _ = save_note(&*self.home.storage, &info, state_bytes);
        }
        let SnapshotInfo { sequence, digest, payload_bytes, .. } = info;
        Ok(SnapshotDone { sequence, digest, payload_bytes, segments_retired, is_new })
    }

    fn write_new(&self) -> Result<(SnapshotInfo, Outline), EmbeddedError> {
        let mut outline = None;
        let info = self.with_slices(&mut |storage, info, fill| {
            let digest: &mut DigestOf<'_> = &mut |open| {
                let read = outline.insert(self.read_outline(open)?);
                digest_of(read, None, open)
            };
            snapshot::write_with(storage, info, fill, digest)
        })?;
        // Nothing is written before it was read.
        outline.map(|outline| (info, outline)).ok_or(EmbeddedError::Stopped)
    }

    /// Reads a snapshot that is there, as a start would.
    fn check(&self, name: &str, info: &SnapshotInfo) -> Result<Outline, EmbeddedError> {
        let open = || snapshot::load(&*self.home.storage, name, &self.home.snapshot_owner());
        let outline = self.read_outline(&open)?;
        if digest_of(&outline, None, &open)? != info.digest {
            let sequence = info.sequence;
            return Err(FoldError::Digest { sequence, since: sequence }.into());
        }
        Ok(outline)
    }

    /// What the newest snapshot says; nothing if there is none.
    pub(super) fn newest_outline(&self) -> Result<Option<Outline>, EmbeddedError> {
        let Some((listed, _)) = newest_at(&self.home)?.snapshot else { return Ok(None) };
        let open = || snapshot::load(&*self.home.storage, &listed.name, &self.home.snapshot_owner());
        Ok(Some(self.read_outline(&open)?))
    }

    fn read_outline(&self, open: Open<'_>) -> Result<Outline, SnapshotError> {
        open()?.read_pieces(|next| Outline::read(self.settings.clone(), next))
    }

    /// Digests of resources, or of all, as of one moment that is durable.
    pub(super) fn digests(
        &self,
        resources: &[Option<Id>],
    ) -> Result<(SnapshotInfo, Vec<u128>), EmbeddedError> {
        let mut digests = Vec::new();
        let info = self.with_slices(&mut |storage, info, fill| {
            let mut fill = |out: &mut dyn Write| fill(&mut WithinRoom::new(storage, out));
            snapshot::digest_only(storage, info, &mut fill, &mut |open| {
                let outline = self.read_outline(open)?;
                for resource in resources {
                    digests.push(digest_of(&outline, resource.as_ref(), open)?);
                }
                Ok(0)
            })?;
            Ok(*info)
        })?;
        Ok((info, digests))
    }

    /// Has the owner give a snapshot to `take`, which writes it.
    fn with_slices(&self, take: &mut Take<'_>) -> Result<SnapshotInfo, EmbeddedError> {
        let pieces = self.slices.ask();
        let (epoch, sequence, at) = match pieces.next() {
            Some(Piece::Begun { epoch, sequence, at }) => (epoch, sequence, at),
            other => return Err(why_ended(other.as_ref())),
        };
        let info = SnapshotInfo {
            owner: self.home.snapshot_owner(),
            epoch,
            sequence,
            stamp_ms: at,
            digest: 0,
            payload_bytes: 0,
        };
        let mut ended = None;
        let taken = take(&*self.home.storage, &info, &mut |out| fill(&pieces, &mut ended, out));
        // Why the owner gave no more says more than that nothing was written.
        ended.map_or_else(|| Ok(taken?), Err)
    }
}

/// Writes a payload, which the last argument produces.
type Take<'a> = dyn FnMut(
        &dyn crate::storage::Storage,
        &SnapshotInfo,
        &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<SnapshotInfo, SnapshotError>
    + 'a;

fn digest_of(outline: &Outline, only: Option<&Id>, open: Open<'_>) -> Result<u128, SnapshotError> {
    open()?.read_pieces(|next| outline.digest(only, next))
}

/// Writes what the owner gives. Where that ends before it is whole, `ended` is why.
fn fill(pieces: &Pieces<'_>, ended: &mut Option<EmbeddedError>, out: &mut dyn Write) -> std::io::Result<()> {
    loop {
        match pieces.next() {
            Some(Piece::Bytes(bytes)) => out.write_all(&bytes)?,
            Some(Piece::Whole) => return Ok(()),
            other => {
                *ended = Some(why_ended(other.as_ref()));
                return Err(std::io::Error::other("the owner gave no more"));
            }
        }
    }
}

fn why_ended(last: Option<&Piece>) -> EmbeddedError {
    match last {
        Some(Piece::NoRoom) => EmbeddedError::NoRoom,
        Some(Piece::GivenUp { remembered, max }) => {
            EmbeddedError::Outrun { remembered_kib: remembered >> 10, max_kib: max >> 10 }
        }
        _ => EmbeddedError::Stopped,
    }
}
