//! Previews a plan before anyone creates a campaign with it.

#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use scarce_core::command::Invalid;
use scarce_core::packets::cut::Plan;
use scarce_core::packets::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::figures::{Bucket, Figures, histogram};

/// The maximum number of ranges of a histogram.
const BUCKETS_MAX: u64 = 16;

/// The maximum number of groups of positions.
const GROUPS_MAX: u64 = 10;

/// The number of packets cut in total to estimate what a position gets: an answer takes milliseconds.
const SAMPLED_PACKETS_MAX: u64 = 100_000;

/// The maximum number of cuts for an estimate, and the minimum for a useful one.
const SAMPLES_MAX: u64 = 1_000;
const SAMPLES_MIN: u64 = 20;

/// A cut by a plan, with statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// What was cut, and how.
    pub plan: Plan,
    /// The seed that determines the cut.
    pub seed: [u8; 32],
    /// The seed's hash.
    pub commitment: [u8; 32],
    /// The packets in the order in which they would be claimed.
    pub amounts: Vec<u64>,
    /// The histogram of packet sizes.
    pub buckets: Vec<Bucket>,
    /// How fair the cut is.
    pub figures: Figures,
    /// What claimants can expect by position; empty if there are too many packets to say.
    pub positions: Vec<Positions>,
}

/// What to expect at some positions in the order of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Positions {
    /// The first position, from 1.
    pub from: u64,
    /// The last position.
    pub through: u64,
    /// The average amount of a packet there over many cuts.
    pub mean: f64,
    /// The standard error of that average; the true average lies within twice this in 19 of 20 cases.
    pub standard_error: f64,
}

/// Cuts by a plan. The seed determines everything, so the same seed gives the same preview.
///
/// # Errors
/// When the plan cannot be cut; the error names the part at fault.
pub fn preview(plan: &Plan, seed: &[u8; 32]) -> Result<Preview, Invalid> {
    let amounts = plan.cut(seed)?;
    let figures = Figures::of(&amounts).ok_or_else(|| Invalid::new("total", "must not be 0"))?;
    Ok(Preview {
        plan: *plan,
        seed: *seed,
        commitment: plan.commitment(seed),
        buckets: histogram(&amounts, BUCKETS_MAX),
        figures,
        positions: positions(plan, seed),
        amounts,
    })
}

impl Preview {
    /// The preview by names; with the amounts only if requested.
    #[must_use]
    pub fn json(&self, with_amounts: bool) -> Value {
        let buckets = self
            .buckets
            .iter()
            .map(|bucket| json!({ "from": bucket.from, "through": bucket.through, "count": bucket.count }));
        let positions = self.positions.iter().map(|positions| {
            json!({
                "from": positions.from,
                "through": positions.through,
                "mean": positions.mean,
                "standard_error": positions.standard_error,
            })
        });
        let mut shown = json!({
            "total": self.plan.total,
            "count": self.plan.count,
            "method": self.plan.method.word(),
            "min": self.plan.min,
            "max": self.plan.max,
            "seed": hex(self.seed).as_str(),
            "commitment": hex(self.commitment).as_str(),
            "figures": self.figures.json(),
            "histogram": buckets.collect::<Vec<_>>(),
            "positions": positions.collect::<Vec<_>>(),
        });
        if with_amounts {
            shown["amounts"] = json!(self.amounts);
        }
        shown
    }
}

/// Averages over cuts whose seeds are derived from this one.
fn positions(plan: &Plan, seed: &[u8; 32]) -> Vec<Positions> {
    let samples = (SAMPLED_PACKETS_MAX / plan.count).min(SAMPLES_MAX);
    if samples < SAMPLES_MIN {
        return Vec::new();
    }
    // A cut of the line may exceed the maximum by chance; only those within it count.
    let cuts: Vec<_> = (0..samples).filter_map(|number| plan.cut(&derived(seed, number)).ok()).collect();
    if (cuts.len() as u64) < SAMPLES_MIN {
        return Vec::new();
    }
    let groups = plan.count.min(GROUPS_MAX);
    (0..groups)
        .map(|group| {
            let (from, end) = (group * plan.count / groups, (group + 1) * plan.count / groups);
            average(&cuts, from, end)
        })
        .collect()
}

/// The average over positions from `from` to before `end`, counted from 0. Packets of one cut depend on each
/// other, so the error is computed from whole cuts.
fn average(cuts: &[Vec<u64>], from: u64, end: u64) -> Positions {
    let range = usize::try_from(from).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
    let width = (end - from) as f64;
    let means: Vec<f64> = cuts
        .iter()
        .filter_map(|cut| cut.get(range.clone()))
        .map(|part| part.iter().sum::<u64>() as f64 / width)
        .collect();
    let count = means.len().max(1) as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Positions { from: from + 1, through: end, mean, standard_error: (variance / count).sqrt() }
}

/// A seed for one cut of an estimate; never the seed itself.
fn derived(seed: &[u8; 32], number: u64) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"scarce preview\0")
        .chain_update(seed)
        .chain_update(number.to_le_bytes())
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use scarce_core::command::shapes::Method;

    use super::*;

    fn plan(method: Method, total: u64, count: u64) -> Plan {
        Plan { total, count, method, min: 1, max: None }
    }

    #[test]
    fn a_preview_is_the_cut_of_its_seed() {
        let plan = plan(Method::DoubleMean, 10_000, 10);
        let shown = preview(&plan, &[0; 32]).expect("a preview");
        // A test vector of docs/reference/red-packets.md.
        assert_eq!(shown.amounts, [224, 1665, 130, 1133, 1755, 1292, 386, 408, 761, 2246]);
        assert_eq!(hex(shown.commitment), "d074d10f0aadc5e2c37d31abacb38c9f277f299d8ed5560cd5b223f01792cca3");
        assert_eq!(shown.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 10);
        assert_eq!(shown, preview(&plan, &[0; 32]).expect("a preview"));
        let json = shown.json(true);
        assert_eq!(json["amounts"][1], 1665);
        assert!(shown.json(false)["amounts"].is_null());
    }

    #[test]
    fn every_position_may_expect_the_mean() {
        for method in Method::ALL {
            let shown = preview(&plan(*method, 1_003, 10), &[7; 32]).expect("a preview");
            assert_eq!(shown.positions.len(), 10);
            for position in &shown.positions {
                let distance = (position.mean - 100.3).abs();
                assert!(distance <= 4.5 * position.standard_error, "{method:?} {position:?}");
            }
            let overall = shown.positions.iter().map(|position| position.mean).sum::<f64>() / 10.0;
            assert!((overall - 100.3).abs() < 1e-9);
        }
    }

    #[test]
    fn positions_are_grouped_and_left_out_where_packets_are_many() {
        let shown = preview(&plan(Method::LineCut, 100_000, 105), &[1; 32]).expect("a preview");
        let ranges: Vec<_> = shown.positions.iter().map(|group| (group.from, group.through)).collect();
        assert_eq!((ranges[0], ranges[9].1, ranges.len()), ((1, 10), 105, 10));
        assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
        let many = preview(&plan(Method::LineCut, 1_000_000, 10_000), &[1; 32]).expect("a preview");
        assert!(many.positions.is_empty());
    }

    #[test]
    fn what_cannot_be_cut_is_named() {
        assert_eq!(
            preview(&plan(Method::Even, 5, 10), &[0; 32]).map_err(|invalid| invalid.argument),
            Err("total")
        );
    }
}
