//! Opening a journal: find where it ends, make sure it stays so, hand out what came after the snapshot.

use std::sync::Arc;

use crate::storage::Storage;

use super::catalog::Catalog;
use super::handle::Journal;
use super::listing::{self, Listing};
use super::segment::{SEGMENT_HEADER_BYTES, SegmentHeader};
use super::survey::{Cut, JournalEnd, OnFrame, OnProgress, SurveyTask, survey};
use super::writer::{JournalWriter, begin_segment};
use super::{JournalError, JournalSettings, repair};

/// From where to recover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryStart {
    /// The first sequence to hand out: the snapshot's plus one, or 1. Everything below it must have been durable.
    pub sequence: u64,
    /// Everything up to here is known to have been durable, by whatever evidence: a journal that ends below is
    /// refused. 0 if nothing is known.
    pub durable_through: u64,
    /// Whether a directory without segments is a new journal, rather than one that was lost.
    pub create: bool,
}

impl RecoveryStart {
    /// From the beginning, creating the journal if there is none.
    pub fn beginning() -> Self {
        Self { sequence: 1, durable_through: 0, create: true }
    }

    /// After a snapshot at `sequence`.
    pub fn after_snapshot(sequence: u64) -> Self {
        Self { sequence: sequence + 1, durable_through: sequence, create: false }
    }
}

/// A recovered journal.
pub struct RecoveredJournal {
    /// Appends after the last frame. It gives access to the [`Journal`].
    pub writer: JournalWriter,
    /// Sequence of the last frame; all up to it is durable now.
    pub last_sequence: u64,
    /// Epoch of the last frame that was read; 0 if none was.
    pub last_epoch: u64,
    /// Frames read, including those before the start in the same segment.
    pub frames: u64,
    /// Bytes of these frames.
    pub bytes: u64,
    /// The torn tail that was cut. In a recycled segment this may be nothing but frames of its former life.
    pub cut: Option<Cut>,
}

/// Opens the journal in `storage`: hands all frames from `start` on to `on_frame` in order, cuts a torn tail,
/// and answers the writer. A frame that covers sequences on both sides of `start` is handed out whole.
///
/// The receiver of the frames must discard what it made of them if this fails. A crash during recovery, or a
/// second run of it, changes nothing.
pub fn recover(
    storage: Arc<dyn Storage>,
    settings: JournalSettings,
    start: RecoveryStart,
    on_frame: &mut OnFrame<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<RecoveredJournal, JournalError> {
    settings.check()?;
    let start = RecoveryStart { sequence: start.sequence.max(1), ..start };
    let listing = listing::list(&*storage, Some(&settings))?;
    listing.check_chain(&storage.locate(""))?;
    if listing.segments.is_empty() {
        return create(storage, settings, &start, &listing);
    }
    let mut catalog = catalog_of(&listing, &settings);
    let task = SurveyTask {
        storage: &*storage,
        listing: &listing,
        from_sequence: start.sequence,
        durable_through: start.durable_through,
    };
    let end = survey(&task, &mut catalog, on_frame, on_progress)?;
    let spare = repair::tidy(&*storage, &settings, &listing)?;
    let last = listing.segments[listing.segments.len() - 1].header;
    let mut file = storage.open(&last.name())?;
    repair::settle_end(&mut *file, last.segment_bytes, &end)?;
    repair::seal_predecessor(&*storage, &listing.segments)?;
    let journal = Journal::new(storage, settings, catalog, spare);
    Ok(recovered(JournalWriter::new(journal, file, last, &end), end))
}

pub(crate) fn catalog_of(listing: &Listing, settings: &JournalSettings) -> Catalog {
    Catalog::new(listing.segments.iter().map(|segment| segment.header), settings.index_bytes)
}

fn recovered(writer: JournalWriter, end: JournalEnd) -> RecoveredJournal {
    RecoveredJournal {
        writer,
        last_sequence: end.next_sequence - 1,
        last_epoch: end.epoch,
        frames: end.frames,
        bytes: end.bytes,
        cut: end.cut,
    }
}

fn create(
    storage: Arc<dyn Storage>,
    settings: JournalSettings,
    start: &RecoveryStart,
    listing: &Listing,
) -> Result<RecoveredJournal, JournalError> {
    if !start.create || start.sequence > 1 || start.durable_through > 0 {
        return Err(JournalError::Incomplete {
            directory: storage.locate(""),
            reason: format!("there is no segment, but sequence {} is needed", start.sequence),
        });
    }
    begin_at(storage, settings, 1, listing)
}

/// Creates a journal in a directory without one, whose first event has a sequence: what comes before is in a snapshot.
///
/// # Errors
/// When the disk fails, or there is a journal.
pub fn begin(
    storage: Arc<dyn Storage>,
    settings: JournalSettings,
    sequence: u64,
) -> Result<RecoveredJournal, JournalError> {
    settings.check()?;
    let listing = listing::list(&*storage, Some(&settings))?;
    if !listing.segments.is_empty() {
        let reason = "there is a journal already".to_owned();
        return Err(JournalError::Incomplete { directory: storage.locate(""), reason });
    }
    begin_at(storage, settings, sequence.max(1), &listing)
}

fn begin_at(
    storage: Arc<dyn Storage>,
    settings: JournalSettings,
    sequence: u64,
    listing: &Listing,
) -> Result<RecoveredJournal, JournalError> {
    let spare = repair::tidy(&*storage, &settings, listing)?;
    let header = SegmentHeader {
        partition: settings.partition,
        deployment_id: settings.deployment_id,
        segment: 1,
        first_sequence: sequence,
        segment_bytes: settings.segment_bytes,
        previous_crc: 0,
    };
    let end = JournalEnd {
        offset: SEGMENT_HEADER_BYTES,
        next_sequence: sequence,
        previous_crc: 0,
        epoch: 0,
        unproven_offset: SEGMENT_HEADER_BYTES,
        synced_through: sequence - 1,
        frames: 0,
        bytes: 0,
        cut: None,
    };
    let catalog = Catalog::new([], settings.index_bytes);
    let journal = Journal::new(storage, settings, catalog, spare);
    journal.prepare_spare()?;
    let file = begin_segment(journal.shared(), &header)?;
    Ok(recovered(JournalWriter::new(journal, file, header, &end), end))
}
