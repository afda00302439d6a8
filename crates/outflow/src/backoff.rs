//! How long to wait before a retry.

use std::time::Duration;

use scarce_engine::random;

/// Exponential backoff with jitter: each delay is twice the one before, up to a bound, and shortened at random by up to
/// a half, so that callers that failed together do not retry together.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    tries: u32,
}

impl Backoff {
    /// Delays that start with `first` and grow up to `max`.
    #[must_use]
    pub const fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, tries: 0 }
    }

    /// The delay after one more failure.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.of_try(self.tries);
        self.tries = self.tries.saturating_add(1);
        delay
    }

    /// Starts over, after a success.
    pub fn reset(&mut self) {
        self.tries = 0;
    }

    /// The delay after this many earlier failures.
    #[must_use]
    pub fn of_try(&self, tries: u32) -> Duration {
        let whole = self.first.saturating_mul(1_u32.checked_shl(tries).unwrap_or(u32::MAX)).min(self.max);
        // Without randomness the whole delay is used.
        let [chance] = random::bytes::<1>().unwrap_or([u8::MAX]);
        whole / 2 + whole.mul_f64(f64::from(chance) / f64::from(u8::MAX) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_their_bound_and_begin_anew() {
        let (first, max) = (Duration::from_millis(100), Duration::from_secs(10));
        let mut backoff = Backoff::new(first, max);
        for tries in 0..80 {
            let whole = Duration::from_millis(100 * (1 << tries.min(20))).min(max);
            let delay = backoff.next_delay();
            assert!(delay >= whole / 2 && delay <= whole, "{tries}: {delay:?}");
        }
        backoff.reset();
        assert!(backoff.next_delay() <= first);
    }
}
