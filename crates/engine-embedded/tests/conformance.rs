//! The conformance tables, played against the embedded engine in process: every scenario ends with a
//! restart, by turns a clean one, one after a snapshot, and one after a power cut.

use std::path::Path;
use std::sync::Arc;

use scarce_core::command::{Body, Command, Invalid};
use scarce_core::event::Entry;
use scarce_engine::clock::ManualClock;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, Running, SilentPort, open_files,
};
use scarce_sim::conformance::{BatchHead, Setup, Suite, Target, request};

struct EmbeddedTarget {
    setup: Setup,
    clock: ManualClock,
    root: FaultyDisk,
    disks: Vec<FaultyDisk>,
    running: Option<(Arc<Embedded>, Running)>,
    events_read: Vec<u64>,
    restarts: u64,
    /// How many operation ids stay in memory.
    operations_in_memory_max: usize,
}

impl EmbeddedTarget {
    fn new(operations_in_memory_max: usize) -> Self {
        Self {
            setup: Setup::default(),
            clock: ManualClock::default(),
            root: FaultyDisk::new(),
            disks: Vec::new(),
            running: None,
            events_read: Vec::new(),
            restarts: 0,
            operations_in_memory_max,
        }
    }

    fn start(&mut self) -> Result<(), String> {
        let settings = EmbeddedSettings {
            partitions: self.setup.partitions,
            state: self.setup.settings.clone(),
            segment_bytes: 1 << 20,
            operations_in_memory_max: self.operations_in_memory_max,
            clock: ClockChoice::Manual(self.clock.clone()),
            ..EmbeddedSettings::default()
        };
        let partitions = self.disks.iter().map(FaultyDisk::storage).collect();
        let files = DeploymentFiles { root: self.root.storage(), partitions };
        let recovered = open_files(&files, &settings, &mut |_| {}).map_err(|error| error.to_string())?;
        let started = recovered.start(|_, _| Ok(Box::new(SilentPort::default())));
        self.running = Some(started.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        self.running
            .take()
            .map_or(Ok(()), |(_, running)| running.shut_down().map_err(|error| error.to_string()))
    }

    fn engine(&self) -> &Arc<Embedded> {
        &self.running.as_ref().expect("started").0
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

    fn digests(&self) -> String {
        let digest = |partition| {
            let request::Request::Read(command) = request::single(&["DIGEST"], &[0; 32]).expect("a command")
            else {
                panic!("DIGEST reads")
            };
            let Command::Digest(_) = &command else { panic!("it is DIGEST") };
            let receipt =
                self.engine().call(partition, vec![Request::Read(String::new(), command)]).remove(0);
            // Without the sequence, which a refusal that is remembered moves.
            let text = receipt.expect("a digest").outcome.to_string();
            text.rsplit(' ').next().expect("a digest").to_owned()
        };
        (0..self.setup.partitions).map(digest).collect::<Vec<_>>().join(" ")
    }
}

impl Target for EmbeddedTarget {
    fn supports(&self, feature: &str) -> bool {
        matches!(feature, "settings" | "partitions")
    }

    fn reset(&mut self, setup: &Setup) -> Result<(), String> {
        self.stop()?;
        *self = Self { restarts: self.restarts, ..Self::new(self.operations_in_memory_max) };
        self.setup = setup.clone();
        self.disks = (0..setup.partitions).map(|_| FaultyDisk::new()).collect();
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
            let text = receipt.expect("no failure").outcome.facts[0].to_string();
            text.parse::<usize>().expect("a count")
        });
        ended.sum()
    }

    fn restart(&mut self) -> Result<(), String> {
        let before = self.digests();
        self.restarts += 1;
        if self.restarts % 3 == 1 {
            for partition in 0..self.setup.partitions {
                self.engine().snapshot(partition).map_err(|failure| failure.to_string())?;
            }
        }
        if self.restarts % 3 == 2 {
            let crashed: Vec<_> = self.disks.iter().map(FaultyDisk::fork).collect();
            crashed.iter().for_each(|disk| disk.crash(self.restarts));
            self.stop()?;
            self.disks = crashed;
        }
        self.stop()?;
        self.start()?;
        let after = self.digests();
        if before == after { Ok(()) } else { Err(format!("the digest was {before} and is {after}")) }
    }

    fn events(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        for partition in 0..self.setup.partitions {
            let read = &mut self.events_read[partition as usize];
            loop {
                let engine = &self.running.as_ref().expect("started").0;
                let entries = engine.entries(partition, *read + 1, 1 << 20).expect("the log");
                let Some(last) = entries.last().map(Entry::sequence_last) else { break };
                *read = last;
                let events = entries.iter().flat_map(|entry| &entry.events);
                names.extend(events.map(|event| event.spec().name.to_owned()));
            }
        }
        names
    }

    fn digest(&mut self) -> String {
        self.digests()
    }
}

fn play(operations_in_memory_max: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let suite = Suite::load(&folder).unwrap_or_else(|failures| panic!("{failures:?}"));
    let report = suite.run(&mut EmbeddedTarget::new(operations_in_memory_max));
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
}

#[test]
fn the_embedded_engine_answers_as_the_tables_say() {
    play(EmbeddedSettings::default().operations_in_memory_max);
}

#[test]
fn it_answers_the_same_when_every_id_leaves_memory_at_once() {
    play(0);
}
