//! A real engine in a folder, with campaigns and claims.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use scarce_core::outcome::{Receipt, Value};
use scarce_delivery::Delivery;
use scarce_engine::clock::ManualClock;
use scarce_engine::consumers::ConsumerName;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::lock::LockError;
use scarce_engine_embedded::{
    self as embedded, ClockChoice, EmbeddedError, EmbeddedSettings, Running, SilentPort,
};
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_outflow::{Outflow, Plan, Start, run};
use scarce_sim::conformance::request;
use scarce_testkit::PATIENCE;
use tempfile::TempDir;
use tokio::runtime::Handle;

/// How many partitions it has.
pub const PARTITIONS: u32 = 3;

/// An engine that stops with this.
pub struct Bench {
    pub engine: Arc<dyn Engine>,
    running: Option<Running>,
    /// Its folder, unless the test keeps that.
    _folder: Option<TempDir>,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(&EmbeddedSettings::default())
    }

    /// An engine that forgets operation ids after this time.
    pub fn forgetting_after(window_ms: u64) -> Self {
        let mut settings = EmbeddedSettings::default();
        settings.state.window_ms = window_ms;
        settings.state.window_ms_min = window_ms;
        Self::with(&settings)
    }

    /// An engine that guarantees to remember operation ids for this time only, and remembers them for longer.
    pub fn promising(window_ms_min: u64) -> Self {
        let mut settings = EmbeddedSettings::default();
        settings.state.window_ms_min = window_ms_min;
        Self::with(&settings)
    }

    /// An engine whose time is that of this clock.
    pub fn timed(clock: &ManualClock) -> Self {
        Self::with(&EmbeddedSettings {
            clock: ClockChoice::Manual(clock.clone()),
            ..EmbeddedSettings::default()
        })
    }

    fn with(settings: &EmbeddedSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bench = Self::open(folder.path(), settings);
        bench._folder = Some(folder);
        bench
    }

    /// The engine in a folder that the test keeps.
    pub fn at(folder: &Path) -> Self {
        Self::open(folder, &EmbeddedSettings::default())
    }

    /// The engine inside a Redis that outlives it.
    pub fn at_redis(url: &str) -> Self {
        let settings =
            RedisSettings { url: url.to_owned(), partitions: PARTITIONS, ..RedisSettings::default() };
        // It has a runtime of its own, which must not be begun within another.
        let opened = std::thread::spawn(|| RedisEngine::open(settings).expect("an engine")).join();
        Self { engine: Arc::new(opened.expect("no panic")), running: None, _folder: None }
    }

    fn open(folder: &Path, settings: &EmbeddedSettings) -> Self {
        let settings =
            EmbeddedSettings { partitions: PARTITIONS, segment_bytes: 256 << 10, ..settings.clone() };
        let begun = Instant::now();
        let recovered = loop {
            match embedded::open(folder, &settings, &mut |_| {}) {
                // A process that another test begins at this moment has the lock of the former engine, too, until it runs
                // its program.
                Err(EmbeddedError::Lock(LockError::Held { .. })) if begun.elapsed() < PATIENCE => {
                    std::thread::yield_now();
                }
                opened => break opened.expect("an engine"),
            }
        };
        let (engine, running) =
            recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("its threads");
        Self { engine, running: Some(running), _folder: None }
    }

    pub fn deployment_id(&self) -> &str {
        self.engine.deployment_id()
    }

    /// Runs a command, which must be answered.
    pub async fn run(&self, line: &str) -> Receipt {
        let words: Vec<&str> = line.split(' ').collect();
        let made = request::single(&words, self.engine.secret()).expect("a command");
        let (partition, request) = match made {
            request::Request::Read(command) => {
                let partition = partition_of(std::slice::from_ref(&command), PARTITIONS);
                (partition, Request::Read(String::new(), command))
            }
            request::Request::Write(envelope) => {
                (partition_of(envelope.commands(), PARTITIONS), Request::Write(envelope))
            }
        };
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let partition = partition.expect("one partition");
        self.engine.submit(partition, vec![request], Box::new(move |answers| drop(sender.send(answers))));
        let mut answers = receiver.await.expect("answers");
        answers.pop().expect("an answer").unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    /// Creates a campaign of equal packets.
    pub async fn campaign(&self, name: &str, packets: u64) {
        let line = format!("PACKET.CREATE {name} EUR PLAN {} {packets} DOUBLE_MEAN", packets * 100);
        let receipt = self.run(&line).await;
        assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
    }

    /// Claims a packet for a user; returns its number and amount.
    pub async fn claim(&self, campaign: &str, user: &str) -> (u64, u64) {
        let receipt = self.run(&format!("PACKET.CLAIM {campaign} {user}")).await;
        assert!(receipt.outcome.is_applied(), "{}", receipt.outcome);
        let figure = |at: usize| match receipt.outcome.facts.get(at) {
            Some(Value::Integer(value)) => u64::try_from(*value).expect("a figure"),
            other => panic!("{other:?}"),
        };
        (figure(0), figure(1))
    }

    /// An account's balance; `None` if the account does not exist.
    pub async fn balance(&self, account: &str) -> Option<i64> {
        let receipt = self.run(&format!("ACCOUNT.GET {account}")).await;
        match receipt.outcome.facts.get(2) {
            Some(Value::Integer(value)) if receipt.outcome.is_applied() => Some(*value),
            _ => None,
        }
    }

    /// How many events with this name are in all logs.
    pub fn count(&self, name: &str) -> usize {
        let entries = |partition| {
            let (mut all, mut next) = (Vec::new(), 1);
            while next <= self.engine.durable_through(partition).expect("a sequence") {
                let entries = self.engine.entries(partition, next, 1 << 20).expect("entries");
                next = entries.last().expect("an entry").sequence_last() + 1;
                all.extend(entries);
            }
            all
        };
        let events = (0..PARTITIONS).flat_map(entries).flat_map(|entry| entry.events);
        events.filter(|event| event.spec().name == name).count()
    }

    fn plan(name: &str) -> Plan {
        Plan {
            name: ConsumerName::parse(name).expect("a name"),
            holder: "test".to_owned(),
            start: Start::Beginning,
            batch_bytes_max: 2 << 10,
        }
    }

    /// Writes the log to deliveries for endpoints.
    pub fn flow_to_webhooks(&self, delivery: &Delivery) -> Outflow {
        run(&Handle::current(), self.engine.clone(), &Self::plan("webhooks"), |partition| {
            delivery.webhooks_consumer(partition)
        })
    }

    /// Writes the log to settlements.
    pub fn flow_to_settlement(&self, delivery: &Delivery) -> Outflow {
        run(&Handle::current(), self.engine.clone(), &Self::plan("settlement"), |partition| {
            delivery.settlement_consumer(partition)
        })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}
