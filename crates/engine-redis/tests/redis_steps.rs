//! An operation of many steps inside Redis: whoever comes after a crash between two of its calls finishes it
//! first.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::sync::atomic::{AtomicBool, Ordering};

use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::call::{self, Begun, CallReply, EncodedRequest, Owed};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_sim::conformance::request;
use servers::{Server, connection, restart};

/// More orders than one call touches where a step touches one.
const ORDERS: u64 = 60;

const SWEEP: &str = "ORDER.PLACE m t tom BUY LIMIT 200 70 ID sweep";

const SWEPT: &str = "partially_filled 60 10 [[1 a1 100 1 0] [2 a2 101 1 0] [3 a3 102 1 0]";

fn settings() -> state::StateSettings {
    state::StateSettings { step_max: 1, ..state::StateSettings::default() }
}

fn open(server: &Server, script: ScriptKind) -> RedisEngine {
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        state: settings(),
        script: Some(script),
        ..RedisSettings::default()
    };
    RedisEngine::open(settings).expect("the engine")
}

fn read(engine: &RedisEngine, line: &str) -> Request {
    let words: Vec<&str> = line.split(' ').collect();
    match request::single(&words, engine.secret()).expect("a command") {
        request::Request::Read(command) => Request::Read(String::new(), command),
        request::Request::Write(envelope) => Request::Write(envelope),
    }
}

fn ask(engine: &RedisEngine, request: Request) -> String {
    engine.call(0, vec![request]).remove(0).expect("a receipt").outcome.to_string()
}

fn foretold(engine: &RedisEngine, line: &str) -> Request {
    match read(engine, line) {
        Request::Write(envelope) => Request::DryRun(envelope),
        other => other,
    }
}

/// Makes one call, as an engine would that ends before the next one. Gives what is owed.
fn call_once(server: &Server, script: ScriptKind, request: &Request) -> Owed {
    let encoded = call::encode(request, &settings(), &mut Vec::new());
    call_with(server, script, &encoded).owed
}

fn call_with(server: &Server, script: ScriptKind, encoded: &EncodedRequest) -> CallReply {
    let (library, keys) = (Library::new(ClockSource::Server), Keys::new("scarce:", 0, 1));
    let message = call::message(&call::Heading::from(&settings()), &[encoded]);
    let mut command = match script {
        ScriptKind::Functions => redis::cmd("FCALL"),
        ScriptKind::Evalsha => redis::cmd("EVAL"),
    };
    match script {
        ScriptKind::Functions => command.arg(&library.name),
        ScriptKind::Evalsha => command.arg(library.script()),
    };
    command.arg(keys.all().len()).arg(keys.all()).arg(message).arg("write");
    let answer: redis::Value = command.query(&mut connection(server)).expect("an answer");
    call::read_reply(&answer, 0).expect("a reply")
}

/// Begins a request, and leaves its further steps to others.
fn begin(server: &Server, script: ScriptKind, request: &Request) -> Begun {
    let reply = call_with(server, script, &call::encode(request, &settings(), &mut Vec::new()));
    assert_eq!(reply.owed, Owed::NextReceipt);
    Begun { epoch: reply.epoch, sequence: reply.sequence }
}

/// Asks until nothing is owed; gives the last answer.
fn resumed(server: &Server, script: ScriptKind, resume: &EncodedRequest) -> String {
    loop {
        let reply = call_with(server, script, resume);
        if reply.owed == Owed::Nothing {
            return reply.receipts[0].outcome.to_string();
        }
        assert_eq!(reply.owed, Owed::EarlierOperation);
    }
}

fn fill(engine: &RedisEngine) {
    assert_eq!(ask(engine, read(engine, "MARKET.CREATE m")), "APPLIED open");
    for at in 1..=ORDERS {
        let line = format!("ORDER.PLACE m a{at} ann SELL LIMIT {} 1", 99 + at);
        assert!(ask(engine, read(engine, &line)).starts_with("APPLIED open 0 1"), "{line}");
    }
}

/// The log folds to what the keys hold.
fn check_fold(engine: &RedisEngine) {
    let mut machine = Machine::new(settings(), 0);
    for entry in engine.entries(0, 1, 1 << 30).expect("the log") {
        machine.apply(&entry);
    }
    let digest = ask(engine, read(engine, "DIGEST"));
    assert!(digest.contains(&format!("{:032x}", machine.state().digest(None))), "{digest}");
}

fn check_next(script: ScriptKind, next: impl Fn(&RedisEngine) -> Request, expected: &str) {
    let mut server = servers::server();
    let engine = open(&server, script);
    fill(&engine);
    let request = read(&engine, SWEEP);
    // No sweeper may come in between.
    drop(engine);
    assert_eq!(call_once(&server, script, &request), Owed::NextReceipt);
    restart(&mut server);
    let engine = open(&server, script);
    let answer = ask(&engine, next(&engine));
    assert!(answer.starts_with(expected), "{answer}");
    let copy = ask(&engine, request);
    assert!(copy.starts_with(&format!("APPLIED {SWEPT}")), "{copy}");
    let depth = ask(&engine, read(&engine, "MARKET.DEPTH m"));
    assert!(depth.starts_with("APPLIED [[200 10 1]] [] "), "{depth}");
    check_fold(&engine);
}

#[test]
fn whatever_comes_after_a_crash_finishes_the_sweep_first() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let sent = |line: &'static str| move |engine: &RedisEngine| read(engine, line);
        check_next(script, sent(SWEEP), &format!("APPLIED {SWEPT}"));
        check_next(script, sent("MARKET.GET m"), "APPLIED m open 1 1 1 9007199254740991 200 - 1 60");
        check_next(script, sent("ORDER.CANCEL m a60 ann"), "ORDER_CLOSED a60 filled");
        check_next(script, sent("DIGEST"), "APPLIED [[0 ");
        check_next(script, |engine| foretold(engine, "ORDER.CANCEL m t tom"), "APPLIED 10");
        check_next(script, |_| Request::Expire(1), "APPLIED 0");
    }
}

#[test]
fn cancelling_all_goes_on_after_a_crash() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions);
    fill(&engine);
    let request = read(&engine, "ORDER.CANCELALL m ann ID all");
    drop(engine);
    assert_eq!(call_once(&server, ScriptKind::Functions, &request), Owed::NextReceipt);
    let engine = open(&server, ScriptKind::Functions);
    assert_eq!(ask(&engine, request), "APPLIED 60");
    let depth = ask(&engine, read(&engine, "MARKET.DEPTH m"));
    assert!(depth.starts_with("APPLIED [] [] "), "{depth}");
    check_fold(&engine);
}

#[test]
fn what_one_call_leaves_the_next_one_answers() {
    let server = servers::server();
    let url = server.url();
    let engine = RedisEngine::open(RedisSettings { url, partitions: 1, ..RedisSettings::default() })
        .expect("the engine");
    fill(&engine);
    // More events than one call logs, of orders that end in one step.
    let takers = ORDERS / 3;
    let line = |at: u64| format!("ORDER.PLACE m t{at} tom BUY LIMIT 200 3 ID t{at}");
    let batch: Vec<Request> = (0..takers).map(|at| read(&engine, &line(at))).collect();
    for answers in [engine.call(0, batch.clone()), engine.call(0, batch)] {
        for (at, answer) in (0..takers).zip(answers) {
            let (first, outcome) = (3 * at + 1, answer.expect("a receipt").outcome.to_string());
            assert!(outcome.starts_with(&format!("APPLIED filled 3 0 [[{first} a{first} ")), "{outcome}");
        }
    }
    check_fold(&engine);
}

/// Several processes take turns: one begins a sweep, another finishes it, and begins one itself.
#[test]
fn whoever_began_an_operation_gets_its_own_receipt_whoever_finished_it() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        for (first, second) in [(" ID one", " ID two"), ("", ""), ("", " ID two"), (" ID one", "")] {
            let server = servers::server();
            let engine = open(&server, script);
            fill(&engine);
            let place = |order: &str, id: &str| {
                read(&engine, &format!("ORDER.PLACE m {order} tom BUY LIMIT 200 20{id}"))
            };
            let (first, second) = (place("t1", first), place("t2", second));
            // No sweeper may come in between.
            drop(engine);
            let first_begun = begin(&server, script, &first);
            let others = resumed(&server, script, &call::resume());
            assert!(others.starts_with("UNKNOWN"), "nobody else is told: {others}");
            let second_begun = begin(&server, script, &second);
            let answer = resumed(&server, script, &call::resume_begun(first_begun, &first));
            assert!(answer.starts_with("APPLIED filled 20 0 [[1 a1 100 1 0] "), "{answer}");
            let answer = resumed(&server, script, &call::resume_begun(second_begun, &second));
            assert!(answer.starts_with("APPLIED filled 20 0 [[21 a21 120 1 0] "), "{answer}");
            check_fold(&open(&server, script));
        }
    }
}

/// Says that something is over, also where it panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two servers in front of one Redis: what one begins the other often finishes.
#[test]
fn a_server_answers_what_another_one_has_finished() {
    const SWEEPS: u64 = 12;
    let server = servers::server();
    let (engine, other) = (open(&server, ScriptKind::Functions), open(&server, ScriptKind::Functions));
    assert_eq!(ask(&engine, read(&engine, "MARKET.CREATE m")), "APPLIED open");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                ask(&other, read(&other, "MARKET.GET m"));
            }
        });
        let _over = Over(&is_over);
        for sweep in 0..SWEEPS {
            for maker in 0..5 {
                let line = format!("ORDER.PLACE m a{sweep}-{maker} ann SELL LIMIT {} 1", 100 + maker);
                assert!(ask(&engine, read(&engine, &line)).starts_with("APPLIED open"), "{line}");
            }
            let id = if sweep % 2 == 0 { format!(" ID s{sweep}") } else { String::new() };
            let line = format!("ORDER.PLACE m t{sweep} tom BUY LIMIT 200 5{id}");
            let receipt = engine.call(0, vec![read(&engine, &line)]).remove(0).expect("a receipt");
            let (answer, expected) = (receipt.outcome.to_string(), 5 * sweep + 1);
            assert!(answer.starts_with(&format!("APPLIED filled 5 0 [[{expected} a{sweep}-0 ")), "{answer}");
            assert!(!receipt.replayed, "it is the first answer");
        }
    });
    check_fold(&engine);
}
