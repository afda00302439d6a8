//! Replies that callers do not read: how much memory they may take together, and how many connections were closed for it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often closed connections are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The part of the memory budget that unread replies may take, and the bounds of what they may take.
const BUDGET_PART: u64 = 8;
const BYTES_MIN: u64 = 8 << 20;
const BYTES_MAX: u64 = 128 << 20;

/// What a thread of the RESP port may hold at least: two callers that left the largest replies unread.
const THREAD_BYTES_MIN: u64 = 4 << 20;

/// The unread replies of all ports.
#[derive(Debug)]
pub struct Unread {
    max: u64,
    bytes: AtomicU64,
    closed: AtomicU64,
    logged_at: Mutex<Option<Instant>>,
}

impl Unread {
    pub(super) fn new(max: u64) -> Self {
        Self { max, bytes: AtomicU64::new(0), closed: AtomicU64::new(0), logged_at: Mutex::default() }
    }

    /// How much they may take under a memory budget.
    #[must_use]
    pub fn max_of(budget_bytes: Option<u64>) -> u64 {
        budget_bytes.map_or(BYTES_MAX, |bytes| (bytes / BUDGET_PART).clamp(BYTES_MIN, BYTES_MAX))
    }

    /// How much the connections of one of `threads` threads of the RESP port may hold. The HTTP port has the other half.
    #[must_use]
    pub fn max_per_thread(&self, threads: u64) -> u64 {
        (self.max / 2 / threads.max(1)).max(THREAD_BYTES_MIN)
    }

    /// Notes that one who held `before` bytes now holds `after`.
    pub fn note(&self, before: u64, after: u64) {
        if after >= before {
            self.bytes.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Notes that a connection is closed because its caller left so many bytes unread.
    pub fn note_closed(&self, peer: IpAddr, unread_bytes: u64) {
        let closed = self.closed.fetch_add(1, Ordering::Relaxed) + 1;
        let mut logged_at = self.logged_at.lock().unwrap_or_else(PoisonError::into_inner);
        if logged_at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            *logged_at = Some(Instant::now());
            tracing::warn!(
                %peer,
                unread_bytes,
                unread_bytes_max = self.max,
                closed,
                "a connection was closed: its caller does not read, and unread replies of all connections take too much memory"
            );
        }
    }

    /// How many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many connections were closed because their callers did not read.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }
}
