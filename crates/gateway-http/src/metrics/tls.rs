//! Metrics of TLS: until when the certificate is valid, and what failed.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use scarce_gateway::{HandshakeFailure, Tls};

pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, tls: &Tls) -> std::fmt::Result {
    if let Some(facts) = tls.facts() {
        let help = "Until when the certificate of the ports is valid, in Unix time";
        let (name, gauge) = ("scarce_tls_not_after", MetricType::Gauge);
        let family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), gauge)?;
        ConstGauge::new(facts.not_after.as_second()).encode(family)?;
    }
    let help = "TLS handshakes that failed, by reason";
    let (name, counter) = ("scarce_tls_handshakes_failed", MetricType::Counter);
    let mut family = encoder.encode_descriptor(name, help, None, counter)?;
    for failure in HandshakeFailure::ALL {
        let count = ConstCounter::new(tls.handshakes_failed(failure));
        count.encode(family.encode_family(&[("reason", failure.word())])?)?;
    }
    let help = "How often the files of the certificate could not be read again, or not be used";
    let family = encoder.encode_descriptor("scarce_tls_reloads_failed", help, None, counter)?;
    ConstCounter::new(tls.reloads_failed()).encode(family)
}
