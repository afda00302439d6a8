//! The results of a load test, as text or JSON.

use scarce_core::state::StateSettings;
use scarce_load::{PERCENTILES, Tally};
use serde_json::json;

use super::Bench;

/// A finished load test.
pub(super) struct Report<'a> {
    pub(super) options: &'a Bench,
    pub(super) tally: Tally,
    pub(super) seconds: f64,
    /// The reasons of connections that broke.
    pub(super) broken: Vec<String>,
}

impl Report<'_> {
    #[allow(clippy::cast_precision_loss, reason = "a rate is shown, not counted on")]
    fn per_second(&self) -> f64 {
        self.tally.count() as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    pub(super) fn to_json(&self) -> serde_json::Value {
        let latency: serde_json::Map<String, serde_json::Value> = PERCENTILES
            .iter()
            .map(|(name, percentile)| ((*name).to_owned(), json!(self.tally.percentile_us(*percentile))))
            .chain([
                ("max".to_owned(), json!(self.tally.max_us())),
                ("mean".to_owned(), json!(self.tally.mean_us())),
            ])
            .collect();
        json!({
            "workload": self.options.workload.name(),
            "connections": self.options.connections,
            "pipeline": self.options.pipeline,
            "rate": self.options.rate,
            "ids": self.options.ids,
            "seconds": self.seconds,
            "operations": self.tally.count(),
            "per_second": self.per_second(),
            "latency_us": latency,
            "outcomes": self.tally.outcomes(),
            "broken_connections": self.broken,
        })
    }

    pub(super) fn to_text(&self) -> String {
        let options = self.options;
        let pace = match options.rate {
            Some(rate) => format!("{rate} a second"),
            None => format!("pipeline {}", options.pipeline),
        };
        let ids = if options.ids { "with ids" } else { "without ids" };
        let latencies: Vec<String> = PERCENTILES
            .iter()
            .map(|(name, percentile)| (*name, self.tally.percentile_us(*percentile)))
            .chain([("max", self.tally.max_us())])
            .map(|(name, us)| format!("{name} {}", milliseconds(us)))
            .collect();
        let outcomes: Vec<String> =
            self.tally.outcomes().iter().map(|(code, count)| format!("{code} {count}")).collect();
        format!(
            "load          {}, {} connections, {pace}, {ids}\n\
             operations    {} in {:.2} s, {:.0} a second\n\
             latency, ms   {}\n\
             outcomes      {}",
            options.workload.name(),
            options.connections,
            self.tally.count(),
            self.seconds,
            self.per_second(),
            latencies.join("  "),
            outcomes.join(", "),
        ) + &self.warning()
    }

    /// A rate of new ids that a partition cannot take for long.
    fn warning(&self) -> String {
        let long_run = StateSettings::default().new_ids_per_second_max();
        if !self.options.ids || self.per_second() <= long_run as f64 {
            return String::new();
        }
        format!(
            "\nlong run      new ids come faster than the {long_run} a second that each partition takes in the long run by default; \
             see --operations-max"
        )
    }
}

fn milliseconds(us: f64) -> String {
    format!("{:.3}", us / 1e3)
}
