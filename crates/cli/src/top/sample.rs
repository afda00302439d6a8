//! Parses `INFO` into names and values. Accepts every numeric value; no name is required.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A server's `INFO` at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) taken_at: Instant,
    /// The numbers, in the server's order.
    pub(super) figures: Vec<Figure>,
    /// Values that are not numbers.
    pub(super) texts: BTreeMap<String, String>,
}

/// A number with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figure {
    pub(super) section: String,
    /// The server's name for it; for `name:part=1,other=2` it is `name.part`.
    pub(super) name: String,
    pub(super) value: i64,
}

/// A metric and its rate of change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) section: String,
    pub(super) name: String,
    pub(super) value: i64,
    /// The change per second since the previous sample, if there is one.
    pub(super) per_second: Option<f64>,
}

impl Sample {
    /// Parses the text of `INFO`.
    pub(super) fn read(text: &str, taken_at: Instant) -> Self {
        let mut sample = Self { taken_at, figures: Vec::new(), texts: BTreeMap::new() };
        let mut section = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(title) = line.strip_prefix('#') {
                title.trim().clone_into(&mut section);
            } else if let Some((name, value)) = line.split_once(':') {
                sample.take(&section, name, value);
            }
        }
        sample
    }

    fn take(&mut self, section: &str, name: &str, value: &str) {
        if let Ok(value) = value.parse() {
            self.figures.push(Figure { section: section.to_owned(), name: name.to_owned(), value });
        } else if value.contains('=') {
            for (part, value) in value.split(',').filter_map(|pair| pair.split_once('=')) {
                self.take(section, &format!("{name}.{part}"), value);
            }
        } else {
            self.texts.insert(name.to_owned(), value.to_owned());
        }
    }

    /// A number by its name.
    pub(super) fn value(&self, name: &str) -> Option<i64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    /// All numbers by their names.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, i64)> {
        self.figures.iter().map(|figure| (figure.name.as_str(), figure.value))
    }

    /// The metrics with their rates since `before`. A new metric counts as a change from zero.
    pub(super) fn rows(&self, before: Option<&Self>) -> Vec<Row> {
        let known: Option<BTreeMap<_, _>> = before.map(|before| {
            before.figures.iter().map(|figure| ((&figure.section, &figure.name), figure.value)).collect()
        });
        let elapsed = before.map_or(Duration::ZERO, |before| self.taken_at - before.taken_at);
        let row = |figure: &Figure| {
            let Figure { section, name, value } = figure.clone();
            let per_second = known.as_ref().map(|known| {
                per_second(value - known.get(&(&figure.section, &figure.name)).copied().unwrap_or(0), elapsed)
            });
            Row { section, name, value, per_second }
        };
        self.figures.iter().map(row).collect()
    }
}

/// A change per second.
#[allow(clippy::cast_precision_loss, reason = "a rate is shown, not counted on")]
fn per_second(change: i64, elapsed: Duration) -> f64 {
    change as f64 / elapsed.as_secs_f64().max(1e-3)
}

/// The total change per second of rows whose name has this ending.
pub(super) fn rate_of(rows: &[Row], ending: &str) -> Option<f64> {
    let rates: Vec<f64> =
        rows.iter().filter(|row| row.name.ends_with(ending)).filter_map(|row| row.per_second).collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "# Server\r\nscarce_version:0.1.0\r\nuptime_in_seconds:5\r\n# Partitions\r\n\
        partition_0:durable_sequence=100,inbox_batches=2,state=open\r\npartition_1:durable_sequence=10,inbox_batches=0\r\n";
    const SECOND: &str = "# Server\r\nuptime_in_seconds:7\r\n# Partitions\r\n\
        partition_0:durable_sequence=300,inbox_batches=0\r\npartition_1:durable_sequence=14,inbox_batches=0\r\n\
        # Commands\r\ncmd_STOCK.TAKE:SOLD_OUT=50\r\n";

    #[test]
    fn whatever_has_a_number_is_a_figure() {
        let sample = Sample::read(FIRST, Instant::now());
        let names: Vec<_> =
            sample.figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
        let expected = [
            ("uptime_in_seconds", 5),
            ("partition_0.durable_sequence", 100),
            ("partition_0.inbox_batches", 2),
            ("partition_1.durable_sequence", 10),
            ("partition_1.inbox_batches", 0),
        ];
        assert_eq!(names, expected);
        assert_eq!(sample.texts["scarce_version"], "0.1.0");
        assert_eq!(sample.texts["partition_0.state"], "open");
    }

    #[test]
    fn rates_are_what_changed_in_a_second() {
        let now = Instant::now();
        let (first, second) = (Sample::read(FIRST, now), Sample::read(SECOND, now + Duration::from_secs(2)));
        assert!(first.rows(None).iter().all(|row| row.per_second.is_none()));
        let rows = second.rows(Some(&first));
        let rate = |name: &str| rows.iter().find(|row| row.name == name).and_then(|row| row.per_second);
        assert_eq!(rate("partition_0.durable_sequence"), Some(100.0));
        assert_eq!(rate("partition_0.inbox_batches"), Some(-1.0));
        assert_eq!(rate("cmd_STOCK.TAKE.SOLD_OUT"), Some(25.0));
        assert_eq!(rate_of(&rows, ".durable_sequence"), Some(102.0));
        assert_eq!(rate_of(&rows, ".nothing"), None);
    }
}
