//! What an engine that keeps state in this process says of its memory.

/// How much memory the process takes, and how much it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLevels {
    /// Bytes that the process takes.
    pub used_bytes: u64,
    /// Bytes that it may take.
    pub max_bytes: u64,
    /// Bytes that the next snapshot takes for its time, besides `used_bytes`.
    pub reserved_bytes: u64,
    /// Bytes that the state of the largest partition would take a second time, as where it is read as a whole.
    pub second_state_bytes: u64,
    /// Bytes within `used_bytes` that removed records left for new ones.
    pub reusable_bytes: u64,
    /// Whether new operation ids and new records are refused.
    pub is_refusing: bool,
}

impl MemoryLevels {
    /// What the budget must hold: what is used and not reusable, with room for a snapshot.
    #[must_use]
    pub const fn needed_bytes(&self) -> u64 {
        self.used_bytes.saturating_add(self.reserved_bytes).saturating_sub(self.reusable_bytes)
    }

    /// The same in hundredths of the budget.
    #[must_use]
    pub const fn percent(&self) -> u64 {
        match self.needed_bytes().saturating_mul(100).checked_div(self.max_bytes) {
            Some(percent) => percent,
            None => 0,
        }
    }
}
