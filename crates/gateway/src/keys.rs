//! The keys of callers, as they are now. They change while the server runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use scarce_access::{Denial, Key, KeyId, Ring, Shown, Standing};
use scarce_core::types::TimeMs;
use scarce_engine::stop::Waker;
use tokio::sync::watch;

use super::caller::Grant;

/// The keys, and those of them that are in use.
pub struct Keys {
    now: RwLock<Known>,
    are_there: AtomicBool,
    /// Counts changes, for those that look now and then; reports them to those that wait.
    count: AtomicU64,
    changes: watch::Sender<u64>,
    wakers: Mutex<Vec<Waker>>,
}

#[derive(Default)]
struct Known {
    ring: Ring,
    grants: BTreeMap<KeyId, Arc<Grant>>,
    /// Whether they are those of a store: what is there at the start is no change.
    is_loaded: bool,
}

/// A key that is another than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyChange {
    pub(crate) id: KeyId,
    pub(crate) name: String,
    pub(crate) what: &'static str,
}

impl Known {
    /// Has a grant for each key that can be used, and for no other; whether that is a change. A key that is not the same as
    /// before gets another one.
    fn settle(&mut self, is_same: impl Fn(&Key) -> bool, now: TimeMs) -> bool {
        let Self { ring, grants, .. } = self;
        let shared = ring.shared_namespaces();
        let mut former = std::mem::take(grants);
        let mut has_changed = false;
        for key in ring.keys().filter(|key| key.standing(now) == Standing::Active) {
            let known = if is_same(key) { former.remove(&key.id) } else { None };
            let grant = known.unwrap_or_else(|| {
                has_changed = true;
                tracing::info!(key = %key.id, name = key.name, "a key of a caller is admitted");
                Arc::new(Grant::new(key))
            });
            grant.follow(key, shared.contains(key.namespace.as_str()));
            grants.insert(key.id, grant);
        }
        former.values().for_each(|grant| grant.end());
        has_changed || !former.is_empty()
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            now: RwLock::default(),
            are_there: AtomicBool::new(false),
            count: AtomicU64::new(0),
            changes: watch::Sender::new(0),
            wakers: Mutex::default(),
        }
    }
}

impl Keys {
    /// Whether there is any key, be it over.
    #[must_use]
    pub fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Acquire)
    }

    /// How often they changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Wakes a thread after each change.
    pub fn wake_on_change(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn admit(&self, shown: &Shown, now: TimeMs) -> Result<Arc<Grant>, Denial> {
        let known = self.now.read().unwrap_or_else(PoisonError::into_inner);
        let key = known.ring.admit(shown, now)?;
        let grant = known.grants.get(&key.id).ok_or(Denial::Over(Standing::Expired))?;
        grant.note_use(now);
        Ok(grant.clone())
    }

    /// Takes other keys, and says what changed. Those who came with one that is gone, over or another one than before may not go on.
    pub(crate) fn replace(&self, ring: Ring, now: TimeMs) -> Vec<KeyChange> {
        let mut known = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut known.ring, ring);
        // Once there are keys, everyone must show one: their loss must not open the server.
        let are_there = self.are_there() || !known.ring.is_empty();
        let is_same = |key: &Key| former.get(key.id).is_some_and(|former| key.is_as(former));
        let has_changed = known.settle(is_same, now) || known.ring != former;
        let is_first = !std::mem::replace(&mut known.is_loaded, true);
        let changes = if is_first { Vec::new() } else { changes(&former, &known.ring) };
        self.are_there.store(are_there, Ordering::Release);
        drop(known);
        if has_changed {
            self.tell();
        }
        changes
    }

    /// Takes the time: ends those who came with a key that has expired. A key that had expired only because the clock was
    /// wrong can be used again.
    pub fn keep_time(&self, now: TimeMs) {
        let mut known = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let has_changed = known.settle(|_| true, now);
        drop(known);
        if has_changed {
            self.tell();
        }
    }

    /// When each key in use was last shown, to the hour; 0 if not yet.
    #[must_use]
    pub fn last_uses(&self) -> BTreeMap<KeyId, TimeMs> {
        let known = self.now.read().unwrap_or_else(PoisonError::into_inner);
        known.grants.iter().map(|(id, grant)| (*id, grant.used_ms.load(Ordering::Relaxed))).collect()
    }

    fn tell(&self) {
        let count = self.count.fetch_add(1, Ordering::AcqRel) + 1;
        self.changes.send_replace(count);
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|wake| wake());
    }
}

/// What is another in a ring than in the one before.
fn changes(former: &Ring, ring: &Ring) -> Vec<KeyChange> {
    let change = |key: &Key, what| KeyChange { id: key.id, name: key.name.clone(), what };
    let of_now = ring.keys().filter_map(|key| match former.get(key.id) {
        None => Some(change(key, "key created")),
        Some(before) if before.revoked_ms.is_none() && key.revoked_ms.is_some() => {
            Some(change(key, "key revoked"))
        }
        Some(before) if before.replaced_by != key.replaced_by => Some(change(key, "key replaced")),
        Some(before) if before != key => Some(change(key, "key changed")),
        Some(_) => None,
    });
    let gone = former.keys().filter(|key| ring.get(key.id).is_none());
    of_now.chain(gone.map(|key| change(key, "key removed"))).collect()
}
