//! Older data under a running Redis: the same run of a server never has less than it had, so less means that its data was
//! replaced. Another run may have less, which begins a new epoch.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::{Duration, Instant};

use load::{ask, insist, told};
use scarce_engine::{Engine, Failure};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::Server;

/// How long a machine that is busy with other tests may take for what usually takes half a second.
const PATIENCE: Duration = Duration::from_secs(120);

fn open(server: &Server, script: Option<ScriptKind>) -> RedisEngine {
    let settings = RedisSettings { url: server.url(), partitions: 1, script, ..RedisSettings::default() };
    RedisEngine::open(settings).expect("the engine")
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn is_older(answer: &Result<String, Failure>) -> bool {
    matches!(answer, Err(Failure::Unavailable { reason }) if reason.contains("older data")
        && reason.contains("restart Redis"))
}

fn is_unready_for_older_data(engine: &RedisEngine) -> bool {
    engine.check_ready(0).is_err_and(|failure| failure.to_string().contains("older data"))
}

/// Copies every key to another database.
fn copy_all(server: &Server) {
    let keys: Vec<String> = server.ask(&["KEYS", "*"]).expect("the keys");
    for key in keys {
        server.ask::<()>(&["COPY", &key, &key, "DB", "1", "REPLACE"]).expect("copied");
    }
}

#[test]
fn a_database_that_is_swapped_for_an_older_one_is_refused_by_all_servers() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let engine = open(&server, Some(script));
        insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
        copy_all(&server);
        insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
        server.ask::<()>(&["SWAPDB", "0", "1"]).expect("swapped");
        for line in ["ACCOUNT.CREDIT a 5 ID 2", "ACCOUNT.GET a", "ACCOUNT.CREDIT a 7 ID 3", "DIGEST"] {
            let answer = told(&engine, 0, line);
            assert!(is_older(&answer), "{script:?} {line}: {answer:?}");
        }
        // One that starts on the older data has seen nothing, and is told by the note.
        let other = open(&server, Some(script));
        let answer = told(&other, 0, "ACCOUNT.CREDIT a 5 ID 2");
        assert!(is_older(&answer), "{script:?}: {answer:?}");
        drop(other);
        server.ask::<()>(&["SWAPDB", "0", "1"]).expect("swapped back");
        assert!(insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2").replayed);
        wait_until("it does not go on", || engine.check_ready(0).is_ok());
    }
}

#[test]
fn a_server_that_starts_on_older_data_before_another_has_looked_writes_nothing() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let engine = open(&server, Some(script));
        insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
        copy_all(&server);
        insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
        server.ask::<()>(&["SWAPDB", "0", "1"]).expect("swapped");
        let newcomer = open(&server, Some(script));
        let answer = told(&newcomer, 0, "ACCOUNT.CREDIT a 5 ID 2");
        assert!(is_older(&answer), "{script:?}: {answer:?}");
        drop(newcomer);
        server.ask::<()>(&["SWAPDB", "0", "1"]).expect("swapped back");
        wait_until("it does not go on", || engine.check_ready(0).is_ok());
    }
}

#[test]
fn older_data_is_noticed_without_any_command_and_a_restart_goes_on_from_it() {
    let mut server = servers::server();
    let engine = open(&server, None);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    copy_all(&server);
    let before = insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
    server.ask::<()>(&["SWAPDB", "0", "1"]).expect("swapped");
    wait_until("nobody looks", || is_unready_for_older_data(&engine));
    servers::restart(&mut server);
    let again = insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
    assert!(!again.replayed, "it is not there");
    assert_eq!(again.sequence_last, before.sequence_last, "the sequence is given again");
    assert!(again.epoch > before.epoch, "{} after {}", again.epoch, before.epoch);
    wait_until("it does not go on", || engine.check_ready(0).is_ok());
}

#[test]
fn a_server_that_follows_an_older_one_for_a_moment_is_refused() {
    let server = servers::server();
    let engine = open(&server, None);
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID 1");
    let older = server.start_replica().expect("a replica");
    let has_all = || {
        let key = "scarce:{p0-0}:meta";
        let sequence = |server: &Server| server.ask::<Option<u64>>(&["HGET", key, "sequence"]).ok().flatten();
        sequence(&older).is_some() && sequence(&older) == sequence(&server)
    };
    wait_until("the replica has all", has_all);
    older.ask::<()>(&["REPLICAOF", "NO", "ONE"]).expect("a primary");
    insist(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2");
    server.ask::<()>(&["REPLICAOF", "127.0.0.1", &older.port().to_string()]).expect("a replica");
    wait_until("it follows", || {
        let info: String = server.ask(&["INFO", "replication"]).unwrap_or_default();
        info.contains("master_link_status:up")
    });
    server.ask::<()>(&["REPLICAOF", "NO", "ONE"]).expect("a primary again");
    wait_until("it is noticed", || is_unready_for_older_data(&engine));
    let answer = ask(&engine, 0, "ACCOUNT.CREDIT a 5 ID 2").map(|receipt| receipt.outcome.to_string());
    assert!(is_older(&answer), "{answer:?}");
}
