//! What an engine counts that keeps older operation ids in files.

use scarce_core::outcome::overload::OPERATION_FILES;

use super::Counter;
use crate::engine::Failure;

/// Where a partition's operation ids are.
#[derive(Debug, Default)]
pub struct RunMetrics {
    is_used: Counter,
    in_memory: Counter,
    reads: Counter,
    files: Counter,
    bytes: Counter,
    is_failing: Counter,
    is_damaged: Counter,
    is_overrun: Counter,
}

impl RunMetrics {
    /// Notes how many ids are in memory, and in how many blocks of files ids were looked for; the owner does.
    pub fn note_ids(&self, in_memory: u64, reads: u64) {
        self.is_used.set(1);
        self.in_memory.set(in_memory);
        self.reads.set(reads);
    }

    /// Notes whether new ids are refused until some have left memory; the owner does.
    pub fn note_overrun(&self, is_overrun: bool) {
        self.is_overrun.set(u64::from(is_overrun));
    }

    /// Notes how many files there are, and their size; the thread that writes them does.
    pub fn note_files(&self, files: u64, bytes: u64) {
        self.files.set(files);
        self.bytes.set(bytes);
    }

    /// Notes whether ids cannot leave memory at the moment; the thread that writes the files does.
    pub fn note_failing(&self, is_failing: bool) {
        self.is_failing.set(u64::from(is_failing));
    }

    /// Notes that a file is damaged; the thread that found it does.
    pub fn note_damaged(&self) {
        self.is_damaged.set(1);
    }

    /// Whether the engine keeps ids in files.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used.get() > 0
    }

    /// How many ids are in memory.
    #[must_use]
    pub fn in_memory(&self) -> u64 {
        self.in_memory.get()
    }

    /// In how many blocks of files ids were looked for since the start.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads.get()
    }

    /// How many files there are.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.get()
    }

    /// Their size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Whether new ids can be taken.
    ///
    /// # Errors
    /// While they cannot.
    pub fn check_room(&self) -> Result<(), Failure> {
        if self.is_overrun.get() == 0 { Ok(()) } else { Err(Failure::Overloaded { queue: OPERATION_FILES }) }
    }

    /// Whether ids cannot leave memory at the moment.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.is_failing.get() > 0
    }

    /// Whether a file was found to be damaged.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.get() > 0
    }

    /// Whether ids cannot leave memory at the moment, or a file was found to be damaged.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.is_stuck() || self.is_damaged()
    }
}
