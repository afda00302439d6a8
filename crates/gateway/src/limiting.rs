//! The limits of rate that the ports apply. They can change while the server runs.

use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use scarce_limits::{Limits, Rule};

/// The limits in effect, on all ports together.
#[derive(Debug, Default)]
pub struct Limiting {
    limits: ArcSwapOption<Limits>,
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
            self.limits.store((!rules.is_empty()).then(|| Arc::new(Limits::new(rules))));
        }
        !is_same
    }

    /// The limits, if there are any.
    #[inline]
    pub fn get(&self) -> Guard<Option<Arc<Limits>>> {
        self.limits.load()
    }
}
