//! What subscribers with the same key have together, so that no key takes what others need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::hub::Figure;

/// What the subscribers with one key have together.
#[derive(Debug, Default)]
pub(crate) struct Share {
    pub(crate) subscriptions: Figure,
    /// Channels that were not held before one of them asked.
    pub(crate) channels: Figure,
}

/// The shares of all keys that are in use.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    by_key: Mutex<BTreeMap<String, Weak<Share>>>,
}

impl Shares {
    /// The share of a key.
    pub(crate) fn of(&self, key: &str) -> Arc<Share> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = by_key.get(key).and_then(Weak::upgrade) {
            return share;
        }
        by_key.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Share::default());
        by_key.insert(key.to_owned(), Arc::downgrade(&share));
        share
    }
}

/// Whether there is room for one more, of `all` at most. A key has no more than it leaves to others; callers without a key
/// are all the same to the server.
pub(crate) fn has_room(all_max: u64, all: &Figure, own: Option<&Figure>) -> bool {
    let left = all_max.saturating_sub(all.get());
    left > 0 && own.is_none_or(|own| own.get() < left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_half_of_what_is_left_at_most() {
        let (all, shares) = (Figure::default(), Shares::default());
        let take_all = |key: &str| {
            let share = shares.of(key);
            while has_room(100, &all, Some(&share.channels)) {
                all.add(1);
                share.channels.add(1);
            }
            share
        };
        let taken = [take_all("a"), take_all("b"), take_all("c")];
        assert_eq!(taken.each_ref().map(|share| share.channels.get()), [50, 25, 13]);
        assert!(has_room(100, &all, None), "who has no key is not held back by those who have one");
        assert!(Arc::ptr_eq(&taken[0], &shares.of("a")));
        drop(taken);
        assert_eq!(shares.of("a").channels.get(), 0, "a share that nobody has is forgotten");
    }
}
