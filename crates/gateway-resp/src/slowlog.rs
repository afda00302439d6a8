//! `SLOWLOG …`: the last slow commands, in the form that Redis clients know.

use std::cmp::Reverse;

use scarce_core::facts;
use scarce_core::outcome::Value;
use scarce_engine::Engine;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::slow::SlowCommand;

/// How many are answered where no number is given.
const COUNT: usize = 10;

/// Answers a subcommand with its arguments; `None` if there is no such subcommand.
///
/// # Errors
/// What is wrong, in words for people.
pub(super) fn answer(
    engine: &dyn Engine,
    subcommand: &[u8],
    arguments: &[&[u8]],
) -> Option<Result<Value, String>> {
    let subcommand = String::from_utf8_lossy(subcommand).to_ascii_uppercase();
    Some(match (subcommand.as_str(), arguments) {
        ("GET", []) => Ok(get(engine, COUNT)),
        ("GET", [count]) => count_of(count).map(|count| get(engine, count)),
        ("LEN", []) => Ok(Value::from(newest(engine).len() as u64)),
        ("RESET", []) => {
            of_partitions(engine, |metrics| metrics.slow_commands.clear()).for_each(drop);
            Ok(Value::from("OK"))
        }
        _ => return None,
    })
}

/// As in Redis, -1 means all.
fn count_of(text: &[u8]) -> Result<usize, String> {
    let text = String::from_utf8_lossy(text);
    if text == "-1" {
        return Ok(usize::MAX);
    }
    text.parse().map_err(|_| "count must be a whole number, or -1 for all".to_owned())
}

fn of_partitions<T>(
    engine: &dyn Engine,
    read: impl Fn(&PartitionMetrics) -> T,
) -> impl Iterator<Item = (u32, T)> {
    (0..engine.partitions())
        .filter_map(move |partition| Some((partition, read(engine.metrics(partition).ok()?))))
}

/// The slow commands of all partitions, the newest first.
fn newest(engine: &dyn Engine) -> Vec<(u32, SlowCommand)> {
    let of_each = of_partitions(engine, |metrics| metrics.slow_commands.newest());
    let mut all: Vec<_> =
        of_each.flat_map(|(partition, its)| its.into_iter().map(move |one| (partition, one))).collect();
    all.sort_by_key(|(_, its)| Reverse(its.at_ms));
    all
}

/// Each as a number of its own, its time in seconds, its duration in microseconds, its words, and nothing about the
/// caller.
fn get(engine: &dyn Engine, count: usize) -> Value {
    let partitions = u64::from(engine.partitions());
    let rows = newest(engine).into_iter().take(count).map(|(partition, its)| {
        let number = its.number * partitions + u64::from(partition);
        let took_us = u64::try_from(its.took.as_micros()).unwrap_or(u64::MAX);
        let words = facts![its.command, its.resource.as_str()];
        let row = facts![number, its.at_ms / 1_000, took_us, words.into_vec(), "", ""];
        Value::List(row.into_vec())
    });
    Value::List(rows.collect())
}
