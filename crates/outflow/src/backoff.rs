//! How long to wait before the next try.

use std::time::Duration;

use scarce_engine::random;

/// Delays that double from try to try up to a bound, each cut by chance to between a half and the whole, so that
/// those who failed together do not come again together.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    tries: u32,
}

impl Backoff {
    /// Delays from `first` on, up to `max`.
    #[must_use]
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, tries: 0 }
    }

    /// The delay after one more failure.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.of_try(self.tries);
        self.tries = self.tries.saturating_add(1);
        delay
    }

    /// Begins anew, after a success.
    pub fn reset(&mut self) {
        self.tries = 0;
    }

    /// The delay after so many earlier failures.
    #[must_use]
    pub fn of_try(&self, tries: u32) -> Duration {
        let whole = self.first.saturating_mul(1_u32.checked_shl(tries).unwrap_or(u32::MAX)).min(self.max);
        // Without randomness the whole delay is as right as any part of it.
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
