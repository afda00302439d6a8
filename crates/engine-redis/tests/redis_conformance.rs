//! The conformance tables, played against the Redis engine on real servers: on one and on a cluster, as
//! Functions and by EVALSHA. Every scenario ends with a new engine on the same servers, by turns after a crash
//! of the one that has the first partition.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::path::Path;

use scarce_core::command::{Body, Invalid};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_engine::clock::ManualClock;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_sim::conformance::{BatchHead, Setup, Suite, Target, request};
use servers::Servers;

/// How often a server itself is restarted: at every so-manieth restart.
const SERVER_RESTARTS_EVERY: u64 = 10;

/// The same for a node of a cluster, which takes seconds until it serves again.
const NODE_RESTARTS_EVERY: u64 = 60;

struct RedisTarget {
    servers: Servers,
    restarts_every: u64,
    script: ScriptKind,
    setup: Setup,
    clock: ManualClock,
    engine: Option<RedisEngine>,
    /// All entries of each partition, as far as they were read.
    entries: Vec<Vec<Entry>>,
    events_read: Vec<usize>,
    restarts: u64,
}

impl RedisTarget {
    fn new(servers: Servers, script: ScriptKind) -> Self {
        let restarts_every =
            if matches!(servers, Servers::Alone(_)) { SERVER_RESTARTS_EVERY } else { NODE_RESTARTS_EVERY };
        Self {
            servers,
            restarts_every,
            script,
            setup: Setup::default(),
            clock: ManualClock::default(),
            engine: None,
            entries: Vec::new(),
            events_read: Vec::new(),
            restarts: 0,
        }
    }

    fn start(&mut self) -> Result<(), String> {
        let settings = RedisSettings {
            url: self.servers.url(),
            partitions: self.setup.partitions,
            state: self.setup.settings.clone(),
            script: Some(self.script),
            clock: Some(self.clock.clone()),
            ..RedisSettings::default()
        };
        self.engine = Some(RedisEngine::open(settings).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn engine(&self) -> &RedisEngine {
        self.engine.as_ref().expect("started")
    }

    fn ask(&self, body: &Body, request: Request) -> String {
        match partition_of(body.commands(), self.setup.partitions) {
            Err(outcome) => outcome.to_string(),
            Ok(partition) => match self.engine().call(partition, vec![request]).remove(0) {
                Ok(receipt) => receipt.outcome.to_string(),
                Err(failure) => failure.outcome().to_string(),
            },
        }
    }

    fn submit(&self, read: Result<request::Request, Invalid>) -> String {
        match read {
            Err(invalid) => format!("INVALID {} {}", invalid.argument, invalid.reason),
            Ok(request::Request::Read(command)) => {
                self.ask(&Body::Single(command.clone()), Request::Read(String::new(), command))
            }
            Ok(request::Request::Write(envelope)) => {
                self.ask(&envelope.body.clone(), Request::Write(envelope))
            }
        }
    }

    /// The digest of the keys, without the sequence, which a refusal that is remembered moves.
    fn digest_of(&self, partition: u32) -> String {
        let Ok(request::Request::Read(command)) = request::single(&["DIGEST"], &[0; 32]) else {
            panic!("DIGEST reads")
        };
        let receipt = self.engine().call(partition, vec![Request::Read(String::new(), command)]).remove(0);
        let text = receipt.expect("a digest").outcome.to_string();
        text.trim_end_matches(']').rsplit(' ').next().expect("a digest").to_owned()
    }

    fn read_log(&mut self) {
        for partition in 0..self.setup.partitions {
            let place = partition as usize;
            loop {
                let known = self.entries[place].last().map_or(0, Entry::sequence_last);
                let more = self.engine().entries(partition, known + 1, 1 << 20).expect("the log");
                if more.is_empty() {
                    break;
                }
                self.entries[place].extend(more);
            }
        }
    }

    /// The log folds to what the keys hold, and has no gaps.
    fn check_fold(&mut self) -> Result<(), String> {
        self.read_log();
        for partition in 0..self.setup.partitions {
            let mut machine = Machine::new(self.setup.settings.clone(), partition);
            for entry in &self.entries[partition as usize] {
                if entry.head.sequence_first != machine.sequence() + 1 {
                    return Err(format!(
                        "sequence {} follows {}",
                        entry.head.sequence_first,
                        machine.sequence()
                    ));
                }
                machine.apply(entry);
            }
            let folded = format!("{:032x}", machine.state().digest(None));
            let kept = self.digest_of(partition);
            if folded != kept {
                return Err(format!(
                    "the log of partition {partition} folds to {folded}, and the keys hold {kept}"
                ));
            }
        }
        Ok(())
    }
}

impl Target for RedisTarget {
    fn supports(&self, feature: &str) -> bool {
        matches!(feature, "settings" | "partitions")
    }

    fn reset(&mut self, setup: &Setup) -> Result<(), String> {
        self.engine = None;
        self.servers.clear();
        self.setup = setup.clone();
        self.clock = ManualClock::default();
        self.entries = vec![Vec::new(); setup.partitions as usize];
        self.events_read = vec![0; setup.partitions as usize];
        self.start()
    }

    fn set_clock(&mut self, now: u64) {
        self.clock.set(now);
    }

    fn command(&mut self, words: &[&str]) -> String {
        self.submit(request::single(words, self.engine().secret()))
    }

    fn batch(&mut self, id: Option<&str>, deadline: Option<&str>, lines: &[Vec<&str>]) -> String {
        self.submit(request::atomic(id, deadline, lines, self.engine().secret()))
    }

    fn dry_run(&mut self, batch: Option<BatchHead<'_>>, lines: &[Vec<&str>]) -> Option<String> {
        match request::of(batch, lines, self.engine().secret()).ok()? {
            request::Request::Read(_) => None,
            request::Request::Write(envelope) => {
                let body = envelope.body.clone();
                Some(self.ask(&body, Request::DryRun(envelope)))
            }
        }
    }

    fn expire(&mut self, limit: usize) -> usize {
        let ended = (0..self.setup.partitions).map(|partition| {
            let receipt = self.engine().call(partition, vec![Request::Expire(limit)]).remove(0);
            receipt.expect("no failure").outcome.facts[0].to_string().parse::<usize>().expect("a count")
        });
        ended.sum()
    }

    fn restart(&mut self) -> Result<(), String> {
        self.check_fold()?;
        self.engine = None;
        self.restarts += 1;
        if self.restarts.is_multiple_of(self.restarts_every) {
            self.servers.restart();
        }
        self.start()
    }

    fn events(&mut self) -> Vec<String> {
        self.read_log();
        let mut names = Vec::new();
        for (entries, read) in self.entries.iter().zip(&mut self.events_read) {
            let fresh = entries[*read..].iter().flat_map(|entry| &entry.events);
            names.extend(fresh.map(|event| event.spec().name.to_owned()));
            *read = entries.len();
        }
        names
    }

    fn digest(&mut self) -> String {
        let digests = (0..self.setup.partitions).map(|partition| self.digest_of(partition));
        digests.collect::<Vec<_>>().join(" ")
    }

    /// Every key with what it holds, but for the stamp and the epoch, which any call may move, and for the number that
    /// waiting for replicas or the disk moves.
    fn image(&mut self) -> Option<Vec<u8>> {
        // What a call writes does not depend on how the library is called, nor on where the slots are.
        let (Servers::Alone(server), ScriptKind::Functions) = (&self.servers, self.script) else {
            return None;
        };
        let mut connection = servers::connection(server);
        let mut keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut connection).expect("the keys");
        let moved: [&[u8]; 3] = [b":meta", b":histories", b":waited"];
        keys.retain(|key| moved.iter().all(|name| !key.ends_with(name)));
        keys.sort_unstable();
        let (mut kinds, mut reads) = (redis::pipe(), redis::pipe());
        for key in &keys {
            kinds.cmd("TYPE").arg(key);
        }
        let kinds: Vec<String> = kinds.query(&mut connection).expect("their types");
        for (key, kind) in keys.iter().zip(&kinds) {
            reads.cmd(if kind == "hash" { "HGETALL" } else { "DUMP" }).arg(key);
        }
        let held: Vec<redis::Value> = reads.query(&mut connection).expect("what they hold");
        Some(keys.into_iter().zip(held).flat_map(|(key, held)| [key, in_order(held)].concat()).collect())
    }
}

/// What a key holds, the rows of a hash in their order: in which one Redis gives those of a large hash depends on how far it has
/// moved them to a larger table, which reads do.
fn in_order(held: redis::Value) -> Vec<u8> {
    let redis::Value::Array(words) = held else { return format!("{held:?}").into_bytes() };
    let mut rows: Vec<String> = words.chunks(2).map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    rows.concat().into_bytes()
}

fn play(servers: Servers, script: ScriptKind) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../conformance");
    let suite = Suite::load(&folder).unwrap_or_else(|failures| panic!("{failures:?}"));
    let report = suite.run(&mut RedisTarget::new(servers, script));
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
}

#[test]
fn the_redis_engine_answers_as_the_tables_say_by_functions() {
    play(Servers::alone(), ScriptKind::Functions);
}

#[test]
fn the_redis_engine_answers_as_the_tables_say_by_evalsha() {
    play(Servers::alone(), ScriptKind::Evalsha);
}

#[test]
fn the_redis_engine_answers_as_the_tables_say_on_a_cluster_by_functions() {
    play(Servers::cluster(), ScriptKind::Functions);
}

#[test]
fn the_redis_engine_answers_as_the_tables_say_on_a_cluster_by_evalsha() {
    play(Servers::cluster(), ScriptKind::Evalsha);
}
