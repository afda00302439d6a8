//! Measurements: latencies and outcomes.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The lower bound and resolution of latencies.
const LEAST_NS: u64 = 1_000;

/// The upper bound of latencies: far more than a connection waits.
const MOST_NS: u64 = 600_000_000_000;

/// Latencies in nanoseconds, with three significant digits.
#[derive(Debug)]
pub struct Tally {
    latencies: Histogram<u64>,
    outcomes: BTreeMap<String, u64>,
}

/// The percentiles to display.
pub const PERCENTILES: [(&str, f64); 4] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9)];

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// Nothing measured yet.
    #[must_use]
    pub fn new() -> Self {
        let latencies = Histogram::new_with_bounds(LEAST_NS, MOST_NS, 3)
            .unwrap_or_else(|_| unreachable!("these bounds and three digits are allowed"));
        Self { latencies, outcomes: BTreeMap::new() }
    }

    /// Counts an answer.
    pub(crate) fn record(&mut self, latency: Duration, outcome: &str) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.latencies.saturating_record(nanoseconds);
        match self.outcomes.get_mut(outcome) {
            Some(count) => *count += 1,
            None => {
                self.outcomes.insert(outcome.to_owned(), 1);
            }
        }
    }

    /// Adds the measurements of another connection.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, so this always succeeds.
        let _ = self.latencies.add(&other.latencies);
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(outcome.clone()).or_default() += count;
        }
    }

    /// The number of answers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.latencies.len()
    }

    /// How many answers had each outcome.
    #[must_use]
    pub fn outcomes(&self) -> &BTreeMap<String, u64> {
        &self.outcomes
    }

    /// The latency that this percentage of answers did not exceed, in microseconds.
    #[must_use]
    pub fn percentile_us(&self, percentile: f64) -> f64 {
        Duration::from_nanos(self.latencies.value_at_percentile(percentile)).as_secs_f64() * 1e6
    }

    /// The maximum, in microseconds.
    #[must_use]
    pub fn max_us(&self) -> f64 {
        Duration::from_nanos(self.latencies.max()).as_secs_f64() * 1e6
    }

    /// The mean, in microseconds.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        self.latencies.mean() / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_all_connections_together() {
        let (mut fast, mut slow) = (Tally::new(), Tally::new());
        (0..90).for_each(|_| fast.record(Duration::from_millis(1), "APPLIED"));
        (0..9).for_each(|_| slow.record(Duration::from_millis(20), "SOLD_OUT"));
        slow.record(Duration::from_secs(3), "APPLIED");
        fast.add(&slow);
        let is_near = |percentile: f64, us: f64| (fast.percentile_us(percentile) / us - 1.0).abs() < 0.002;
        assert!(is_near(50.0, 1e3) && is_near(90.0, 1e3) && is_near(99.0, 20e3) && is_near(99.9, 3e6));
        assert!((fast.max_us() / 3e6 - 1.0).abs() < 0.002 && (fast.mean_us() / 32_700.0 - 1.0).abs() < 0.01);
        assert_eq!(fast.count(), 100);
        assert_eq!(fast.outcomes()["APPLIED"], 91);
    }
}
