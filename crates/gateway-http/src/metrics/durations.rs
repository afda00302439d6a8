//! How long commands took at each port.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use scarce_engine::metrics::DURATION_BOUNDS;
use scarce_gateway::latencies::{Latencies, measured};

/// The labels of a duration over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OverHttp {
    port: &'static str,
    command: &'static str,
    status: u16,
}

/// How long commands took: over HTTP by status, over RESP by command alone, because a look at each outcome would cost
/// every command.
#[derive(Clone, Debug)]
pub(super) struct OperationDurations {
    http: Family<OverHttp, Histogram>,
    all: Arc<Latencies>,
}

impl OperationDurations {
    pub(super) fn of(all: Arc<Latencies>) -> Self {
        let http = Family::<OverHttp, Histogram>::new_with_constructor(|| Histogram::new(DURATION_BOUNDS));
        Self { http, all }
    }

    pub(super) fn note_http(&self, command: &'static str, status: u16, took: Duration) {
        let labels = OverHttp { port: "http", command, status };
        self.http.get_or_create(&labels).observe(took.as_secs_f64());
    }
}

impl EncodeMetric for OperationDurations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        for (number, command) in measured() {
            let taken = self.all.at("resp", number);
            if taken.count() == 0 {
                continue;
            }
            let bounds = DURATION_BOUNDS.iter().copied().chain([f64::MAX]);
            let buckets: Vec<(f64, u64)> = bounds.zip(taken.counts().iter().copied()).collect();
            let labels = [("port", "resp"), ("command", command)];
            let mut metric = encoder.encode_family(&labels)?;
            let sum = taken.sum().as_secs_f64();
            metric.encode_histogram::<NoLabelSet>(sum, taken.count(), &buckets, None)?;
        }
        self.http.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
