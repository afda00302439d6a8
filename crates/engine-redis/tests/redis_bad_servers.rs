//! Servers as they should not be: each is told clearly, nothing is half-written, and all goes on by itself
//! when the cause is gone.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use load::{insist, read, told};
use scarce_core::event::Position;
use scarce_engine::consumers::ConsumerName;
use scarce_engine::{Engine, Failure, Log};
use scarce_engine_redis::address::Login;
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::{Cluster, Options, Server};

fn open(url: String) -> RedisEngine {
    RedisEngine::open(RedisSettings { url, partitions: 1, ..RedisSettings::default() }).expect("the engine")
}

/// Why a line is not served; it must be certain that it was not.
fn refused(engine: &RedisEngine, line: &str) -> String {
    match told(engine, 0, line) {
        Err(Failure::Unavailable { reason }) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

/// Every key and what is in it.
fn contents(server: &Server) -> BTreeMap<String, Option<Vec<u8>>> {
    let names: Vec<String> = server.ask(&["KEYS", "*"]).expect("the keys");
    let content = |name: String| (name.clone(), server.ask(&["DUMP", &name]).expect("a value"));
    names.into_iter().map(content).collect()
}

/// What holds for every cause: refused with `advice`, nothing changed, and served again once it is gone.
fn check(server: &Server, engine: &RedisEngine, advice: &str, cause: impl FnOnce(), mend: impl FnOnce()) {
    insist(engine, 0, "ACCOUNT.OPEN a EUR ID open");
    insist(engine, 0, "ACCOUNT.CREDIT a 9 ID credit");
    let before = contents(server);
    cause();
    let reason = refused(engine, "ACCOUNT.CREDIT a 1 ID 1");
    assert!(reason.contains(advice), "{reason}");
    assert!(engine.check_ready(0).is_err(), "it is not ready");
    mend();
    while engine.check_ready(0).is_err() {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let data = |mut contents: BTreeMap<String, Option<Vec<u8>>>| {
        contents.retain(|name, _| !name.ends_with(":meta"));
        contents
    };
    assert_eq!(data(contents(server)), data(before), "something was written");
    let receipt = insist(engine, 0, "ACCOUNT.CREDIT a 1 ID 1");
    assert_eq!((receipt.outcome.to_string().as_str(), receipt.replayed), ("APPLIED 10 10", false));
}

fn set(server: &Server, name: &str, value: &str) {
    server.ask::<()>(&["CONFIG", "SET", name, value]).expect("set");
}

#[test]
fn too_few_replicas() {
    let server = servers::server();
    let engine = open(server.url());
    let cause = || {
        set(&server, "min-replicas-to-write", "1");
        check_duplicates(&engine);
    };
    check(&server, &engine, "too few replicas", cause, || set(&server, "min-replicas-to-write", "0"));
}

/// Checks that duplicates of what [`check`] did before the cause get the answer of the first one.
fn check_duplicates(engine: &RedisEngine) {
    // Handed in together with new work, as callers do.
    let lines = ["ACCOUNT.CREDIT a 1 ID new", "ACCOUNT.CREDIT a 9 ID credit", "ACCOUNT.CREDIT a 8 ID credit"];
    let answers = engine.call(0, lines.iter().map(|line| read(engine, line)).collect());
    assert!(
        matches!(answers[0], Err(Failure::Unavailable { .. } | Failure::Overloaded { .. })),
        "{answers:?}"
    );
    let again = answers[1].as_ref().unwrap_or_else(|failure| panic!("a duplicate: {failure}"));
    assert_eq!((again.outcome.to_string().as_str(), again.replayed), ("APPLIED 9 9", true));
    let reused = answers[2].as_ref().unwrap_or_else(|failure| panic!("an id with other content: {failure}"));
    assert_eq!(reused.outcome.to_string(), "ID_REUSED credit");
    let resolved = insist(engine, 0, "OPERATION.RESOLVE credit ON a").outcome.to_string();
    assert!(resolved.starts_with("APPLIED APPLIED"), "{resolved}");
}

#[test]
fn above_the_lag_limit_a_duplicate_gets_the_answer_of_the_first_one() {
    let server = servers::server();
    let settings =
        RedisSettings { url: server.url(), partitions: 1, outflow_lag_max: 2, ..RedisSettings::default() };
    let engine = RedisEngine::open(settings).expect("the engine");
    for line in ["ACCOUNT.OPEN a EUR ID open", "ACCOUNT.CREDIT a 9 ID credit", "STOCK.CREATE s 5 ID s"] {
        insist(&engine, 0, line);
    }
    let epoch = insist(&engine, 0, "STOCK.TAKE s 1 u ID take").epoch;
    let name = ConsumerName::parse("slow").expect("a name");
    engine.confirm(0, &name, "", Position { epoch, sequence: 1 }).expect("registered");
    let begun = Instant::now();
    // The sweeper looks from time to time how far consumers are.
    while told(&engine, 0, "STOCK.GET s").is_ok() && told(&engine, 0, "STOCK.TAKE s 1 u").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the limit is not met");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    check_duplicates(&engine);
}

#[test]
fn a_server_that_became_a_replica() {
    let (server, other) = (servers::server(), servers::server());
    let engine = open(server.url());
    let port = other.port().to_string();
    check(
        &server,
        &engine,
        "is a replica",
        // It keeps its data, for what it is to follow does not answer.
        || {
            other.pause().expect("paused");
            server.ask::<()>(&["REPLICAOF", "127.0.0.1", &port]).expect("a replica");
        },
        || server.ask::<()>(&["REPLICAOF", "NO", "ONE"]).expect("a primary"),
    );
}

#[test]
fn a_script_of_somebody_else_that_runs_too_long() {
    let server = servers::server();
    let engine = open(server.url());
    set(&server, "busy-reply-threshold", "50");
    let endless = std::thread::scope(|scope| {
        let mut connection = server.connection().expect("a connection");
        let mut endless = None;
        check(
            &server,
            &engine,
            "another script is running",
            || {
                endless = Some(scope.spawn(move || {
                    let mut eval = redis::cmd("EVAL");
                    eval.arg("while true do end").arg(0).query::<()>(&mut connection)
                }));
                let mut info = server.connection().expect("a connection");
                while redis::cmd("PING").query::<String>(&mut info).is_ok() {}
            },
            || {
                server.ask::<()>(&["SCRIPT", "KILL"]).expect("killed");
                while server.ask::<String>(&["PING"]).is_err() {}
            },
        );
        endless.expect("started").join().expect("no panic")
    });
    assert!(endless.is_err(), "it was killed");
}

#[test]
fn a_server_that_is_loading() {
    let options = Options::new().with("key-load-delay", "200");
    let mut server = Server::start(options).expect("a server");
    let engine = open(server.url());
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID open");
    let fill = "for at = 1, 10000 do redis.call('SET', 'other-' .. at, string.rep('x', 100)) end";
    server.ask::<()>(&["EVAL", fill, "0"]).expect("filled");
    server.restart().expect("started");
    let mut is_told = false;
    loop {
        match told(&engine, 0, "ACCOUNT.CREDIT a 1 ID 1") {
            Ok(outcome) => {
                assert_eq!(outcome, "APPLIED 1 1");
                break;
            }
            Err(failure) => is_told |= failure.to_string().contains("is loading"),
        }
    }
    assert!(is_told, "nobody said that it was loading");
}

#[test]
fn a_start_while_the_server_is_loading_waits() {
    let options = Options::new().with("key-load-delay", "200");
    let mut server = Server::start(options).expect("a server");
    assert_eq!(told(&open(server.url()), 0, "ACCOUNT.OPEN a EUR"), Ok("APPLIED 0".to_owned()));
    let fill = "for at = 1, 10000 do redis.call('SET', 'other-' .. at, string.rep('x', 100)) end";
    server.ask::<()>(&["EVAL", fill, "0"]).expect("filled");
    server.restart().expect("started");
    let info: String = server.ask(&["INFO", "persistence"]).expect("it listens");
    assert!(info.contains("loading:1"), "it has loaded already");
    assert_eq!(told(&open(server.url()), 0, "ACCOUNT.CREDIT a 1"), Ok("APPLIED 1 1".to_owned()));
}

#[test]
fn a_node_of_a_cluster_that_is_loading() {
    let options = Options::new().with("key-load-delay", "200");
    let mut cluster = Cluster::start(&options, 3, 0).expect("a cluster");
    let engine = open(cluster.url());
    insist(&engine, 0, "ACCOUNT.OPEN a EUR ID open");
    let slot = Keys::new("scarce:", 0, 1).slot();
    let owner = cluster.owner(0, slot).expect("an owner");
    let fill = "for at = 1, 10000 do redis.call('SET', KEYS[1] .. at, string.rep('x', 100)) end";
    cluster.nodes[owner].ask::<()>(&["EVAL", fill, "1", "{p0-0}other"]).expect("filled");
    cluster.nodes[owner].restart().expect("started");
    let info: String = cluster.nodes[owner].ask(&["INFO", "persistence"]).expect("it listens");
    assert!(info.contains("loading:1"), "it has loaded already");
    let url = cluster.url();
    std::thread::scope(|scope| {
        // A start waits, and what serves already refuses and says why.
        let started = scope.spawn(|| told(&open(url), 0, "ACCOUNT.OPEN a EUR ID open"));
        let mut is_told = false;
        while let Err(failure) = told(&engine, 0, "ACCOUNT.CREDIT a 1 ID 1") {
            is_told |= failure.to_string().contains("is loading");
            std::thread::park_timeout(Duration::from_millis(5));
        }
        assert!(is_told, "nobody said that it was loading");
        assert_eq!(told(&engine, 0, "ACCOUNT.CREDIT a 1 ID 1"), Ok("APPLIED 1 1".to_owned()));
        assert_eq!(started.join().expect("a start"), Ok("APPLIED 0".to_owned()));
    });
}

#[test]
fn the_first_command_after_a_restart_is_answered() {
    let mut server = servers::server();
    let engine = open(server.url());
    insist(&engine, 0, "ACCOUNT.OPEN a EUR");
    for balance in 1..=3 {
        // A server that runs again within milliseconds is beyond what is promised.
        let last = Instant::now();
        servers::restart(&mut server);
        std::thread::park_timeout(Duration::from_millis(50).saturating_sub(last.elapsed()));
        // It has no id: were it not certain that nothing was sent before, it could not be sent again.
        assert_eq!(told(&engine, 0, "ACCOUNT.CREDIT a 1"), Ok(format!("APPLIED {balance} {balance}")));
    }
}

#[test]
fn a_slot_that_nobody_serves() {
    let cluster = Cluster::start(&Options::new(), 3, 0).expect("a cluster");
    let engine = open(cluster.url());
    let slot = Keys::new("scarce:", 0, 1).slot();
    let owner = &cluster.nodes[cluster.owner(0, slot).expect("an owner")];
    let slot = slot.to_string();
    check(
        owner,
        &engine,
        "redis-cli --cluster check",
        || {
            for node in &cluster.nodes {
                node.ask::<()>(&["CLUSTER", "DELSLOTS", &slot]).expect("deleted");
            }
        },
        || owner.ask::<()>(&["CLUSTER", "ADDSLOTS", &slot]).expect("added"),
    );
}

#[test]
fn memory_that_is_full_takes_nothing_but_what_gives_back() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let settings = RedisSettings {
            url: server.url(),
            partitions: 1,
            script: Some(script),
            ..RedisSettings::default()
        };
        let engine = RedisEngine::open(settings).expect("the engine");
        for line in
            ["STOCK.CREATE sku 5 ID c", "STOCK.RESERVE sku r 2 u 60000 ID r", "ACCOUNT.OPEN a EUR ID a"]
        {
            insist(&engine, 0, line);
        }
        let before = contents(&server);
        set(&server, "maxmemory", "1mb");
        // Handed in together, so that one call would carry them all.
        let lines = [
            "ACCOUNT.CREDIT a 1 ID 1",
            "STOCK.RELEASE sku r ID 2",
            "ACCOUNT.CREDIT a 2 ID 3",
            "STOCK.GET sku",
        ];
        let batch = lines.iter().map(|line| read(&engine, line)).collect();
        let answers = engine.call(0, batch);
        let is_full = |answer: &Result<_, Failure>| {
            answer.as_ref().is_err_and(|failure| failure.to_string().contains("raise maxmemory"))
        };
        assert!(is_full(&answers[0]) && is_full(&answers[2]), "{answers:?}");
        if script == ScriptKind::Functions {
            let released = answers[1].as_ref().expect("an answer");
            assert!(released.outcome.is_applied(), "{released:?}");
            assert!(answers[3].is_ok(), "{answers:?}");
            let copy = insist(&engine, 0, "ACCOUNT.OPEN a EUR ID a");
            assert_eq!((copy.outcome.to_string().as_str(), copy.replayed), ("APPLIED 0", true));
            assert!(told(&engine, 0, "ACCOUNT.OPEN b EUR ID b").is_err());
        } else {
            let copy = insist(&engine, 0, "ACCOUNT.OPEN a EUR ID a");
            assert_eq!((copy.outcome.to_string().as_str(), copy.replayed), ("APPLIED 0", true));
            assert_eq!(contents(&server), before, "something was written");
        }
        set(&server, "maxmemory", "0");
        let receipt = insist(&engine, 0, "ACCOUNT.CREDIT a 1 ID 1");
        assert_eq!((receipt.outcome.to_string().as_str(), receipt.replayed), ("APPLIED 1 1", false));
        insist(&engine, 0, "STOCK.RELEASE sku r ID 2");
    }
}

/// A user who may not delete: what adds a row can be written, and not be taken back.
#[test]
fn a_user_who_was_deprived_of_rights_halfway() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        server.ask::<()>(&["ACL", "SETUSER", "scarce", "on", ">secret", "~*", "+@all"]).expect("a user");
        let rights = |words: &[&str]| {
            server.ask::<()>(&[&["ACL", "SETUSER", "scarce"], words].concat()).expect("changed");
        };
        let login = Login {
            user: Some("scarce".to_owned()),
            password: Some("secret".to_owned()),
            ..Login::default()
        };
        let url = server.url();
        let settings =
            RedisSettings { url, partitions: 1, script: Some(script), login, ..RedisSettings::default() };
        let engines =
            [settings.clone(), settings].map(|settings| RedisEngine::open(settings).expect("the engine"));
        let [engine, other] = &engines;
        insist(engine, 0, "STOCK.CREATE sku 5 PEROWNER 4 ID c");
        let before = contents(&server);
        rights(&["-xadd", "-hdel"]);
        // Nothing is said to be unknown: what was written in part is taken back before anything else is served.
        let reason = refused(engine, "STOCK.RESERVE sku r 2 u 60000 ID r");
        assert!(reason.contains("all commands on its keys"), "{reason}");
        for engine in &engines {
            for line in ["STOCK.GET sku", "STOCK.TAKE sku 1 u", "DIGEST"] {
                let reason = refused(engine, line);
                assert!(reason.contains("DAMAGED"), "{line}: {reason}");
            }
        }
        // All that could be taken back was, behind what could not.
        let stock: String = server.ask(&["HGET", "scarce:{p0-0}:stock", "sku"]).expect("a row");
        assert!(stock.starts_with("5|5|0|"), "{stock}");
        rights(&["+hdel"]);
        let begun = Instant::now();
        while server
            .ask::<String>(&["HGET", "scarce:{p0-0}:meta", "damaged"])
            .is_ok_and(|text| !text.is_empty())
        {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not mend itself");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        rights(&["+xadd"]);
        let receipt = insist(other, 0, "STOCK.RESERVE sku r2 1 u 60000 ID r2").outcome.to_string();
        assert!(receipt.ends_with(" 4"), "{receipt}");
        insist(other, 0, "STOCK.RELEASE sku r2 ID r3");
        let rows = |contents: BTreeMap<String, Option<Vec<u8>>>| contents.get("scarce:{p0-0}:stock").cloned();
        assert_eq!(rows(contents(&server)), rows(before));
        let receipt = insist(engine, 0, "STOCK.RESERVE sku r 2 u 60000 ID r");
        assert!(receipt.outcome.to_string().ends_with(" 3") && !receipt.replayed, "{receipt:?}");
        assert!(insist(engine, 0, "DIGEST").outcome.is_applied());
    }
}
