//! Which files make up a journal, checked as a chain before any frame is read.

use crate::storage::Storage;

use super::bytes::index;
use super::segment::{
    SEAL_BYTES, SEAL_OFFSET, SEGMENT_HEADER_BYTES, Seal, SegmentHeader, segment_name, spare_name,
};
use super::{JournalError, JournalSettings};

#[derive(Debug, Clone)]
pub(crate) struct SegmentFile {
    pub(crate) path: String,
    pub(crate) header: SegmentHeader,
    pub(crate) seal: Option<Seal>,
}

#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// In the order in which they were written.
    pub(crate) segments: Vec<SegmentFile>,
    /// Numbers of spare segments.
    pub(crate) spares: Vec<u32>,
    /// Spares that a crash left half made.
    pub(crate) leftovers: Vec<String>,
}

/// Lists and checks the segments. Without `settings`, of any owner.
pub(crate) fn list(
    storage: &dyn Storage,
    settings: Option<&JournalSettings>,
) -> Result<Listing, JournalError> {
    let mut listing = Listing::default();
    for name in storage.list()? {
        if segment_name(&name).is_some() {
            let segment = open_segment(storage, &name)?;
            if let Some(settings) = settings {
                segment.header.check_owner(settings, &segment.path)?;
            }
            listing.segments.push(segment);
        } else if let Some(segment) = spare_name(&name) {
            listing.spares.push(segment);
        } else if name.starts_with("spare-") && name.ends_with(".tmp") {
            listing.leftovers.push(name);
        }
    }
    listing.segments.sort_by_key(|segment| segment.header.segment);
    Ok(listing)
}

/// Reads header and seal of one segment, and checks them against name and length.
pub(crate) fn open_segment(storage: &dyn Storage, name: &str) -> Result<SegmentFile, JournalError> {
    let path = storage.locate(name);
    let file = storage.open(name)?;
    let mut page = vec![0; index(SEGMENT_HEADER_BYTES)];
    let read = file.read_at(0, &mut page)?;
    let header = SegmentHeader::decode(&page[..read], &path)?;
    let corrupt = |offset, reason: String| {
        Err(JournalError::Corrupt { path: path.clone(), offset, sequence: header.first_sequence, reason })
    };
    if header.name() != name {
        return corrupt(
            0,
            format!("by its header this is {}: the file was renamed or swapped", header.name()),
        );
    }
    let file_bytes = file.len()?;
    if file_bytes != header.segment_bytes {
        let reason = format!("the file has {file_bytes} bytes instead of {}", header.segment_bytes);
        return corrupt(file_bytes.min(header.segment_bytes), reason);
    }
    let seal_from = index(SEAL_OFFSET);
    let seal = Seal::decode(&page[seal_from..seal_from + SEAL_BYTES], header.seed());
    Ok(SegmentFile { path, header, seal })
}

impl Listing {
    /// Refuses gaps: between segments, after a seal, before a spare.
    pub(crate) fn check_chain(&self, directory: &str) -> Result<(), JournalError> {
        let incomplete =
            |reason: String| Err(JournalError::Incomplete { directory: directory.to_owned(), reason });
        for pair in self.segments.windows(2) {
            let (left, right) = (&pair[0].header, &pair[1].header);
            if left.segment + 1 != right.segment {
                let reason = format!(
                    "between segments {} and {} others are missing, with sequences from {} to {}",
                    left.segment, right.segment, left.first_sequence, right.first_sequence
                );
                return incomplete(reason);
            }
            let follows = pair[0].seal.is_none_or(|seal| {
                seal.next_first_sequence == right.first_sequence && seal.last_crc == right.previous_crc
            });
            if !follows || right.first_sequence < left.first_sequence {
                return incomplete(format!("segment {} does not follow {}", pair[1].path, pair[0].path));
            }
        }
        let last = self.segments.last();
        if let Some(SegmentFile { path, seal: Some(seal), .. }) = last {
            let reason =
                format!("{path} says that a segment from sequence {} on follows", seal.next_first_sequence);
            return incomplete(reason);
        }
        let next_segment = last.map_or(1, |last| last.header.segment + 1);
        match self.spares.iter().find(|&&spare| spare > next_segment) {
            Some(spare) => {
                incomplete(format!("a spare for segment {spare} exists, but not segment {}", spare - 1))
            }
            None => Ok(()),
        }
    }
}
