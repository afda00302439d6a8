//! Depth charts of the books, side by side: what can be bought and sold up to a price, from the middle
//! outwards.

use anstyle::{AnsiColor, Style};

use super::super::chart;
use super::super::proof::grouped;
use super::book::Level;

/// The number of columns for each side of a book, and of rows of a chart.
const COLUMNS: u64 = 11;
const ROWS: u64 = 7;

/// The width of a chart: both sides and the middle.
const WIDTH: usize = 23;

/// A book to be drawn.
pub(super) struct Chart<'a> {
    pub(super) market: &'a str,
    pub(super) tick: u64,
    pub(super) depth: &'a [Vec<Level>; 2],
}

/// Draws the charts side by side.
pub(super) fn draw(charts: &[Chart<'_>], colored: bool) -> Vec<String> {
    let drawn: Vec<Vec<String>> = charts.iter().map(|chart| chart.lines(colored)).collect();
    let rows = drawn.iter().map(Vec::len).max().unwrap_or(0);
    let row =
        |at: usize| drawn.iter().filter_map(|lines| lines.get(at).cloned()).collect::<Vec<_>>().join("   ");
    (0..rows).map(row).collect()
}

impl Chart<'_> {
    fn lines(&self, colored: bool) -> Vec<String> {
        let [bids, asks] = self.sums();
        let top = bids.iter().chain(&asks).copied().max().unwrap_or(0).max(1);
        let paint = |color: AnsiColor| {
            if colored { Style::new().fg_color(Some(color.into())) } else { Style::new() }
        };
        let (green, red) = (paint(AnsiColor::Green), paint(AnsiColor::Red));
        let mut lines = vec![format!("{:^WIDTH$}", format!("{} ({} deep)", self.market, grouped(top)))];
        lines.extend((0..ROWS).rev().map(|row| {
            let side = |levels: &[u64]| {
                levels.iter().map(|level| chart::cell(*level, top, row, ROWS)).collect::<String>()
            };
            let left: String = side(&bids).chars().rev().collect();
            format!("{green}{left}{green:#}│{red}{}{red:#}", side(&asks))
        }));
        lines.push("─".repeat(WIDTH));
        let [bid, ask] = self.depth.each_ref().map(|side| side.first().map_or(0, |level| level.0));
        lines.push(format!("{:^WIDTH$}", format!("{} │ {}", grouped(bid), grouped(ask))));
        lines
    }

    /// The cumulated quantities up to each column, from the middle outwards.
    fn sums(&self) -> [Vec<u64>; 2] {
        let far = |side: &[Level]| match (side.first(), side.last()) {
            (Some(best), Some(last)) => best.0.abs_diff(last.0) / self.tick,
            _ => 0,
        };
        let [bids, asks] = self.depth;
        let step = (far(bids).max(far(asks)).min(4 * COLUMNS) + 1).div_ceil(COLUMNS) * self.tick;
        self.depth.each_ref().map(|side| {
            let best = side.first().map_or(0, |level| level.0);
            let within = |column: u64| {
                let near = side.iter().filter(|level| level.0.abs_diff(best) < (column + 1) * step);
                near.map(|level| level.1).sum()
            };
            (0..COLUMNS).map(within).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_grows_away_from_the_middle() {
        let depth = [vec![(99, 2, 1), (90, 5, 2)], vec![(101, 7, 1)]];
        let chart = Chart { market: "A-B", tick: 1, depth: &depth };
        let [bids, asks] = chart.sums();
        assert_eq!((bids[0], bids[10], asks[0], asks[10]), (2, 7, 7, 7));
        let lines = draw(&[chart], false);
        assert_eq!(lines[1], "██         │███████████");
        assert!(lines.iter().all(|line| line.chars().count() == WIDTH), "{lines:?}");
    }
}
