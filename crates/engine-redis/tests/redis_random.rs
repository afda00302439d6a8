//! Random sequences in lock-step: the Redis engine, the machine in memory and the naive model are sent the same
//! at the same stamps, and give the same receipts, the same log and the same digests.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use scarce_core::command::{Body, Command, Effect, Envelope};
use scarce_core::event::Entry;
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::outcome::Receipt;
use scarce_core::state;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_sim::compare::{Comparison, Coverage, envelope};
use scarce_sim::random::{Sequence, Step};
use servers::{Server, connection};

/// How long the random sequences are.
const STEPS: usize = 200;

/// After how many steps digests are compared, which reads all keys.
const DIGEST_EVERY: usize = 20;

/// After how many sequences a long run says how far it is.
const TOLD_EVERY: u64 = 500;

/// How many requests are handed in together.
const TOGETHER: usize = 25;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The machine in memory with its log, and the engine.
struct Pair<'a> {
    machine: Machine,
    entries: Vec<Entry>,
    url: &'a str,
    settings: state::StateSettings,
    script: ScriptKind,
    clock: ManualClock,
    engine: RedisEngine,
}

fn open(url: &str, settings: &state::StateSettings, script: ScriptKind, clock: &ManualClock) -> RedisEngine {
    let settings = RedisSettings {
        url: url.to_owned(),
        partitions: 1,
        state: settings.clone(),
        script: Some(script),
        clock: Some(clock.clone()),
        ..RedisSettings::default()
    };
    RedisEngine::open(settings).expect("the engine")
}

/// The same receipt in another epoch: a server begins one of its own with the first change, with random bits.
fn in_epoch(mut receipt: Receipt, epoch: u64) -> Receipt {
    receipt.epoch = epoch;
    receipt
}

impl<'a> Pair<'a> {
    fn new(server: &Server, url: &'a str, settings: &state::StateSettings, script: ScriptKind) -> Self {
        redis::cmd("FLUSHALL").exec(&mut connection(server)).expect("an empty server");
        let clock = ManualClock::default();
        let engine = open(url, settings, script, &clock);
        let (machine, entries) = (Machine::new(settings.clone(), 0), Vec::new());
        Self { machine, entries, url, settings: settings.clone(), script, engine, clock }
    }

    /// Keeps what the machine logged, and checks that the engine logged the same.
    fn keep(&mut self, log: &[u8]) -> Result<(), String> {
        let mut ours = Entry::read_all(log).expect("entries");
        let first = ours.first().map_or(self.machine.sequence() + 1, |entry| entry.head.sequence_first);
        let theirs = self.engine.entries(0, first, 1 << 30).expect("the log");
        // All of the log is of one epoch.
        let known = self.entries.first().or(theirs.first()).map_or(0, |entry| entry.head.epoch);
        ours.iter_mut().for_each(|entry| entry.head.epoch = known);
        self.entries.extend(ours.iter().cloned());
        if ours == theirs { Ok(()) } else { Err(format!("core logs {ours:?}\nredis logs {theirs:?}")) }
    }

    fn receipt(&self, answer: MachineAnswer) -> Receipt {
        match answer {
            MachineAnswer::Receipt(receipt) => receipt,
            MachineAnswer::Replay(replay) => {
                let holds =
                    |entry: &&Entry| entry.sequence_last() == replay.sequence_last && entry.outcome.is_some();
                let entry = self.entries.iter().rev().find(holds).expect("the log has the receipt");
                self.machine.replayed(replay, entry)
            }
        }
    }

    fn ask(&self, request: Request) -> Receipt {
        self.engine.call(0, vec![request]).remove(0).expect("a receipt")
    }

    fn compare(&self, answer: MachineAnswer, request: Request) -> Result<(), String> {
        // A digest of keys is as of their last entry, where a machine in memory has also seen who was refused;
        // a dry run leaves no stamp behind.
        let has_own_stamp = !matches!(request, Request::Read(_, Command::Digest(_)) | Request::DryRun(_));
        let (mut ours, theirs) = (self.receipt(answer), self.ask(request));
        if !has_own_stamp {
            ours.at = theirs.at;
        }
        let ours = in_epoch(ours, theirs.epoch);
        if ours == theirs { Ok(()) } else { Err(format!("core  {ours:?}\nredis {theirs:?}")) }
    }

    /// Asks both for all of it: the machine one by one, the engine in as few calls as it makes of them.
    fn together(&mut self, envelopes: &[Envelope], clock: u64) -> Result<(), String> {
        self.clock.set(clock);
        let theirs = self.engine.call(0, envelopes.iter().map(request_of).collect());
        let (mut log, mut answers) = (Vec::new(), Vec::new());
        for envelope in envelopes {
            let answer = match reading(envelope) {
                Some(command) => self.machine.query(&envelope.namespace, command, clock),
                None => self.machine.submit(envelope, clock, &mut log),
            };
            answers.push(answer);
        }
        self.keep(&log)?;
        for ((envelope, answer), theirs) in envelopes.iter().zip(answers).zip(theirs) {
            let (ours, theirs) = (self.receipt(answer), theirs.expect("a receipt"));
            if (&ours.outcome, ours.replayed) != (&theirs.outcome, theirs.replayed) {
                return Err(format!("{envelope:?}\ncore  {ours:?}\nredis {theirs:?}"));
            }
        }
        Ok(())
    }

    fn submit(&mut self, envelope: &Envelope, clock: u64) -> Result<(), String> {
        let mut log = Vec::new();
        if let Some(command) = reading(envelope) {
            let answer = self.machine.query(&envelope.namespace, command, clock);
            return self.compare(answer, request_of(envelope));
        }
        let foretold = self.machine.dry_run(envelope, clock, &mut log);
        self.compare(foretold, Request::DryRun(envelope.clone()))
            .map_err(|what| format!("dry run: {what}"))?;
        let answer = self.machine.submit(envelope, clock, &mut log);
        // A receipt that is remembered may stand in the log of this very command.
        let theirs = self.ask(request_of(envelope));
        self.keep(&log)?;
        let ours = in_epoch(self.receipt(answer), theirs.epoch);
        if ours == theirs { Ok(()) } else { Err(format!("core  {ours:?}\nredis {theirs:?}")) }
    }

    fn expire(&mut self, clock: u64, limit: usize) -> Result<(), String> {
        let mut log = Vec::new();
        let ours = self.machine.expire(limit, clock, &mut log);
        let theirs = self.ask(Request::Expire(limit)).outcome.to_string();
        self.keep(&log)?;
        let ours = format!("APPLIED {ours}");
        if ours == theirs { Ok(()) } else { Err(format!("expired: core {ours}, redis {theirs}")) }
    }

    fn check_digest(&self) -> Result<(), String> {
        let command = envelope("", "", &["DIGEST".to_owned()]).expect("a command");
        let Body::Single(command) = command.body else { panic!("one command") };
        let ours = format!("{:032x}", self.machine.state().digest(None));
        let theirs = self.ask(Request::Read(String::new(), command)).outcome.to_string();
        if theirs.contains(&ours) { Ok(()) } else { Err(format!("digest: core {ours}, redis {theirs}")) }
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Reload | Step::Fold => {
                self.engine = open(self.url, &self.settings, self.script, &self.clock);
                Ok(())
            }
            Step::Expire { clock, limit } => {
                self.clock.set(*clock);
                self.expire(*clock, *limit)
            }
            Step::Submit { clock, .. } => {
                self.clock.set(*clock);
                envelope_of(step).map_or(Ok(()), |envelope| self.submit(&envelope, *clock))
            }
        }
    }
}

/// The command, where it only reads.
fn reading(envelope: &Envelope) -> Option<&Command> {
    match &envelope.body {
        Body::Single(command) if command.spec().effect == Effect::Read => Some(command),
        _ => None,
    }
}

fn request_of(envelope: &Envelope) -> Request {
    match reading(envelope) {
        Some(command) => Request::Read(envelope.namespace.to_string(), command.clone()),
        None => Request::Write(envelope.clone()),
    }
}

/// What a step submits, where that can be read.
fn envelope_of(step: &Step) -> Option<Envelope> {
    let Step::Submit { namespace, options, lines, .. } = step else { return None };
    envelope(namespace, options, lines).ok()
}

/// Runs a sequence; `meddle` may do something to the keys before each step.
fn run(pair: &mut Pair<'_>, sequence: &Sequence, mut meddle: impl FnMut(usize)) -> Result<(), String> {
    for (at, step) in sequence.steps.iter().enumerate() {
        let differs = |what: String| format!("seed {} step {at}: {step}\n{what}", sequence.seed);
        meddle(at);
        pair.step(step).map_err(differs)?;
        if at % DIGEST_EVERY == 0 || at + 1 == sequence.steps.len() {
            pair.check_digest().map_err(differs)?;
        }
    }
    Ok(())
}

/// The seeds to run; so many are told now and then, for long runs.
fn seeds() -> impl Iterator<Item = u64> {
    let (first, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", 40));
    (0..count).map(move |at| {
        if at > 0 && at % TOLD_EVERY == 0 {
            eprintln!("{at} of {count} sequences from seed {first} on agree");
        }
        first + at
    })
}

#[test]
fn the_redis_engine_and_the_machine_in_memory_and_the_model_agree() {
    let server = servers::server();
    let url = server.url();
    for seed in seeds() {
        let sequence = Sequence::random(seed, STEPS);
        if let Err(difference) = Comparison::default().run(&sequence, &mut Coverage::default()) {
            panic!("seed {seed}: {difference}");
        }
        let script = if seed % 2 == 0 { ScriptKind::Functions } else { ScriptKind::Evalsha };
        let mut pair = Pair::new(&server, &url, &sequence.settings, script);
        if let Err(difference) = run(&mut pair, &sequence, |_| {}) {
            panic!("{difference}");
        }
    }
}

/// Makes the first number of the first row of a hash one more; whether there was one.
fn plant(server: &Server, key: &str) -> bool {
    let rows: Vec<(String, String)> = server.ask(&["HGETALL", key]).expect("rows");
    let Some((field, row)) = rows.first() else { return false };
    let mut words: Vec<String> = row.split('|').map(str::to_owned).collect();
    let Some(word) = words.iter_mut().find(|word| word.parse::<u64>().is_ok()) else { return false };
    *word = (word.parse::<u64>().expect("a number") + 1).to_string();
    server.ask::<()>(&["HSET", key, field, &words.join("|")]).expect("planted");
    true
}

#[test]
fn a_planted_difference_is_found() {
    let server = servers::server();
    let url = server.url();
    for seed in 1..=6 {
        let sequence = Sequence::random(seed, STEPS);
        let mut pair = Pair::new(&server, &url, &sequence.settings, ScriptKind::Functions);
        let keys =
            ["accounts", "stock", "coupons", "markets"].map(|name| Keys::new("scarce:", 0, 1).of(name));
        let mut is_planted = false;
        let difference = run(&mut pair, &sequence, |at| {
            if at > STEPS / 2 && !is_planted {
                is_planted = keys.iter().any(|key| plant(&server, key));
            }
        });
        assert!(is_planted, "seed {seed}: nothing could be planted");
        assert!(difference.is_err(), "seed {seed}: what was planted was not found");
    }
}

#[test]
fn what_is_handed_in_together_is_answered_as_one_by_one() {
    let server = servers::server();
    let url = server.url();
    for seed in seeds() {
        let sequence = Sequence::random(seed, STEPS);
        let mut pair = Pair::new(&server, &url, &sequence.settings, ScriptKind::Functions);
        for steps in sequence.steps.chunks(TOGETHER) {
            let mut clocks = steps.iter().filter_map(|step| match step {
                Step::Submit { clock, .. } => Some(*clock),
                _ => None,
            });
            let envelopes: Vec<Envelope> = steps.iter().filter_map(envelope_of).collect();
            let together = pair.together(&envelopes, clocks.next().unwrap_or(0));
            if let Err(difference) = together.and_then(|()| pair.check_digest()) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
}
