//! How long commands took at each port, for metrics and `INFO`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scarce_core::command::COMMANDS;
use scarce_engine::metrics::DURATION_BOUNDS;

/// Command numbers are below this; 0 stands for atomic batches.
const NUMBERS: usize = 128;

/// One bucket for each bound, and one for what is above all.
const BUCKETS: usize = DURATION_BOUNDS.len() + 1;

/// The bounds in nanoseconds.
const BOUNDS_NS: [u64; DURATION_BOUNDS.len()] = {
    let mut bounds = [0; DURATION_BOUNDS.len()];
    let mut at = 0;
    while at < bounds.len() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
        let bound = (DURATION_BOUNDS[at] * 1e9) as u64;
        bounds[at] = bound;
        at += 1;
    }
    bounds
};

/// The number and the name of each command that is measured.
pub fn measured() -> impl Iterator<Item = (u16, &'static str)> {
    std::iter::once((0, "BATCH")).chain(COMMANDS.iter().map(|spec| (spec.number, spec.name)))
}

/// How long the commands of one number took.
#[derive(Debug, Default)]
struct Slot {
    buckets: [AtomicU64; BUCKETS],
    nanoseconds: AtomicU64,
}

/// How long commands took on one thread of a port, or on all of them.
#[derive(Debug)]
pub struct CommandDurations(Box<[Slot]>);

impl Default for CommandDurations {
    fn default() -> Self {
        Self((0..NUMBERS).map(|_| Slot::default()).collect())
    }
}

impl CommandDurations {
    /// Notes what `count` commands of a number took each.
    pub fn note(&self, number: u16, took: Duration, count: u64) {
        let Some(slot) = self.0.get(usize::from(number)) else { return };
        let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < took_ns);
        slot.buckets[bucket].fetch_add(count, Ordering::Relaxed);
        slot.nanoseconds.fetch_add(took_ns.saturating_mul(count), Ordering::Relaxed);
    }

    fn histogram(&self, number: u16) -> Histogram {
        let Some(slot) = self.0.get(usize::from(number)) else { return Histogram::default() };
        Histogram {
            counts: slot.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed)),
            nanoseconds: slot.nanoseconds.load(Ordering::Relaxed),
        }
    }
}

/// What commands of one number took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    nanoseconds: u64,
}

impl Histogram {
    /// How many fell into each bucket; the last is for what is above all bounds.
    #[must_use]
    pub const fn counts(&self) -> &[u64; BUCKETS] {
        &self.counts
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What they took together.
    #[must_use]
    pub const fn sum(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds)
    }

    /// The bound in microseconds below which so many hundredths of them were; `None` if there were none. Above the
    /// greatest bound, that bound.
    #[must_use]
    pub fn percentile_us(&self, percent: u64) -> Option<u64> {
        let count = self.count();
        let rank = count.saturating_mul(percent).div_ceil(100).max(1);
        let mut below = 0;
        let mut bounds = BOUNDS_NS.iter();
        for in_bucket in self.counts {
            let bound = bounds.next().or(BOUNDS_NS.last())?;
            below += in_bucket;
            if below >= rank {
                return Some(bound / 1_000);
            }
        }
        None
    }

    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum += count);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
    }
}

/// How long commands took, by the port that they came through.
#[derive(Debug, Default)]
pub struct Latencies(Mutex<Vec<(&'static str, Arc<CommandDurations>)>>);

impl Latencies {
    /// Where a thread of a port notes its durations: threads that shared one would wait for each other's cache lines.
    #[must_use]
    pub fn join(&self, port: &'static str) -> Arc<CommandDurations> {
        let its = Arc::<CommandDurations>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((port, its.clone()));
        its
    }

    /// What commands of a number took at a port.
    #[must_use]
    pub fn at(&self, port: &str, number: u16) -> Histogram {
        self.sum(number, |its| its == port)
    }

    /// What they took at all ports.
    #[must_use]
    pub fn of(&self, number: u16) -> Histogram {
        self.sum(number, |_| true)
    }

    fn sum(&self, number: u16, is_meant: impl Fn(&str) -> bool) -> Histogram {
        let mut sum = Histogram::default();
        let joined = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let meant = joined.iter().filter(|(port, _)| is_meant(port));
        meant.for_each(|(_, its)| sum.add(&its.histogram(number)));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_summed_over_threads_and_told_apart_by_port() {
        let latencies = Latencies::default();
        let (first, second, http) = (latencies.join("resp"), latencies.join("resp"), latencies.join("http"));
        first.note(7, Duration::from_micros(50), 3);
        second.note(7, Duration::from_micros(51), 1);
        http.note(7, Duration::from_secs(60), 1);
        let resp = latencies.at("resp", 7);
        assert_eq!((resp.counts()[0], resp.counts()[1], resp.count()), (3, 1, 4));
        assert_eq!(resp.sum(), Duration::from_micros(201));
        assert_eq!(latencies.of(7).counts()[BUCKETS - 1], 1);
        assert_eq!(latencies.of(8), Histogram::default());
        assert_eq!(latencies.at("kafka", 7).count(), 0);
    }

    #[test]
    fn a_percentile_is_the_bound_below_which_so_many_were() {
        let durations = CommandDurations::default();
        assert_eq!(durations.histogram(0).percentile_us(50), None);
        durations.note(0, Duration::from_micros(70), 98);
        durations.note(0, Duration::from_millis(3), 2);
        let histogram = durations.histogram(0);
        assert_eq!(
            [50, 98, 99].map(|percent| histogram.percentile_us(percent)),
            [Some(100), Some(100), Some(5_000)]
        );
        durations.note(0, Duration::from_secs(60), 1_000);
        assert_eq!(durations.histogram(0).percentile_us(99), Some(5_000_000));
    }

    #[test]
    fn every_command_is_measured_under_a_number_of_its_own() {
        assert!(measured().all(|(number, _)| usize::from(number) < NUMBERS));
        assert_eq!(BOUNDS_NS[0], 50_000);
        assert_eq!(BOUNDS_NS[BOUNDS_NS.len() - 1], 5_000_000_000);
    }
}
