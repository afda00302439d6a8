//! What may be set.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::state;
use scarce_engine::clock::{
    Clock, ClockNote, ClockStart, ManualClock, STEADY_SPAN, SystemTimeSource, TimeSource, TrustedClock,
};

use crate::memory::MemoryBudget;

/// Where stamps come from.
#[derive(Clone, Debug)]
pub enum ClockChoice {
    /// The machine's clocks.
    System(SystemClock),
    /// A clock that stands still until it is set.
    Manual(ManualClock),
}

/// How the machine's clocks are gone by.
#[derive(Clone, Debug)]
pub struct SystemClock {
    /// The clocks.
    pub source: Arc<dyn TimeSource>,
    /// Whether the operator says that the wall clock is right at this start.
    pub accepts_wall: bool,
    /// How long the wall clock must run steadily to be believed, where no time service confirms it.
    pub steady_span: Duration,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { source: Arc::new(SystemTimeSource), accepts_wall: false, steady_span: STEADY_SPAN }
    }
}

impl SystemClock {
    /// A clock that goes on from a note, a last stamp and whether the log's time is doubted.
    pub(crate) fn start(&self, note: Option<ClockNote>, stamp: u64, is_doubted: bool) -> TrustedClock {
        let (accepts_wall, steady_span) = (self.accepts_wall, self.steady_span);
        let start = ClockStart { note, stamp, is_doubted, accepts_wall, steady_span };
        TrustedClock::start(self.source.clone(), start)
    }
}

impl ClockChoice {
    pub(crate) fn clock(&self, note: Option<ClockNote>, last_stamp: u64, is_doubted: bool) -> Box<dyn Clock> {
        match self {
            Self::System(system) => Box::new(system.start(note, last_stamp, is_doubted)),
            Self::Manual(clock) => Box::new(clock.clone()),
        }
    }
}

/// How many events may wait for the slowest consumer by default: some ten gigabytes of journal.
const OUTFLOW_LAG_MAX: u64 = 100_000_000;

/// How many operation ids stay in memory by default: some 170 megabytes.
pub const OPERATIONS_IN_MEMORY: usize = 4_000_000;

/// What may be set.
#[derive(Clone, Debug)]
pub struct EmbeddedSettings {
    /// How many partitions; fixed when the deployment is created.
    pub partitions: u32,
    /// What outcomes depend on.
    pub state: state::StateSettings,
    /// Bytes of a journal segment.
    pub segment_bytes: u64,
    /// A snapshot is made whenever so many bytes of journal were written since the last.
    pub snapshot_bytes: u64,
    /// How long events stay in the journal at least, though no snapshot and no consumer needs them any more.
    pub log_retention: Duration,
    /// How many operation ids of a partition stay in memory; older ones are on disk.
    pub operations_in_memory_max: usize,
    /// How many batches from other threads may wait for a partition.
    pub inbox_batches_max: usize,
    /// How many bytes of log may be decided ahead of the disk.
    pub commit_bytes_max: usize,
    /// How many events may wait for the slowest consumer of the log before commands are refused.
    pub outflow_lag_max: u64,
    /// How much memory the process may take; without a budget as much as there is.
    pub memory: Option<MemoryBudget>,
    /// From when on a sync of the journal is logged as slow; not at all without it.
    pub slow: Option<Duration>,
    /// Where stamps come from.
    pub clock: ClockChoice,
    /// The random bits of the epochs that starts begin, for tests that must repeat; otherwise the system's.
    pub epoch_salt: Option<u32>,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self {
            partitions: 1,
            state: state::StateSettings::default(),
            segment_bytes: 64 << 20,
            snapshot_bytes: 512 << 20,
            log_retention: Duration::ZERO,
            operations_in_memory_max: OPERATIONS_IN_MEMORY,
            inbox_batches_max: 1_024,
            commit_bytes_max: 2 << 20,
            outflow_lag_max: OUTFLOW_LAG_MAX,
            memory: None,
            slow: None,
            clock: ClockChoice::System(SystemClock::default()),
            epoch_salt: None,
        }
    }
}
