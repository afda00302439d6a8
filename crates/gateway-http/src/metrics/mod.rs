//! `/metrics`: the metrics of the engine and of this port, for Prometheus. No metric is labelled with data
//! from callers.

mod audit;
mod backup;
mod durations;
mod limits;
mod pipeline;
mod process;
mod push;
mod reconciliations;
mod runs;
mod snapshots;
mod tls;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use scarce_core::command::{COMMANDS, CommandSpec};
use scarce_core::outcome::Code;
use scarce_engine::Engine;
use scarce_engine::metrics::{DURATION_BOUNDS, Durations, PartitionMetrics};
use scarce_engine::scripts::ScriptRunner;
use scarce_engine::slow::SlowLog;
use scarce_gateway::latencies::{CommandDurations, Latencies};
use scarce_gateway::{Access, ConnectionPlaces, Denials, Tls};
use scarce_push::Hub;

use self::durations::OperationDurations;
use super::{Context, reply};
use crate::flows::Flows;

/// The metrics and the registry they are read from.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    durations: OperationDurations,
    /// The same by command alone.
    own: Arc<CommandDurations>,
    slow: Option<Duration>,
    slow_log: Arc<Mutex<SlowLog>>,
}

/// What the metrics are of.
pub struct Measured {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// What flows into this process and out of it.
    pub flows: Flows,
    /// The places for connections of all ports.
    pub places: Arc<ConnectionPlaces>,
    /// The certificate, if the ports speak TLS.
    pub tls: Option<Tls>,
    /// Who is admitted, and who was not.
    pub access: Access,
    /// The channels that callers subscribe to.
    pub push: Arc<Hub>,
    /// How long commands take, at all ports.
    pub latencies: Arc<Latencies>,
    /// Where the process keeps its data.
    pub directory: PathBuf,
}

impl Metrics {
    /// Registers the metrics of an engine.
    #[must_use]
    pub fn new(measured: Measured, slow: Option<Duration>) -> Self {
        let mut registry = Registry::default();
        let durations = OperationDurations::of(measured.latencies.clone());
        registry.register_with_unit(
            "scarce_operation_duration",
            "How long a command took, from the request to the answer",
            Unit::Seconds,
            durations.clone(),
        );
        let own = measured.latencies.join("http");
        registry.register_collector(Box::new(measured));
        let slow_log = Arc::new(Mutex::new(SlowLog::above(slow)));
        Self { registry: Arc::new(registry), durations, own, slow, slow_log }
    }

    /// Records how long a command over HTTP took.
    pub(super) fn note_http(&self, spec: &CommandSpec, status: u16, took: Duration, request: &str) {
        self.durations.note_http(spec.name, status, took);
        self.own.note(spec.number, took, 1);
        if self.slow.is_some_and(|limit| took > limit) {
            self.log_slow(spec.name, status, took, request);
        }
    }

    fn log_slow(&self, command: &'static str, status: u16, took: Duration, request_id: &str) {
        let untold = self.slow_log.lock().unwrap_or_else(PoisonError::into_inner).note(took);
        if let Some(untold) = untold {
            let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(command, status, took_ms, request_id, untold, "a command over HTTP was slow");
        }
    }

    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Answers the metrics.
pub(super) async fn handle(State(shared): Context) -> Response {
    match shared.metrics.text() {
        Ok(text) => reply::written(
            200,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            text.into_bytes(),
        ),
        Err(error) => reply::text(500, error.to_string()),
    }
}

impl std::fmt::Debug for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measured").finish_non_exhaustive()
    }
}

/// Reads the counters of an engine and of its pipeline at each scrape.
impl Collector for Measured {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let partitions: Vec<(u32, &PartitionMetrics)> = (0..self.engine.partitions())
            .filter_map(|partition| Some((partition, self.engine.metrics(partition).ok()?)))
            .collect();
        operations(&mut encoder, &partitions)?;
        durations(&mut encoder, &partitions)?;
        levels(&mut encoder, &partitions)?;
        operations_max(&mut encoder, &*self.engine)?;
        readiness(&mut encoder, &*self.engine)?;
        runs::encode(&mut encoder, &partitions)?;
        snapshots::encode(&mut encoder, &partitions)?;
        slow_commands(&mut encoder, &partitions)?;
        pipeline::projections(&mut encoder, &partitions, &self.flows.statuses)?;
        if let Some(count) = self.flows.commands.get() {
            pipeline::commands(&mut encoder, &count())?;
        }
        if !self.flows.workers.is_empty() {
            pipeline::workers(&mut encoder, &self.flows.workers)?;
        }
        if let Some(health) = self.flows.health.last() {
            pipeline::deliveries(&mut encoder, &health)?;
        }
        reconciliations::encode(&mut encoder, &self.flows.reconciliations.figures())?;
        if let Some(status) = &self.flows.backup {
            backup::encode(&mut encoder, &partitions, &status.levels())?;
        }
        if let Some(levels) = self.engine.memory() {
            process::memory(&mut encoder, &levels)?;
        }
        if let Some(filling) = self.engine.scripts().ok().and_then(ScriptRunner::filling) {
            process::scripts(&mut encoder, filling)?;
        }
        deployment(&mut encoder, &*self.engine)?;
        process::usual(&mut encoder, &self.directory)?;
        process::descriptors(&mut encoder, &self.places)?;
        process::ports(&mut encoder, &self.places)?;
        denials(&mut encoder, &self.access.denials)?;
        if let Some(tls) = &self.tls {
            tls::encode(&mut encoder, tls)?;
        }
        if let Some(figures) = self.access.audit.figures() {
            audit::encode(&mut encoder, figures)?;
        }
        if let Some(limits) = &*self.access.limiting.get() {
            limits::encode(&mut encoder, limits)?;
        }
        if let Some(rooms) = &*self.access.limiting.rooms() {
            limits::encode_rooms(&mut encoder, rooms)?;
        }
        push::encode(&mut encoder, &self.push.figures)?;
        build_info(&mut encoder)
    }
}

type Partitions<'a> = [(u32, &'a PartitionMetrics)];

fn slow_commands(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    let counter = ConstCounter::new(0_u64);
    let help = "Commands that took longer than the setting slow_ms; SLOWLOG GET names the last ones";
    let mut family = encoder.encode_descriptor("scarce_slow_commands", help, None, counter.metric_type())?;
    for (partition, metrics) in partitions {
        let labels = [("partition", partition.to_string())];
        ConstCounter::new(metrics.slow_commands.total()).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn operations(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    let counter = ConstCounter::new(0_u64);
    let help = "Commands by resource, command and outcome";
    let mut family = encoder.encode_descriptor("scarce_operations", help, None, counter.metric_type())?;
    let batch = std::iter::once(("BATCH", "BATCH", 0));
    for (group, name, number) in
        batch.chain(COMMANDS.iter().map(|spec| (spec.group(), spec.name, spec.number)))
    {
        for code in Code::ALL {
            let count: u64 = partitions.iter().map(|(_, metrics)| metrics.outcomes(number, *code)).sum();
            if count > 0 {
                let labels = [("resource", group), ("command", name), ("outcome", code.word())];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
    }
    Ok(())
}

fn durations(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    type Of = fn(&PartitionMetrics) -> &Durations;
    let families: [(&str, &str, Of); 2] = [
        ("scarce_journal_sync", "How long the disk took to sync a batch of the journal", |metrics| {
            &metrics.syncs
        }),
        ("scarce_commit_duration", "How long commands waited from decision to durability", |metrics| {
            &metrics.commits
        }),
    ];
    for (name, help, of) in families {
        let kind = MetricType::Histogram;
        let mut family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), kind)?;
        for (partition, metrics) in partitions {
            let durations = of(metrics);
            let counts = durations.counts();
            let bounds = DURATION_BOUNDS.iter().copied().chain([f64::MAX]);
            let buckets: Vec<(f64, u64)> = bounds.zip(counts.iter().copied()).collect();
            let labels = [("partition", partition.to_string())];
            let mut metric = family.encode_family(&labels)?;
            let count = counts.iter().sum();
            metric.encode_histogram::<prometheus_client::encoding::NoLabelSet>(
                durations.sum_seconds(),
                count,
                &buckets,
                None,
            )?;
        }
    }
    Ok(())
}

fn levels(encoder: &mut DescriptorEncoder<'_>, partitions: &Partitions<'_>) -> std::fmt::Result {
    type Of = fn(&PartitionMetrics) -> f64;
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; figures beyond 2^53 do not occur")]
    let families: [(&str, &str, Of); 11] = [
        (
            "scarce_outbox_lag_events",
            "Events that the slowest consumer of the log has not confirmed",
            |metrics| metrics.levels().outflow_lag as f64,
        ),
        ("scarce_operations_remembered", "Operation ids that are remembered", |metrics| {
            metrics.levels().operations as f64
        }),
        (
            "scarce_operations_locked",
            "Operation ids that are younger than the minimum window, so that they must not be forgotten",
            |metrics| metrics.levels().operations_locked as f64,
        ),
        ("scarce_reservations_held", "Open holds and reservations that have a deadline", |metrics| {
            metrics.levels().deadlines as f64
        }),
        ("scarce_deadline_lag_seconds", "How long the oldest open deadline is overdue", |metrics| {
            metrics.levels().deadline_lag_ms as f64 / 1e3
        }),
        (
            "scarce_clock_ahead_ms",
            "How far the wall clock is ahead of the time that timestamps go by, and not believed",
            |metrics| metrics.levels().clock_ahead_ms as f64,
        ),
        (
            "scarce_clock_behind_ms",
            "How far the wall clock is behind the time that timestamps go by",
            |metrics| metrics.levels().clock_behind_ms as f64,
        ),
        (
            "scarce_clock_doubted_ms",
            "How much of the time nothing confirms yet; no deadline ends by it",
            |metrics| metrics.levels().clock_doubted_ms as f64,
        ),
        ("scarce_sequence", "The sequence of the last event decided", |metrics| {
            metrics.levels().sequence as f64
        }),
        ("scarce_log_bytes", "Bytes of log written since the start", |metrics| {
            metrics.log_bytes.get() as f64
        }),
        ("scarce_failures", "Commands that the engine could not decide since the start", |metrics| {
            metrics.failures.get() as f64
        }),
    ];
    let gauge = ConstGauge::new(0_f64);
    for (name, help, of) in families {
        let mut family = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
        for (partition, metrics) in partitions {
            let labels = [("partition", partition.to_string())];
            ConstGauge::new(of(metrics)).encode(family.encode_family(&labels)?)?;
        }
    }
    let help = "Batches of other threads that wait for a partition";
    let mut family = encoder.encode_descriptor("scarce_queue_depth", help, None, gauge.metric_type())?;
    for (partition, metrics) in partitions {
        let labels = [("queue", "inbox".to_owned()), ("partition", partition.to_string())];
        #[allow(clippy::cast_precision_loss, reason = "queues are short")]
        ConstGauge::new(metrics.levels().inbox as f64).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn operations_max(encoder: &mut DescriptorEncoder<'_>, engine: &dyn Engine) -> std::fmt::Result {
    let gauge = ConstGauge::new(engine.state_settings().operations_max as u64);
    let help = "Operation ids that each partition remembers at most";
    let family = encoder.encode_descriptor("scarce_operations_max", help, None, gauge.metric_type())?;
    gauge.encode(family)
}

/// When the deployment was created, where that is known: a change says that another one is served.
fn deployment(encoder: &mut DescriptorEncoder<'_>, engine: &dyn Engine) -> std::fmt::Result {
    let Some(created_at) = engine.deployment_created_at() else { return Ok(()) };
    let help = "When the deployment was created, in Unix time";
    #[allow(clippy::cast_precision_loss, reason = "gauges are floats; times beyond 2^53 ms do not occur")]
    let gauge = ConstGauge::new(created_at as f64 / 1e3);
    let name = "scarce_deployment_created";
    let mut family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), gauge.metric_type())?;
    gauge.encode(family.encode_family(&[("deployment", engine.deployment_id())])?)
}

/// Whether a partition takes commands: what alerts should look at first.
fn readiness(encoder: &mut DescriptorEncoder<'_>, engine: &dyn Engine) -> std::fmt::Result {
    let help = "1 while the partition takes commands, 0 while it refuses them";
    let kind = ConstGauge::new(0_i64).metric_type();
    let mut family = encoder.encode_descriptor("scarce_partition_ready", help, None, kind)?;
    for partition in 0..engine.partitions() {
        let labels = [("partition", partition.to_string())];
        let is_ready = i64::from(engine.check_ready(partition).is_ok());
        ConstGauge::new(is_ready).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Callers that were turned away: wrong passwords and keys, and keys that lack a scope.
fn denials(encoder: &mut DescriptorEncoder<'_>, denials: &Denials) -> std::fmt::Result {
    let help =
        "Requests and logins that were turned away, by port and by the reason that the audit log gives";
    let mut family = encoder.encode_descriptor("scarce_denials", help, None, MetricType::Counter)?;
    for (port, reason, count) in denials.counts() {
        ConstCounter::new(count).encode(family.encode_family(&[("port", port), ("reason", reason)])?)?;
    }
    Ok(())
}

fn build_info(encoder: &mut DescriptorEncoder<'_>) -> std::fmt::Result {
    let gauge = ConstGauge::new(1_i64);
    let mut family =
        encoder.encode_descriptor("scarce_build_info", "The version that runs", None, gauge.metric_type())?;
    gauge.encode(family.encode_family(&[("version", env!("CARGO_PKG_VERSION"))])?)
}
