//! Metrics of subscriptions.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use scarce_push::PushFigures;

pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, figures: &PushFigures) -> std::fmt::Result {
    for (name, help, figure) in [
        (
            "scarce_push_subscribers",
            "Connections that can subscribe to channels, or have",
            &figures.subscribers,
        ),
        ("scarce_push_subscriptions", "Subscriptions to channels", &figures.subscriptions),
        ("scarce_push_channels", "Channels that are followed", &figures.channels),
    ] {
        #[allow(clippy::cast_possible_wrap, reason = "there are not so many")]
        let gauge = ConstGauge::new(figure.get() as i64);
        gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
    }
    for (name, help, figure) in [
        ("scarce_push_messages", "Messages of channels that were sent to subscribers", &figures.messages),
        ("scarce_push_reads", "Reads that were sent to the engine for channels", &figures.reads),
        (
            "scarce_push_cut_offs",
            "Subscriptions that ended because their subscribers read too slowly",
            &figures.cut_offs,
        ),
        (
            "scarce_push_conflations",
            "Snapshots that slow subscribers got in place of what they missed",
            &figures.conflations,
        ),
    ] {
        let counter = ConstCounter::new(figure.get());
        counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
    }
    Ok(())
}
