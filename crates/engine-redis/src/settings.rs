//! What the engine is opened with.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::outcome::Durability;
use scarce_core::state;
use scarce_engine::clock::{ManualClock, SystemTimeSource, TimeSource};
use scarce_engine::scripts::ScriptAccess;

use super::address::{Login, Tls};
use super::program::ScriptKind;
use super::sweep::SWEEP_INTERVAL;

/// How much one step does at most by default: the server serves nothing else meanwhile, and a step should not take
/// longer than a millisecond.
const STEP_MAX: usize = 32;

/// How many packets one step lays ready by default.
const PACKETS_PER_STEP_MAX: usize = 250;

/// How many events may wait for the slowest consumer by default: a few hundred megabytes of memory.
const OUTFLOW_LAG_MAX: u64 = 2_000_000;

/// How long events are kept by default for readers of the log that are not registered as consumers.
const LOG_RETENTION: Duration = Duration::from_mins(10);

/// How far a server's clock may be ahead by default: time services keep them within milliseconds.
const CLOCK_SKEW_MAX: Duration = Duration::from_mins(5);

/// A deployment that is known from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDeployment {
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// What names it, to begin a sentence.
    pub named_by: String,
    /// What the operator does to take another one, to follow "to".
    pub remedy: String,
}

/// What may be set.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// Where the servers are, in one of the forms of [`SHAPE`](super::address::SHAPE).
    pub url: String,
    /// How one logs in there.
    pub login: Login,
    /// What encrypted connections are checked with.
    pub tls: Tls,
    /// What clients may do with scripts of the operator's.
    pub scripts: ScriptAccess,
    /// What all keys of the deployment begin with.
    pub prefix: String,
    /// The deployment that must be behind the prefix, where it is known; nothing else is served or created then.
    pub known: Option<KnownDeployment>,
    /// How many partitions; fixed when the deployment is created.
    pub partitions: u32,
    /// What outcomes depend on.
    pub state: state::StateSettings,
    /// How the library is called; by default as Functions where the server has them.
    pub script: Option<ScriptKind>,
    /// How safe a change must be before it is answered, where a command does not say itself.
    pub durability: Durability,
    /// How many replicas must have what is to be replicated.
    pub replicas: u32,
    /// How long an answer is waited for before it counts as unknown; so long are replicas and disk, too.
    pub response_timeout: Duration,
    /// How long a start on an existing deployment waits, so that servers that run already have looked at it and have noted
    /// if its data is older than what they have seen: this one has seen nothing. Not with a clock of a test.
    pub start_wait: Duration,
    /// How many batches may wait for a partition.
    pub inbox_batches_max: usize,
    /// How many events may wait for the slowest consumer of a partition's log before commands are refused.
    pub outflow_lag_max: u64,
    /// How long events stay in the log that no consumer waits for.
    pub log_retention: Duration,
    /// From when on a call is logged as slow; none is without it.
    pub slow: Option<Duration>,
    /// A clock that stands still until it is set, for tests; otherwise the server's.
    pub clock: Option<ManualClock>,
    /// This machine's clocks, by which a server's is judged.
    pub time_source: Arc<dyn TimeSource>,
    /// How far a server's clock may be ahead of this machine's.
    pub clock_skew_max: Duration,
    /// Whether the operator says that the servers' clocks are right, ahead or behind.
    pub accepts_clock: bool,
    /// Whether the operator says that the settings which all servers must have alike are changed for all of them.
    pub accepts_settings: bool,
    /// Whether what is overdue is ended and the log trimmed; not by a process that only reads.
    pub sweeps: bool,
}

impl Default for RedisSettings {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1:6379".to_owned(),
            login: Login::default(),
            tls: Tls::default(),
            scripts: ScriptAccess::Off,
            prefix: "scarce:".to_owned(),
            known: None,
            partitions: 64,
            state: default_state(),
            script: None,
            durability: Durability::Memory,
            replicas: 1,
            response_timeout: Duration::from_secs(5),
            start_wait: 2 * SWEEP_INTERVAL,
            inbox_batches_max: 1_024,
            outflow_lag_max: OUTFLOW_LAG_MAX,
            log_retention: LOG_RETENTION,
            slow: None,
            clock: None,
            time_source: Arc::new(SystemTimeSource),
            clock_skew_max: CLOCK_SKEW_MAX,
            accepts_clock: false,
            accepts_settings: false,
            sweeps: true,
        }
    }
}

/// What outcomes depend on, by default: as elsewhere, but that steps are shorter.
#[must_use]
pub fn default_state() -> state::StateSettings {
    state::StateSettings {
        step_max: STEP_MAX,
        packets_per_step_max: PACKETS_PER_STEP_MAX,
        ..state::StateSettings::default()
    }
}
