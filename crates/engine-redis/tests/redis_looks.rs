//! Fill-or-kill orders count what they would get before they trade. However deep the book is, one call visits a bounded
//! part of it, and the answer is that of one look at all of it.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use load::{insist, read, told};
use scarce_engine::{Engine, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::Server;

/// How many levels the book has, and how many orders one of them.
const LEVELS: u64 = 1_000;
const QUEUE: u64 = 600;

/// How many levels and orders one call visits.
const VISITS_MAX: u64 = 256;

fn open(server: &Server, script: ScriptKind) -> RedisEngine {
    let settings =
        RedisSettings { url: server.url(), partitions: 1, script: Some(script), ..RedisSettings::default() };
    RedisEngine::open(settings).expect("the engine")
}

/// A book of one unit at each price from 1 on, and behind them a level of many orders, the last one of `ann`.
fn fill(engine: &RedisEngine) {
    insist(engine, 0, "MARKET.CREATE m");
    let levels = (1..=LEVELS).map(|price| format!("ORDER.PLACE m l{price} bob SELL LIMIT {price} 1"));
    let queue = (1..=QUEUE).map(|at| format!("ORDER.PLACE m q{at} bob SELL LIMIT 5000 1"));
    let own = std::iter::once("ORDER.PLACE m own ann SELL LIMIT 5000 7".to_owned());
    let batch: Vec<Request> = levels.chain(queue).chain(own).map(|line| read(engine, &line)).collect();
    for answer in engine.call(0, batch) {
        assert!(answer.expect("an answer").outcome.is_applied());
    }
}

/// How many calls the server has served.
fn calls(server: &Server) -> u64 {
    let stats: String = server.ask(&["INFO", "commandstats"]).expect("the statistics");
    let of = |line: &str| {
        let (name, figures) = line.split_once(":calls=")?;
        let is_call = name.starts_with("cmdstat_fcall") || name.starts_with("cmdstat_eval");
        figures.split(',').next()?.parse::<u64>().ok().filter(|_| is_call)
    };
    stats.lines().filter_map(of).sum()
}

#[test]
fn a_deep_book_is_looked_through_in_bounded_calls() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let engine = open(&server, script);
        fill(&engine);
        let visited = LEVELS + QUEUE;
        for (order, owner, refusal, visits) in [
            ("BUY LIMIT 1000 9999 TIF FOK", "tom", "WOULD_NOT_FILL 1000 9999", LEVELS),
            ("BUY LIMIT 9999 9999 TIF FOK", "tom", "WOULD_NOT_FILL 1607 9999", LEVELS),
            // The queue is walked up to the own order.
            ("BUY LIMIT 9999 9999 TIF FOK STP CANCEL_TAKER", "ann", "WOULD_NOT_FILL 1600 9999", visited),
            ("BUY LIMIT 9999 9999 TIF FOK STP CANCEL_MAKER", "ann", "WOULD_NOT_FILL 1600 9999", LEVELS),
        ] {
            let before = calls(&server);
            let line = format!("ORDER.PLACE m t {owner} {order}");
            assert_eq!(told(&engine, 0, &line), Ok(refusal.to_owned()), "{line}");
            let taken = calls(&server) - before;
            assert!(taken >= visits / VISITS_MAX, "{line}: only {taken} calls");
        }
        // What could be foretold is done.
        let line = format!("ORDER.PLACE m t tom BUY LIMIT {LEVELS} {LEVELS} TIF FOK");
        let filled = told(&engine, 0, &line).expect("an answer");
        assert!(filled.starts_with(&format!("APPLIED filled {LEVELS} 0 ")), "{}", &filled[..40]);
    }
}

#[test]
fn reads_that_list_much_come_in_calls_of_their_own() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions);
    fill(&engine);
    let before = calls(&server);
    let reads = vec![read(&engine, "MARKET.DEPTH m LEVELS 1000"); 64];
    let levels: Vec<usize> = engine.call(0, reads).into_iter().map(|answer| rows(&answer)).collect();
    assert_eq!(levels, vec![1_000; 64]);
    assert!(calls(&server) - before >= 32, "Redis serves others between them");
}

fn rows(answer: &Result<scarce_core::outcome::Receipt, scarce_engine::Failure>) -> usize {
    let receipt = answer.as_ref().expect("an answer");
    match &receipt.outcome.facts[1] {
        scarce_core::outcome::Value::List(asks) => asks.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn looks_of_several_orders_in_one_batch_are_told_apart() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions);
    fill(&engine);
    let lines = [
        "ORDER.PLACE m a tom BUY LIMIT 1000 9999 TIF FOK",
        "ORDER.PLACE m b tom BUY LIMIT 300 300 TIF FOK",
        "ORDER.PLACE m c tom BUY LIMIT 1000 9999 TIF FOK",
        "ORDER.PLACE m d tom BUY LIMIT 200 1 TIF FOK",
    ];
    let answers = engine.call(0, lines.iter().map(|line| read(&engine, line)).collect());
    let told: Vec<String> =
        answers.into_iter().map(|answer| answer.expect("an answer").outcome.to_string()).collect();
    assert_eq!(told[0], "WOULD_NOT_FILL 1000 9999");
    assert!(told[1].starts_with("APPLIED filled 300 0 "), "{}", told[1]);
    assert_eq!(told[2], "WOULD_NOT_FILL 700 9999");
    assert_eq!(told[3], "WOULD_NOT_FILL 0 1");
}
