//! Replies that callers do not read: how much memory they may take together, for how long, and how many connections were
//! closed for it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scarce_engine::Throttle;
use scarce_engine::stop::Waker;

/// How often closed connections are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The part of the memory budget that unread replies may take, and the bounds of what they may take.
const BUDGET_PART: u64 = 8;
const BYTES_MIN: u64 = 8 << 20;
const BYTES_MAX: u64 = 128 << 20;

/// How much of what is written to a socket may wait in the system, but for what is on its way. A caller that reads slowly is thus
/// seen to read: the system announces that a socket takes more only once a large part of its buffer is free.
pub const UNSENT_BYTES_MAX: u32 = 64 << 10;

/// The unread replies of all ports.
#[derive(Debug)]
pub struct Unread {
    max: u64,
    bytes: AtomicU64,
    /// The part of it that the RESP port holds, and its threads.
    resp_bytes: AtomicU64,
    threads: Mutex<Vec<Arc<UnreadOfThread>>>,
    closed: AtomicU64,
    stalled: AtomicU64,
    logging: Mutex<Throttle>,
    stalled_logging: Mutex<Throttle>,
}

/// The unread replies that a thread of the RESP port holds.
pub struct UnreadOfThread {
    bytes: AtomicU64,
    wake: Waker,
}

impl std::fmt::Debug for UnreadOfThread {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("UnreadOfThread").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Unread {
    /// Nothing unread yet; at most so many bytes.
    #[must_use]
    pub fn new(max: u64) -> Self {
        Self {
            max,
            bytes: AtomicU64::new(0),
            resp_bytes: AtomicU64::new(0),
            threads: Mutex::default(),
            closed: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            logging: Mutex::new(Throttle::new(LOG_INTERVAL)),
            stalled_logging: Mutex::new(Throttle::new(LOG_INTERVAL)),
        }
    }

    /// How much they may take under a memory budget.
    #[must_use]
    pub fn max_of(budget_bytes: Option<u64>) -> u64 {
        budget_bytes.map_or(BYTES_MAX, |bytes| (bytes / BUDGET_PART).clamp(BYTES_MIN, BYTES_MAX))
    }

    /// How much each of the two ports may hold.
    #[must_use]
    pub fn max_of_port(&self) -> u64 {
        self.max / 2
    }

    /// A further thread of the RESP port.
    #[must_use]
    pub fn join(&self, wake: Waker) -> Arc<UnreadOfThread> {
        let thread = Arc::new(UnreadOfThread { bytes: AtomicU64::new(0), wake });
        self.threads().push(thread.clone());
        thread
    }

    /// Notes how much a thread of the RESP port holds. Returns how much it has to give up: all threads have one bound, beyond which
    /// those close connections that hold more than their even part of it.
    #[must_use]
    pub fn note_thread(&self, thread: &UnreadOfThread, bytes: u64) -> u64 {
        let before = thread.bytes.swap(bytes, Ordering::Relaxed);
        if before == bytes && bytes == 0 {
            return 0;
        }
        self.note(before, bytes);
        let all = change(&self.resp_bytes, before, bytes);
        let max = self.max_of_port();
        if all <= max {
            return 0;
        }
        let threads = self.threads();
        let part = max / (threads.len() as u64).max(1);
        let own_excess = bytes.saturating_sub(part);
        if own_excess == 0 {
            // A thread that holds more than its part gives it up in its own turn.
            threads
                .iter()
                .filter(|its| its.bytes.load(Ordering::Relaxed) > part)
                .for_each(|its| (its.wake)());
        }
        own_excess.min(all - max / 4 * 3)
    }

    /// Notes that one who held `before` bytes now holds `after`.
    pub fn note(&self, before: u64, after: u64) {
        change(&self.bytes, before, after);
    }

    /// Notes that a connection is closed because its caller left so many bytes unread.
    pub fn note_closed(&self, peer: IpAddr, unread_bytes: u64) {
        let closed = self.closed.fetch_add(1, Ordering::Relaxed) + 1;
        if is_to_be_told(&self.logging) {
            tracing::warn!(
                %peer,
                unread_bytes,
                unread_bytes_max = self.max,
                closed,
                "a connection was closed: its caller does not read, and unread replies of all connections take too much memory"
            );
        }
    }

    /// Notes that a connection is closed because its caller has taken nothing for so long.
    pub fn note_stalled(&self, peer: IpAddr, limit: Duration) {
        let stalled = self.stalled.fetch_add(1, Ordering::Relaxed) + 1;
        if is_to_be_told(&self.stalled_logging) {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(
                %peer,
                limit_ms,
                stalled,
                "a connection was closed: its caller has read nothing for too long"
            );
        }
    }

    /// How many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many connections were closed because unread replies took too much memory.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }

    /// How many connections were closed because their callers had read nothing for too long.
    #[must_use]
    pub fn stalled(&self) -> u64 {
        self.stalled.load(Ordering::Relaxed)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Arc<UnreadOfThread>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes a sum in which one part was `before` and is `after`; returns the sum.
fn change(sum: &AtomicU64, before: u64, after: u64) -> u64 {
    if after >= before {
        sum.fetch_add(after - before, Ordering::Relaxed) + (after - before)
    } else {
        sum.fetch_sub(before - after, Ordering::Relaxed).saturating_sub(before - after)
    }
}

fn is_to_be_told(logging: &Mutex<Throttle>) -> bool {
    logging.lock().unwrap_or_else(PoisonError::into_inner).pass()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn threads_share_one_bound_and_who_holds_most_gives_up() {
        let (unread, woken) = (Unread::new(8_000), Arc::new(AtomicUsize::new(0)));
        let wake: Waker = {
            let woken = woken.clone();
            Arc::new(move || {
                woken.fetch_add(1, Ordering::Relaxed);
            })
        };
        let threads: Vec<_> = (0..16).map(|_| unread.join(wake.clone())).collect();
        assert_eq!(unread.note_thread(&threads[0], 3_900), 0, "one may hold what the others do not");
        assert_eq!((unread.note_thread(&threads[1], 200), woken.load(Ordering::Relaxed)), (0, 1));
        assert_eq!(unread.note_thread(&threads[0], 3_900), 1_100, "down to three quarters of the bound");
        assert_eq!(unread.note_thread(&threads[0], 2_800), 0);
        // Each holds a little more than its part of 250.
        let given_up: Vec<u64> = threads[1..].iter().map(|its| unread.note_thread(its, 260)).collect();
        assert!(given_up.contains(&10), "{given_up:?}");
        assert!(threads.iter().all(|its| unread.note_thread(its, 0) == 0));
        assert_eq!(unread.bytes(), 0);
    }
}
