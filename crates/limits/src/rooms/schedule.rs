//! The moments at which a room admits: the next free one, and who has one.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scarce_core::types::TimeMs;

const NS_PER_MS: u128 = 1_000_000;

/// The moments of a room.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    state: Mutex<State>,
    /// Callers cannot choose which users share a number.
    seed: RandomState,
}

#[derive(Debug, Default)]
struct State {
    /// The next free moment, in Unix nanoseconds: rates are higher than one in a millisecond.
    next_ns: u128,
    /// The moments of users.
    users: BTreeMap<u64, TimeMs>,
    /// The same by moment, so that those that are over are forgotten.
    order: VecDeque<(TimeMs, u64)>,
}

impl Schedule {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The moment of a user: the one that it has, or the next that is free.
    pub(super) fn join(
        &self,
        user: &str,
        now_ms: TimeMs,
        period: Duration,
        admission_ms: u64,
        users_max: usize,
    ) -> TimeMs {
        let number = self.seed.hash_one(user);
        let mut state = self.state();
        state.forget(now_ms, admission_ms);
        if let Some(admit_ms) = state.users.get(&number) {
            return *admit_ms;
        }
        let admit_ns = state.next_ns.max(u128::from(now_ms) * NS_PER_MS);
        state.next_ns = admit_ns + period.as_nanos().max(1);
        let admit_ms = ms(admit_ns);
        if state.users.len() < users_max {
            state.users.insert(number, admit_ms);
            state.order.push_back((admit_ms, number));
        }
        admit_ms
    }

    /// The next free moment.
    pub(super) fn next_ms(&self) -> TimeMs {
        ms(self.state().next_ns)
    }

    /// No moment before this one is free.
    pub(super) fn resume(&self, next_ms: TimeMs) {
        let mut state = self.state();
        state.next_ns = state.next_ns.max(u128::from(next_ms) * NS_PER_MS);
    }
}

impl State {
    fn forget(&mut self, now_ms: TimeMs, admission_ms: u64) {
        let is_over = |(admit_ms, _): &(TimeMs, u64)| admit_ms.saturating_add(admission_ms) <= now_ms;
        while let Some((_, number)) = self.order.front().copied().filter(is_over) {
            self.order.pop_front();
            self.users.remove(&number);
        }
    }
}

/// In whole milliseconds, never earlier.
fn ms(ns: u128) -> TimeMs {
    TimeMs::try_from(ns.div_ceil(NS_PER_MS)).unwrap_or(TimeMs::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(10);

    #[test]
    fn users_are_admitted_in_the_order_of_arrival_at_the_rate_and_each_has_one_place() {
        let schedule = Schedule::default();
        let join = |user: &str, now_ms| schedule.join(user, now_ms, PERIOD, 60_000, 9);
        assert_eq!((join("a", 1_000), join("b", 1_000), join("c", 1_005)), (1_000, 1_010, 1_020));
        assert_eq!((join("b", 1_006), join("a", 5_000)), (1_010, 1_000), "who asks again keeps its place");
        assert_eq!(join("d", 2_000), 2_000, "a pause saves up nothing");
        assert_eq!(join("e", 2_000), 2_010);
        assert_eq!(join("a", 61_000), 61_000, "its time was over");
        assert_eq!(schedule.next_ms(), 61_010);
        let next = Schedule::default();
        next.resume(schedule.next_ms());
        assert_eq!(next.join("f", 61_000, PERIOD, 60_000, 9), 61_010);
    }

    #[test]
    fn a_million_who_wait_take_bounded_memory_and_no_time_is_lost_to_rounding() {
        let schedule = Schedule::default();
        let period = Duration::from_nanos(33_333);
        let last =
            (0..1_000_001).map(|n| schedule.join(&n.to_string(), 1_000, period, 1_000, 1_000_000)).last();
        assert_eq!(last, Some(1_000 + 33_333));
        let state = schedule.state();
        assert_eq!((state.users.len(), state.order.len()), (1_000_000, 1_000_000));
        drop(state);
        schedule.join("late", 100_000, period, 1_000, 1_000_000);
        assert_eq!(schedule.state().users.len(), 1, "what is over is forgotten");
    }
}
