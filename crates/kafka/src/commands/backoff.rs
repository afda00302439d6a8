//! How long to wait before something that failed is tried again.

use std::time::Duration;

use scarce_engine::random;

/// The first delay.
const FIRST: Duration = Duration::from_millis(50);

/// The longest.
const LONGEST: Duration = Duration::from_secs(5);

/// The delay after so many failures in a row: twice as long each time, and shorter by chance by up to a half, so
/// that not all who failed together come again together.
pub(crate) fn delay(failures: u32) -> Duration {
    let whole = FIRST.saturating_mul(1 << failures.clamp(1, 16).saturating_sub(1)).min(LONGEST);
    // Without chance they do come together, which is no more than unkind.
    let chance = random::bytes::<1>().map_or(0, |[byte]| u32::from(byte));
    whole - whole * chance / 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_a_bound() {
        for failures in 0..100 {
            let delay = delay(failures);
            assert!(delay >= FIRST / 2 && delay <= LONGEST, "{failures}: {delay:?}");
        }
        assert!(delay(1) <= FIRST);
        assert!(delay(50) > LONGEST / 2 - Duration::from_millis(1));
    }
}
