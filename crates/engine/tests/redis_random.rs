//! Random sequences of commands against the Redis engine on a real server and the machine of core in
//! lock-step: the same receipts, dry runs, entries of the log and digests, to the last figure.
#![allow(clippy::print_stdout, reason = "a failed run says from which seed it began")]

#[path = "redis/server.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod server;

use scarce_core::command::{Body, Effect, Envelope};
use scarce_core::event::Entry;
use scarce_core::machine::{Answer, Machine};
use scarce_core::outcome::Receipt;
use scarce_core::state;
use scarce_engine::clock::ManualClock;
use scarce_engine::redis::{RedisEngine, ScriptKind, Settings};
use scarce_engine::{Engine, Request};
use scarce_sim::compare::envelope;
use scarce_sim::random::{Sequence, Step};
use server::Server;

/// Groups of commands that the library does not have yet; steps that use one are left out.
const MISSING: &[&str] = &["MARKET", "ORDER"];

/// How long the sequences are.
const STEPS: usize = 100;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Core with its log, and the engine.
struct Pair {
    settings: state::Settings,
    url: String,
    script: ScriptKind,
    clock: ManualClock,
    engine: Option<RedisEngine>,
    machine: Machine,
    entries: Vec<Entry>,
}

impl Pair {
    fn new(server: &Server, script: ScriptKind, settings: &state::Settings) -> Self {
        redis::cmd("FLUSHALL").exec(&mut server.connection()).expect("an empty server");
        let mut pair = Self {
            settings: settings.clone(),
            url: server.url(),
            script,
            clock: ManualClock::default(),
            engine: None,
            machine: Machine::new(settings.clone(), 0),
            entries: Vec::new(),
        };
        pair.restart();
        pair
    }

    fn restart(&mut self) {
        self.engine = None;
        let settings = Settings {
            url: self.url.clone(),
            partitions: 1,
            state: self.settings.clone(),
            script: Some(self.script),
            clock: Some(self.clock.clone()),
            ..Settings::default()
        };
        self.engine = Some(RedisEngine::open(settings).expect("the engine"));
    }

    fn ask(&self, request: Request) -> Receipt {
        let engine = self.engine.as_ref().expect("started");
        engine.call(0, vec![request]).remove(0).expect("an answer")
    }

    fn receipt(&self, answer: Answer) -> Receipt {
        match answer {
            Answer::Receipt(receipt) => receipt,
            Answer::Replay(replay) => {
                let holds =
                    |entry: &&Entry| entry.sequence_last() == replay.sequence_last && entry.outcome.is_some();
                let entry = self.entries.iter().rev().find(holds).expect("the entry of the first receipt");
                self.machine.replayed(replay, entry)
            }
        }
    }

    /// Takes in what core logged; the engine must have logged the same.
    fn check_log(&mut self, log: &[u8]) -> Result<(), String> {
        let ours = Entry::read_all(log).expect("the log of core");
        let known = self.entries.last().map_or(0, Entry::sequence_last);
        let engine = self.engine.as_ref().expect("started");
        let theirs = engine.entries(0, known + 1, 1 << 24).expect("the log");
        let agrees = ours == theirs;
        self.entries.extend(ours.iter().cloned());
        if agrees { Ok(()) } else { Err(format!("log:\n core  {ours:?}\n redis {theirs:?}")) }
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let mut log = Vec::new();
        match step {
            Step::Reload | Step::Fold => self.restart(),
            Step::Expire { clock, limit } => {
                self.clock.set(*clock);
                let ours = self.machine.expire(*limit, *clock, &mut log);
                let theirs = self.ask(Request::Expire(*limit)).outcome;
                same(&format!("APPLIED {ours}"), &theirs.to_string())?;
            }
            Step::Submit { clock, namespace, options, lines } => {
                let Ok(envelope) = envelope(namespace, options, lines) else { return Ok(()) };
                self.clock.set(*clock);
                self.submit(&envelope, *clock, &mut log)?;
            }
        }
        self.check_log(&log)
    }

    fn submit(&mut self, envelope: &Envelope, clock: u64, log: &mut Vec<u8>) -> Result<(), String> {
        if let Body::Single(command) = &envelope.body
            && command.spec().effect == Effect::Read
        {
            let ours = self.receipt(self.machine.query(&envelope.namespace, command, clock));
            let theirs = self.ask(Request::Read(envelope.namespace.to_string(), command.clone()));
            return same(&ours.outcome, &theirs.outcome);
        }
        let answer = self.machine.dry_run(envelope, clock, log);
        // The stamp of a dry run is in no log, and core's is another where it looks a first receipt up there.
        same(&self.receipt(answer).outcome, &self.ask(Request::DryRun(envelope.clone())).outcome)?;
        let answer = self.machine.submit(envelope, clock, log);
        same(&self.receipt(answer), &self.ask(Request::Write(envelope.clone())))
    }

    fn check_digest(&self) -> Result<(), String> {
        let Ok(digest) = envelope("", "", &["DIGEST".to_owned()]) else { panic!("DIGEST is a command") };
        let [command] = digest.commands() else { panic!("one command") };
        let ours = self.receipt(self.machine.query("", command, 0)).outcome;
        same(&ours, &self.ask(Request::Read(String::new(), command.clone())).outcome)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("\n core  {ours:?}\n redis {theirs:?}")) }
}

/// Whether the library has all commands of a step.
fn is_there(step: &Step) -> bool {
    let Step::Submit { lines, .. } = step else { return true };
    let group = |line: &String| line.split('.').next().unwrap_or_default().to_ascii_uppercase();
    !lines.iter().any(|line| MISSING.contains(&group(line).as_str()))
}

fn run(server: &Server, script: ScriptKind, seed: u64) -> Result<(), String> {
    let sequence = Sequence::random(seed, STEPS);
    let mut pair = Pair::new(server, script, &sequence.settings);
    let steps: Vec<&Step> = sequence.steps.iter().filter(|step| is_there(step)).collect();
    for (at, step) in steps.iter().enumerate() {
        let differs = |what: String| format!("seed {seed}, step {at}: {step}: {what}");
        pair.step(step).map_err(differs)?;
        if at % 10 == 0 || at + 1 == steps.len() {
            pair.check_digest().map_err(differs)?;
        }
    }
    Ok(())
}

#[test]
fn redis_and_core_agree_on_random_sequences() {
    let (first, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", 60));
    println!("seeds from {first}, {count} sequences");
    let server = Server::start();
    for seed in first..first + count {
        let script = if seed % 2 == 0 { ScriptKind::Functions } else { ScriptKind::Evalsha };
        if let Err(difference) = run(&server, script, seed) {
            panic!("{difference}");
        }
    }
}
