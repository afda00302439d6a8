//! What was found, and in which numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::day::Day;
use crate::items::Item;
use crate::keys;
use crate::number::Numbers;
use crate::statement::BadLine;

/// What is the matter with a line or a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// It is in the file, and Scarce has booked no such thing.
    MissingHere,
    /// Scarce has booked it, and it is not in the file.
    MissingThere,
    /// Both have it, with another amount or a day that is too far.
    Different,
    /// One side has it once more.
    Doubled,
    /// Scarce booked it shortly before the file ends; it may be in the next one.
    InTransit,
}

impl Matter {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::MissingHere, Self::MissingThere, Self::Different, Self::Doubled, Self::InTransit];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::MissingHere => "missing_here",
            Self::MissingThere => "missing_there",
            Self::Different => "different",
            Self::Doubled => "doubled",
            Self::InTransit => "in_transit",
        }
    }
}

/// A line or a movement that is open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Finding {
    /// What is the matter with it.
    pub matter: Matter,
    /// Its name, by which it can be closed.
    pub id: String,
    /// When it was booked; in the file, if both have it.
    pub day: Day,
    /// Since when it is open: the last day of the file that showed it first.
    pub since: Day,
    /// The line of this file.
    #[serde(default, skip_serializing)]
    pub line: Option<u32>,
    /// The amount in the file, in the smallest unit.
    pub there: Option<i64>,
    /// The amount in Scarce.
    pub here: Option<i64>,
    /// When Scarce booked it, if both have it.
    pub here_day: Option<Day>,
    /// The operation or the item.
    pub operation: String,
    /// Other texts of it.
    pub reference: String,
    /// Where it is: partition and sequence, or a line of an earlier file.
    pub place: String,
}

impl Finding {
    /// The key of the line that it is, or was matched with.
    pub(crate) fn line_key(&self) -> Option<u64> {
        let key = self.id.strip_prefix("there:").or_else(|| self.id.strip_prefix("pair:"));
        key.and_then(|key| u64::from_str_radix(key, 16).ok())
    }

    /// The key of the movement that it is, or was matched with.
    pub(crate) fn movement_key(&self) -> Option<u64> {
        let (operation, place) = (self.operation.as_str(), self.place.as_str());
        let day = self.here_day.unwrap_or(self.day);
        let of = |amount| {
            keys::of_movement(&Item { line: 0, day, amount, operation, reference: "", place, since: None })
        };
        self.here.map(of)
    }
}

/// How many of a kind there are, and what they sum up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// How many of them were open before.
    pub carried: u64,
    /// What the file has more than Scarce because of them.
    pub sum: i128,
}

/// How many were matched, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// By the id of the operation, or the item.
    pub operation: u64,
    /// By a reference.
    pub reference: u64,
    /// By amount and day.
    pub amount_and_day: u64,
    /// How many of these name an operation on both sides, and not the same one.
    pub both_named: u64,
    /// How many of them were open last time.
    pub carried: u64,
}

/// A line and a movement for which nothing but amount and day speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The line of this file; none if it is of an earlier one.
    pub line: Option<u32>,
    /// The day of the line.
    pub day: Day,
    /// The day of the movement.
    pub here_day: Day,
    /// The amount.
    pub amount: i64,
    /// The operation that the line names.
    pub operation: String,
    /// The operation of the movement.
    pub here_operation: String,
    /// Where the movement is.
    pub place: String,
}

/// The report.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first day that was compared.
    pub from: Day,
    /// The last one.
    pub through: Day,
    /// The days of the earlier result that this one replaces.
    pub replaces: Option<(Day, Day)>,
    /// How many lines were read.
    pub lines: u64,
    /// Lines that are not booked yet or move nothing, or are outside of the days.
    pub skipped: u64,
    /// Lines of other accounts.
    pub foreign: u64,
    /// Lines that were settled by an earlier file or closed by hand.
    pub settled: u64,
    /// How many movements were compared with them.
    pub movements: u64,
    /// How many were matched.
    pub matched: Matched,
    /// The first of those that were matched by amount and day.
    pub by_amount: Vec<Pair>,
    /// How many are open.
    pub tallies: BTreeMap<Matter, Tally>,
    /// The first of each kind.
    pub findings: Vec<Finding>,
    /// How many lines could not be read.
    pub bad_count: u64,
    /// The first of them.
    pub bad: Vec<BadLine>,
    /// How amounts are shown.
    pub numbers: Numbers,
}

impl Report {
    /// How many differences there are. What is in transit does not count.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let open = self.tallies.iter().filter(|(matter, _)| **matter != Matter::InTransit);
        self.bad_count + open.map(|(_, tally)| tally.count).sum::<u64>()
    }

    /// A sum as people read it.
    #[must_use]
    pub fn show_sum(&self, sum: i128) -> String {
        i64::try_from(sum).map_or_else(|_| sum.to_string(), |sum| self.numbers.show(sum))
    }

    /// A finding with its values as people read them.
    #[must_use]
    pub fn row(&self, its: &Finding) -> Value {
        let amount = |amount: Option<i64>| amount.map(|amount| self.numbers.show(amount));
        json!({
            "matter": its.matter.word(),
            "id": its.id,
            "line": its.line,
            "date": its.day.to_string(),
            "there": amount(its.there),
            "here": amount(its.here),
            "here_date": its.here_day.map(|day| day.to_string()),
            "operation": its.operation,
            "reference": its.reference.replace('\n', " ").trim(),
            "place": its.place,
            "since": its.since.to_string(),
        })
    }

    fn pair(&self, its: &Pair) -> Value {
        json!({
            "line": its.line,
            "date": its.day.to_string(),
            "here_date": its.here_day.to_string(),
            "amount": self.numbers.show(its.amount),
            "operation": its.operation,
            "here_operation": its.here_operation,
            "place": its.place,
        })
    }

    /// The report as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let tallies: serde_json::Map<String, Value> = Matter::ALL
            .iter()
            .map(|matter| {
                let Tally { count, carried, sum } = self.tallies.get(matter).copied().unwrap_or_default();
                let tally = json!({ "count": count, "carried": carried, "sum": self.show_sum(sum) });
                (matter.word().to_owned(), tally)
            })
            .collect();
        json!({
            "from": self.from.to_string(),
            "through": self.through.to_string(),
            "replaces": self.replaces.map(|(from, through)| json!({ "from": from.to_string(), "through": through.to_string() })),
            "lines": self.lines,
            "skipped": self.skipped,
            "foreign": self.foreign,
            "settled": self.settled,
            "movements": self.movements,
            "matched": {
                "operation": self.matched.operation,
                "reference": self.matched.reference,
                "amount_and_day": self.matched.amount_and_day,
                "both_named": self.matched.both_named,
                "carried": self.matched.carried,
            },
            "by_amount_and_day": self.by_amount.iter().map(|its| self.pair(its)).collect::<Vec<_>>(),
            "differences": self.differences(),
            "tallies": tallies,
            "findings": self.findings.iter().map(|its| self.row(its)).collect::<Vec<_>>(),
            "bad_count": self.bad_count,
            "bad_lines": self.bad.iter().map(|its| json!({ "line": its.line, "reason": its.reason })).collect::<Vec<_>>(),
        })
    }
}
