//! Metrics of the process: its file descriptors, and the connections that take most of them.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::gateway::Places;
use crate::serve::descriptors;

/// Open file descriptors, their limit, and connections.
pub(super) fn descriptors(encoder: &mut DescriptorEncoder<'_>, places: &Places) -> std::fmt::Result {
    let levels = [
        ("process_open_fds", "Open file descriptors", descriptors::open_count()),
        ("process_max_fds", "The limit of open file descriptors", descriptors::open_max()),
        ("scarce_connections_open", "Open connections of all ports", Some(places.open())),
        ("scarce_connections_max", "Connections that may be open, over all ports", Some(places.max())),
    ];
    for (name, help, level) in levels {
        let Some(level) = level else { continue };
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(level).encode(family)?;
    }
    let help = "Connections that were refused because all places were taken";
    let family = encoder.encode_descriptor("scarce_connections_refused", help, None, MetricType::Counter)?;
    ConstCounter::new(places.refused()).encode(family)
}
