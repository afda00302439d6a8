//! How many requests of a subject are in progress. The memory is that of the requests themselves.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::limiter::{Refused, Standing};
use super::rule::Rule;

/// How many parts there are, each with its own lock.
const PARTS: usize = 16;

/// When to try again: when one of the requests ends is not known.
const WAIT: Duration = Duration::from_millis(100);

/// A limit of concurrency, with what is in progress.
#[derive(Debug)]
pub(crate) struct Concurrency {
    pub(crate) rule: Rule,
    max: NonZeroU32,
    progress: Arc<InProgress>,
    /// Callers cannot choose which subjects share a number.
    seed: RandomState,
    refused: AtomicU64,
}

/// How many requests of each subject are in progress, as far as there are any.
#[derive(Debug, Default)]
struct InProgress {
    parts: [Mutex<BTreeMap<u64, u32>>; PARTS],
}

/// A request in progress. It has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    progress: Arc<InProgress>,
    subject: u64,
}

impl InProgress {
    fn part(&self, subject: u64) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        let at = usize::try_from(subject % PARTS as u64).unwrap_or_default();
        self.parts[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut part = self.progress.part(self.subject);
        let left = part.get_mut(&self.subject).map(|count| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == Some(0) {
            part.remove(&self.subject);
        }
    }
}

impl Concurrency {
    /// What was in progress under the former one still is.
    pub(crate) fn new(rule: Rule, max: NonZeroU32, former: Option<&Self>) -> Self {
        let (progress, seed) = match former {
            Some(former) => (former.progress.clone(), former.seed.clone()),
            None => (Arc::default(), RandomState::new()),
        };
        let refused = former.map_or(0, Self::refused).into();
        Self { rule, max, progress, seed, refused }
    }

    /// Lets a request of a subject begin.
    ///
    /// # Errors
    /// When as many as may be are in progress.
    pub(crate) fn enter(&self, subject: &[u8]) -> Result<(Entered, Standing), Box<Refused>> {
        let subject = self.seed.hash_one(subject);
        let mut part = self.progress.part(subject);
        let count = part.entry(subject).or_default();
        if *count >= self.max.get() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let limit = self.rule.name.clone();
            return Err(Refused { limit, per: self.rule.per, wait: WAIT, standing: self.standing(0) }.into());
        }
        *count += 1;
        let remaining = self.max.get() - *count;
        drop(part);
        let progress = self.progress.clone();
        Ok((Entered { progress, subject }, self.standing(remaining)))
    }

    /// How many requests were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn standing(&self, remaining: u32) -> Standing {
        Standing { limit: self.rule.name.clone(), burst: self.max.get(), window_s: None, remaining }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read;

    #[test]
    fn as_many_as_may_be_are_in_progress_and_what_has_ended_takes_no_memory() {
        let text = "[[limit]]\nname = \"open\"\nper = \"key\"\nconcurrent = 2\n";
        let rule = read(text).expect("a limit").remove(0);
        let limit = Concurrency::new(rule.clone(), rule.concurrent.expect("it has one"), None);
        let (one, standing) = limit.enter(b"u").expect("the first");
        assert_eq!((standing.remaining, standing.burst, standing.window_s), (1, 2, None));
        let (two, _) = limit.enter(b"u").expect("the second");
        let refused = limit.enter(b"u").expect_err("the third");
        assert_eq!((refused.limit.as_str(), refused.wait_ms(), limit.refused()), ("open", 100, 1));
        let other = limit.enter(b"v").expect("others are counted by themselves");
        drop(one);
        let again = limit.enter(b"u").expect("one has ended");
        drop((two, other, again));
        assert!(limit.progress.parts.iter().all(|part| part.lock().expect("a part").is_empty()));
    }
}
