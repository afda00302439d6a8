//! What leaves memory when its retention is over, with the machine in memory in lock-step: the same leaves at the same time, by
//! the same events, and no call takes long over it.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::{Duration, Instant};

use load::read;
use scarce_core::event::{Entry, Event};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::state::StateSettings;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Failure, Image, Log, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use servers::Server;

const RETENTION_MS: u64 = 72_000;

/// How long a machine that is busy with other tests may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is sold and given away.
const SALES: [&str; 5] = [
    "STOCK.CREATE s 10",
    "STOCK.TAKE s 2 u",
    "PACKET.CREATE p EUR PLAN 100 4 even",
    "PACKET.CLAIM p v",
    "PACKET.CLOSE p",
];

/// How many records one request ends.
const EXPIRE_MAX: usize = 64;

/// How many ranges of returned units one call may take out.
const RANGES_PER_CALL_MAX: u64 = 1_024;

fn settings(receipt_retention_ms: u64) -> StateSettings {
    StateSettings { receipt_retention_ms, ..scarce_engine_redis::default_state() }
}

/// An engine, and a machine in memory that is asked the same.
struct Pair {
    server: Server,
    script: ScriptKind,
    clock: ManualClock,
    now: u64,
    engine: Option<RedisEngine>,
    machine: Machine,
    log: Vec<u8>,
}

impl Pair {
    fn new(script: ScriptKind) -> Self {
        let mut pair = Self {
            server: servers::server(),
            script,
            clock: ManualClock::default(),
            now: 0,
            engine: None,
            machine: Machine::new(settings(RETENTION_MS), 0),
            log: Vec::new(),
        };
        pair.set_clock(1_000);
        pair.open(RETENTION_MS);
        pair
    }

    fn open(&mut self, receipt_retention_ms: u64) {
        let settings = RedisSettings {
            url: self.server.url(),
            partitions: 1,
            state: settings(receipt_retention_ms),
            script: Some(self.script),
            clock: Some(self.clock.clone()),
            sweeps: false,
            ..RedisSettings::default()
        };
        self.engine = Some(RedisEngine::open(settings).expect("the engine"));
    }

    fn set_clock(&mut self, now: u64) {
        self.now = now;
        self.clock.set(now);
    }

    fn engine(&self) -> &RedisEngine {
        self.engine.as_ref().expect("it is open")
    }

    /// Starts both again with another retention.
    fn restart(&mut self, receipt_retention_ms: u64) {
        self.engine = None;
        self.open(receipt_retention_ms);
        self.machine = Machine::new(settings(receipt_retention_ms), 0);
        Entry::read_all(&self.log).expect("entries").iter().for_each(|entry| self.machine.apply(entry));
    }

    /// Asks both for all of it.
    fn ask(&mut self, lines: &[String]) {
        let requests: Vec<Request> = lines.iter().map(|line| read(self.engine(), line)).collect();
        let now = self.now;
        for (request, line) in requests.iter().zip(lines) {
            let Request::Write(envelope) = request else { panic!("{line} only reads") };
            let MachineAnswer::Receipt(receipt) = self.machine.submit(envelope, now, &mut self.log) else {
                panic!("{line} was known")
            };
            assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
        }
        for (answer, line) in self.engine().call(0, requests).into_iter().zip(lines) {
            let outcome = answer.expect("an answer").outcome;
            assert!(outcome.is_applied(), "{line}: {outcome}");
        }
    }

    fn ask_one(&mut self, line: &str) {
        self.ask(&[line.to_owned()]);
    }

    /// Ends what is over in both; gives how many events that made. It is the same in both.
    fn expire(&mut self) -> usize {
        let (first, logged) = (self.machine.sequence() + 1, self.log.len());
        let ended = self.machine.expire(EXPIRE_MAX, self.now, &mut self.log);
        let told = self.engine().call(0, vec![Request::Expire(EXPIRE_MAX)]).remove(0).expect("an answer");
        assert_eq!(told.outcome.to_string(), format!("APPLIED {ended}"));
        let ours = events(&Entry::read_all(&self.log[logged..]).expect("entries"));
        assert_eq!(ours, events(&self.engine().entries(0, first, 1 << 20).expect("the log")));
        self.check_digest();
        ours.len()
    }

    /// The state is the same, read row by row and folded from the log.
    fn check_digest(&self) {
        let image = self.engine().image(0).and_then(Image::into_machine).expect("the state");
        assert_eq!(image.state().digest(None), self.machine.state().digest(None));
    }

    fn count(&self, name: &str) -> u64 {
        self.server.ask(&["ZCARD", &format!("scarce:{{p0-0}}:{name}")]).expect("the server")
    }
}

fn events(entries: &[Entry]) -> Vec<Event> {
    entries.iter().flat_map(|entry| entry.events.iter().cloned()).collect()
}

/// Why an engine with other settings does not start.
fn refusal(settings: RedisSettings) -> String {
    RedisEngine::open(settings).err().expect("no start").to_string()
}

/// Why an engine refuses, once it does.
fn refused(engine: &RedisEngine) -> String {
    let begun = Instant::now();
    loop {
        match load::told(engine, 0, "ACCOUNT.OPEN a EUR ID 1") {
            Err(Failure::Unavailable { reason }) => return reason,
            other => assert!(begun.elapsed() < PATIENCE, "{other:?}"),
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn a_server_with_another_setting_is_refused_until_it_is_changed_for_all() {
    let server = servers::server();
    let with = |change: &dyn Fn(&mut StateSettings)| {
        let mut state = settings(RETENTION_MS);
        change(&mut state);
        let start_wait = Duration::ZERO;
        RedisSettings { url: server.url(), partitions: 1, state, start_wait, ..RedisSettings::default() }
    };
    let longer = |state: &mut StateSettings| state.receipt_retention_ms = 90_000;
    let field =
        || server.ask::<String>(&["HGET", "scarce:deployment", "receipt_retention_ms"]).expect("a field");
    let first = RedisEngine::open(with(&|_| ())).expect("the engine");
    let more = refusal(with(&|state| state.operations_max = 77));
    assert!(
        ["operations_max 16000000", "77", "--accept-settings"].iter().all(|told| more.contains(told)),
        "{more}"
    );
    let reason = refusal(with(&longer));
    assert!(reason.contains("receipt_retention_ms 72000, and this one has 90000"), "{reason}");
    assert_eq!(field(), "72000");
    assert!(load::insist(&first, 0, "ACCOUNT.OPEN a EUR ID 1").outcome.is_applied());
    let accepting = RedisSettings { accepts_settings: true, ..with(&longer) };
    let second = RedisEngine::open(accepting).expect("the engine");
    let changed =
        second.warnings.iter().any(|told| told.contains("receipt_retention_ms was 72000 and is 90000"));
    assert!(changed, "{:?}", second.warnings);
    let reason = refused(&first);
    assert!(reason.contains("receipt_retention_ms 90000, and this one has 72000"), "{reason}");
    assert!(load::insist(&second, 0, "ACCOUNT.OPEN a EUR ID 1").replayed);
    drop(first);
    assert!(refusal(with(&|_| ())).contains("receipt_retention_ms 90000, and this one has 72000"));
    let third = RedisEngine::open(with(&longer)).expect("the engine");
    // Deployments of earlier releases have none: who comes first writes them, also while it serves.
    server.ask::<()>(&["HDEL", "scarce:deployment", "receipt_retention_ms"]).expect("deleted");
    let begun = Instant::now();
    while server
        .ask::<Option<String>>(&["HGET", "scarce:deployment", "receipt_retention_ms"])
        .expect("asked")
        .is_none()
    {
        assert!(begun.elapsed() < PATIENCE, "it was not put back");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    assert!(load::insist(&third, 0, "ACCOUNT.OPEN a EUR ID 1").replayed);
}

#[test]
fn what_is_due_stays_when_the_retention_was_raised_and_makes_no_event() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let mut pair = Pair::new(script);
        pair.ask(&SALES.map(str::to_owned));
        pair.restart(10 * RETENTION_MS);
        pair.set_clock(1_000 + 2 * RETENTION_MS);
        assert_eq!(pair.expire(), 0, "{script:?}");
        for line in ["STOCK.RETURN s 1 1", "STOCK.TAKE s 1 u"] {
            pair.ask_one(line);
        }
        pair.set_clock(1_000 + 11 * RETENTION_MS);
        assert!(pair.expire() > 0, "{script:?}");
        pair.set_clock(1_000 + 20 * RETENTION_MS);
        while pair.expire() > 0 {}
        assert_eq!((pair.count("due"), pair.count("due_by")), (0, 0), "{script:?}");
    }
}

#[test]
fn what_was_due_by_another_retention_leaves_once() {
    for retention_ms in [RETENTION_MS / 2, 2 * RETENTION_MS] {
        let mut pair = Pair::new(ScriptKind::Functions);
        pair.ask(&SALES.map(str::to_owned));
        pair.restart(retention_ms);
        pair.set_clock(1_000 + 3 * RETENTION_MS);
        assert!(pair.expire() > 0);
        assert_eq!((pair.expire(), pair.count("due"), pair.count("due_by")), (0, 0, 0), "{retention_ms}");
    }
}

#[test]
fn a_receipt_with_many_returns_leaves_at_once_and_its_rows_call_by_call() {
    const RETURNS: u64 = 2_500;
    let mut pair = Pair::new(ScriptKind::Functions);
    pair.ask_one("STOCK.CREATE s 6000");
    pair.ask_one(&format!("STOCK.TAKE s {} u", 2 * RETURNS));
    let returns: Vec<String> = (0..RETURNS).map(|at| format!("STOCK.RETURN s {} 1", 2 * at + 1)).collect();
    returns.chunks(250).for_each(|lines| pair.ask(lines));
    assert_eq!(pair.count("returned"), RETURNS);
    pair.set_clock(1_000 + 2 * RETENTION_MS);
    // Nothing is left of it for callers, also before all of its rows are gone.
    let mut left = RETURNS;
    for turn in 0.. {
        assert_eq!(pair.expire(), usize::from(turn == 0));
        let now = pair.count("returned");
        assert!(left - now <= RANGES_PER_CALL_MAX, "{left} ranges became {now} in one call");
        assert!(now < left, "none of {left} ranges was taken out");
        left = now;
        if turn == 0 {
            pair.ask_one("STOCK.TAKE s 3 u");
            let serial = 2 * RETURNS + 2;
            pair.ask_one(&format!("STOCK.RETURN s {serial} 1"));
            left = pair.count("returned");
        }
        if left == 1 {
            break;
        }
    }
    pair.set_clock(1_000 + 9 * RETENTION_MS);
    assert_eq!(pair.expire(), 1);
    assert_eq!((pair.count("returned"), pair.count("due")), (0, 0));
}
