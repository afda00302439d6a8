//! The log that is kept on disk until the store of backups has it, up to a bound.

use std::sync::Arc;

use scarce_engine::{Engine, Log};
use scarce_engine_embedded::Embedded;
use scarce_gateway_http::BackupStatus;

pub(super) struct KeptLog {
    engine: Arc<Embedded>,
    bytes_max: u64,
    /// Bytes of log that a former process had left on disk for the store.
    left_bytes: u64,
    /// How many bytes had been written when the store had everything.
    covered_bytes: u64,
    is_kept: bool,
}

impl KeptLog {
    /// Keeps all that there is, for the first backup.
    pub(super) fn new(engine: Arc<Embedded>, bytes_max: u64) -> Self {
        let left = |partition| engine.surplus_log_bytes(partition).unwrap_or(0);
        let left_bytes = (0..engine.partitions()).map(left).sum();
        let kept = Self { engine, bytes_max, left_bytes, covered_bytes: 0, is_kept: true };
        kept.keep_from(|_| Some(1));
        kept
    }

    fn keep_from(&self, first: impl Fn(u32) -> Option<u64>) {
        for partition in 0..self.engine.partitions() {
            // There are as many as were counted.
            let _ = self.engine.keep_log_from(partition, first(partition));
        }
    }

    /// How much log may wait.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Bytes of log written since the start, and those that waited already.
    pub(super) fn written_bytes(&self) -> u64 {
        let bytes = |partition| self.engine.metrics(partition).map_or(0, |metrics| metrics.log_bytes.get());
        self.left_bytes + (0..self.engine.partitions()).map(bytes).sum::<u64>()
    }

    /// Notes what the store has, and how many bytes had been written when that was all. Log that was let go is kept
    /// again only then: until it has been caught up with, the bound would be passed at once.
    pub(super) fn shipped(&mut self, sequences: &[u64], covered_bytes: Option<u64>) {
        self.covered_bytes = covered_bytes.unwrap_or(self.covered_bytes);
        if self.is_kept || covered_bytes.is_some() {
            self.keep_from(|partition| Some(sequences.get(partition as usize).copied().unwrap_or(0) + 1));
            self.keep_again();
        }
    }

    /// Keeps what is logged from where a backup that is begun will end at the earliest.
    pub(super) fn begin_backup(&mut self) {
        if !self.is_kept {
            self.covered_bytes = self.written_bytes();
            let durable = |partition| self.engine.durable_through(partition).unwrap_or(0);
            self.keep_from(|partition| Some(durable(partition).max(1)));
            self.keep_again();
        }
    }

    fn keep_again(&mut self) {
        if !std::mem::replace(&mut self.is_kept, true) {
            tracing::info!("the log is kept again until the store of backups has it");
        }
    }

    /// Keeps no more than may wait.
    pub(super) fn watch(&mut self, status: &BackupStatus) {
        let (written_bytes, bytes_max) = (self.written_bytes(), self.bytes_max);
        let waiting_bytes = written_bytes.saturating_sub(self.covered_bytes);
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
