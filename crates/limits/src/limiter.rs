//! One limit, with what was used of it.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{Quota, RateLimiter};

use super::counts::{Counts, Subject};
use super::rule::{Per, Rate, Rule};

/// How often subjects that are as if they had never come are dropped while there is no room for others.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// A request came too soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The limit's name.
    pub limit: String,
    /// What it counts together.
    pub per: Per,
    /// How long to wait until one more is allowed.
    pub wait: Duration,
    /// Where the subject stands.
    pub standing: Standing,
}

impl Refused {
    /// The wait, rounded up to milliseconds.
    #[must_use]
    pub fn wait_ms(&self) -> u64 {
        u64::try_from(self.wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).max(1)
    }
}

/// Where a subject stands with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The limit's name.
    pub limit: String,
    /// How many may come at once after a pause.
    pub burst: u32,
    /// After how long a pause, in whole seconds; none where requests at the same time are counted.
    pub window_s: Option<u64>,
    /// How many more may come at once now.
    pub remaining: u32,
}

/// A limit, with what was used of it.
#[derive(Debug)]
pub(crate) struct Limiter<C: Clock = DefaultClock> {
    pub(crate) rule: Rule,
    rate: Rate,
    counting: RateLimiter<Subject, Counts, C, StateInformationMiddleware>,
    /// Callers cannot choose which subjects share a number.
    seed: RandomState,
    is_full: Arc<AtomicBool>,
    swept_at: Mutex<Option<Instant>>,
    refused: AtomicU64,
}

impl<C: Clock> Limiter<C> {
    pub(crate) fn new(rule: Rule, rate: Rate, clock: C) -> Self {
        let counts = Counts::default();
        let is_full = counts.is_full.clone();
        // The period is never zero.
        let quota = Quota::with_period(rate.period()).unwrap_or(Quota::per_second(NonZeroU32::MIN));
        let counting = RateLimiter::new(quota.allow_burst(rule.burst(rate)), counts, clock);
        let (seed, swept_at, refused) = (RandomState::new(), Mutex::default(), AtomicU64::default());
        Self { rule, rate, counting, seed, is_full, swept_at, refused }
    }

    /// Counts a request of a subject.
    ///
    /// # Errors
    /// When the subject has used up the limit; then it is not counted.
    pub(crate) fn count(&self, subject: &[u8]) -> Result<Standing, Box<Refused>> {
        let number = self.seed.hash_one(subject);
        let counted = self.counting.check_key(&Subject(number));
        if self.is_full.load(Ordering::Relaxed) {
            self.sweep();
        }
        match counted {
            Ok(state) => Ok(self.standing(state.remaining_burst_capacity())),
            Err(until) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let wait = until.wait_time_from(self.counting.clock().now());
                let limit = self.rule.name.clone();
                Err(Refused { limit, per: self.rule.per, wait, standing: self.standing(0) }.into())
            }
        }
    }

    /// How many requests were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn standing(&self, remaining: u32) -> Standing {
        let burst = self.rule.burst(self.rate).get();
        let window = self.rate.period() * burst;
        let window_s = window.as_secs() + u64::from(window.subsec_nanos() > 0);
        Standing { limit: self.rule.name.clone(), burst, window_s: Some(window_s), remaining }
    }

    /// Makes room for new subjects, but not each time that there is none.
    fn sweep(&self) {
        let mut swept_at = self.swept_at.lock().unwrap_or_else(PoisonError::into_inner);
        if swept_at.is_none_or(|at| at.elapsed() >= SWEEP_INTERVAL) {
            self.is_full.store(false, Ordering::Relaxed);
            self.counting.retain_recent();
            *swept_at = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;
    use crate::counts::SUBJECTS_MAX;
    use crate::file::read;

    fn limiter(rate: &str, burst: u32) -> (Limiter<FakeRelativeClock>, FakeRelativeClock) {
        let text = format!("[[limit]]\nname = \"a\"\nper = \"key\"\nrate = \"{rate}\"\nburst = {burst}\n");
        let clock = FakeRelativeClock::default();
        let rule = read(&text).expect("a limit").remove(0);
        let rate = rule.rate.expect("a rate");
        (Limiter::new(rule, rate, clock.clone()), clock)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (limiter, clock) = limiter("10/s", 3);
        let remaining: Vec<u32> =
            (0..3).map(|_| limiter.count(b"u").expect("within the burst").remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let refused = limiter.count(b"u").expect_err("beyond it");
        assert_eq!((refused.wait_ms(), refused.limit.as_str(), limiter.refused()), (100, "a", 1));
        assert!(limiter.count(b"v").is_ok(), "others are counted by themselves");
        clock.advance(Duration::from_millis(99));
        assert_eq!(limiter.count(b"u").map_err(|refused| refused.wait_ms()), Err(1));
        clock.advance(Duration::from_millis(1));
        let standing = limiter.count(b"u").expect("after the wait");
        assert_eq!((standing.burst, standing.window_s, standing.remaining), (3, Some(1), 0));
        clock.advance(Duration::from_secs(60));
        assert_eq!((0..9).filter(|_| limiter.count(b"u").is_ok()).count(), 3, "a pause saves up no more");
    }

    #[test]
    fn who_waits_as_long_as_is_said_is_never_refused() {
        for (rate, burst) in [("7/s", 1), ("1000/m", 4), ("3/h", 2), ("10000000/s", 1)] {
            let (limiter, clock) = limiter(rate, burst);
            for _ in 0..100 {
                if let Err(refused) = limiter.count(b"u") {
                    clock.advance(Duration::from_millis(refused.wait_ms()));
                    assert!(limiter.count(b"u").is_ok(), "{rate}");
                }
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_subjects_that_are_gone_make_room() {
        let (limiter, clock) = limiter("1/s", 1);
        for number in 0..3 * SUBJECTS_MAX as u64 {
            let _ = limiter.count(&number.to_le_bytes());
        }
        assert!(limiter.counting.len() <= SUBJECTS_MAX + 16);
        assert!(limiter.refused() > 0, "those without a count of their own share one");
        clock.advance(Duration::from_secs(3));
        *limiter.swept_at.lock().expect("not poisoned") = None;
        let _ = limiter.count(b"one that finds no room");
        let _ = limiter.count(b"another one, if that one did");
        limiter.counting.retain_recent();
        assert!(limiter.counting.len() <= 2);
    }
}
