//! The limits of rate that the ports apply. They can change while the server runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwapOption, Guard};
use scarce_limits::{Limits, Rule};

/// The limits in effect, on all ports together.
#[derive(Debug, Default)]
pub struct Limiting {
    limits: ArcSwapOption<Limits>,
    /// Whether there are limits of concurrency: most servers have none, and each command asks.
    bounds_progress: AtomicBool,
}

impl Limiting {
    /// Changes the limits. What was used is forgotten, unless they are the same. Whether they are others.
    pub fn set(&self, rules: Vec<Rule>) -> bool {
        let current = self.limits.load();
        let is_same = match &*current {
            Some(limits) => limits.rules().eq(&rules),
            None => rules.is_empty(),
        };
        if !is_same {
            let bounds_progress = rules.iter().any(|rule| rule.concurrent.is_some());
            self.bounds_progress.store(bounds_progress, Ordering::Release);
            self.limits.store((!rules.is_empty()).then(|| Arc::new(Limits::new(rules))));
        }
        !is_same
    }

    /// Whether there are limits of concurrency.
    #[inline]
    pub fn bounds_progress(&self) -> bool {
        self.bounds_progress.load(Ordering::Acquire)
    }

    /// The limits, if there are any.
    #[inline]
    pub fn get(&self) -> Guard<Option<Arc<Limits>>> {
        self.limits.load()
    }
}
