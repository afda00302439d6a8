//! Medians and ratios of flows, for the screen and for the page.

use std::error::Error;
use std::process::Command;

use super::{Case, On};
use crate::{place, process, screen};

const HEAD: [&str; 5] = ["what", "per second", "least–most", "ratio", "in the path"];

/// A line of the result.
pub struct Line {
    case: Case,
    median: f64,
    least: f64,
    most: f64,
    /// To the whole pipeline of exchange-core on the same flow, if it plays it: the median of the rounds' ratios.
    ratio: Option<f64>,
}

/// The rate that a program printed in its last line: commands and seconds.
pub fn per_second(output: &str) -> Result<f64, Box<dyn Error>> {
    let line = output.lines().next_back().ok_or("a flow without a result")?;
    let (commands, seconds) = line.split_once(' ').ok_or_else(|| format!("no result of a flow: {line}"))?;
    Ok(commands.parse::<f64>()? / seconds.parse::<f64>()?)
}

/// The lines of all cases, in order.
pub fn lines(cases: &[Case], measured: &[Vec<f64>]) -> Vec<Line> {
    let base = |flow: &str| {
        let at = cases.iter().position(|case| case.flow == flow && case.on == On::ExchangeCore("pipeline"));
        at.map(|at| &measured[at])
    };
    let line = |(case, rates): (&Case, &Vec<f64>)| Line {
        case: *case,
        median: median(rates.clone()),
        least: rates.iter().copied().fold(f64::INFINITY, f64::min),
        most: rates.iter().copied().fold(0.0, f64::max),
        ratio: base(case.flow)
            .map(|base| median(rates.iter().zip(base).map(|(rate, base)| rate / base).collect())),
    };
    cases.iter().zip(measured).map(line).collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn cells(line: &Line) -> Vec<String> {
    vec![
        line.case.shown(),
        format!("{:.0}", line.median),
        format!("{:.0}–{:.0}", line.least, line.most),
        line.ratio.map_or_else(|| "—".to_owned(), |ratio| format!("{ratio:.2}")),
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
pub fn page(lines: &[Line], rounds: u32, commands: u64) -> Result<String, Box<dyn Error>> {
    let rows: Vec<String> = lines.iter().map(|line| format!("| {} |", cells(line).join(" | "))).collect();
    let git = |words: &[&str]| process::must(Command::new("git").args(words).current_dir(place::root()));
    let date = process::must(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Ok(format!(
        "# Order flow\n\n\
         Measured on {} at commit {} with `cargo xtask bench --orders --write`, on a machine of {cores} cores: {commands} \
         commands of each flow, {rounds} rounds, all cases in turn within a round. Rates are medians; the ratio is the median \
         of each round's ratio to the whole pipeline of exchange-core 0.5.3 on the same flow. All of a flow end with the same book: \
         prices, quantities and numbers of orders.\n\n\
         | {} |\n|---|---:|---:|---:|---|\n{}\n\n\
         - P1 is a market maker's flow: 1 000 resting orders, most commands move one. P2 is like a stock exchange: 10 000 \
         resting orders, most orders are cancelled, 15 % trade at once. P3 is P1 in eight markets, with quantities of a Pareto \
         distribution, orders that meet their owner's own, repeated names, cancellations by others, and sweeps over more orders than a \
         step touches; exchange-core has other rules for those.\n\
         - A machine runs in one thread. The pipeline runs in several, which yield to each other while they wait.\n\
         - Nothing is written to a disk on either side. What reading a request takes is not counted.\n",
        date.trim(),
        commit.trim(),
        HEAD.join(" | "),
        rows.join("\n"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_result() {
        assert_eq!(per_second("a warning\n3000 1.5\n").unwrap(), 2_000.0);
        assert!(per_second("failed").is_err());
    }

    #[test]
    fn ratios_are_to_the_pipeline_of_the_same_flow() {
        let case = |flow, on| Case { flow, on, path: "" };
        let cases = [
            case("P1", On::Scarce("ids")),
            case("P1", On::ExchangeCore("pipeline")),
            case("P3", On::Scarce("ids")),
        ];
        let measured = [vec![4.0, 9.0, 6.0], vec![2.0, 3.0, 2.0], vec![1.0, 1.0, 1.0]];
        let ratios: Vec<_> = lines(&cases, &measured).iter().map(|line| line.ratio).collect();
        assert_eq!(ratios, [Some(3.0), Some(1.0), None]);
    }
}
