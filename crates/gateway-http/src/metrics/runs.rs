//! Metrics of operation ids that are in files instead of memory.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use scarce_engine::metrics::RunMetrics;

use super::Partitions;

/// Where the ids of each partition are, if its engine keeps some in files.
pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    type Of = fn(&RunMetrics) -> u64;
    let families: [(&str, &str, Of); 4] = [
        (
            "scarce_operations_in_memory",
            "Operation ids that are in memory; the others are in files",
            |runs| runs.in_memory(),
        ),
        ("scarce_operation_files", "Files with operation ids", |runs| runs.files()),
        ("scarce_operation_files_bytes", "The size of the files with operation ids", |runs| runs.bytes()),
        (
            "scarce_operation_files_failing",
            "1 while operation ids cannot be moved from memory to files, and once such a file is damaged",
            |runs| u64::from(runs.is_failing()),
        ),
    ];
    let used = || partitions.iter().filter(|(_, metrics)| metrics.runs.is_used());
    for (name, help, of) in families {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (partition, metrics) in used() {
            let labels = [("partition", partition.to_string())];
            ConstGauge::new(of(&metrics.runs)).encode(family.encode_family(&labels)?)?;
        }
    }
    let help = "Reads of files with operation ids, since the start";
    let mut family =
        encoder.encode_descriptor("scarce_operation_file_reads", help, None, MetricType::Counter)?;
    for (partition, metrics) in used() {
        let labels = [("partition", partition.to_string())];
        ConstCounter::new(metrics.runs.reads()).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}
