//! The writing end: one owner, one frame per append, and never again after a failure.

use crate::storage::{StorageError, StorageFile};

use super::JournalError;
use super::catalog::Mark;
use super::frame::{FrameHeader, frame_bytes};
use super::handle::{Journal, JournalShared};
use super::segment::{SEAL_OFFSET, SEGMENT_HEADER_BYTES, Seal, SegmentHeader};
use super::survey::JournalEnd;

/// Where an append went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Number of the segment.
    pub segment: u32,
    /// Offset of the frame in it.
    pub offset: u64,
    /// Bytes of the frame, with header and padding.
    pub bytes: u64,
}

/// Appends frames and syncs them. After a write or sync that failed it refuses everything, for ever.
pub struct JournalWriter {
    journal: Journal,
    file: Box<dyn StorageFile>,
    header: SegmentHeader,
    seed: u32,
    offset: u64,
    indexed_offset: u64,
    next_sequence: u64,
    previous_crc: u32,
    epoch: u64,
    synced_through: u64,
    /// The highest claim of being synced that a frame carries.
    recorded_through: u64,
    unsynced: bool,
    failure: Option<String>,
    buffer: Vec<u8>,
}

impl JournalWriter {
    /// Continues a journal whose every frame up to `end` is durable.
    pub(crate) fn new(
        journal: Journal,
        file: Box<dyn StorageFile>,
        header: SegmentHeader,
        end: &JournalEnd,
    ) -> Self {
        Self {
            journal,
            file,
            header,
            seed: header.seed(),
            offset: end.offset,
            indexed_offset: end.offset,
            next_sequence: end.next_sequence,
            previous_crc: end.previous_crc,
            epoch: end.epoch,
            synced_through: end.next_sequence - 1,
            recorded_through: 0,
            unsynced: false,
            failure: None,
            buffer: Vec::new(),
        }
    }

    /// The journal, to share with other threads.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The sequence that the next frame must begin with.
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Everything up to this sequence is durable.
    pub fn synced_through(&self) -> u64 {
        self.synced_through
    }

    /// Whether a failure has ended this writer.
    pub fn is_poisoned(&self) -> bool {
        self.failure.is_some()
    }

    /// Bytes left in the current segment.
    pub fn segment_bytes_left(&self) -> u64 {
        self.header.segment_bytes - self.offset
    }

    /// Writes one frame that covers `first_sequence..=last_sequence`, or none if last is first - 1. It is
    /// durable after the next [`JournalWriter::sync`].
    ///
    /// [`JournalError::Full`], [`JournalError::NoDescriptor`], [`JournalError::TooLarge`] and
    /// [`JournalError::Misnumbered`] leave the writer as it was. Where the frame does not fit, the current segment is synced and the next one begun.
    pub fn append(
        &mut self,
        epoch: u64,
        first_sequence: u64,
        last_sequence: u64,
        payload: &[u8],
    ) -> Result<Appended, JournalError> {
        self.check_alive()?;
        self.check_numbers(epoch, first_sequence, last_sequence)?;
        self.check_size(payload)?;
        let bytes = frame_bytes(payload.len() as u64);
        if self.offset + bytes > self.header.segment_bytes {
            self.roll()?;
        }
        let frame = FrameHeader {
            payload_bytes: super::bytes::field(payload.len()),
            previous_crc: self.previous_crc,
            epoch,
            first_sequence,
            last_sequence,
            synced_through: self.synced_through,
            crc: 0,
        };
        let crc = frame.encode(payload, self.seed, &mut self.buffer);
        let written = self.file.write_at(self.offset, &self.buffer);
        self.alive_after(written)?;
        let appended = Appended { segment: self.header.segment, offset: self.offset, bytes };
        self.index(&frame);
        self.offset += bytes;
        self.previous_crc = crc;
        self.next_sequence = last_sequence + 1;
        self.epoch = epoch;
        self.recorded_through = self.synced_through;
        self.unsynced = true;
        Ok(appended)
    }

    /// Makes all appended frames durable; answers the sequence through which everything is.
    pub fn sync(&mut self) -> Result<u64, JournalError> {
        self.check_alive()?;
        if self.unsynced {
            let synced = self.file.sync_data();
            self.alive_after(synced)?;
            self.unsynced = false;
            self.synced_through = self.next_sequence - 1;
        }
        Ok(self.synced_through)
    }

    /// Writes an empty frame that says how far everything is synced, unless a frame says so already; answers
    /// whether it did. Worth doing when idle and before closing: damage to the last frames is then known for
    /// what it is, not taken for a torn tail. The frame itself need not be synced.
    pub fn record_synced(&mut self) -> Result<bool, JournalError> {
        self.check_alive()?;
        if self.recorded_through >= self.synced_through {
            return Ok(false);
        }
        let next = self.next_sequence;
        self.append(self.epoch, next, next - 1, &[])?;
        Ok(true)
    }

    /// Completes the current segment and begins the next, so that the sequences so far can be folded or
    /// retired. A full disk answers [`JournalError::Full`], a process without descriptors
    /// [`JournalError::NoDescriptor`]; everything so far is then synced, and this writer lives.
    pub fn roll(&mut self) -> Result<(), JournalError> {
        // A segment is complete and durable before the next one exists: that a successor exists proves it.
        self.sync()?;
        let header = SegmentHeader {
            segment: self.header.segment.checked_add(1).ok_or_else(segments_exhausted)?,
            first_sequence: self.next_sequence,
            segment_bytes: self.journal.settings().segment_bytes,
            previous_crc: self.previous_crc,
            ..self.header
        };
        let journal = self.journal.clone();
        journal.prepare_spare().inspect_err(|error| {
            if !error.is_full() {
                self.failure = Some(error.to_string());
            }
        })?;
        let begun = begin_segment(journal.shared(), &header);
        let file = self.alive_after(begun)?;
        let seal = Seal { next_first_sequence: self.next_sequence, last_crc: self.previous_crc };
        let sealed =
            self.file.write_at(SEAL_OFFSET, &seal.encode(self.seed)).and_then(|()| self.file.sync_data());
        self.alive_after(sealed)?;
        self.file = file;
        self.header = header;
        self.seed = header.seed();
        self.offset = SEGMENT_HEADER_BYTES;
        self.indexed_offset = SEGMENT_HEADER_BYTES;
        Ok(())
    }

    fn index(&mut self, frame: &FrameHeader) {
        let distance = self.offset - self.indexed_offset;
        if frame.covers_any() && distance >= self.journal.settings().index_bytes {
            let mark = Mark { sequence: frame.first_sequence, offset: self.offset };
            self.journal.shared().catalog().mark(self.header.segment, mark);
            self.indexed_offset = self.offset;
        }
    }

    fn check_alive(&self) -> Result<(), JournalError> {
        match &self.failure {
            Some(reason) => Err(JournalError::Poisoned { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// What the disk holds after a failed write or sync is unknown, and a second sync would lie: Linux marks
    /// the pages clean after the first failure.
    fn alive_after<T>(&mut self, result: Result<T, StorageError>) -> Result<T, JournalError> {
        result.map_err(|error| {
            self.failure = Some(format!("{error}: {}", error.source));
            error.into()
        })
    }

    fn check_numbers(&self, epoch: u64, first: u64, last: u64) -> Result<(), JournalError> {
        let reason = if first != self.next_sequence {
            format!("sequence {} is next, not {first}", self.next_sequence)
        } else if last == u64::MAX || last + 1 < first {
            format!("sequences {first} to {last} are no range")
        } else if epoch < self.epoch {
            format!("epoch {epoch} is lower than {}", self.epoch)
        } else {
            return Ok(());
        };
        Err(JournalError::Misnumbered { reason })
    }

    fn check_size(&self, payload: &[u8]) -> Result<(), JournalError> {
        let payload_bytes = payload.len() as u64;
        let payload_bytes_max = self.journal.settings().payload_bytes_max();
        if payload_bytes <= payload_bytes_max {
            return Ok(());
        }
        Err(JournalError::TooLarge { payload_bytes, payload_bytes_max })
    }
}

fn segments_exhausted() -> JournalError {
    JournalError::Settings { reason: "all 2^32 segment numbers are used up".to_owned() }
}

/// Turns the ready spare into the segment of `header`, durably, and puts it into the catalog.
pub(crate) fn begin_segment(
    shared: &JournalShared,
    header: &SegmentHeader,
) -> Result<Box<dyn StorageFile>, StorageError> {
    let mut spare = shared.spare();
    let mut file = match spare.file.take() {
        Some(file) => file,
        None => shared.storage.open(&spare.name())?,
    };
    file.write_at(0, &header.encode())?;
    file.sync_data()?;
    shared.storage.rename(&spare.name(), &header.name())?;
    file.note_name(&header.name());
    shared.storage.sync_directory()?;
    spare.ready = false;
    spare.next_segment = header.segment.saturating_add(1);
    shared.catalog().push(*header);
    Ok(file)
}
