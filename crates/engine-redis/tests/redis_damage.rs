//! Data that is lost in part, or replaced by older data: no server begins anew on what is left, all servers of a deployment
//! agree that something is lost, and nothing is decided by it.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use load::{insist, told};
use scarce_engine::{Engine, Failure};
use scarce_engine_redis::records::{META_FIELDS, RECORDS};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::Server;

/// How long a machine that is busy with other tests may take for what usually takes half a second.
const PATIENCE: Duration = Duration::from_secs(120);

const SCRIPTS: [ScriptKind; 2] = [ScriptKind::Functions, ScriptKind::Evalsha];

fn settings(server: &Server) -> RedisSettings {
    RedisSettings { url: server.url(), partitions: 1, ..RedisSettings::default() }
}

fn open(server: &Server) -> RedisEngine {
    RedisEngine::open(settings(server)).expect("the engine")
}

fn refusal(settings: RedisSettings) -> String {
    RedisEngine::open(settings).err().expect("no start").to_string()
}

fn key(name: &str) -> String {
    format!("scarce:{{p0-0}}:{name}")
}

fn field(server: &Server, name: &str) -> Option<String> {
    server.ask(&["HGET", &key("meta"), name]).expect("the server")
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Why the engine is not ready, once it says so.
fn unready(engine: &RedisEngine, what: &str) -> String {
    wait_until(what, || engine.check_ready(0).is_err());
    engine.check_ready(0).expect_err("not ready").to_string()
}

fn wait_until_ready(engine: &RedisEngine, what: &str) {
    wait_until(what, || engine.check_ready(0).is_ok());
}

fn refused(engine: &RedisEngine, line: &str) -> String {
    match told(engine, 0, line) {
        Err(Failure::Unavailable { reason }) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

/// Lets an engine open an account and credit it.
fn credit(engine: &RedisEngine) {
    insist(engine, 0, "ACCOUNT.OPEN a EUR ID open");
    insist(engine, 0, "ACCOUNT.CREDIT a 100 ID credit");
}

#[test]
fn what_is_left_of_a_deployment_is_never_begun_anew() {
    let server = servers::server();
    let engine = RedisEngine::open(RedisSettings { partitions: 4, ..settings(&server) }).expect("the engine");
    (0..4).for_each(|partition| drop(insist(&engine, partition, "ACCOUNT.OPEN a EUR ID 1")));
    drop(engine);
    let all: Vec<String> = server.ask(&["KEYS", "scarce:*"]).expect("the keys");
    let whole = ["scarce:deployment".to_owned()]
        .into_iter()
        .chain(all.iter().filter(|key| key.ends_with(":meta") || key.ends_with(":log")).cloned());
    let words: Vec<String> = ["DEL".to_owned()].into_iter().chain(whole).collect();
    server.ask::<()>(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect("deleted");
    // With another number of partitions most keys would have other names.
    for partitions in [4, 1, 3, 7] {
        let reason = refusal(RedisSettings { partitions, ..settings(&server) });
        assert!(reason.contains("restore Redis' data") && reason.contains("redis_prefix"), "{reason}");
    }
    let other = RedisSettings { prefix: "other:".to_owned(), ..settings(&server) };
    assert!(RedisEngine::open(other).is_ok(), "what is behind another prefix does not matter");
}

#[test]
fn a_partition_that_has_keys_and_no_meta_is_not_begun() {
    for script in SCRIPTS {
        let server = servers::server();
        let settings = RedisSettings { script: Some(script), ..settings(&server) };
        let engine = RedisEngine::open(settings.clone()).expect("the engine");
        credit(&engine);
        drop(engine);
        server.ask::<()>(&["DEL", &key("meta")]).expect("deleted");
        server.ask::<()>(&["HDEL", "scarce:deployment", "begun"]).expect("deleted");
        let reason = refusal(settings);
        assert!(reason.contains("is damaged") && reason.contains("meta is gone"), "{reason}");
        let exists: bool = server.ask(&["EXISTS", &key("meta")]).expect("the server");
        assert!(!exists, "it was begun");
    }
}

#[test]
fn a_deployment_that_is_created_is_told() {
    let server = servers::server();
    let is_told = |engine: &RedisEngine| {
        engine
            .warnings
            .iter()
            .any(|warning| warning.contains("a new deployment") && warning.contains("earlier"))
    };
    assert!(is_told(&open(&server)));
    assert!(!is_told(&open(&server)));
}

#[test]
fn servers_that_start_at_once_share_one_deployment() {
    for round in 0..3 {
        let server = servers::server();
        let settings = RedisSettings { partitions: 16, ..settings(&server) };
        let engines: Vec<RedisEngine> = std::thread::scope(|scope| {
            let starts: Vec<_> =
                (0..4).map(|_| scope.spawn(|| RedisEngine::open(settings.clone()))).collect();
            starts.into_iter().map(|start| start.join().expect("no panic").expect("a start")).collect()
        });
        let created =
            engines.iter().filter(|engine| engine.warnings.iter().any(|it| it.contains("new deployment")));
        assert_eq!(created.count(), 1, "round {round}");
        for (at, engine) in engines.iter().enumerate() {
            let receipt = insist(engine, 3, "ACCOUNT.OPEN a EUR ID 1");
            assert_eq!(receipt.replayed, at > 0, "round {round}");
        }
    }
}

#[test]
fn a_deployment_without_its_secret_gets_no_other_one() {
    let server = servers::server();
    drop(open(&server));
    for name in ["secret", "deployment_id", "partitions", "format_version"] {
        let text: String = server.ask(&["HGET", "scarce:deployment", name]).expect("a field");
        server.ask::<()>(&["HDEL", "scarce:deployment", name]).expect("deleted");
        let reason = refusal(settings(&server));
        assert!(reason.contains("scarce:deployment is damaged"), "{name}: {reason}");
        server.ask::<()>(&["HSET", "scarce:deployment", name, &text]).expect("put back");
    }
    server.ask::<()>(&["COPY", "scarce:deployment", "aside"]).expect("kept");
    server.ask::<()>(&["SET", "scarce:deployment", "x"]).expect("changed");
    let reason = refusal(settings(&server));
    assert!(reason.contains("scarce:deployment is damaged"), "{reason}");
    server.ask::<()>(&["RENAME", "aside", "scarce:deployment"]).expect("changed back");
    drop(open(&server));
}

#[test]
fn a_deployment_that_is_deleted_while_it_is_served_is_put_back() {
    let server = servers::server();
    let fields = || -> BTreeMap<String, String> {
        server.ask(&["HGETALL", "scarce:deployment"]).expect("the deployment")
    };
    let engine = open(&server);
    credit(&engine);
    let before = fields();
    server.ask::<()>(&["DEL", "scarce:deployment"]).expect("deleted");
    wait_until("it is not put back", || fields() == before);
    server.ask::<()>(&["HSET", "scarce:deployment", "partitions", "7"]).expect("changed");
    let reason = unready(&engine, "nobody looks at the deployment");
    assert!(reason.contains("scarce:deployment was changed") && reason.contains("partitions"), "{reason}");
    assert!(refused(&engine, "ACCOUNT.GET a").contains("scarce:deployment was changed"));
    server.ask::<()>(&["HSET", "scarce:deployment", "partitions", "1"]).expect("changed back");
    wait_until_ready(&engine, "it does not go on");
    // A key of another type cannot be put back.
    server.ask::<()>(&["COPY", "scarce:deployment", "aside"]).expect("kept");
    server.ask::<()>(&["SET", "scarce:deployment", "x"]).expect("changed");
    let reason = unready(&engine, "nobody looks at the type");
    assert!(reason.contains("scarce:deployment was changed") && reason.contains("no hash"), "{reason}");
    assert!(refused(&engine, "ACCOUNT.GET a").contains("no hash"));
    server.ask::<()>(&["RENAME", "aside", "scarce:deployment"]).expect("changed back");
    wait_until_ready(&engine, "it does not go on");
    assert_eq!(fields(), before);
    // On an emptied server nothing is put back.
    server.ask::<()>(&["FLUSHALL"]).expect("emptied");
    let reason = unready(&engine, "nobody looks");
    assert!(reason.contains("is damaged"), "{reason}");
    assert_eq!(fields(), BTreeMap::new());
}

#[test]
fn a_row_that_is_lost_is_missed_by_all_servers_without_any_command() {
    let server = servers::server();
    let engines = [open(&server), open(&server)];
    credit(&engines[0]);
    insist(&engines[0], 0, "ACCOUNT.OPEN b EUR ID b");
    let row: String = server.ask(&["HGET", &key("accounts"), "b"]).expect("a row");
    server.ask::<()>(&["HDEL", &key("accounts"), "b"]).expect("deleted");
    for engine in &engines {
        let reason = unready(engine, "a row is lost, and nobody looks");
        assert!(reason.contains("accounts has 2 rows, and must have 3"), "{reason}");
    }
    server.ask::<()>(&["HSET", &key("accounts"), "b", &row]).expect("put back");
    for engine in &engines {
        wait_until_ready(engine, "the row is back");
        assert!(insist(engine, 0, "ACCOUNT.OPEN b EUR ID b").replayed);
    }
    assert_eq!(field(&server, "lost").as_deref(), Some(""));
}

#[test]
fn what_one_server_misses_all_refuse() {
    for script in SCRIPTS {
        let server = servers::server();
        let open = || {
            let settings = RedisSettings { script: Some(script), ..settings(&server) };
            RedisEngine::open(settings).expect("the engine")
        };
        let engines = [open(), open()];
        credit(&engines[0]);
        insist(&engines[0], 0, "STOCK.CREATE s 5 ID s");
        insist(&engines[0], 0, "STOCK.TAKE s 1 u ID t");
        server.ask::<()>(&["RENAME", &key("receipts_of"), "aside"]).expect("away");
        assert!(refused(&engines[0], "STOCK.TAKE s 1 u").contains("is damaged"), "who touches it");
        // The other one never touches it.
        assert!(refused(&engines[1], "ACCOUNT.CREDIT a 100 ID other").contains("receipts_of"), "{script:?}");
        drop(engines);
        let third = open();
        assert!(refused(&third, "ACCOUNT.GET a").contains("receipts_of"), "who starts later");
        server.ask::<()>(&["RENAME", "aside", &key("receipts_of")]).expect("back");
        assert!(insist(&third, 0, "ACCOUNT.CREDIT a 100 ID credit").replayed);
        wait_until_ready(&third, "the key is back");
    }
}

/// Writes a number of the first campaign's row over; gives the row that it had.
fn write_over(server: &Server, wanted: &str, number: u64) -> String {
    let place = RECORDS.iter().find(|spec| spec.name == "campaigns").expect("a table").place(wanted);
    let row: String = server.ask(&["HGET", &key("campaigns"), "p"]).expect("a row");
    let mut words: Vec<String> = row.split('|').map(str::to_owned).collect();
    words[place.expect("a field")] = number.to_string();
    server.ask::<()>(&["HSET", &key("campaigns"), "p", &words.join("|")]).expect("written");
    row
}

#[test]
fn a_campaign_that_would_give_more_than_was_cut_gives_nothing() {
    for script in SCRIPTS {
        let server = servers::server();
        let settings = RedisSettings { script: Some(script), ..settings(&server) };
        let engine = RedisEngine::open(settings).expect("the engine");
        insist(&engine, 0, "PACKET.CREATE p EUR AMOUNTS 3 5 6 7 ID p");
        insist(&engine, 0, "PACKET.CLAIM p u1 ID u1");
        let refuses = |name: &str, number: u64| {
            let row = write_over(&server, name, number);
            for line in ["PACKET.CLAIM p u9", "PACKET.CLAIM p u9 ID u9"] {
                let reason = refused(&engine, line);
                assert!(
                    reason.contains("the record of a 'campaigns' is damaged: p has "),
                    "{name}: {reason}"
                );
            }
            server.ask::<()>(&["HSET", &key("campaigns"), "p", &row]).expect("put back");
        };
        refuses("claimed_amount", 13);
        refuses("total", 10);
        insist(&engine, 0, "PACKET.CLAIM p u2 ID u2");
        // All together are what was cut, no less and no more.
        refuses("claimed_amount", 10);
        refuses("total", 19);
        assert!(insist(&engine, 0, "PACKET.CLAIM p u9 ID u9").outcome.is_applied());
    }
}

#[test]
fn a_key_of_another_type_is_damage() {
    let server = servers::server();
    let engine = open(&server);
    credit(&engine);
    insist(&engine, 0, "ACCOUNT.HOLD a h 1 TTL 600000 ID 3");
    for (name, wanted) in [("holds", "hash"), ("log", "stream"), ("due", "zset"), ("operations_by", "list")] {
        server.ask::<()>(&["RENAME", &key(name), "aside"]).expect("away");
        server.ask::<()>(&["SET", &key(name), "text"]).expect("another one");
        let reason = unready(&engine, name);
        assert!(reason.contains(&format!("{name} is a string and must be a {wanted}")), "{name}: {reason}");
        assert!(refused(&engine, "ACCOUNT.GET a").contains("is damaged"), "{name}");
        server.ask::<()>(&["DEL", &key(name)]).expect("deleted");
        server.ask::<()>(&["RENAME", "aside", &key(name)]).expect("back");
        wait_until_ready(&engine, name);
    }
    server.ask::<()>(&["RENAME", &key("meta"), "aside"]).expect("away");
    server.ask::<()>(&["SET", &key("meta"), "text"]).expect("another one");
    assert!(refused(&engine, "ACCOUNT.CREDIT a 1").contains("meta is a string and must be a hash"));
}

#[test]
fn each_field_of_meta_is_missed() {
    let server = servers::server();
    let engine = open(&server);
    credit(&engine);
    for name in META_FIELDS {
        let text = field(&server, name).unwrap_or_else(|| panic!("{name} is not there"));
        server.ask::<()>(&["HDEL", &key("meta"), name]).expect("deleted");
        for line in ["ACCOUNT.CREDIT a 1", "ACCOUNT.GET a", "DIGEST"] {
            assert!(refused(&engine, line).contains("meta"), "{name} {line}");
        }
        let other = open(&server);
        assert!(refused(&other, "ACCOUNT.CREDIT a 1").contains("meta"), "{name}: a later start");
        drop(other);
        assert_eq!(field(&server, name), None, "{name} was made up");
        server.ask::<()>(&["HSET", &key("meta"), name, &text]).expect("put back");
        assert!(insist(&engine, 0, "ACCOUNT.CREDIT a 100 ID credit").replayed, "{name}");
    }
}

#[test]
fn a_damaged_partition_has_no_digest() {
    for script in SCRIPTS {
        let server = servers::server();
        let settings = RedisSettings { script: Some(script), ..settings(&server) };
        let engine = RedisEngine::open(settings).expect("the engine");
        credit(&engine);
        assert!(told(&engine, 0, "DIGEST").is_ok());
        server.ask::<()>(&["RENAME", &key("operations"), "aside"]).expect("away");
        for line in ["DIGEST", "DIGEST a"] {
            assert!(refused(&engine, line).contains("operations has 0 rows"), "{script:?} {line}");
        }
        server.ask::<()>(&["RENAME", "aside", &key("operations")]).expect("back");
        wait_until_ready(&engine, "the key is back");
        assert!(told(&engine, 0, "DIGEST").is_ok());
    }
}

#[test]
fn releases_of_other_formats_are_told_apart() {
    let server = servers::server();
    let engine = open(&server);
    credit(&engine);
    server.ask::<()>(&["HSET", &key("meta"), "format", "4"]).expect("as a newer release");
    assert!(refused(&engine, "ACCOUNT.GET a").contains("start the newer release"));
    server.ask::<()>(&["HSET", &key("meta"), "format", "3"]).expect("as before");
    drop(engine);
    server.ask::<()>(&["HSET", "scarce:deployment", "format_version", "4"]).expect("as a newer release");
    assert!(refusal(settings(&server)).contains("newer release"));
    // An older release had fewer fields, and wrote some only when they were needed.
    server.ask::<()>(&["HSET", "scarce:deployment", "format_version", "1"]).expect("as an older release");
    for name in ["format", "lost", "moved", "unfinished", "damaged"] {
        server.ask::<()>(&["HDEL", &key("meta"), name]).expect("as an older release");
    }
    let engine = open(&server);
    assert!(insist(&engine, 0, "ACCOUNT.CREDIT a 100 ID credit").replayed);
    let found: String = server.ask(&["HGET", "scarce:deployment", "format_version"]).expect("a field");
    assert_eq!((found.as_str(), field(&server, "format").as_deref()), ("3", Some("3")));
}
