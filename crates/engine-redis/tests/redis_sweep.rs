//! Reservations that end together inside Redis come back in calls of a bounded size, between which others are served.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::{Duration, Instant};

use load::{insist, read};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind, default_state};
use servers::{Server, connection};

const PATIENCE: Duration = Duration::from_secs(300);

/// As many as end in six hundred calls.
const RESERVATIONS: u64 = 40_000;

/// How many requests are handed in together.
const TOGETHER: u64 = 1_000;

/// How many events one call of the sweep logs at most, and one with commands of callers.
const CALL_EVENTS_MAX: u64 = 64 + 128;

/// How many events may come between a question and its answer: the call that is under way, and the one that is asked for.
const BETWEEN_MAX: u64 = 3 * 64;

fn open(server: &Server, script: ScriptKind, clock: Option<ManualClock>) -> RedisEngine {
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        script: Some(script),
        clock,
        // All of the log is compared, which begins in 1970.
        log_retention: Duration::from_hours(24 * 36_500),
        ..RedisSettings::default()
    };
    RedisEngine::open(settings).expect("the engine")
}

/// Reservations that are all overdue when a server with a right clock comes: those of an item, and one on each of others.
fn reserve(engine: &RedisEngine) {
    insist(engine, 0, "ACCOUNT.OPEN a EUR");
    insist(engine, 0, &format!("STOCK.CREATE s {RESERVATIONS}"));
    for part in 0..RESERVATIONS / TOGETHER {
        let first = part * TOGETHER;
        let lines = (first..first + TOGETHER).map(|at| format!("STOCK.RESERVE s r{at} 1 o{at} 3600000"));
        for answer in engine.call(0, lines.map(|line| read(engine, &line)).collect::<Vec<Request>>()) {
            assert!(answer.expect("an answer").outcome.is_applied());
        }
    }
}

fn sequence(engine: &RedisEngine) -> u64 {
    engine.durable_through(0).expect("the log")
}

/// Sends one command after the other until all reservations have ended. Gives, for each, how many events came between the
/// question and the answer.
fn call_until_all_ended(engine: &RedisEngine) -> Vec<u64> {
    let (begun, mut between) = (Instant::now(), Vec::new());
    loop {
        assert!(begun.elapsed() < PATIENCE, "the reservations do not end");
        let before = sequence(engine);
        between.push(insist(engine, 0, "ACCOUNT.CREDIT a 1").sequence_last - before);
        if insist(engine, 0, "STOCK.GET s")
            .outcome
            .to_string()
            .contains(&format!(" {RESERVATIONS} {RESERVATIONS} 0 0 "))
        {
            return between;
        }
    }
}

/// How many events each call has logged.
fn events_of_calls(server: &Server) -> Vec<u64> {
    let mut ask = redis::cmd("XRANGE");
    ask.arg("scarce:{p0-0}:log").arg("-").arg("+");
    let entries: Vec<(String, Vec<Vec<u8>>)> = ask.query(&mut connection(server)).expect("the log");
    let last =
        entries.iter().map(|(id, _)| id.split('-').next().and_then(|its| its.parse().ok()).unwrap_or(0));
    let last: Vec<u64> = std::iter::once(0).chain(last).collect();
    last.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn reservations_that_end_together_come_back_in_small_calls_with_others_in_between() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        // An hour of the past.
        let clock = ManualClock::default();
        clock.set(1_000_000);
        reserve(&open(&server, script, Some(clock)));
        let engine = open(&server, script, None);
        let mut between = call_until_all_ended(&engine);
        between.sort_unstable();
        // A thread may be held up between its two questions; it is not each time.
        let quarter = between[between.len() / 4];
        assert!(between.len() > 100, "only {} commands were answered meanwhile", between.len());
        assert!(
            quarter <= BETWEEN_MAX,
            "of {} commands, three in four waited for {quarter} events",
            between.len()
        );
        let largest = events_of_calls(&server).into_iter().max().unwrap_or(0);
        assert!(largest <= CALL_EVENTS_MAX, "a call logged {largest} events");
        let entries: Vec<Entry> = engine.entries(0, 1, 1 << 30).expect("the log");
        let mut machine = Machine::new(default_state(), 0);
        entries.iter().for_each(|entry| machine.apply(entry));
        let digest = insist(&engine, 0, "DIGEST").outcome.to_string();
        assert!(digest.contains(&format!("{:032x}", machine.state().digest(None))), "{digest}");
    }
}
