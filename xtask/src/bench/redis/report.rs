//! Medians and ratios, for the screen and for the page.

use std::error::Error;
use std::process::Command;

use super::super::cases::Measured;
use super::Amount;
use super::book::Sweep;
use super::calls::Point;
use crate::{place, process, screen};

/// Two loads that are measured in turn.
pub struct Duel {
    what: [String; 2],
    pipeline: u32,
    /// The wanted ratio; `None` if the pair is only shown.
    wanted: Option<f64>,
    medians: [f64; 2],
    /// The time that Redis spent for each command.
    spent_us: [f64; 2],
}

/// Sends so many requests.
type Load<'a> = dyn Fn(u64) -> Result<Measured, Box<dyn Error>> + 'a;

impl Duel {
    /// Measures both in turn; the first should be `wanted` times as fast, if a ratio is wanted. `used_us` is the time that
    /// the Redis of both has used so far: unlike a rate, it hardly depends on what else the machine does.
    pub fn run(
        what: [&str; 2],
        pipeline: u32,
        wanted: Option<f64>,
        amount: &Amount,
        used_us: impl Fn() -> Result<f64, Box<dyn Error>>,
        loads: [&Load<'_>; 2],
    ) -> Result<Self, Box<dyn Error>> {
        let requests = if pipeline == 1 { amount.requests / 10 } else { amount.requests };
        let (mut rates, mut costs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for _ in 0..amount.rounds {
            for (place, load) in loads.iter().enumerate() {
                let before_us = used_us()?;
                rates[place].push(load(requests)?.per_second);
                costs[place].push((used_us()? - before_us) / requests as f64);
            }
        }
        let (medians, spent_us) =
            (rates.map(|mut its| median(&mut its)), costs.map(|mut its| median(&mut its)));
        let duel = Self { what: what.map(str::to_owned), pipeline, wanted, medians, spent_us };
        screen::say(&duel.cells().join("  "));
        Ok(duel)
    }

    fn cells(&self) -> Vec<String> {
        let [ours, theirs] = self.medians;
        let [ours_us, theirs_us] = self.spent_us;
        vec![
            self.what[0].clone(),
            format!("{ours:.0}"),
            self.what[1].clone(),
            format!("{theirs:.0}"),
            self.pipeline.to_string(),
            format!("{:.2}", ours / theirs),
            self.wanted.map_or_else(|| "–".to_owned(), |wanted| format!("{wanted:.1}")),
            format!("{ours_us:.1}"),
            format!("{theirs_us:.1}"),
            format!("{:.2}", theirs_us / ours_us),
        ]
    }
}

/// The median.
pub fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// All results.
pub struct Page {
    pub duels: Vec<Duel>,
    pub calls: Vec<Point>,
    pub sweep: Sweep,
    /// Number of primaries, and debits per second.
    pub spread: Vec<(usize, f64)>,
}

const HEAD: [&str; 10] = [
    "what",
    "per second",
    "against",
    "per second",
    "pipeline",
    "ratio",
    "wanted",
    "Redis µs each",
    "Redis µs each",
    "ratio",
];

impl Page {
    fn point_cells(point: &Point) -> Vec<String> {
        vec![
            point.under_way.to_string(),
            format!("{:.1}", point.per_call),
            format!("{:.1}", point.cost_us),
            format!("{:.0}", point.per_second),
        ]
    }

    /// The tables for the screen.
    pub fn screen(&self) -> String {
        let head = HEAD.map(str::to_owned).to_vec();
        let rows: Vec<_> = std::iter::once(head).chain(self.duels.iter().map(Duel::cells)).collect();
        let head = ["under way", "per call", "µs each", "per second"].map(str::to_owned).to_vec();
        let points: Vec<_> = std::iter::once(head).chain(self.calls.iter().map(Self::point_cells)).collect();
        format!("{}\n\n{}", screen::table(&rows), screen::table(&points))
    }

    /// The page for the repository.
    pub fn markdown(&self, amount: &Amount) -> Result<String, Box<dyn Error>> {
        let git = |words: &[&str]| process::must(Command::new("git").args(words).current_dir(place::root()));
        let date = process::must(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let duels: String = self.duels.iter().map(|duel| row(duel.cells())).collect();
        let points: String = self.calls.iter().map(|point| row(Self::point_cells(point))).collect();
        let spread: String =
            self.spread.iter().map(|(primaries, rate)| format!("| {primaries} | {rate:.0} |\n")).collect();
        let Sweep { total_ms, longest_ms, script_ms } = &self.sweep;
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        Ok(format!(
            "# Benchmarks of the Redis engine\n\n\
             Measured on {} at commit {} with `cargo xtask bench --engine redis --write`, on a machine of {cores} cores that \
             carries Redis, Scarce and the load: redis-benchmark with 50 connections, a Redis that writes nothing to disk. \
             {} rounds in turn, medians, {} requests at 64 in the pipeline and a tenth of it at 1.\n\n\
             | {} |\n|---|---:|---|---:|---:|---:|---:|---:|---:|---:|\n{duels}\n\
             The last three columns are the processor time of Redis for each command (`INFO cpu`), which says the same on a busy machine. \
             In the path of a debit through Scarce: two hops, the rules, an operation id that is remembered, an entry in the log. The \
             textbook's script compares and writes; it knows neither ids nor a log. The script that does both is what teams write by hand \
             once they need them: a key for each id, a stream for the log.\n\n\
             ## What a call costs\n\n\
             Debits with ids of one partition, by how many are under way. What each costs is what `INFO commandstats` says of the \
             calls, so without protocol and network.\n\n\
             | under way | per call | µs each | per second |\n|---:|---:|---:|---:|\n{points}\n\
             ## A sweep through 10 000 makers\n\n\
             {total_ms:.0} ms from the order to its answer, in steps between which others are served; the longest call took \
             {longest_ms:.1} ms. The hand-written script takes {script_ms:.0} ms, in which Redis serves nobody else.\n\n\
             ## More primaries\n\n\
             Debits of 1 000 accounts over 12 partitions. All primaries share these {cores} cores with Scarce and the load, so \
             this says what more of them cost, not what they bring on machines of their own.\n\n\
             | primaries | debits per second |\n|---:|---:|\n{spread}",
            date.trim(),
            git(&["rev-parse", "--short", "HEAD"])?.trim(),
            amount.rounds,
            amount.requests,
            HEAD.join(" | "),
        ))
    }
}
