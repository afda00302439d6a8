//! What may be set.

use std::time::Duration;

use scarce_core::state;
use scarce_engine::clock::{Clock, ManualClock, SystemClock};

/// Where stamps come from.
#[derive(Clone, Debug)]
pub enum ClockChoice {
    /// The system's clock; `accept_leap` believes it whatever the log's last stamp is.
    System {
        /// Whether a leap at the start is believed.
        accept_leap: bool,
    },
    /// A clock that stands still until it is set.
    Manual(ManualClock),
}

impl ClockChoice {
    pub(crate) fn clock(&self, last_stamp: u64) -> Box<dyn Clock> {
        match self {
            Self::System { accept_leap } => Box::new(SystemClock::after(last_stamp, *accept_leap)),
            Self::Manual(clock) => Box::new(clock.clone()),
        }
    }
}

/// How many events may wait for the slowest consumer by default: some ten gigabytes of journal.
const OUTFLOW_LAG_MAX: u64 = 100_000_000;

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
    /// How many batches from other threads may wait for a partition.
    pub inbox_batches_max: usize,
    /// How many bytes of log may be decided ahead of the disk.
    pub commit_bytes_max: usize,
    /// How many events may wait for the slowest consumer of the log before commands are refused.
    pub outflow_lag_max: u64,
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
            inbox_batches_max: 1_024,
            commit_bytes_max: 2 << 20,
            outflow_lag_max: OUTFLOW_LAG_MAX,
            slow: None,
            clock: ClockChoice::System { accept_leap: false },
            epoch_salt: None,
        }
    }
}
