//! What callers did between two looks: commands by name, refusals by code, and how long it took.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::sample::Sample;

/// The beginning of the names of figures that are shown in a way of their own.
const PREFIXES: [&str; 4] = ["cmdstat_", "errorstat_", "latency_percentiles_usec_", "latency_histogram_"];

/// Whether a figure is part of what is shown here.
pub(super) fn is_shown_here(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// How many commands took how long: by the bound of their bucket in microseconds; `u64::MAX` above all bounds.
type Buckets = BTreeMap<u64, i64>;

/// Commands of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CommandActivity {
    pub(super) name: String,
    pub(super) per_second: f64,
    pub(super) refused_per_second: f64,
    pub(super) p50_us: Option<u64>,
    pub(super) p99_us: Option<u64>,
}

/// Refusals of a code.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusals {
    pub(super) code: String,
    pub(super) per_second: f64,
    pub(super) total: i64,
}

/// What callers did between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Activity {
    /// Those that there were, the most frequent first.
    pub(super) commands: Vec<CommandActivity>,
    /// All since the start, the most frequent first.
    pub(super) refusals: Vec<Refusals>,
    /// All commands together, without a name.
    pub(super) all: CommandActivity,
}

impl Activity {
    pub(super) fn between(before: &Sample, after: &Sample) -> Self {
        let known: BTreeMap<&str, i64> = before.named().collect();
        let seconds = (after.taken_at - before.taken_at).as_secs_f64().max(1e-3);
        let mut commands: BTreeMap<&str, (CommandActivity, Buckets)> = BTreeMap::new();
        let (mut refusals, mut all) = (Vec::new(), Buckets::new());
        for (name, value) in after.named() {
            let change = value - known.get(name).copied().unwrap_or(0);
            #[allow(clippy::cast_precision_loss, reason = "a rate is shown, not counted on")]
            let per_second = change as f64 / seconds;
            if let Some((command, part)) = parts(name, "cmdstat_") {
                let its = &mut commands.entry(command).or_default().0;
                match part {
                    "calls" => its.per_second = per_second,
                    "failed_calls" => its.refused_per_second = per_second,
                    _ => {}
                }
            } else if let Some((command, bound)) = parts(name, "latency_histogram_") {
                let bound = bound.parse().unwrap_or(u64::MAX);
                *commands.entry(command).or_default().1.entry(bound).or_default() += change;
                *all.entry(bound).or_default() += change;
            } else if let Some((code, "count")) = parts(name, "errorstat_") {
                refusals.push(Refusals { code: code.to_owned(), per_second, total: value });
            }
        }
        let commands = commands.into_iter().map(|(name, (its, buckets))| its.named(name, &buckets));
        Self::sorted(commands.filter(|its| its.per_second > 0.0).collect(), refusals, &all)
    }

    fn sorted(mut commands: Vec<CommandActivity>, mut refusals: Vec<Refusals>, all: &Buckets) -> Self {
        // The sum of nothing is a negative zero.
        let sum = |of: fn(&CommandActivity) -> f64| commands.iter().map(of).fold(0.0, |sum, one| sum + one);
        let together = CommandActivity {
            per_second: sum(|its| its.per_second),
            refused_per_second: sum(|its| its.refused_per_second),
            ..CommandActivity::default()
        };
        commands.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
        refusals.sort_by(|a, b| (b.per_second.total_cmp(&a.per_second)).then(b.total.cmp(&a.total)));
        Self { commands, refusals, all: together.named("", all) }
    }

    pub(super) fn to_json(&self) -> Value {
        let commands: Vec<Value> = self
            .commands
            .iter()
            .map(|its| {
                json!({
                    "command": its.name,
                    "per_second": its.per_second,
                    "refused_per_second": its.refused_per_second,
                    "p50_us": its.p50_us,
                    "p99_us": its.p99_us,
                })
            })
            .collect();
        let refusals: Vec<Value> = self
            .refusals
            .iter()
            .map(|its| json!({ "code": its.code, "per_second": its.per_second, "total": its.total }))
            .collect();
        json!({
            "per_second": self.all.per_second,
            "refused_per_second": self.all.refused_per_second,
            "p50_us": self.all.p50_us,
            "p99_us": self.all.p99_us,
            "commands": commands,
            "refusals": refusals,
        })
    }
}

impl CommandActivity {
    fn named(self, name: &str, buckets: &Buckets) -> Self {
        let name = name.to_owned();
        Self { name, p50_us: percentile(buckets, 50), p99_us: percentile(buckets, 99), ..self }
    }
}

/// The command or code in a figure's name, and what of it the figure is.
fn parts<'a>(name: &'a str, prefix: &str) -> Option<(&'a str, &'a str)> {
    name.strip_prefix(prefix)?.rsplit_once('.')
}

/// The bound below which so many hundredths were; of what is above all bounds, the greatest bound.
fn percentile(buckets: &Buckets, percent: i64) -> Option<u64> {
    let count: i64 = buckets.values().sum();
    let rank = (count * percent + 99) / 100;
    let mut below = 0;
    let reached = buckets.iter().find(|(_, in_bucket)| {
        below += **in_bucket;
        below >= rank
    });
    let bound = *reached.filter(|_| count > 0)?.0;
    if bound < u64::MAX { Some(bound) } else { buckets.keys().rev().nth(1).copied() }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const BEFORE: &str = "# Commandstats\r\ncmdstat_STOCK.TAKE:calls=10,failed_calls=1\r\ncmdstat_PACKET.GET:calls=3,failed_calls=0\r\n\
        # Errorstats\r\nerrorstat_SOLD_OUT:count=1\r\n# H\r\nlatency_histogram_STOCK.TAKE:50=8,100=2,inf=0\r\n";
    const AFTER: &str = "# Commandstats\r\ncmdstat_STOCK.TAKE:calls=210,failed_calls=51\r\ncmdstat_PACKET.GET:calls=3,failed_calls=0\r\n\
        cmdstat_ACCOUNT.CREDIT:calls=4,failed_calls=0\r\n\
        # Errorstats\r\nerrorstat_SOLD_OUT:count=51\r\n# H\r\nlatency_histogram_STOCK.TAKE:50=8,100=199,inf=3\r\n\
        latency_histogram_ACCOUNT.CREDIT:50=4,100=0,inf=0\r\n";

    #[test]
    fn what_callers_did_between_two_looks_is_told_by_command_and_code() {
        let now = Instant::now();
        let (before, after) = (Sample::read(BEFORE, now), Sample::read(AFTER, now + Duration::from_secs(2)));
        let activity = Activity::between(&before, &after);
        let names: Vec<_> = activity.commands.iter().map(|its| its.name.as_str()).collect();
        assert_eq!(names, ["STOCK.TAKE", "ACCOUNT.CREDIT"], "what was not called is not shown");
        let take = &activity.commands[0];
        assert!((take.per_second - 100.0).abs() < 1e-9 && (take.refused_per_second - 25.0).abs() < 1e-9);
        assert_eq!(
            (take.p50_us, take.p99_us),
            (Some(100), Some(100)),
            "beyond the greatest bound: that bound"
        );
        assert_eq!((activity.commands[1].p50_us, activity.all.p50_us), (Some(50), Some(100)));
        assert_eq!((activity.refusals[0].code.as_str(), activity.refusals[0].total), ("SOLD_OUT", 51));
        assert!((activity.all.per_second - 102.0).abs() < 1e-9);
        let idle = Activity::between(&after, &after);
        assert_eq!((idle.commands.len(), format!("{:.0}", idle.all.per_second)), (0, "0".to_owned()));
    }
}
