//! Medians and ratios, for the screen and for the page.

use std::error::Error;
use std::process::Command;

use super::cases::{CASES, Case, Load, Measured, On};
use crate::{place, process, screen};

/// A line of the result.
pub struct Line {
    case: &'static Case,
    median: Measured,
    slowest: f64,
    fastest: f64,
    /// The rate relative to the script with the same pipeline on Redis without persistence.
    ratio: f64,
}

/// The lines of all cases, in order.
pub fn lines(measured: &[Vec<Measured>]) -> Vec<Line> {
    let medians: Vec<Measured> = measured.iter().map(|results| median(results)).collect();
    let base = |pipeline: u32| {
        let is_base = |case: &Case| {
            case.on == On::RedisMemory && case.load == Load::Script && case.pipeline == pipeline
        };
        CASES.iter().position(is_base).map_or(f64::NAN, |at| medians[at].per_second)
    };
    let line = |(case, (median, results)): (&'static Case, (&Measured, &Vec<Measured>))| {
        let speeds = results.iter().map(|result| result.per_second);
        Line {
            case,
            median: *median,
            slowest: speeds.clone().fold(f64::INFINITY, f64::min),
            fastest: speeds.fold(0.0, f64::max),
            ratio: median.per_second / base(case.pipeline),
        }
    };
    CASES.iter().zip(medians.iter().zip(measured)).map(line).collect()
}

/// The median of each number.
fn median(results: &[Measured]) -> Measured {
    let middle = |figure: fn(&Measured) -> f64| {
        let mut figures: Vec<f64> = results.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Measured {
        per_second: middle(|result| result.per_second),
        p50_ms: middle(|result| result.p50_ms),
        p99_ms: middle(|result| result.p99_ms),
    }
}

const HEAD: [&str; 7] = ["what", "per second", "least–most", "ratio", "p50 ms", "p99 ms", "in the path"];

fn cells(line: &Line) -> Vec<String> {
    vec![
        line.case.shown(),
        format!("{:.0}", line.median.per_second),
        format!("{:.0}–{:.0}", line.slowest, line.fastest),
        format!("{:.2}", line.ratio),
        format!("{:.2}", line.median.p50_ms),
        format!("{:.2}", line.median.p99_ms),
        line.case.path.to_owned(),
    ]
}

/// The table for the screen.
pub fn screen(lines: &[Line]) -> String {
    let head = HEAD.map(str::to_owned).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(lines.iter().map(cells)).collect();
    screen::table(&rows)
}

/// The page for the repository.
pub fn page(lines: &[Line], rounds: u32, requests: u64) -> Result<String, Box<dyn Error>> {
    let rows: Vec<String> = lines.iter().map(|line| format!("| {} |", cells(line).join(" | "))).collect();
    let git = |words: &[&str]| process::must(Command::new("git").args(words).current_dir(place::root()));
    let date = process::must(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let version = process::must(Command::new("redis-server").arg("--version"))?;
    let version = version.split_whitespace().find_map(|word| word.strip_prefix("v=")).unwrap_or("?");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Ok(format!(
        "# Benchmarks\n\n\
         Measured on {} at commit {} with `cargo xtask bench --write`, on a machine of {cores} cores that also ran the \
         load: redis-benchmark with 50 connections, Redis {version}, one partition of Scarce, data on the same disk. \
         {rounds} rounds, all cases in turn within a round, {requests} requests at 64 in the pipeline and a fifth \
         of it at 1. Figures are medians; the ratio is to the script on a Redis that writes nothing, at the same \
         pipeline.\n\n\
         | {} |\n|---|---:|---:|---:|---:|---:|---|\n{}\n\n\
         - Scarce answers a debit only after the batch that it is in was synced to disk; each has an id of its \
         own that is remembered. Redis with `appendfsync always` syncs as well; without persistence it loses all of it.\n\
         - The script is the textbook's: `HGET`, compare, `HSET`, one account, by `EVALSHA`. It knows no \
         ids, so a repeated request debits twice.\n\
         - All debits go to one account, so to one partition and one thread, as all scripts go to one thread of Redis.\n\
         - The rates are those of bursts. A partition remembers 16 million ids and forgets none before it is ten minutes old, \
         so in the long run it takes 26 666 new ids a second; then it answers `OVERLOADED` until the oldest are \
         ten minutes old. `--operations-max` raises both.\n\
         - On the same cores the load generator takes its share; figures say how the servers compare, not what either \
         can do alone.\n\
         - What a thousand streams of events cost a writer, and 200 000 reservations that end together, is on \
         [pages](benchmarks-streams.md) [of their own](benchmarks-sweep.md).\n",
        date.trim(),
        commit.trim(),
        HEAD.join(" | "),
        rows.join("\n"),
    ))
}
