//! How many operation ids must not be forgotten yet: when they fill all the room that there is, new ones are refused.
//! As `locked_count` of `core/src/operations.rs`, on the list of ids in the order of their stamps.

use std::time::Duration;

use scarce_core::state::StateSettings;
use scarce_core::types::TimeMs;
use scarce_engine::Throttle;
use scarce_engine::engine::Failure;

use super::connection::Link;
use super::keys::Keys;

/// How often they are counted, and how often where that takes a search of a list that is long.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
const SEARCH_INTERVAL: Duration = Duration::from_secs(5);

/// From how many ids on a list is long: Redis goes through it from one of its ends.
const LONG: u64 = 100_000;

/// Where the operator put the clock back: what was logged up to a sequence counts as made at a time at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved(Option<(u64, TimeMs)>);

impl Moved {
    /// Reads the field of `meta`.
    pub(super) fn read(text: Option<&str>) -> Self {
        let words = text.and_then(|text| text.split_once(' '));
        Self(words.and_then(|(sequence, to)| Some((sequence.parse().ok()?, to.parse().ok()?))))
    }

    /// When an id was made, by an element of the list: its stamp, sequence and key.
    fn made_at(self, element: &str) -> Option<TimeMs> {
        let mut words = element.split(' ');
        let at: TimeMs = words.next()?.parse().ok()?;
        let sequence: u64 = words.next()?.parse().ok()?;
        Some(self.0.filter(|(through, _)| sequence <= *through).map_or(at, |(_, to)| at.min(to)))
    }
}

/// The count, and how often it is taken.
#[derive(Debug)]
pub(super) struct LockedIds {
    pub(super) count: u64,
    counts: Throttle,
    searches: Throttle,
}

impl Default for LockedIds {
    fn default() -> Self {
        let (counts, searches) = (Throttle::new(COUNT_INTERVAL), Throttle::new(SEARCH_INTERVAL));
        Self { count: 0, counts, searches }
    }
}

impl LockedIds {
    /// Counts, if the last time is long enough ago.
    ///
    /// # Errors
    /// When the server cannot say.
    pub(super) async fn count_again(
        &mut self,
        link: &Link,
        keys: &Keys,
        settings: &StateSettings,
        (now, moved): (TimeMs, Moved),
    ) -> Result<(), Failure> {
        if !self.counts.pass() {
            return Ok(());
        }
        let list = List {
            link,
            key: keys.of("operations_by"),
            first_locked: now.saturating_sub(settings.window_ms_min),
        };
        let length: u64 = link.send(redis::cmd("LLEN").arg(&list.key)).await?;
        // Mostly all or none of them are; that is seen at the ends, where Redis need not search.
        if length == 0 || !list.is_locked(-1, moved).await? {
            self.count = 0;
        } else if list.is_locked(0, moved).await? {
            self.count = length;
        } else if length < LONG || self.searches.pass() {
            self.count = length - list.first_locked(length, moved).await?;
        }
        Ok(())
    }
}

/// The list of ids.
struct List<'a> {
    link: &'a Link,
    key: String,
    /// Ids that were made later are locked.
    first_locked: TimeMs,
}

impl List<'_> {
    async fn is_locked(&self, place: i64, moved: Moved) -> Result<bool, Failure> {
        let mut index = redis::cmd("LINDEX");
        index.arg(&self.key).arg(place);
        let element: Option<String> = self.link.send(&index).await?;
        let made = element.and_then(|element| moved.made_at(&element));
        // What was forgotten since the length was asked is not locked.
        Ok(made.is_some_and(|made| made > self.first_locked))
    }

    /// The place of the first that is locked, of so many.
    async fn first_locked(&self, length: u64, moved: Moved) -> Result<u64, Failure> {
        let (mut first, mut end) = (0, length);
        while first < end {
            let middle = first.midpoint(end);
            let place = i64::try_from(middle).unwrap_or(i64::MAX);
            if self.is_locked(place, moved).await? { end = middle } else { first = middle + 1 }
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_before_the_clock_was_put_back_count_as_made_then() {
        let moved = Moved::read(Some("7 1000"));
        assert_eq!(moved.made_at("5000 7 a"), Some(1_000));
        assert_eq!(moved.made_at("5000 8 n b"), Some(5_000));
        assert_eq!(Moved::read(Some("")), Moved::default());
        assert_eq!(Moved::default().made_at("5000 7 a"), Some(5_000));
    }
}
