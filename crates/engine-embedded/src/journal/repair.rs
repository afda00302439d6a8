//! The writing half of recovery. Each step leaves a journal that recovers to the same end, so that a crash
//! in the middle of it changes nothing.

use crate::storage::{Storage, StorageError, StorageFile};

use super::bytes::index;
use super::listing::{Listing, SegmentFile};
use super::scan::SCAN_BYTES;
use super::segment::{SEAL_OFFSET, Seal, spare_file_name};
use super::spare::SpareSlot;
use super::survey::JournalEnd;
use super::{JournalError, JournalSettings};

/// Removes what crashes left, and keeps the spare if it is of use.
pub(crate) fn tidy(
    storage: &dyn Storage,
    settings: &JournalSettings,
    listing: &Listing,
) -> Result<SpareSlot, JournalError> {
    for name in &listing.leftovers {
        storage.remove(name)?;
    }
    let next_segment = listing.segments.last().map_or(1, |last| last.header.segment.saturating_add(1));
    let mut ready = false;
    for &segment in &listing.spares {
        let name = spare_file_name(segment);
        if segment == next_segment && storage.open(&name)?.len()? == settings.segment_bytes {
            ready = true;
        } else {
            storage.remove(&name)?;
        }
    }
    // Also what the process before had renamed but not synced.
    storage.sync_directory()?;
    Ok(SpareSlot { next_segment, ready, file: None })
}

/// Makes the last segment end at `end`, durably: what follows is zeroed, and every frame that no later one
/// proves durable is written again, because after a failed sync the cache may show what the disk lacks.
pub(crate) fn settle_end(
    file: &mut dyn StorageFile,
    segment_bytes: u64,
    end: &JournalEnd,
) -> Result<(), StorageError> {
    rewrite(file, end.unproven_offset, end.offset)?;
    zero(file, end.offset, segment_bytes)?;
    file.sync_data()
}

fn rewrite(file: &mut dyn StorageFile, from: u64, until: u64) -> Result<(), StorageError> {
    each_piece(from, until, |offset, buffer| {
        file.read_at(offset, buffer)?;
        file.write_at(offset, buffer)
    })
}

fn zero(file: &mut dyn StorageFile, from: u64, until: u64) -> Result<(), StorageError> {
    each_piece(from, until, |offset, buffer| {
        file.read_at(offset, buffer)?;
        if buffer.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        buffer.fill(0);
        file.write_at(offset, buffer)
    })
}

fn each_piece(
    from: u64,
    until: u64,
    mut visit: impl FnMut(u64, &mut [u8]) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let mut buffer = vec![0; SCAN_BYTES.min(index(until - from))];
    let mut offset = from;
    while offset < until {
        let piece = index((until - offset).min(buffer.len() as u64));
        visit(offset, &mut buffer[..piece])?;
        offset += piece as u64;
    }
    Ok(())
}

/// Writes the seal that a crash between two segments left out.
pub(crate) fn seal_predecessor(storage: &dyn Storage, segments: &[SegmentFile]) -> Result<(), StorageError> {
    let [.., predecessor, last] = segments else { return Ok(()) };
    if predecessor.seal.is_some() {
        return Ok(());
    }
    let seal = Seal { next_first_sequence: last.header.first_sequence, last_crc: last.header.previous_crc };
    let mut file = storage.open(&predecessor.header.name())?;
    file.write_at(SEAL_OFFSET, &seal.encode(predecessor.header.seed()))?;
    file.sync_data()
}
