//! Metrics of reconciliations.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::reconciliations::Figures;

/// How those since the start ended, and what the last one found.
pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, figures: &Figures) -> std::fmt::Result {
    let help = "Reconciliations since the start, by how they ended";
    let mut family = encoder.encode_descriptor("scarce_reconciliations", help, None, MetricType::Counter)?;
    for (result, count) in
        [("equal", figures.equal), ("different", figures.different), ("failed", figures.failed)]
    {
        ConstCounter::new(count).encode(family.encode_family(&[("result", result)])?)?;
    }
    let help = "Rows of the tables that reconciliations have put right since the start";
    let name = "scarce_reconcile_rows_repaired";
    let family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    ConstCounter::new(figures.rows_repaired).encode(family)?;
    if let Some((_, _, differences, took)) = figures.last {
        let help = "Differences that the last reconciliation found; /v1/reconciliations names them";
        let name = "scarce_reconcile_differences";
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(differences).encode(family)?;
        let help = "How long the last reconciliation took";
        let name = "scarce_reconcile_duration_seconds";
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(took.as_secs_f64()).encode(family)?;
    }
    let Some(equal_at) = figures.equal_at else { return Ok(()) };
    let help = "When the last reconciliation ended that found no difference, in Unix time";
    let name = "scarce_reconcile_equal_timestamp_seconds";
    let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; times beyond 2^53 ms do not occur")]
    ConstGauge::new(equal_at as f64 / 1e3).encode(family)
}
