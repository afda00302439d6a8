//! What was used of a limit, for each subject that is counted. The memory is bounded, whatever callers name.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;

/// How many parts there are, each with its own lock.
const PARTS: usize = 16;

/// How many subjects are counted each by itself; further ones share one count per part.
pub(crate) const SUBJECTS_MAX: usize = 65_536;

/// A subject by a number that callers cannot choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Subject(pub(crate) u64);

/// The subject of those that come when no more can be counted by themselves.
const OTHERS: Subject = Subject(0);

/// Counts by subject.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    parts: [Mutex<BTreeMap<Subject, Nanos>>; PARTS],
    /// Whether subjects have to share a count.
    pub(crate) is_full: Arc<AtomicBool>,
}

impl Counts {
    fn part(&self, subject: Subject) -> MutexGuard<'_, BTreeMap<Subject, Nanos>> {
        let at = usize::try_from(subject.0 % PARTS as u64).unwrap_or_default();
        self.parts[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> impl Iterator<Item = MutexGuard<'_, BTreeMap<Subject, Nanos>>> {
        self.parts.iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StateStore for Counts {
    type Key = Subject;

    fn measure_and_replace<T, F, E>(&self, subject: &Subject, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut part = self.part(*subject);
        let mut subject = *subject;
        if part.len() >= SUBJECTS_MAX / PARTS && !part.contains_key(&subject) {
            self.is_full.store(true, Ordering::Relaxed);
            subject = OTHERS;
        }
        let (measured, next) = measure(part.get(&subject).copied())?;
        part.insert(subject, next);
        Ok(measured)
    }
}

impl ShrinkableKeyedStateStore<Subject> for Counts {
    fn retain_recent(&self, drop_below: Nanos) {
        self.all().for_each(|mut part| part.retain(|_, used_until| *used_until > drop_below));
    }

    fn len(&self) -> usize {
        self.all().map(|part| part.len()).sum()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
