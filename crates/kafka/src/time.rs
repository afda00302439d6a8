//! Times as text, and waiting for one.

use std::time::Instant;

use jiff::Timestamp;
use scarce_core::types::TimeMs;

/// A stamp as RFC 3339 has it, in UTC; none where it is too far away to be a date of four digits.
pub(crate) fn rfc_3339(at: TimeMs) -> Option<String> {
    let at = i64::try_from(at).ok()?;
    Timestamp::from_millisecond(at).ok().map(|at| at.to_string())
}

/// Waits until then; for ever where there is no such time.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_dates() {
        assert_eq!(rfc_3339(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(rfc_3339(1_795_198_538_093).as_deref(), Some("2026-11-20T18:15:38.093Z"));
        assert_eq!(rfc_3339(1 << 52), None);
    }
}
