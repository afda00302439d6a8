//! The log that is kept on disk until the store of backups has it, up to a bound.

use std::sync::Arc;

use scarce_engine::{Engine, Log};
use scarce_engine_embedded::Embedded;
use scarce_gateway_http::BackupStatus;

use super::base::Bases;

pub(super) struct KeptLog {
    engine: Arc<Embedded>,
    bytes_max: u64,
    /// How many bytes had been written when the store had everything.
    covered_bytes: u64,
    is_kept: bool,
}

impl KeptLog {
    /// Keeps all that there is, for the first backup.
    pub(super) fn new(engine: Arc<Embedded>, bytes_max: u64) -> Self {
        let kept = Self { engine, bytes_max, covered_bytes: 0, is_kept: true };
        kept.keep_from(|_| Some(1));
        kept
    }

    fn keep_from(&self, first: impl Fn(u32) -> Option<u64>) {
        for partition in 0..self.engine.partitions() {
            // There are as many as were counted.
            let _ = self.engine.keep_log_from(partition, first(partition));
        }
    }

    /// Bytes of log written since the start.
    pub(super) fn written_bytes(&self) -> u64 {
        let bytes = |partition| self.engine.metrics(partition).map_or(0, |metrics| metrics.log_bytes.get());
        (0..self.engine.partitions()).map(bytes).sum()
    }

    /// Notes what the store has, and how many bytes had been written when that was all.
    pub(super) fn shipped(&mut self, sequences: &[u64], covered_bytes: Option<u64>) {
        self.covered_bytes = covered_bytes.unwrap_or(self.covered_bytes);
        self.keep_from(|partition| Some(sequences.get(partition as usize).copied().unwrap_or(0) + 1));
        if !self.is_kept {
            self.is_kept = true;
            tracing::info!("the log is kept again until the store of backups has it");
        }
    }

    /// Keeps no more than may wait.
    pub(super) fn watch(&mut self, status: &BackupStatus, bases: &mut Bases) {
        let written_bytes = self.written_bytes();
        let (waiting_bytes, bytes_max) = (written_bytes.saturating_sub(self.covered_bytes), self.bytes_max);
        if bases.begun_at_bytes().is_some_and(|begun| written_bytes.saturating_sub(begun) > bytes_max) {
            bases.abandon("more was logged meanwhile than backup_log_max_mib lets wait for it");
        }
        if self.is_kept && waiting_bytes > bytes_max {
            self.is_kept = false;
            self.keep_from(|_| None);
            status.update(|levels| levels.overruns += 1);
            tracing::error!(
                waiting_bytes,
                bytes_max,
                "too much log waits for the store of backups and is not kept for it any more; if segments are removed before the store takes them, another backup is made then, and nothing leads to the time in between"
            );
        }
    }
}
