//! The delays of retries.

use std::time::Duration;

use scarce_outflow::Backoff;

use crate::DeliveryOptions;

/// The delay after this many failures. A receiver may ask for a longer one, up to a limit.
pub(crate) fn delay(options: &DeliveryOptions, attempts: u64, asked: Option<Duration>) -> Duration {
    let backoff = Backoff::new(options.retry_first, options.retry_max);
    let failures_before = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    let own = backoff.of_try(failures_before);
    asked.map_or(own, |asked| own.max(asked.min(options.retry_max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_may_ask_for_a_longer_delay_up_to_the_bound() {
        let options = DeliveryOptions::default();
        assert!(delay(&options, 1, None) <= Duration::from_secs(1));
        assert!(delay(&options, 1, None) >= Duration::from_millis(500));
        assert!(delay(&options, 19, None) >= Duration::from_secs(1_800));
        assert_eq!(delay(&options, 1, Some(Duration::from_secs(90))), Duration::from_secs(90));
        assert_eq!(delay(&options, 1, Some(Duration::from_secs(90_000))), Duration::from_secs(3_600));
        assert!(delay(&options, 6, Some(Duration::ZERO)) >= Duration::from_secs(16));
    }
}
