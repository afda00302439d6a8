//! Servers whose clock is ahead of this machine's, or of which the stamps are: nothing is ended or forgotten by them.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::outcome::Receipt;
use scarce_engine::clock::ManualTimeSource;
use scarce_engine::{Engine, Failure, Log, Request};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind, default_state};
use scarce_sim::conformance::request;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970")
}

/// A machine whose clock is behind that of the servers by so much, and stands still.
fn machine_behind(behind: Duration) -> ManualTimeSource {
    let source = ManualTimeSource::default();
    source.set(|reading| (reading.wall, reading.boot) = (wall() - behind, DAY));
    source
}

fn settings(url: &str, script: ScriptKind) -> RedisSettings {
    let (url, script) = (url.to_owned(), Some(script));
    RedisSettings { url, partitions: 1, script, ..RedisSettings::default() }
}

fn open(url: &str, script: ScriptKind, source: &ManualTimeSource, accepts_clock: bool) -> RedisEngine {
    let time_source = Arc::new(source.clone());
    RedisEngine::open(RedisSettings { time_source, accepts_clock, ..settings(url, script) })
        .expect("the engine")
}

fn ask(engine: &RedisEngine, line: &str) -> Result<Receipt, Failure> {
    let words: Vec<&str> = line.split(' ').collect();
    let request = match request::single(&words, engine.secret()).expect("a command") {
        request::Request::Read(command) => Request::Read(String::new(), command),
        request::Request::Write(envelope) => Request::Write(envelope),
    };
    engine.call(0, vec![request]).remove(0)
}

#[track_caller]
fn check(engine: &RedisEngine, line: &str, expected: &str) -> Duration {
    let receipt = ask(engine, line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
    assert_eq!(receipt.outcome.to_string(), expected, "{line}");
    Duration::from_millis(receipt.at)
}

#[track_caller]
fn assert_refused(engine: &RedisEngine, line: &str) {
    match ask(engine, line) {
        Err(Failure::Unavailable { reason }) => {
            assert!(reason.contains("the server's clock") && reason.contains("--accept-clock"), "{reason}");
        }
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_server_whose_clock_is_ahead_ends_nothing_and_is_refused_until_it_is_believed() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let right = RedisEngine::open(settings(&server.url(), script)).expect("the engine");
        check(&right, "ACCOUNT.OPEN a EUR", "APPLIED 0");
        check(&right, "ACCOUNT.CREDIT a 100 ID paid", "APPLIED 100 100");
        drop(right);
        // To a machine that is an hour behind, the server is an hour ahead, as a promoted replica may be.
        let source = machine_behind(HOUR);
        let engine = open(&server.url(), script, &source, false);
        assert_refused(&engine, "ACCOUNT.DEBIT a 1 ID late");
        // What is known by then is answered all the same.
        check(&engine, "ACCOUNT.CREDIT a 100 ID paid", "APPLIED 100 100");
        assert!(engine.check_ready(0).is_err());
        check(&engine, "ACCOUNT.GET a", "APPLIED a EUR 100 0 100 0 open");
        // The bound goes with each call: once this machine's time has come as far, the same engine goes on.
        source.pass(HOUR);
        check(&engine, "ACCOUNT.CREDIT a 100 ID paid", "APPLIED 100 100");
        check(&engine, "ACCOUNT.DEBIT a 1 ID late", "APPLIED 99 99");
        assert!(engine.check_ready(0).is_ok());
    }
}

#[test]
fn the_operator_takes_the_servers_clock_for_right() {
    let server = servers::server();
    let engine = open(&server.url(), ScriptKind::Functions, &machine_behind(HOUR), true);
    let stamp = check(&engine, "ACCOUNT.OPEN a EUR", "APPLIED 0");
    assert!(stamp.abs_diff(wall()) < Duration::from_mins(1));
}

#[test]
fn stamps_that_are_ahead_stand_still_until_the_operator_puts_them_back() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let source = machine_behind(Duration::ZERO);
        let engine = open(&server.url(), script, &source, false);
        check(&engine, "ACCOUNT.OPEN a EUR", "APPLIED 0");
        // As a server leaves it behind whose clock was ahead.
        let ahead = wall() + 90 * DAY;
        let mut connection = servers::connection(&server);
        let set = redis::cmd("HSET")
            .arg(Keys::new("scarce:", 0, 1).of("meta"))
            .arg("now")
            .arg(ahead.as_millis().to_string())
            .query::<u32>(&mut connection);
        assert_eq!(set, Ok(0), "the field is there");
        let stamp = check(&engine, "ACCOUNT.CREDIT a 100 ID paid", "APPLIED 100 100");
        assert_eq!(stamp.as_millis(), ahead.as_millis(), "time is not turned back");
        drop(engine);
        let engine = open(&server.url(), script, &source, true);
        let stamp = check(&engine, "ACCOUNT.DEBIT a 1 ID next", "APPLIED 99 99");
        assert!(stamp.abs_diff(wall()) < Duration::from_mins(1), "{stamp:?}");
        check(&engine, "ACCOUNT.CREDIT a 100 ID paid", "APPLIED 100 100");
        check_fold(&engine);
        drop(engine);
        // Once is enough.
        let engine = open(&server.url(), script, &source, false);
        let stamp = check(&engine, "ACCOUNT.DEBIT a 1 ID third", "APPLIED 98 98");
        assert!(stamp.abs_diff(wall()) < Duration::from_mins(1), "{stamp:?}");
    }
}

/// The log, folded by the core, is what the keys say.
fn check_fold(engine: &RedisEngine) {
    let entries: Vec<Entry> = engine.entries(0, 1, 1 << 20).expect("the log");
    let mut machine = Machine::new(default_state(), 0);
    entries.iter().for_each(|entry| machine.apply(entry));
    let names: Vec<_> =
        entries.iter().flat_map(|entry| &entry.events).map(|event| event.spec().name).collect();
    assert!(names.contains(&"clock.moved"), "{names:?}");
    let digest = format!("{:032x}", machine.state().digest(None));
    let said = ask(engine, "DIGEST").expect("a digest").outcome.to_string();
    assert!(said.contains(&digest), "{said} and {digest}");
}
