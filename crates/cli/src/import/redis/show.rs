//! What an import of a Redis shows: what was read, what it makes, and what is wrong.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use scarce_takeover::{Plan, Problem, Snapshot, Sum, Tally};
use serde_json::json;

use super::compare::Difference;
use super::send::Sent;
use crate::columns::aligned;
use crate::{Ended, Exit};

/// How many problems, differences or names are shown; all are in the JSON.
const SHOWN_MAX: usize = 20;

/// All that is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    reading: Option<ReadKeys>,
    goes_on: Option<String>,
    pub(super) sums: Vec<Sum>,
    pub(super) problems: Vec<Problem>,
    pub(super) existing: Vec<String>,
    pub(super) sent: Option<Sent>,
    pub(super) differences: Option<Vec<Difference>>,
}

/// What was read.
#[derive(Debug)]
struct ReadKeys {
    took: Duration,
    is_dry: bool,
    keys: Vec<(usize, String, u64)>,
    unmatched: Tally,
    ignored: Tally,
    expiring: Tally,
}

impl Shown {
    pub(super) fn of(snapshot: &mut Snapshot, took: Duration, is_dry: bool) -> Self {
        let reading = ReadKeys {
            took,
            is_dry,
            keys: std::mem::take(&mut snapshot.keys),
            unmatched: std::mem::take(&mut snapshot.unmatched),
            ignored: std::mem::take(&mut snapshot.ignored),
            expiring: std::mem::take(&mut snapshot.expiring),
        };
        Self { reading: Some(reading), ..Self::default() }
    }

    pub(super) fn again(plan: &Plan, path: &Path) -> Self {
        Self { goes_on: Some(path.display().to_string()), sums: plan.sums(), ..Self::default() }
    }

    pub(super) fn has_differences(&self) -> bool {
        self.differences.as_ref().is_some_and(|differences| !differences.is_empty())
    }

    /// What is wrong with the source, in one line.
    pub(super) fn first_problem(&self) -> String {
        let first = self.problems.first().map(ToString::to_string).unwrap_or_default();
        format!("{} keys of the source are wrong; the first: {first}", self.problems.len())
    }

    /// Prints it; gives the exit code back.
    pub(super) fn print(&self, as_json: bool, exit: Exit) -> Ended {
        let mut out = std::io::stdout().lock();
        if as_json {
            writeln!(out, "{}", self.to_json())?;
        } else {
            for line in self.lines() {
                writeln!(out, "{line}")?;
            }
        }
        Ok(exit)
    }

    fn to_json(&self) -> serde_json::Value {
        let sums = self.sums.iter().map(|Sum { kind, count, values }| {
            let values: serde_json::Map<String, serde_json::Value> =
                values.iter().map(|(name, sum)| (name.clone(), sum_of(*sum))).collect();
            json!({ "kind": kind, "count": count, "sums": values })
        });
        let problems = self
            .problems
            .iter()
            .map(|problem| json!({ "line": problem.line, "key": problem.key, "reason": problem.reason }));
        let differences = self.differences.as_ref().map(|all| {
            let one = |its: &Difference| {
                json!({ "resource": its.resource, "key": its.key, "value": its.what, "source": its.expected, "scarce": its.found })
            };
            all.iter().map(one).collect::<Vec<_>>()
        });
        json!({
            "read": self.reading.as_ref().map(ReadKeys::to_json),
            "goes_on": self.goes_on,
            "makes": sums.collect::<Vec<_>>(),
            "problems": problems.collect::<Vec<_>>(),
            "existing": self.existing,
            "applied": self.sent.map(|sent| sent.operations),
            "differences": differences,
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(path) = &self.goes_on {
            lines.push(format!("goes on with the plan in {path}; the source was not read again"));
        }
        lines.extend(self.reading.iter().flat_map(ReadKeys::lines));
        lines.extend(self.table());
        lines.extend(listed("wrong", "nothing was imported", self.problems.iter().map(ToString::to_string)));
        let others = "not made by this run, or more than a day ago; nothing was imported";
        lines.extend(listed("exist already", others, self.existing.iter().cloned()));
        if let Some(Sent { resources, operations }) = self.sent {
            lines.push(format!("applied {operations} operations, which made {resources} resources"));
        }
        lines.extend(self.verdict());
        lines
    }

    fn table(&self) -> Vec<String> {
        let row = |Sum { kind, count, values }: &Sum| {
            let sums = values.iter().map(|(name, sum)| format!("{name} {sum}"));
            vec![kind.clone(), count.to_string(), sums.collect::<Vec<_>>().join(", ")]
        };
        if self.sums.is_empty() {
            return Vec::new();
        }
        let heading = ["makes", "how many", "sums, in minor units"].map(str::to_owned).to_vec();
        aligned([heading].into_iter().chain(self.sums.iter().map(row)))
    }

    fn verdict(&self) -> Vec<String> {
        let Some(differences) = &self.differences else { return Vec::new() };
        if differences.is_empty() {
            return vec!["compared with the server: equal".to_owned()];
        }
        let one = |its: &Difference| {
            format!(
                "{} ({}): {} is {} in the source and {} in Scarce",
                its.resource, its.key, its.what, its.expected, its.found
            )
        };
        listed("values differ", "compared with the server", differences.iter().map(one))
    }
}

/// A heading with a number, and the first of some lines.
fn listed(what: &str, note: &str, all: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let count = all.len();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!("{what}: {count} ({note})")];
    lines.extend(all.take(SHOWN_MAX).map(|line| format!("  {line}")));
    if count > SHOWN_MAX {
        lines.push(format!("  … and {} more; --json has all", count - SHOWN_MAX));
    }
    lines
}

/// A sum as JSON; as text where it is beyond what a number in JSON holds.
fn sum_of(sum: i128) -> serde_json::Value {
    i64::try_from(sum).map_or_else(|_| sum.to_string().into(), serde_json::Value::from)
}

impl ReadKeys {
    fn to_json(&self) -> serde_json::Value {
        let keys = self
            .keys
            .iter()
            .map(|(line, pattern, count)| json!({ "line": line, "key": pattern, "count": count }));
        let tally = |tally: &Tally| json!({ "count": tally.count, "examples": tally.examples });
        json!({
            "milliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "keys": keys.collect::<Vec<_>>(),
            "unmatched": tally(&self.unmatched),
            "ignored": tally(&self.ignored),
            "expiring": tally(&self.expiring),
        })
    }

    fn lines(&self) -> Vec<String> {
        let heading = ["line", "key", "keys"].map(str::to_owned).to_vec();
        let row = |(line, pattern, count): &(usize, String, u64)| {
            vec![line.to_string(), pattern.clone(), count.to_string()]
        };
        let mut lines = aligned([heading].into_iter().chain(self.keys.iter().map(row)));
        for (tally, what) in [
            (&self.unmatched, "match nothing in the map"),
            (&self.ignored, "are ignored by the map"),
            (&self.expiring, "expire in the source, and what they become does not"),
        ] {
            if tally.count > 0 {
                lines.push(format!("{} keys {what}, such as {}", tally.count, tally.examples.join(", ")));
            }
        }
        let took = self.took.as_millis();
        lines.push(if self.is_dry {
            format!("read in {took} ms: writers would be held up about as long; nothing was changed")
        } else {
            format!("read at one moment, in {took} ms")
        });
        lines
    }
}
