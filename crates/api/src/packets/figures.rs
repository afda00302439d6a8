//! Statistics on how fair amounts are.

#![allow(clippy::cast_precision_loss, reason = "figures for people; sums are exact until the last step")]

use serde_json::{Value, json};

/// Statistics of a set of amounts.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The smallest amount.
    pub min: u64,
    /// The largest amount.
    pub max: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median: half of the amounts are at most this; for an even count, the mean of the middle two.
    pub median: f64,
    /// The standard deviation of these amounts, not of the distribution they were drawn from.
    pub standard_deviation: f64,
    /// The Gini coefficient: 0 if all are equal, towards 1 if one has everything.
    pub gini: f64,
    /// The largest amount over the sum.
    pub largest_share: f64,
}

impl Figures {
    /// The statistics of amounts; `None` if there are no amounts or their sum is zero.
    #[must_use]
    pub fn of(amounts: &[u64]) -> Option<Self> {
        let mut sorted = amounts.to_vec();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let total: u128 = sorted.iter().map(|amount| u128::from(*amount)).sum();
        if total == 0 {
            return None;
        }
        let count = sorted.len() as f64;
        let mean = total as f64 / count;
        let variance = sorted.iter().map(|amount| (*amount as f64 - mean).powi(2)).sum::<f64>() / count;
        Some(Self {
            min,
            max,
            mean,
            median: median(&sorted),
            standard_deviation: variance.sqrt(),
            gini: gini(&sorted, total),
            largest_share: max as f64 / total as f64,
        })
    }

    /// The statistics by name.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "min": self.min,
            "max": self.max,
            "mean": self.mean,
            "median": self.median,
            "standard_deviation": self.standard_deviation,
            "gini": self.gini,
            "largest_share": self.largest_share,
        })
    }
}

fn median(sorted: &[u64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1] as f64, sorted[middle] as f64),
        _ => sorted[middle] as f64,
    }
}

/// (2 Σ i·xᵢ) ÷ (n Σ xᵢ) − (n + 1) ÷ n, over the amounts in ascending order, i from 1.
fn gini(sorted: &[u64], total: u128) -> f64 {
    let weighted: u128 = (1_u128..).zip(sorted).map(|(rank, amount)| rank * u128::from(*amount)).sum();
    let count = sorted.len() as u128;
    // Both products are below 2^94, so the difference is exact.
    let (twice, even) = (2 * weighted, (count + 1) * total);
    (twice - even) as f64 / (count * total) as f64
}

/// The number of amounts in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The lower end of the range, inclusive.
    pub from: u64,
    /// The upper end of the range, inclusive.
    pub through: u64,
    /// The number of amounts in it.
    pub count: u64,
}

/// A histogram: equally wide ranges from the smallest to the largest amount, at most `buckets_max` of them.
#[must_use]
pub fn histogram(amounts: &[u64], buckets_max: u64) -> Vec<Bucket> {
    let (Some(&min), Some(&max)) = (amounts.iter().min(), amounts.iter().max()) else { return Vec::new() };
    let width = (max - min + 1).div_ceil(buckets_max.max(1));
    let last = (max - min) / width;
    let bucket = |at: u64| {
        let from = min + at * width;
        Bucket { from, through: (from + width - 1).min(max), count: 0 }
    };
    let mut buckets: Vec<_> = (0..=last).map(bucket).collect();
    for amount in amounts {
        if let Some(bucket) = usize::try_from((amount - min) / width).ok().and_then(|at| buckets.get_mut(at))
        {
            bucket.count += 1;
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(first: f64, second: f64) -> bool {
        (first - second).abs() < 1e-12
    }

    #[test]
    fn figures_of_amounts_that_were_reckoned_by_hand() {
        let figures = Figures::of(&[3, 1, 2, 10]).expect("figures");
        assert_eq!((figures.min, figures.max), (1, 10));
        assert!(is_near(figures.mean, 4.0) && is_near(figures.median, 2.5));
        // Squares of the distances: 9, 4, 1, 36.
        assert!(is_near(figures.standard_deviation, 12.5_f64.sqrt()));
        // 2 · (1·1 + 2·2 + 3·3 + 4·10) ÷ (4 · 16) − 5 ÷ 4
        assert!(is_near(figures.gini, 108.0 / 64.0 - 1.25));
        assert!(is_near(figures.largest_share, 0.625));
        assert!(is_near(Figures::of(&[5, 5, 5]).expect("figures").gini, 0.0));
        assert_eq!(Figures::of(&[]), None);
        assert_eq!(Figures::of(&[0]), None);
    }

    #[test]
    fn figures_of_the_largest_amounts_do_not_overflow() {
        let largest = (1_u64 << 53) - 1;
        let figures = Figures::of(&vec![largest; 1_000]).expect("figures");
        assert!(is_near(figures.gini, 0.0) && figures.median >= 9e15);
    }

    #[test]
    fn every_amount_is_in_one_bucket() {
        let amounts = [1, 2, 3, 10, 11, 30];
        let buckets = histogram(&amounts, 3);
        assert_eq!(buckets.iter().map(|bucket| bucket.count).collect::<Vec<_>>(), [4, 1, 1]);
        assert_eq!((buckets[0].from, buckets[0].through, buckets[2].through), (1, 10, 30));
        for max in 1..40 {
            let buckets = histogram(&amounts, max);
            assert!(buckets.len() as u64 <= max);
            assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 6);
            assert!(buckets.windows(2).all(|pair| pair[0].through + 1 == pair[1].from));
        }
        assert_eq!(histogram(&[7, 7], 10), [Bucket { from: 7, through: 7, count: 2 }]);
        assert_eq!(histogram(&[], 10), []);
    }
}
