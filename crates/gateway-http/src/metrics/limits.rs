//! Metrics of the limits of rate. Their names are the operator's, not the callers'.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use scarce_gateway::steady_ms;
use scarce_limits::Limits;
use scarce_limits::rooms::Rooms;

pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, limits: &Limits) -> std::fmt::Result {
    let help = "Requests that a limit of rate refused";
    let counter = MetricType::Counter;
    let mut family = encoder.encode_descriptor("scarce_rate_limited", help, None, counter)?;
    for (rule, refused) in limits.refused() {
        let count = ConstCounter::new(refused);
        count.encode(family.encode_family(&[("limit", rule.name.as_str()), ("per", rule.per.word())])?)?;
    }
    Ok(())
}

/// How many wait in each room.
pub(super) fn encode_rooms(encoder: &mut DescriptorEncoder<'_>, rooms: &Rooms) -> std::fmt::Result {
    let help = "Users that wait in a waiting room";
    let mut family = encoder.encode_descriptor("scarce_waiting_room_users", help, None, MetricType::Gauge)?;
    for (room, count) in rooms.waiting(steady_ms()) {
        #[allow(clippy::cast_possible_wrap, reason = "there are not so many")]
        let gauge = ConstGauge::new(count as i64);
        gauge.encode(family.encode_family(&[("room", room.name.as_str())])?)?;
    }
    Ok(())
}
