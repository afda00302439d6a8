//! Metrics of what flows into the engine and out of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use scarce_delivery::{Health, Lag, WorkerStatus};
use scarce_outflow::{State as ConsumerState, Status};

use super::Partitions;
use crate::flows::CommandCounts;

/// How far the consumers of this process lag behind the log.
pub(super) fn projections(
    encoder: &mut DescriptorEncoder<'_>,
    partitions: &Partitions<'_>,
    statuses: &[Arc<Status>],
) -> std::fmt::Result {
    let (help, kind) = ("Events that a consumer in this process has not taken yet", MetricType::Gauge);
    let mut family = encoder.encode_descriptor("scarce_projection_lag_events", help, None, kind)?;
    // Where another process has the partition, that process knows the lag.
    let is_here = |state: &ConsumerState| !matches!(state, ConsumerState::Elsewhere { .. });
    for status in statuses.iter().filter(|status| is_here(&status.state())) {
        let its = partitions.iter().find(|(partition, _)| *partition == status.partition);
        let Some((partition, metrics)) = its else { continue };
        let lag = metrics.levels().sequence.saturating_sub(status.position().sequence);
        let labels = [("sink", status.name.to_string()), ("partition", partition.to_string())];
        ConstGauge::new(lag).encode(family.encode_family(&labels)?)?;
    }
    let help = "Whether a consumer in this process cannot go on; /v1/consumers says why";
    let mut family = encoder.encode_descriptor("scarce_consumer_troubled", help, None, kind)?;
    for status in statuses {
        let is_troubled = matches!(status.state(), ConsumerState::Troubled { .. });
        let labels = [("sink", status.name.to_string()), ("partition", status.partition.to_string())];
        ConstGauge::new(u64::from(is_troubled)).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Whether the workers of this process can go on.
pub(super) fn workers(
    encoder: &mut DescriptorEncoder<'_>,
    workers: &[Arc<WorkerStatus>],
) -> std::fmt::Result {
    let help =
        "Whether a worker of a queue of deliveries in this process cannot go on; /readyz?verbose says why";
    let mut family =
        encoder.encode_descriptor("scarce_deliveries_troubled", help, None, MetricType::Gauge)?;
    let queues: BTreeSet<&'static str> = workers.iter().map(|worker| worker.queue).collect();
    for queue in queues {
        let is_troubled = workers.iter().any(|worker| worker.queue == queue && worker.trouble().is_some());
        ConstGauge::new(u64::from(is_troubled)).encode(family.encode_family(&[("queue", queue)])?)?;
    }
    Ok(())
}

/// The results of the commands from Kafka.
pub(super) fn commands(encoder: &mut DescriptorEncoder<'_>, counts: &CommandCounts) -> std::fmt::Result {
    let help = "Messages of the topic of commands by what became of them; replayed ones are among the others";
    let kind = MetricType::Counter;
    let mut family = encoder.encode_descriptor("scarce_kafka_commands", help, None, kind)?;
    for (result, count) in [
        ("applied", counts.applied),
        ("refused", counts.refused),
        ("replayed", counts.replayed),
        ("dead_letter", counts.dead),
        ("removed", counts.removed),
        ("retried", counts.retried),
    ] {
        ConstCounter::new(count).encode(family.encode_family(&[("result", result)])?)?;
    }
    let levels = [
        (
            "scarce_kafka_commands_in_flight",
            "Commands from Kafka that were begun and are not done",
            counts.in_flight,
        ),
        (
            "scarce_kafka_commands_partitions",
            "Partitions of the topic of commands that are this process'",
            counts.partitions,
        ),
    ];
    for (name, help, level) in levels {
        let gauge = ConstGauge::new(level);
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        gauge.encode(family)?;
    }
    Ok(())
}

/// What is waiting for delivery and settlement.
pub(super) fn deliveries(encoder: &mut DescriptorEncoder<'_>, health: &Health) -> std::fmt::Result {
    type Of = fn(&Lag) -> u64;
    let families: [(&str, &str, Of); 3] = [
        ("scarce_deliveries_pending", "Webhooks and settlements that are not done", |lag| lag.pending),
        ("scarce_deliveries_dead", "Dead letters, which wait for somebody to look", |lag| lag.dead),
        ("scarce_deliveries_oldest_ms", "How long the oldest that is not done has waited", |lag| {
            lag.oldest_pending_ms.unwrap_or(0)
        }),
    ];
    for (name, help, of) in families {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (queue, lag) in [("webhooks", &health.webhooks), ("settlement", &health.settlement)] {
            ConstGauge::new(of(lag)).encode(family.encode_family(&[("queue", queue)])?)?;
        }
    }
    let help = "Endpoints that are suspended because nothing arrived there for long";
    let family =
        encoder.encode_descriptor("scarce_webhooks_endpoints_suspended", help, None, MetricType::Gauge)?;
    ConstGauge::new(health.suspended_endpoints).encode(family)
}
