//! Metrics of the shipping of the log to a store of backups.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use super::Partitions;
use crate::flows::BackupLevels;

pub(super) fn encode(
    encoder: &mut DescriptorEncoder<'_>,
    partitions: &Partitions<'_>,
    levels: &BackupLevels,
) -> std::fmt::Result {
    let lag_of = |partition: u32, sequence| levels.lag_events(partition, sequence);
    let lags: Vec<_> = partitions
        .iter()
        .map(|(partition, metrics)| (*partition, lag_of(*partition, metrics.levels().sequence)))
        .collect();
    let has_more = lags.iter().any(|(_, lag)| *lag > 0);
    let (gauge, seconds) = (MetricType::Gauge, Some(&Unit::Seconds));
    let help = "How much time would be lost with this machine, because the store of backups lacks it";
    let family = encoder.encode_descriptor("scarce_backup_lag", help, seconds, gauge)?;
    ConstGauge::new(levels.lag(has_more).as_secs_f64()).encode(family)?;
    let help = "Events that the store of backups lacks";
    let mut family = encoder.encode_descriptor("scarce_backup_lag_events", help, None, gauge)?;
    for (partition, lag) in &lags {
        let labels = [("partition", partition.to_string())];
        ConstGauge::new(*lag).encode(family.encode_family(&labels)?)?;
    }
    let help =
        "Whether the shipping of the log to the store of backups cannot go on; /readyz?verbose says why";
    let family = encoder.encode_descriptor("scarce_backup_troubled", help, None, gauge)?;
    ConstGauge::new(u64::from(levels.trouble.is_some())).encode(family)?;
    let help = "When the newest backup that this process made was begun, in Unix time; 0 before the first";
    let family = encoder.encode_descriptor("scarce_backup_begun", help, seconds, gauge)?;
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; times beyond 2^53 ms do not occur")]
    ConstGauge::new(levels.begun_at_ms as f64 / 1e3).encode(family)?;
    let counters = [
        ("scarce_backup_log_parts", "Parts of the log that were put into the store of backups", levels.parts),
        ("scarce_backup_log_bytes", "Bytes of log that were put into the store of backups", levels.bytes),
        (
            "scarce_backup_overruns",
            "How often more log waited for the store of backups than may, so that it was not kept any more",
            levels.overruns,
        ),
    ];
    for (name, help, count) in counters {
        let family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        ConstCounter::new(count).encode(family)?;
    }
    Ok(())
}
