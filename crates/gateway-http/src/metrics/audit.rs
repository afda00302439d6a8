//! Metrics of the audit log.

use std::sync::atomic::Ordering;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use scarce_audit::AuditFigures;

pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, figures: &AuditFigures) -> std::fmt::Result {
    for (name, help, figure) in [
        ("scarce_audit_records", "Records of the audit log that are on the disk", &figures.written),
        ("scarce_audit_left_out", "Denials that the audit log counts only", &figures.left_out),
        ("scarce_audit_lost", "Records that the disk of the audit log did not take", &figures.lost),
    ] {
        let counter = ConstCounter::new(figure.load(Ordering::Relaxed));
        counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
    }
    Ok(())
}
