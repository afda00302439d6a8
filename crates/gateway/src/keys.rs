//! The keys of callers, as they are now. They change while the server runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use scarce_access::{Denial, KeyId, Ring, Shown, Standing};
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

    /// Takes other keys. Those who came with one that is gone, over or another one than before may not go on.
    pub(crate) fn replace(&self, ring: Ring, now: TimeMs) {
        let mut known = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let mut grants = BTreeMap::new();
        for key in ring.keys().filter(|key| key.standing(now) == Standing::Active) {
            let is_known = known.ring.get(key.id).is_some_and(|former| key.is_as(former));
            let grant = if is_known { known.grants.remove(&key.id) } else { None };
            let grant = grant.unwrap_or_else(|| {
                tracing::info!(key = %key.id, name = key.name, "a key of a caller is admitted");
                Arc::new(Grant::new(key))
            });
            grant.follow(key);
            grants.insert(key.id, grant);
        }
        let has_changed = known.ring != ring || !known.grants.is_empty();
        known.grants.values().for_each(|grant| grant.end());
        // Once there are keys, everyone must show one: their loss must not open the server.
        let are_there = self.are_there() || !ring.is_empty();
        *known = Known { ring, grants };
        self.are_there.store(are_there, Ordering::Release);
        drop(known);
        if has_changed {
            self.tell();
        }
    }

    /// Ends those whose time is over.
    pub fn end_expired(&self, now: TimeMs) {
        let expired = {
            let mut known = self.now.write().unwrap_or_else(PoisonError::into_inner);
            let Known { ring, grants } = &mut *known;
            let is_active =
                |id: &KeyId| ring.get(*id).is_some_and(|key| key.standing(now) == Standing::Active);
            let before = grants.len();
            grants.retain(|id, grant| {
                let is_active = is_active(id);
                if !is_active {
                    grant.end();
                }
                is_active
            });
            before != grants.len()
        };
        if expired {
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
