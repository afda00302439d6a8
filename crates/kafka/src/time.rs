//! Times as text, and waiting for an instant.

use std::time::Instant;

use jiff::Timestamp;
use scarce_core::types::TimeMs;

/// A stamp in RFC 3339 format, in UTC; `None` if its year does not have four digits.
pub(crate) fn rfc_3339(at: TimeMs) -> Option<String> {
    let at = i64::try_from(at).ok()?;
    Timestamp::from_millisecond(at).ok().map(|at| at.to_string())
}

/// Waits until an instant; forever if it is `None`.
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
