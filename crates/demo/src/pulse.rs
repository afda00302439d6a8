//! The rate of answers during the rush: a line of small bars, with the crash marked.

use std::time::Instant;

use super::chart;

/// The maximum number of bars.
const COLUMNS: usize = 48;

/// The rate of answers per frame.
pub(super) struct Pulse {
    since: Instant,
    before: u64,
    rates: Vec<u64>,
    marked: Option<usize>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { since: Instant::now(), before: 0, rates: Vec::new(), marked: None }
    }
}

impl Pulse {
    /// Records a frame with the total number of answers. Returns the answers per second.
    pub(super) fn beat(&mut self, answers: u64) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64().max(0.001);
        let count = answers.saturating_sub(self.before);
        (self.since, self.before) = (Instant::now(), answers);
        self.rates.push(count);
        count as f64 / seconds
    }

    /// Marks that the server was killed now.
    pub(super) fn mark(&mut self) {
        self.marked = self.marked.or(Some(self.rates.len()));
    }

    /// The line.
    pub(super) fn draw(&self) -> String {
        let top = self.rates.iter().copied().max().unwrap_or(0);
        chart::course(&self.rates, top, COLUMNS, self.marked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crash_stands_where_it_was() {
        let mut pulse = Pulse::default();
        pulse.beat(10);
        pulse.beat(30);
        pulse.mark();
        pulse.beat(30);
        pulse.beat(50);
        assert_eq!(pulse.draw(), "▄█✖ █");
    }
}
