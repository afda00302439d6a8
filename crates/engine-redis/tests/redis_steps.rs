//! An operation of many steps inside Redis: whoever comes after a crash between two of its calls finishes it
//! first.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::call::{self, Owed};
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
    let (library, keys) = (Library::new(ClockSource::Server), Keys::new("scarce:", 0, 1));
    let encoded = call::encode(request, &settings(), &mut Vec::new());
    let message = call::message(&settings(), None, None, &[&encoded]);
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
    call::read_reply(&answer, 0).expect("a reply").owed
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
    assert_eq!(ask(&engine, read(&engine, "MARKET.DEPTH m")), "APPLIED [[200 10 1]] []");
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
    assert_eq!(ask(&engine, read(&engine, "MARKET.DEPTH m")), "APPLIED [] []");
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
