//! The journal as the log behind an owner.

use crate::log::{LogBatch, LogError, LogReader, LogWriter, PartitionLog};

use super::{Journal, JournalError, JournalReader, JournalWriter};

/// Room that must be left in a segment while no spare one is ready: more than any batch takes.
const ROOM_BYTES_MIN: u64 = 16 << 20;

impl From<JournalError> for LogError {
    fn from(error: JournalError) -> Self {
        if error.is_full() { Self::Full(error.into()) } else { Self::Failed(error.into()) }
    }
}

impl LogWriter for JournalWriter {
    fn append(&mut self, batch: LogBatch<'_>) -> Result<(), LogError> {
        let LogBatch { epoch, first_sequence, last_sequence, payload } = batch;
        Self::append(self, epoch, first_sequence, last_sequence, payload)?;
        Ok(())
    }

    fn sync(&mut self) -> Result<u64, LogError> {
        Ok(Self::sync(self)?)
    }

    fn durable_through(&self) -> u64 {
        self.synced_through()
    }

    fn note_durable(&mut self) -> Result<(), LogError> {
        self.record_synced()?;
        Ok(())
    }

    fn payload_bytes_max(&self) -> u64 {
        self.journal().settings().payload_bytes_max()
    }

    fn is_room_low(&self) -> bool {
        self.segment_bytes_left() < ROOM_BYTES_MIN.min(self.journal().settings().segment_bytes / 2)
    }
}

impl PartitionLog for Journal {
    fn reader(&self) -> Box<dyn LogReader> {
        Box::new(Self::reader(self))
    }

    fn first_sequence(&self) -> u64 {
        self.first_available()
    }

    fn reserve_room(&self) -> Result<(), LogError> {
        self.prepare_spare()?;
        Ok(())
    }

    fn first_after_trim(&self, before_sequence: u64) -> u64 {
        self.first_after_retire(before_sequence)
    }

    fn bytes_before(&self, before_sequence: u64) -> u64 {
        Self::bytes_before(self, before_sequence)
    }

    fn trim(&self, before_sequence: u64) -> Result<u64, LogError> {
        Ok(self.retire(before_sequence)?.segments)
    }
}

impl LogReader for JournalReader {
    fn read_from(
        &mut self,
        sequence: u64,
        durable_through: u64,
        bytes_max: u64,
    ) -> Result<Vec<Vec<u8>>, LogError> {
        let frames = Self::read_from(self, sequence, durable_through, bytes_max)?;
        Ok(frames.into_iter().map(|frame| frame.payload).collect())
    }
}
