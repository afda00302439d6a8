use std::sync::Arc;

use scarce_engine_embedded::journal::{
    Frame, JournalError, JournalSettings, JournalWriter, RecoveredJournal, RecoveryStart, recover,
};
use scarce_engine_embedded::storage::{FaultyDisk, Storage};

/// Segments so small that a few frames fill one.
pub(crate) fn settings() -> JournalSettings {
    JournalSettings { deployment_id: [7; 16], partition: 3, segment_bytes: 8192, index_bytes: 512 }
}

/// A frame as the tests write and expect it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) payload: Vec<u8>,
}

/// Contents that differ by sequence and by generation, of lengths from 0 to about 700.
pub(crate) fn frame(first: u64, generation: u8) -> Written {
    let length = usize::try_from(first * 37 % 701).expect("small");
    let byte = u8::try_from(first % 251).expect("small") ^ generation;
    Written { first, last: first + first % 3, payload: vec![byte; length] }
}

pub(crate) fn append(writer: &mut JournalWriter, written: &Written) -> Result<(), JournalError> {
    writer.append(1, written.first, written.last, &written.payload).map(drop)
}

/// Appends one more frame and remembers it.
pub(crate) fn append_next(
    writer: &mut JournalWriter,
    truth: &mut Vec<Written>,
    generation: u8,
) -> Result<(), JournalError> {
    let next = frame(writer.next_sequence(), generation);
    append(writer, &next)?;
    truth.push(next);
    Ok(())
}

pub(crate) struct Opened {
    pub(crate) recovered: RecoveredJournal,
    pub(crate) frames: Vec<Written>,
}

pub(crate) fn open_from(storage: Arc<dyn Storage>, start: RecoveryStart) -> Result<Opened, JournalError> {
    let mut frames = Vec::new();
    let mut keep = |frame: &Frame<'_>| {
        if frame.last_sequence >= frame.first_sequence {
            let (first, last) = (frame.first_sequence, frame.last_sequence);
            frames.push(Written { first, last, payload: frame.payload.to_vec() });
        }
        Ok(())
    };
    let recovered = recover(storage, settings(), start, &mut keep, &mut |_| {})?;
    Ok(Opened { recovered, frames })
}

pub(crate) fn open(disk: &FaultyDisk) -> Result<Opened, JournalError> {
    open_from(disk.storage(), RecoveryStart::beginning())
}

/// A journal of `count` frames, the last `unsynced` of them not synced.
pub(crate) fn fill(disk: &FaultyDisk, count: usize, unsynced: usize) -> (JournalWriter, Vec<Written>) {
    let mut writer = open(disk).expect("opens").recovered.writer;
    let mut truth = Vec::new();
    for at in 0..count {
        append_next(&mut writer, &mut truth, 0).expect("appends");
        if at < count - unsynced {
            writer.sync().expect("syncs");
        }
    }
    (writer, truth)
}

pub(crate) fn segment_names(disk: &FaultyDisk) -> Vec<String> {
    let names = disk.list().expect("lists");
    names.into_iter().filter(|name| name.starts_with("journal-")).collect()
}

/// `frames` must be what was written, from the first on, and reach at least `durable_through`.
pub(crate) fn assert_prefix(frames: &[Written], truth: &[Written], durable_through: u64, context: &str) {
    assert!(frames.len() <= truth.len(), "{context}: more frames than were written");
    assert_eq!(frames, &truth[..frames.len()], "{context}: other frames than were written");
    let last = frames.last().map_or(0, |frame| frame.last);
    assert!(last >= durable_through, "{context}: ends at {last}, durable was {durable_through}");
}
