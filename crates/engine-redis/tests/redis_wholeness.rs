//! Keys that go missing under a serving engine, by eviction or by an operator's hand: it is noticed before anything is
//! decided by what is left, said, and over when they are back.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::{Duration, Instant};

use load::{insist, told};
use scarce_engine::{Engine, Failure, Log};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::{Options, Server};

/// How long a machine that is busy with other tests may take for what usually takes half a second.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings(server: &Server) -> RedisSettings {
    RedisSettings { url: server.url(), partitions: 1, ..RedisSettings::default() }
}

fn open(server: &Server) -> RedisEngine {
    RedisEngine::open(settings(server)).expect("the engine")
}

fn key(name: &str) -> String {
    format!("scarce:{{p0-0}}:{name}")
}

/// Why the engine is not ready, once it says so.
fn unready(engine: &RedisEngine) -> String {
    let begun = Instant::now();
    loop {
        match engine.check_ready(0) {
            Err(failure) => return failure.to_string(),
            Ok(()) => assert!(begun.elapsed() < PATIENCE, "it goes on as if nothing had happened"),
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn wait_until_ready(engine: &RedisEngine) {
    let begun = Instant::now();
    while let Err(failure) = engine.check_ready(0) {
        assert!(begun.elapsed() < PATIENCE, "it does not go on: {failure}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn refused(engine: &RedisEngine, line: &str) -> String {
    match told(engine, 0, line) {
        Err(Failure::Unavailable { reason }) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

fn is_of_damage(reason: &str) -> bool {
    reason.contains("is damaged") && reason.contains("restore Redis' data") && reason.contains("redis_prefix")
}

#[test]
fn a_policy_that_drops_keys_is_noticed_while_connected() {
    let server = servers::server();
    let engine = open(&server);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    server.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).expect("set");
    let reason = unready(&engine);
    assert!(reason.contains("allkeys-lru") && reason.contains("noeviction"), "{reason}");
    let reason = refused(&engine, "ACCOUNT.CREDIT a 1 ID 2");
    assert!(reason.contains("set it to noeviction"), "{reason}");
    server.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]).expect("set");
    wait_until_ready(&engine);
    assert_eq!(told(&engine, 0, "ACCOUNT.CREDIT a 1 ID 2"), Ok("APPLIED 1 1".to_owned()));
}

#[test]
fn a_repeat_of_what_was_evicted_is_not_applied_again() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = Server::start(Options::new().with("maxmemory-samples", "64")).expect("a server");
        let engine = RedisEngine::open(RedisSettings { script: Some(script), ..settings(&server) })
            .expect("the engine");
        insist(&engine, 0, "ACCOUNT.OPEN a EUR ID open");
        for at in 0..2_000 {
            insist(&engine, 0, &format!("ACCOUNT.CREDIT a 1 ID a-rather-long-name-of-an-operation-{at}"));
        }
        // Redis drops what takes most, and looks at its limit whenever anything is written.
        server.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]).expect("set");
        server.ask::<()>(&["CONFIG", "SET", "maxmemory", "1"]).expect("set");
        let _ = server.ask::<()>(&["SET", "other", "1"]);
        server.ask::<()>(&["CONFIG", "SET", "maxmemory", "0"]).expect("set");
        server.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]).expect("set");
        let credit = "ACCOUNT.CREDIT a 1 ID a-rather-long-name-of-an-operation-0";
        for _ in 0..3 {
            let answer = told(&engine, 0, credit);
            assert!(matches!(answer, Err(Failure::Unavailable { .. })), "{answer:?}");
        }
        let reason = unready(&engine);
        assert!(is_of_damage(&reason), "{reason}");
    }
}

#[test]
fn each_key_is_missed_by_the_next_command_that_needs_it() {
    let server = servers::server();
    let lines = [
        "ACCOUNT.OPEN a EUR ID 1",
        "ACCOUNT.CREDIT a 9 ID 2",
        "ACCOUNT.HOLD a h 1 TTL 600000 ID 3",
        "STOCK.CREATE s 5 ID 4",
        "STOCK.RESERVE s r 1 u 600000 ID 5",
    ];
    let engine = open(&server);
    lines.iter().for_each(|line| drop(insist(&engine, 0, line)));
    for (name, line) in [
        ("operations", "ACCOUNT.CREDIT a 9 ID 2"),
        ("operations_by", "ACCOUNT.CREDIT a 1 ID 6"),
        ("accounts", "ACCOUNT.GET a"),
        ("accounts", "ACCOUNT.OPEN a EUR ID 7"),
        ("holds", "ACCOUNT.VOID a h"),
        ("holds_by", "ACCOUNT.HOLDS a"),
        ("names", "ACCOUNT.LIST"),
        ("names", "ACCOUNT.OPEN c EUR ID 9"),
        ("stock", "STOCK.TAKE s 1 u"),
        ("reservations", "STOCK.CONFIRM s r"),
        ("due_by", "STOCK.TAKE s 1 u"),
        ("log", "ACCOUNT.CREDIT a 1 ID 8"),
        ("meta", "ACCOUNT.GET a"),
    ] {
        let dump: Vec<u8> = server.ask(&["DUMP", &key(name)]).expect("a copy");
        server.ask::<()>(&["DEL", &key(name)]).expect("deleted");
        let reason = refused(&engine, line);
        assert!(is_of_damage(&reason) && reason.contains(name), "{name}: {reason}");
        // Nothing is served by then, whether or not it needs the key.
        assert!(is_of_damage(&refused(&engine, "COUPON.GET c")), "{name}");
        assert!(is_of_damage(&engine.entries(0, 1, 1_000).expect_err("no events").to_string()), "{name}");
        let mut connection = server.connection().expect("a connection");
        redis::cmd("RESTORE").arg(key(name)).arg(0).arg(&dump).exec(&mut connection).expect("restored");
        let balance = insist(&engine, 0, "ACCOUNT.CREDIT a 9 ID 2");
        assert_eq!((balance.outcome.to_string().as_str(), balance.replayed), ("APPLIED 9 9", true), "{name}");
        wait_until_ready(&engine);
    }
    assert!(told(&engine, 0, "DIGEST").expect("a digest").starts_with("APPLIED"));
}

#[test]
fn keys_that_nobody_asks_for_are_missed_within_a_second() {
    let server = servers::server();
    let engine = open(&server);
    for line in ["STOCK.CREATE s 5 ID 1", "STOCK.TAKE s 1 u ID 2"] {
        insist(&engine, 0, line);
    }
    server.ask::<()>(&["RENAME", &key("receipts_of"), "aside"]).expect("away");
    let reason = unready(&engine);
    assert!(is_of_damage(&reason) && reason.contains("receipts_of"), "{reason}");
    server.ask::<()>(&["RENAME", "aside", &key("receipts_of")]).expect("back");
    wait_until_ready(&engine);
    assert!(told(&engine, 0, "STOCK.TAKE s 1 u ID 3").is_ok());
}

#[test]
fn a_server_that_was_emptied_is_not_begun_anew() {
    for words in [["FLUSHALL", "SYNC"].as_slice(), &["FLUSHDB", "SYNC"], &["SWAPDB", "0", "1"]] {
        let server = servers::server();
        let engine = open(&server);
        insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
        insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
        server.ask::<()>(words).expect("emptied");
        for line in ["ACCOUNT.CREDIT a 5 ID 2", "ACCOUNT.OPEN a EUR ID 1", "ACCOUNT.GET a"] {
            assert!(is_of_damage(&refused(&engine, line)), "{words:?} {line}");
        }
        let keys: Vec<String> = server.ask(&["KEYS", "*operations*"]).expect("the keys");
        assert_eq!(keys, Vec::<String>::new(), "{words:?}: it began anew");
        // Another process may begin anew, and what this one serves is not of that.
        let other = open(&server);
        assert_eq!(told(&other, 0, "ACCOUNT.OPEN a EUR ID 1"), Ok("APPLIED 0".to_owned()));
        assert!(is_of_damage(&refused(&engine, "ACCOUNT.GET a")), "{words:?}");
        assert!(is_of_damage(&unready(&engine)), "{words:?}");
    }
}

#[test]
fn an_emptied_server_is_noticed_without_any_command() {
    let server = servers::server();
    let engine = open(&server);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    server.ask::<()>(&["FLUSHALL"]).expect("emptied");
    let reason = unready(&engine);
    assert!(is_of_damage(&reason), "{reason}");
}

#[test]
fn a_start_finds_what_is_missing() {
    let server = servers::server();
    let engine = open(&server);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    drop(engine);
    server.ask::<()>(&["RENAME", &key("meta"), "aside"]).expect("away");
    let engine = open(&server);
    assert!(is_of_damage(&refused(&engine, "ACCOUNT.OPEN a EUR ID 1")), "a partition without keys");
    server.ask::<()>(&["RENAME", "aside", &key("meta")]).expect("back");
    assert!(insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1").replayed);
    drop(engine);
    server.ask::<()>(&["DEL", "scarce:deployment"]).expect("deleted");
    let reason = RedisEngine::open(settings(&server)).err().expect("no start").to_string();
    assert!(reason.contains("restore Redis' data") && reason.contains("redis_prefix"), "{reason}");
}

#[test]
fn a_partition_from_before_sizes_were_noted_goes_on() {
    let server = servers::server();
    let engine = open(&server);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    drop(engine);
    server.ask::<()>(&["HDEL", &key("meta"), "sizes", "deployment"]).expect("as before");
    server.ask::<()>(&["HDEL", &key("meta"), "format", "lost", "damaged"]).expect("as before");
    server.ask::<()>(&["HDEL", "scarce:deployment", "begun"]).expect("as before");
    server.ask::<()>(&["HSET", "scarce:deployment", "format_version", "1"]).expect("as before");
    let engine = open(&server);
    assert!(insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1").replayed);
    let sizes: String = server.ask(&["HGET", &key("meta"), "sizes"]).expect("sizes");
    assert!(sizes.contains("operations 1") && sizes.contains("accounts 2"), "{sizes}");
}

#[test]
fn a_partition_from_before_names_were_noted_is_listed_all_the_same() {
    let server = servers::server();
    let engine = open(&server);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    insist(&engine, 0, "STOCK.CREATE s 5 ID 2");
    let listed = |engine: &RedisEngine, line: &str| insist(engine, 0, line).outcome.to_string();
    let before = ["ACCOUNT.LIST", "STOCK.LIST"].map(|line| listed(&engine, line));
    drop(engine);
    let sizes: String = server.ask(&["HGET", &key("meta"), "sizes"]).expect("sizes");
    let sizes: Vec<&str> = sizes.split(' ').collect();
    let sizes: Vec<_> =
        sizes.chunks(2).filter(|size| size[0] != "names").map(|size| size.join(" ")).collect();
    server.ask::<()>(&["DEL", &key("names")]).expect("as before");
    server.ask::<()>(&["HSET", &key("meta"), "format", "2", "sizes", &sizes.join(" ")]).expect("as before");
    server.ask::<()>(&["HSET", "scarce:deployment", "format_version", "2"]).expect("as before");
    let engine = open(&server);
    assert_eq!(["ACCOUNT.LIST", "STOCK.LIST"].map(|line| listed(&engine, line)), before);
    insist(&engine, 0, "ACCOUNT.OPEN b EUR ID 3");
    assert_eq!(listed(&engine, "ACCOUNT.LIST COUNT 1 AFTER a"), "APPLIED [[b EUR 0 0 0 open]]");
}

#[test]
fn without_functions_a_key_that_nobody_touches_is_missed_as_soon_as_with_them() {
    let server = servers::server();
    let engine = RedisEngine::open(RedisSettings { script: Some(ScriptKind::Evalsha), ..settings(&server) })
        .expect("the engine");
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    insist(&engine, 0, "STOCK.CREATE s 5 ID 2");
    // A busy machine delays some rounds, but not most of them.
    let mut waits: Vec<Duration> = (0..5)
        .map(|_| {
            server.ask::<()>(&["RENAME", &key("stock"), "elsewhere"]).expect("taken away");
            let begun = Instant::now();
            assert!(is_of_damage(&unready(&engine)));
            let waited = begun.elapsed();
            server.ask::<()>(&["RENAME", "elsewhere", &key("stock")]).expect("put back");
            wait_until_ready(&engine);
            waited
        })
        .collect();
    waits.sort_unstable();
    assert!(waits[2] < Duration::from_millis(1_500), "{waits:?}");
}
