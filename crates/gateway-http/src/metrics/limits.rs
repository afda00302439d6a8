//! Metrics of the limits of rate. Their names are the operator's, not the callers'.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use scarce_limits::Limits;

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
