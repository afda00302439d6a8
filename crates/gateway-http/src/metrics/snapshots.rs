//! Metrics of snapshots, from which a server starts, and of how far back the log reaches, which is trimmed behind them.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use scarce_engine::metrics::{LogReach, SnapshotMetrics};

use super::Partitions;

/// The last snapshot of each partition that has one, and how many failed or are damaged.
pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    type Of = fn(&SnapshotMetrics) -> f64;
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; figures beyond 2^53 do not occur")]
    let families: [(&str, &str, Of); 3] = [
        ("scarce_snapshot_timestamp_seconds", "When the last snapshot was made, in Unix time", |snapshots| {
            snapshots.made_at_ms() as f64 / 1e3
        }),
        ("scarce_snapshot_bytes", "The size of the last snapshot", |snapshots| {
            snapshots.payload_bytes() as f64
        }),
        (
            "scarce_snapshot_duration_seconds",
            "How long the last snapshot since the start took",
            |snapshots| snapshots.took_ms() as f64 / 1e3,
        ),
    ];
    for (name, help, of) in families {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (partition, metrics) in partitions.iter().filter(|(_, its)| its.snapshots.made_at_ms() > 0) {
            let labels = [("partition", partition.to_string())];
            ConstGauge::new(of(&metrics.snapshots)).encode(family.encode_family(&labels)?)?;
        }
    }
    let help = "Damaged snapshots that the start passed over";
    let mut family = encoder.encode_descriptor("scarce_snapshots_damaged", help, None, MetricType::Gauge)?;
    for (partition, metrics) in partitions {
        let labels = [("partition", partition.to_string())];
        ConstGauge::new(metrics.snapshots.damaged()).encode(family.encode_family(&labels)?)?;
    }
    log_reach(encoder, partitions)?;
    let help = "Snapshots that failed since the start";
    let mut family =
        encoder.encode_descriptor("scarce_snapshot_failures", help, None, MetricType::Counter)?;
    for (partition, metrics) in partitions {
        let labels = [("partition", partition.to_string())];
        ConstCounter::new(metrics.snapshots.failures()).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// The oldest event of each partition whose log has one.
fn log_reach(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    type Of = fn(&LogReach) -> f64;
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; figures beyond 2^53 do not occur")]
    let families: [(&str, &str, Of); 2] = [
        ("scarce_log_first_sequence", "The first sequence that the log still has", |reach| {
            reach.first_sequence() as f64
        }),
        (
            "scarce_log_oldest_timestamp_seconds",
            "When the oldest event of the log happened, in Unix time",
            |reach| reach.oldest_at_ms() as f64 / 1e3,
        ),
    ];
    for (name, help, of) in families {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (partition, metrics) in partitions.iter().filter(|(_, its)| its.log_reach.first_sequence() > 0) {
            let labels = [("partition", partition.to_string())];
            ConstGauge::new(of(&metrics.log_reach)).encode(family.encode_family(&labels)?)?;
        }
    }
    Ok(())
}
