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

/// From how many elements on a list is long: Redis goes through it from one of its ends.
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

    /// When the ids of an element were made.
    fn made_at(self, element: &Element) -> TimeMs {
        let Element { at, sequence, .. } = *element;
        self.0.filter(|(through, _)| sequence <= *through).map_or(at, |(_, to)| at.min(to))
    }
}

/// An element of the list: ids that were made at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    at: TimeMs,
    sequence: u64,
    /// The numbers of its first id, and of the one behind its last.
    first: u64,
    end: u64,
}

impl Element {
    /// Reads stamp, sequence, number and ids, a line each.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ' ');
        let mut number = || words.next()?.parse().ok();
        let (at, sequence, first) = (number()?, number()?, number()?);
        let count = words.next()?.split('\n').count() as u64;
        Some(Self { at, sequence, first, end: first + count })
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
        let (first, last) = (list.element(0).await?, list.element(-1).await?);
        let Some((first, last)) = first.zip(last).filter(|(_, last)| list.is_locked(last, moved)) else {
            self.count = 0;
            return Ok(());
        };
        // Mostly all or none of them are; that is seen at the ends, where Redis need not search.
        if list.is_locked(&first, moved) {
            self.count = last.end.saturating_sub(first.first);
        } else if length < LONG || self.searches.pass() {
            let locked = list.first_locked(length, moved).await?;
            self.count = last.end.saturating_sub(locked.map_or(last.end, |element| element.first));
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
    /// The element of a place; none where it was forgotten since the length was asked.
    async fn element(&self, place: i64) -> Result<Option<Element>, Failure> {
        let mut index = redis::cmd("LINDEX");
        index.arg(&self.key).arg(place);
        let text: Option<String> = self.link.send(&index).await?;
        Ok(text.as_deref().and_then(Element::read))
    }

    fn is_locked(&self, element: &Element, moved: Moved) -> bool {
        moved.made_at(element) > self.first_locked
    }

    /// The first that is locked, of so many.
    async fn first_locked(&self, length: u64, moved: Moved) -> Result<Option<Element>, Failure> {
        let (mut first, mut end, mut locked) = (0, length, None);
        while first < end {
            let middle = first.midpoint(end);
            let element = self.element(i64::try_from(middle).unwrap_or(i64::MAX)).await?;
            match element.filter(|element| self.is_locked(element, moved)) {
                Some(element) => (end, locked) = (middle, Some(element)),
                None => first = middle + 1,
            }
        }
        Ok(locked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_before_the_clock_was_put_back_count_as_made_then() {
        let moved = Moved::read(Some("7 1000"));
        let element = |text| Element::read(text).expect("an element");
        assert_eq!(moved.made_at(&element("5000 7 1 a")), 1_000);
        assert_eq!(moved.made_at(&element("5000 8 1 n b")), 5_000);
        assert_eq!(Moved::read(Some("")), Moved::default());
        assert_eq!(Moved::default().made_at(&element("5000 7 1 a")), 5_000);
    }

    #[test]
    fn an_element_says_how_many_ids_it_has() {
        let element = Element { at: 5_000, sequence: 7, first: 40, end: 43 };
        assert_eq!(Element::read("5000 7 40 a\nshop b\nc"), Some(element));
        assert_eq!(Element::read("5000 7 a"), None);
    }
}
