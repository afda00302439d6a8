//! Engines with something in them, their tables, and copies of their logs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_delivery::{Delivery, DeliveryOptions};
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Failure, Request};
use scarce_engine_embedded::{self as embedded, EmbeddedSettings, Running, SilentPort};
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_launch::{Options as Redis, Server};
use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_reconcile::{
    CheckKind, EngineSource, Finding, LogSource, Mending, Options, ReconcileError, Report, Served, Sources,
    Take, reconcile,
};
use scarce_sim::conformance::request;
use scarce_testkit::{Database, DatabaseKind};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub const PARTITIONS: u32 = 2;

/// Something of everything.
pub const LINES: &[&str] = &[
    "ACCOUNT.OPEN {a}u1 EUR",
    "ACCOUNT.OPEN {a}u2 EUR",
    "ACCOUNT.CREDIT {a}u1 500 ID pay-1",
    "ACCOUNT.DEBIT {a}u1 120",
    "ACCOUNT.TRANSFER {a}u1 {a}u2 80",
    "ACCOUNT.HOLD {a}u1 h1 50 TTL 1000000",
    "ACCOUNT.HOLD {a}u1 h2 20 TTL 1000000",
    "ACCOUNT.CAPTURE {a}u1 h2 AMOUNT 5",
    "STOCK.CREATE sku-1 10 PEROWNER 6",
    "STOCK.RESTOCK sku-1 5",
    "STOCK.ADJUST sku-1 -1 REASON broken",
    "STOCK.TAKE sku-1 3 u1",
    "STOCK.TAKE sku-1 2 u2",
    "STOCK.RETURN sku-1 2 1",
    "STOCK.RESERVE sku-1 r1 2 u1 1000000",
    "STOCK.CONFIRM sku-1 r1",
    "STOCK.RESERVE sku-1 r2 1 u1 1000000",
    "PACKET.CREATE c1 EUR AMOUNTS 3 30 20 10",
    "PACKET.CLAIM c1 u1",
    "PACKET.CLAIM c1 u2",
    "COUPON.CREATE k1 LIMIT all 5 PER - WINDOW none LIMIT daily 2 PER user WINDOW day",
    "COUPON.CLAIM k1 USER u1",
    "COUPON.CLAIM k1 USER u2",
    "COUPON.REVOKE k1 2 GIVEBACK",
    "MARKET.CREATE m1",
    "ORDER.PLACE m1 o1 u1 SELL LIMIT 100 4",
    "ORDER.PLACE m1 o2 u2 BUY LIMIT 101 3",
    "ORDER.PLACE m1 o3 u2 BUY LIMIT 99 1",
];

/// An engine that stops with its storage.
pub struct Bench {
    pub engine: Arc<dyn Engine>,
    pub folder: TempDir,
    pub server: Option<Server>,
    running: Option<Running>,
}

impl Bench {
    pub fn embedded() -> Self {
        Self::embedded_with(StateSettings::default())
    }

    pub fn embedded_with(state: StateSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = EmbeddedSettings {
            partitions: PARTITIONS,
            segment_bytes: 64 << 10,
            state,
            ..EmbeddedSettings::default()
        };
        let recovered = embedded::open(folder.path(), &settings, &mut |_| {}).expect("an engine");
        let (engine, running) =
            recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("its threads");
        Self { engine, folder, server: None, running: Some(running) }
    }

    pub fn redis() -> Self {
        let server = Server::start(Redis::new()).expect("a server");
        let settings =
            RedisSettings { url: server.url(), partitions: PARTITIONS, ..RedisSettings::default() };
        let engine: Arc<dyn Engine> = Arc::new(RedisEngine::open(settings).expect("an engine"));
        let folder = tempfile::tempdir().expect("a folder");
        Self { engine, folder, server: Some(server), running: None }
    }

    /// Both kinds, with something in them.
    pub fn each(check: impl Fn(&Self)) {
        for bench in [Self::embedded(), Self::redis()] {
            LINES.iter().for_each(|line| bench.send(line));
            check(&bench);
        }
    }

    pub fn send(&self, line: &str) {
        self.send_in("", line);
    }

    /// Credits an account by one, many times.
    pub fn credit(&self, account: &str, times: usize) {
        let line = format!("ACCOUNT.CREDIT {account} 1");
        let words: Vec<&str> = line.split(' ').collect();
        let made = request::single(&words, self.engine.secret()).expect("a command");
        let request::Request::Write(envelope) = made else { panic!("{line} changes nothing") };
        let partition = partition_of(envelope.commands(), PARTITIONS).expect("one partition");
        let answers = self.engine.call(partition, vec![Request::Write(envelope); times]);
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|its| its.outcome.is_applied())));
    }

    /// Makes a resource in a partition by a command whose `{}` is its id, and returns that.
    pub fn id_on(&self, line: &str, partition: u32) -> String {
        let is_there = |id: &String| {
            let line = line.replace("{}", id);
            let words: Vec<&str> = line.split(' ').collect();
            let made = request::single(&words, self.engine.secret()).expect("a command");
            let request::Request::Write(envelope) = made else { panic!("{line} changes nothing") };
            partition_of(envelope.commands(), PARTITIONS).expect("one partition") == partition
        };
        let id = (0..).map(|number| format!("x{number}")).find(is_there).expect("an id");
        self.send(&line.replace("{}", &id));
        id
    }

    /// Sends a command in a namespace; it must be applied.
    pub fn send_in(&self, namespace: &str, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let made = request::single(&words, self.engine.secret()).expect("a command");
        let request::Request::Write(mut envelope) = made else { panic!("{line} changes nothing") };
        envelope.namespace = namespace.into();
        let partition = partition_of(envelope.commands(), PARTITIONS).expect("one partition");
        let answers = self.engine.call(partition, vec![Request::Write(envelope)]);
        let receipt = answers.into_iter().next().expect("an answer").expect("a receipt");
        assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
    }

    /// Writes the whole log into a database.
    pub fn project(&self, runtime: &Runtime, database: &Database) -> Projection {
        let (url, id) = (database.url(), self.engine.deployment_id());
        let opened = Projection::open(url, id, ProjectionOptions::default());
        let projection = runtime.block_on(opened).expect("the database");
        for partition in 0..PARTITIONS {
            self.project_on(runtime, &projection, partition);
        }
        projection
    }

    /// Writes the rest of a partition's log.
    pub fn project_on(&self, runtime: &Runtime, projection: &Projection, partition: u32) {
        let mut consumer = projection.consumer(partition);
        let after = runtime.block_on(consumer.position()).expect("the database").unwrap_or_default();
        let entries = self.engine.entries(partition, after.sequence + 1, u64::MAX).expect("the log");
        if !entries.is_empty() {
            runtime.block_on(consumer.consume(&Batch { partition, after, entries })).expect("it is written");
        }
    }

    /// Writes the claims of the log into a table of settlements.
    pub fn note_claims(&self, runtime: &Runtime, database: &Database) -> Delivery {
        let (url, id) = (database.url(), self.engine.deployment_id());
        let opened = Delivery::open(url, id, DeliveryOptions::default());
        let delivery = runtime.block_on(opened).expect("the database");
        for partition in 0..PARTITIONS {
            let mut consumer = delivery.settlement_consumer(partition);
            let after = runtime.block_on(consumer.position()).expect("the database").unwrap_or_default();
            let entries = self.engine.entries(partition, after.sequence + 1, u64::MAX).expect("the log");
            let batch = Batch { partition, after, entries };
            runtime.block_on(consumer.consume(&batch)).expect("it is written");
        }
        delivery
    }

    /// Copies the log.
    pub fn copy(&self) -> Copied {
        let entries = |partition| self.engine.entries(partition, 1, u64::MAX).expect("the log");
        Copied {
            deployment_id: self.engine.deployment_id().to_owned(),
            settings: self.engine.state_settings().clone(),
            entries: (0..PARTITIONS).map(entries).collect(),
            trimmed_through: [0; PARTITIONS as usize],
            is_state_of_engine: false,
        }
    }

    /// Ends it, so that its files are at rest.
    pub fn shut_down(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// A log in memory, from which something may have been taken.
pub struct Copied {
    pub deployment_id: String,
    pub settings: StateSettings,
    pub entries: Vec<Vec<Entry>>,
    /// Up to where only the state is left.
    pub trimmed_through: [u64; PARTITIONS as usize],
    /// Whether that state is the engine's.
    pub is_state_of_engine: bool,
}

impl Copied {
    /// The partition and the place of the first entry with an event for which `is_it` holds.
    pub fn find(&self, is_it: impl Fn(&str, &str) -> bool) -> (usize, usize) {
        for (partition, entries) in self.entries.iter().enumerate() {
            let at = entries.iter().position(|entry| {
                entry.events.iter().any(|event| {
                    let resource = event.resource().map(|value| value.to_string()).unwrap_or_default();
                    is_it(event.spec().name, &resource)
                })
            });
            if let Some(at) = at {
                return (partition, at);
            }
        }
        panic!("no such event");
    }

    /// Removes an entry; with `renumbers`, so that no gap is seen. Gives the sequence that it had.
    pub fn lose(&mut self, (partition, at): (usize, usize), renumbers: bool) -> u64 {
        let lost = self.entries[partition].remove(at);
        if renumbers {
            for entry in &mut self.entries[partition][at..] {
                entry.head.sequence_first -= lost.events.len() as u64;
            }
        }
        lost.head.sequence_first
    }
}

impl LogSource for Copied {
    fn partitions(&self) -> u32 {
        PARTITIONS
    }

    fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        let mut machine = Machine::new(self.settings.clone(), partition);
        let through = self.trimmed_through[partition as usize];
        let before = self.entries[partition as usize].iter().filter(|entry| entry.sequence_last() <= through);
        before.for_each(|entry| machine.apply(entry));
        Ok(machine)
    }

    fn is_state_of_engine(&self, partition: u32) -> bool {
        self.is_state_of_engine && self.trimmed_through[partition as usize] > 0
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        let trimmed_through = self.trimmed_through[partition as usize];
        if from <= trimmed_through {
            // As the engine inside Redis says it.
            let reason = format!("the log begins at sequence {}", trimmed_through + 1);
            return Err(Failure::Unavailable { reason }.into());
        }
        let entries = self.entries[partition as usize].iter().filter(|entry| entry.sequence_last() >= from);
        take(entries.cloned().collect()).map(drop)
    }

    fn end(&mut self, _: u32) -> Result<Option<u64>, ReconcileError> {
        Ok(None)
    }
}

/// An empty database.
pub fn database(runtime: &Runtime, kind: DatabaseKind) -> Database {
    let _entered = runtime.enter();
    Database::new(kind)
}

pub fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

/// Compares a log with an engine and tables.
pub fn compare(
    runtime: &Runtime,
    log: &mut dyn LogSource,
    engine: Option<&Bench>,
    tables: Option<&Projection>,
) -> Report {
    try_compare(runtime, log, engine, tables).expect("a report")
}

pub fn try_compare(
    runtime: &Runtime,
    log: &mut dyn LogSource,
    engine: Option<&Bench>,
    tables: Option<&Projection>,
) -> Result<Report, ReconcileError> {
    let mut served = engine.map(|bench| Served::new(bench.engine.clone()));
    let engine = served.as_mut().map(|served| served as &mut dyn EngineSource);
    let options = Options { limit: 20, wait: Duration::ZERO };
    let sources = Sources { log, engine, tables, settlements: None, copy: None, mirror: None, mending: None };
    reconcile(runtime.handle(), sources, options, &mut |_| true)
}

/// Compares a log with tables, and puts their rows right, or tries to.
pub fn mend(runtime: &Runtime, log: &mut dyn LogSource, tables: &Projection, commits: bool) -> Report {
    let mending = Some(Mending { tables, commits });
    let sources = Sources {
        log,
        engine: None,
        tables: Some(tables),
        settlements: None,
        copy: None,
        mirror: None,
        mending,
    };
    let options = Options { limit: 20, wait: Duration::ZERO };
    reconcile(runtime.handle(), sources, options, &mut |_| true).expect("a report")
}

/// Compares a log with a table of settlements.
pub fn compare_settlements(runtime: &Runtime, log: &mut dyn LogSource, settlements: &Delivery) -> Report {
    let sources = Sources {
        log,
        engine: None,
        tables: None,
        settlements: Some(settlements),
        copy: None,
        mirror: None,
        mending: None,
    };
    reconcile(runtime.handle(), sources, Options::default(), &mut |_| true).expect("a report")
}

/// The differences that a check found.
pub fn of(report: &Report, kind: CheckKind) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.check == kind).collect()
}

/// The resource, the value, what is expected, what is found, and the first event with its name.
type Told<'f> =
    (Option<&'f str>, &'f str, Option<&'f str>, Option<&'f str>, Option<(u64, Option<&'static str>)>);

pub fn told(finding: &Finding) -> Told<'_> {
    let event = finding.first_event.as_ref().map(|its| (its.sequence, its.event));
    (
        finding.resource.as_deref(),
        &finding.field,
        finding.expected.as_deref(),
        finding.found.as_deref(),
        event,
    )
}

/// The sequence of the last event of a resource.
pub fn last_event(bench: &Bench, resource: &str) -> (u64, &'static str) {
    let log = bench.copy();
    let events = log.entries.iter().flatten().flat_map(|entry| {
        (entry.head.sequence_first..).zip(&entry.events).filter(|(_, event)| {
            let name = scarce_core::outcome::Value::from(resource);
            event.values().contains(&name)
        })
    });
    let (sequence, event) = events.last().expect("an event");
    (sequence, event.spec().name)
}

/// The sequence of the first event of a kind.
pub fn first_of(bench: &Bench, name: &str) -> u64 {
    let log = bench.copy();
    let (partition, at) = log.find(|its, _| its == name);
    log.entries[partition][at].head.sequence_first
}

pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
