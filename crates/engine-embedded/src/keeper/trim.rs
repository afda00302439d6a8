//! Which files the keeper drops, and when: after each snapshot, and when the disk is full.

use std::time::{Duration, Instant};

use scarce_core::machine::Outline;
use scarce_core::types::TimeMs;

use super::Keeper;
use crate::EmbeddedError;
use crate::commit::milliseconds;
use crate::error::explain;
use crate::lock::HOLD_NAME;
use crate::{reach, snapshot};

/// How long after a failure it is tried again to make room.
const ROOM_RETRY: Duration = Duration::from_secs(10);

/// Which receipts of a state are still remembered.
pub(super) struct Remembered {
    /// Those in the log.
    in_log: Vec<u64>,
    from: u64,
    at: TimeMs,
}

impl Remembered {
    /// Those of a snapshot, of a log that begins with a sequence.
    pub(super) fn of(outline: &Outline, first_sequence: u64) -> Self {
        let in_log = outline.receipts_in_log();
        let first = in_log.partition_point(|sequence| *sequence < first_sequence);
        Self {
            in_log: in_log[first..].to_vec(),
            from: in_log.first().copied().unwrap_or(u64::MAX),
            at: outline.at(),
        }
    }
}

impl Keeper {
    /// Removes the files that nobody needs any more; none while a backup is copying them.
    pub(super) fn remove_old(&self, remembered: &Remembered) -> Result<Option<u64>, EmbeddedError> {
        let Some(_alone) = self.home.storage.lock_alone(HOLD_NAME)? else { return Ok(None) };
        let segments_retired = self.retire(remembered)?;
        self.receipts.forget_before(remembered.from)?;
        Ok(Some(segments_retired))
    }

    /// Drops segments that no kept snapshot needs for recovery, no consumer for its events, and that are old enough.
    /// The receipts in them that are still remembered move to a file of their own first.
    fn retire(&self, remembered: &Remembered) -> Result<u64, EmbeddedError> {
        let oldest = snapshot::retain(&*self.home.storage, &self.home.snapshot_owner(), 1)?;
        let Some(oldest) = oldest else { return Ok(0) };
        self.run_floor.keep_from(oldest);
        self.save_consumers();
        let floor = self.floor(oldest, remembered.at)?.min(self.progress.not_kept_through());
        let before = floor + 1;
        let first_left = self.log.first_after_trim(before);
        let in_log = &remembered.in_log;
        let moving = in_log.partition_point(|sequence| *sequence < first_left);
        self.receipts.take(&*self.log, &in_log[..moving])?;
        let retired = self.log.trim(before)?;
        self.note_reach();
        Ok(retired)
    }

    /// Up to where the log is not needed, whatever a backup still lacks.
    fn floor(&self, oldest_snapshot: u64, now: TimeMs) -> Result<u64, EmbeddedError> {
        let floor = self.consumers.saved_floor().min(oldest_snapshot);
        if self.log_retention.is_zero() {
            return Ok(floor);
        }
        reach::last_before(&*self.log, floor, now.saturating_sub(milliseconds(self.log_retention)))
    }

    /// On a full disk no snapshot is made, after which segments would be dropped. So they are dropped without one as
    /// soon as no backup needs them any more.
    pub(super) fn make_room(&mut self) {
        let not_kept_through = self.progress.not_kept_through();
        let is_due = self.done.room_made.is_none_or(|(at, through)| {
            not_kept_through > through && (through > 0 || at.elapsed() >= ROOM_RETRY)
        });
        let memory = self.memory.clone();
        let Some(_turn) = memory.try_begin_snapshot().filter(|_| is_due) else { return };
        let partition = self.home.partition;
        match self.trim() {
            Ok(Some(segments_retired)) => {
                self.done.room_made = Some((Instant::now(), not_kept_through));
                tracing::info!(partition, segments_retired, "the disk is full: old segments were dropped");
            }
            // A backup is copying them.
            Ok(None) => {}
            Err(error) => {
                self.done.room_made = Some((Instant::now(), 0));
                let reason = explain(&error);
                tracing::error!(partition, reason, "the disk is full, and old segments cannot be dropped");
            }
        }
    }

    fn trim(&self) -> Result<Option<u64>, EmbeddedError> {
        // Reading a snapshot takes long, and would be for nothing.
        if self.home.storage.lock_alone(HOLD_NAME)?.is_none() {
            return Ok(None);
        }
        // What was remembered since is behind the snapshot, and so are segments that stay.
        let Some(outline) = self.newest_outline()? else { return Ok(Some(0)) };
        let through = self.progress.sequence();
        let newest = reach::entry_at(&*self.log, through, through)?;
        let remembered = Remembered::of(&outline, self.log.first_sequence());
        let at = newest.map_or(remembered.at, |entry| entry.head.at.max(remembered.at));
        self.remove_old(&Remembered { at, ..remembered })
    }

    /// Notes how much log is on disk that only a backup can still need. Where it cannot be read, it counts as none.
    pub(super) fn note_surplus(&self) {
        let listed = snapshot::list(&*self.home.storage).unwrap_or_default();
        let Some(oldest) = listed.iter().map(|listed| listed.sequence).min() else { return };
        let through = self.progress.sequence();
        let newest = reach::entry_at(&*self.log, through, through).ok().flatten();
        let Some(floor) = newest.and_then(|entry| self.floor(oldest, entry.head.at).ok()) else { return };
        self.progress.note_surplus(self.log.bytes_before(floor + 1));
    }
}
