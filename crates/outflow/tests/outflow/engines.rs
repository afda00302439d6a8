//! The engines that every test runs on.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_core::outcome::Receipt;
use scarce_engine::consumers::ConsumerName;
use scarce_engine::engine::{Answers, partition_of};
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{self as embedded, EmbeddedSettings, Running, SilentPort};
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_launch::{Options, Server};
use scarce_sim::conformance::request;
use tempfile::TempDir;

/// The timeout of every wait.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How many partitions each engine has.
pub const PARTITIONS: u32 = 3;

/// The storage that an engine runs on.
enum Ground {
    Folder { _folder: Option<TempDir>, running: Option<Running> },
    Redis { _server: Option<Server> },
}

/// An engine that stops with its storage.
pub struct Bench {
    pub engine: Arc<dyn Engine>,
    ground: Ground,
}

impl Bench {
    /// The embedded engine, with small segments.
    pub fn embedded(outflow_lag_max: Option<u64>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bench = Self::in_folder(folder.path(), outflow_lag_max);
        if let Ground::Folder { _folder, .. } = &mut bench.ground {
            *_folder = Some(folder);
        }
        bench
    }

    /// The embedded engine in a folder that outlives it.
    pub fn in_folder(folder: &Path, outflow_lag_max: Option<u64>) -> Self {
        let usual = EmbeddedSettings::default();
        let outflow_lag_max = outflow_lag_max.unwrap_or(usual.outflow_lag_max);
        Self::with(folder, EmbeddedSettings { outflow_lag_max, ..usual })
    }

    /// The same, with settings.
    pub fn with(folder: &Path, settings: EmbeddedSettings) -> Self {
        let settings = EmbeddedSettings { partitions: PARTITIONS, segment_bytes: 64 << 10, ..settings };
        let recovered = embedded::open(folder, &settings, &mut |_| {}).expect("an engine");
        let (engine, running) =
            recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("its threads");
        Self { engine, ground: Ground::Folder { _folder: None, running: Some(running) } }
    }

    /// The engine inside Redis, which keeps no log that no consumer needs.
    pub fn redis(outflow_lag_max: Option<u64>) -> Self {
        let server = Server::start(Options::new()).expect("a server");
        let engine = Self::another(&server.url(), outflow_lag_max);
        Self { engine, ground: Ground::Redis { _server: Some(server) } }
    }

    /// The engine inside a Redis that outlives it.
    pub fn at_redis(url: &str) -> Self {
        Self { engine: Self::another(url, None), ground: Ground::Redis { _server: None } }
    }

    fn another(url: &str, outflow_lag_max: Option<u64>) -> Arc<dyn Engine> {
        let usual = RedisSettings::default();
        let settings = RedisSettings {
            url: url.to_owned(),
            partitions: PARTITIONS,
            log_retention: Duration::ZERO,
            outflow_lag_max: outflow_lag_max.unwrap_or(usual.outflow_lag_max),
            ..usual
        };
        Arc::new(RedisEngine::open(settings).expect("an engine"))
    }

    /// Both kinds, one after the other.
    pub fn each(outflow_lag_max: Option<u64>, check: impl Fn(&Self)) {
        check(&Self::embedded(outflow_lag_max));
        check(&Self::redis(outflow_lag_max));
    }

    /// Keeps the whole log, for a consumer that confirms nothing: otherwise it may be trimmed while a test
    /// still reads it, before its own consumer is registered or beyond what that one has confirmed.
    pub fn keep_log(&self) {
        for partition in 0..PARTITIONS {
            self.engine.confirm(partition, &keeper(), "", Position::default()).expect("it is noted");
        }
    }

    /// Undoes [`Self::keep_log`].
    pub fn release_log(&self) {
        for partition in 0..PARTITIONS {
            assert!(self.engine.forget_consumer(partition, &keeper()).expect("it is noted"));
        }
    }

    /// Whether the journal is in files, which are trimmed at snapshots.
    pub fn keeps_files(&self) -> bool {
        matches!(self.ground, Ground::Folder { .. })
    }

    /// Sends commands to one partition.
    pub fn send(&self, lines: &[String]) -> Answers {
        let mut requests = Vec::new();
        let mut partition = 0;
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let made = request::single(&words, self.engine.secret()).expect("a command");
            requests.push(match made {
                request::Request::Read(command) => Request::Read(String::new(), command),
                request::Request::Write(envelope) => {
                    let commands = envelope.commands();
                    partition = partition_of(commands, PARTITIONS).expect("one partition");
                    Request::Write(envelope)
                }
            });
        }
        self.engine.call(partition, requests)
    }

    /// Sends a command that may only be decided in an epoch.
    pub fn send_within(&self, line: &str, epoch: u64) -> Receipt {
        let words: Vec<&str> = line.split(' ').collect();
        let made = request::single(&words, self.engine.secret()).expect("a command");
        let request::Request::Write(mut envelope) = made else { panic!("{line}") };
        envelope.epoch = Some(epoch);
        let partition = partition_of(envelope.commands(), PARTITIONS).expect("one partition");
        let common = self.engine.call(partition, vec![Request::Write(envelope)]).pop();
        common.expect("an answer").unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    /// Opens an account in a partition; returns its id.
    pub fn account_in(&self, partition: u32) -> String {
        let account = (0..)
            .map(|number| format!("account-{number}"))
            .find(|name| {
                let id = scarce_core::types::Id::parse(name.as_bytes(), "account").expect("an id");
                scarce_core::placement::partition(&id, PARTITIONS) == partition
            })
            .expect("there are enough names");
        let answers = self.send(&[format!("ACCOUNT.OPEN {account} EUR")]);
        answers[0].as_ref().expect("an answer");
        account
    }

    /// Credits an account this many times, by one each; returns how many were refused by a full queue.
    pub fn credit(&self, account: &str, times: usize) -> usize {
        let lines: Vec<String> = (0..times).map(|_| format!("ACCOUNT.CREDIT {account} 1")).collect();
        let mut refused = 0;
        for piece in lines.chunks(200) {
            refused += self.send(piece).iter().filter(|answer| answer.is_err()).count();
        }
        refused
    }
}

fn keeper() -> ConsumerName {
    ConsumerName::parse("keeper").expect("a name")
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Ground::Folder { running, .. } = &mut self.ground
            && let Some(running) = running.take()
        {
            running.shut_down().expect("a clean end");
        }
    }
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
