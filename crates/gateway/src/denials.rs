//! How often callers were turned away, by port and by why.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often callers were turned away. The reasons are those of the audit log.
#[derive(Debug, Default)]
pub struct Denials(Mutex<BTreeMap<(&'static str, &'static str), u64>>);

impl Denials {
    pub(crate) fn note(&self, port: &'static str, reason: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry((port, reason)).or_default() += 1;
    }

    /// The port, the reason and how often, of all that happened.
    #[must_use]
    pub fn counts(&self) -> Vec<(&'static str, &'static str, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|((port, reason), count)| (*port, *reason, *count)).collect()
    }
}
