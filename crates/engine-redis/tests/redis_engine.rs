//! What the Redis engine does when the server does not play along: it changes all or nothing, and says
//! which of the two.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use scarce_core::event::{Entry, Position};
use scarce_core::machine::Machine;
use scarce_core::outcome::Code;
use scarce_core::state;
use scarce_engine::clock::wall_ms;
use scarce_engine::inputs::InputPosition;
use scarce_engine::{Engine, Failure, Log, Request};
use scarce_engine_redis::call::{self, Owed};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind, default_state};
use scarce_sim::conformance::request;
use servers::{connection, restart};

fn open(url: &str, script: ScriptKind) -> RedisEngine {
    let settings = RedisSettings {
        url: url.to_owned(),
        partitions: 1,
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

fn ask(engine: &RedisEngine, line: &str) -> Result<String, Failure> {
    let answer = engine.call(0, vec![read(engine, line)]).remove(0);
    answer.map(|receipt| receipt.outcome.to_string())
}

#[test]
fn positions_of_inputs_are_kept_beside_the_log_and_old_requests_expire() {
    let server = servers::server();
    let url = server.url();
    let reached = Position { epoch: 7, sequence: 1 };
    let position = |next| InputPosition { input: "kafka/t/0".to_owned(), next, last: u64::MAX, reached };
    let engine = open(&url, ScriptKind::Functions);
    assert_eq!(engine.inputs(0), Ok(Vec::new()));
    engine.keep_inputs(0, &[position(9)]).expect("kept");
    engine.keep_inputs(0, &[position(7)]).expect("kept");
    ask(&engine, "ACCOUNT.OPEN a EUR").expect("an answer");
    let window_ms = engine.state_settings().window_ms;
    let credit = |issued_at| {
        let Request::Write(mut envelope) = read(&engine, "ACCOUNT.CREDIT a 1 ID one") else {
            panic!("a write")
        };
        envelope.issued_at = Some(issued_at);
        engine.call(0, vec![Request::Write(envelope)]).remove(0).expect("an answer").outcome.code
    };
    let now = wall_ms();
    assert_eq!(credit(now - window_ms), Code::IdExpired);
    assert_eq!(credit(now), Code::Applied);
    assert_eq!(credit(now - window_ms), Code::Applied, "the first answer");
    assert_eq!(ask(&engine, "ACCOUNT.GET a").map(|shown| shown.contains(" 1 ")), Ok(true));
    drop(engine);
    assert_eq!(open(&url, ScriptKind::Functions).inputs(0), Ok(vec![position(7)]));
}

/// Every key with what is in it; hashes in the order of their fields, for how Redis stores them depends on
/// what was in them once.
fn keys(connection: &mut redis::Connection) -> BTreeMap<String, Vec<Vec<u8>>> {
    let names: Vec<String> = redis::cmd("KEYS").arg("*").query(connection).expect("the keys");
    let content = |name: String| {
        let kind: String = redis::cmd("TYPE").arg(&name).query(connection).expect("a type");
        let words = if kind == "hash" {
            let mut rows: BTreeMap<Vec<u8>, Vec<u8>> =
                redis::cmd("HGETALL").arg(&name).query(connection).expect("a hash");
            // A sweep of the meantime leaves its stamp.
            rows.remove(b"now".as_slice());
            rows.into_iter().flat_map(|(field, value)| [field, value]).collect()
        } else {
            vec![redis::cmd("DUMP").arg(&name).query(connection).expect("a value")]
        };
        (name, words)
    };
    names.into_iter().map(content).collect()
}

fn waker(sender: SyncSender<()>) -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(move || {
        // Once is enough; more wakes need no room.
        let _ = sender.try_send(());
    })
}

fn acl(connection: &mut redis::Connection, rules: &[&str]) {
    redis::cmd("ACL").arg("SETUSER").arg("default").arg(rules).exec(connection).expect("the rules");
}

#[test]
fn a_write_that_fails_midway_takes_back_those_before_it() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let mut connection = servers::connection(&server);
        let engine = open(&server.url(), script);
        for line in [
            "ACCOUNT.OPEN a EUR ID 1",
            "ACCOUNT.CREDIT a 9 ID 2",
            "STOCK.CREATE s 5",
            "ACCOUNT.HOLD a h 1 TTL 60000",
            "MARKET.CREATE m",
            "ORDER.PLACE m o ann SELL LIMIT 10 5",
        ] {
            assert!(ask(&engine, line).expect("an answer").starts_with("APPLIED"), "{line}");
        }
        let before = keys(&mut connection);
        // What is written last, and what is written somewhere before it.
        for command in ["xadd", "zadd", "rpush", "hset"] {
            acl(&mut connection, &[&format!("-{command}")]);
            for line in [
                "ACCOUNT.HOLD a i 2 TTL 60000 ID 3",
                "STOCK.RESERVE s r 1 o 60000 ID 4",
                "ACCOUNT.VOID a h ID 5",
                "ORDER.PLACE m t tom BUY LIMIT 10 5 ID 6",
            ] {
                if command == "zadd" && line.starts_with("ACCOUNT.VOID") {
                    continue;
                }
                let refused = ask(&engine, line);
                assert!(
                    matches!(refused, Err(Failure::Unavailable { .. })),
                    "without {command} {line}: {refused:?}"
                );
                assert!(engine.check_ready(0).is_err());
            }
            acl(&mut connection, &["+@all"]);
            assert_eq!(keys(&mut connection), before, "without {command}");
        }
        assert_eq!(ask(&engine, "ACCOUNT.VOID a h ID 5"), Ok("APPLIED 1 9".to_owned()));
        let traded = ask(&engine, "ORDER.PLACE m t tom BUY LIMIT 10 5 ID 6");
        assert_eq!(traded, Ok("APPLIED filled 5 0 [[1 o 10 5 0]]".to_owned()));
        assert!(engine.check_ready(0).is_ok());
    }
}

#[test]
fn ids_that_fill_their_room_are_counted_and_make_it_unready() {
    let server = servers::server();
    let state = state::StateSettings { operations_max: 3, ..default_state() };
    let settings = RedisSettings { url: server.url(), partitions: 1, state, ..RedisSettings::default() };
    let engine = RedisEngine::open(settings).expect("the engine");
    for line in ["ACCOUNT.OPEN a EUR ID 1", "ACCOUNT.CREDIT a 1 ID 2"] {
        ask(&engine, line).expect("an answer");
    }
    let locked = || engine.metrics(0).expect("the metrics").levels().operations_locked;
    wait_until(|| locked() == 2);
    assert_eq!(engine.check_ready(0), Ok(()));
    ask(&engine, "ACCOUNT.CREDIT a 1 ID 3").expect("an answer");
    wait_until(|| locked() == 3);
    assert!(ask(&engine, "ACCOUNT.CREDIT a 1 ID 4").expect("an answer").starts_with("OVERLOADED operations"));
    assert_eq!(engine.check_ready(0), Err(Failure::Overloaded { queue: "operations" }));
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not become so");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn a_key_of_another_type_is_found_before_anything_is_written() {
    let server = servers::server();
    let mut connection = servers::connection(&server);
    let engine = open(&server.url(), ScriptKind::Functions);
    assert!(ask(&engine, "ACCOUNT.OPEN a EUR").is_ok());
    assert!(ask(&engine, "ACCOUNT.CREDIT a 1").is_ok());
    // A hold adds to this key, and does not read it.
    redis::cmd("SET").arg("scarce:{p0-0}:holds_by").arg("x").exec(&mut connection).expect("the key");
    let mut before = keys(&mut connection);
    assert!(matches!(ask(&engine, "ACCOUNT.HOLD a h 1"), Err(Failure::Unavailable { .. })));
    let mut after = keys(&mut connection);
    // There it is noted that the partition is damaged, for all servers.
    for keys in [&mut before, &mut after] {
        keys.remove("scarce:{p0-0}:meta");
    }
    assert_eq!(after, before);
    redis::cmd("DEL").arg("scarce:{p0-0}:holds_by").exec(&mut connection).expect("the key");
    wait_until(|| ask(&engine, "ACCOUNT.DEBIT a 1") == Ok("APPLIED 0 0".to_owned()));
}

#[test]
fn a_server_that_lost_the_library_is_given_it_again() {
    for (script, flush) in [(ScriptKind::Functions, "FUNCTION"), (ScriptKind::Evalsha, "SCRIPT")] {
        let server = servers::server();
        let engine = open(&server.url(), script);
        assert_eq!(ask(&engine, "ACCOUNT.OPEN a EUR"), Ok("APPLIED 0".to_owned()));
        redis::cmd(flush).arg("FLUSH").exec(&mut connection(&server)).expect("a flush");
        assert_eq!(ask(&engine, "ACCOUNT.CREDIT a 5"), Ok("APPLIED 5 5".to_owned()));
        redis::cmd(flush).arg("FLUSH").exec(&mut connection(&server)).expect("a flush");
        assert_eq!(ask(&engine, "ACCOUNT.WORLD EUR ON a"), Ok("APPLIED $world:EUR EUR -5".to_owned()));
    }
}

#[test]
fn a_server_that_is_gone_is_unavailable_and_comes_back() {
    let mut server = servers::server();
    let engine = open(&server.url(), ScriptKind::Functions);
    assert!(ask(&engine, "ACCOUNT.OPEN a EUR ID 1").is_ok());
    server.kill().expect("killed");
    // The first command after the end may have been sent; no later one is.
    assert!(ask(&engine, "ACCOUNT.CREDIT a 1 ID 2").is_err());
    assert!(matches!(ask(&engine, "ACCOUNT.CREDIT a 1 ID 2"), Err(Failure::Unavailable { .. })));
    restart(&mut server);
    assert_eq!(ask(&engine, "ACCOUNT.CREDIT a 1 ID 2"), Ok("APPLIED 1 1".to_owned()));
    assert_eq!(ask(&engine, "ACCOUNT.OPEN a EUR ID 1"), Ok("APPLIED 0".to_owned()));
}

#[test]
fn whoever_watches_is_woken_and_a_cursor_reads_on() {
    let server = servers::server();
    let engine = open(&server.url(), ScriptKind::Functions);
    let (sender, woken) = sync_channel(16);
    let watch = engine.watch(0, waker(sender)).expect("a watch");
    assert!(ask(&engine, "ACCOUNT.OPEN a EUR").is_ok());
    while engine.entries(0, 1, 1 << 20).expect("the log").is_empty() {
        woken.recv_timeout(Duration::from_secs(20)).expect("to be woken");
    }
    assert!(ask(&engine, "ACCOUNT.CREDIT a 1").is_ok());
    while engine.entries(0, 2, 1 << 20).expect("the log").is_empty() {
        woken.recv_timeout(Duration::from_secs(20)).expect("to be woken");
    }
    assert_eq!(engine.durable_through(0), Ok(2));
    let all = engine.entries(0, 0, 1).expect("the log");
    assert_eq!(all[0].head.sequence_first, 1);
    assert!(engine.entries(0, 3, 1 << 20).expect("the log").is_empty());
    drop(watch);
}

#[test]
fn what_is_handed_in_together_is_answered_in_order_and_ended_by_the_sweeper() {
    let server = servers::server();
    let engine = open(&server.url(), ScriptKind::Functions);
    let mut batch = vec![read(&engine, "ACCOUNT.OPEN a EUR")];
    batch.extend((0..1_000).map(|at| read(&engine, &format!("ACCOUNT.CREDIT a 1 ID c-{at}"))));
    batch.push(read(&engine, "DIGEST"));
    batch.push(read(&engine, "ACCOUNT.HOLD a h 1 TTL 1"));
    let answers = engine.call(0, batch);
    for (at, answer) in answers[1..=1_000].iter().enumerate() {
        let balance = at + 1;
        let outcome = &answer.as_ref().expect("an answer").outcome;
        assert_eq!(outcome.to_string(), format!("APPLIED {balance} {balance}"));
    }
    let (sender, woken) = sync_channel(16);
    let _watch = engine.watch(0, waker(sender)).expect("a watch");
    while engine.durable_through(0).expect("a sequence") < 1_003 {
        woken.recv_timeout(Duration::from_secs(20)).expect("the sweeper to end the hold");
    }
    let last = engine.entries(0, 1_003, 1).expect("the log").remove(0);
    assert_eq!(last.events[0].spec().name, "hold.expired");
}

/// Sends one call by itself, as an engine does that is gone before the next one.
fn call_once(connection: &mut redis::Connection, request: &Request) -> call::CallReply {
    let settings = default_state();
    let encoded = call::encode(request, &settings, &mut Vec::new());
    let message = call::message(&call::Heading::from(&settings), &[&encoded]);
    let (keys, library) = (Keys::new("scarce:", 0, 1), Library::new(ClockSource::Server));
    let mut eval = redis::cmd("EVAL");
    eval.arg(library.script()).arg(keys.all().len()).arg(keys.all()).arg(message).arg("write");
    let answer: redis::Value = eval.query(connection).expect("an answer");
    call::read_reply(&answer, 0).expect("a reply")
}

#[test]
fn a_campaign_whose_filling_was_interrupted_is_filled_before_a_copy_is_answered() {
    let create = "PACKET.CREATE c CNY PLAN 500000 100000 DOUBLE_MEAN ID create";
    for (next, expected) in [
        (create, "APPLIED 100000 500000 "),
        ("PACKET.CLAIM c u", "NOT_STARTED "),
        ("PACKET.GET c", "APPLIED c CNY 100000 500000 0 0 - - not_started "),
        ("DIGEST", "APPLIED [[0 "),
    ] {
        let mut server = servers::server();
        let engine = open(&server.url(), ScriptKind::Functions);
        let request = read(&engine, create);
        // Its sweeper would go on with what is interrupted.
        drop(engine);
        let reply = call_once(&mut connection(&server), &request);
        assert_eq!((reply.owed, reply.receipts.len()), (Owed::Packets, 1));
        restart(&mut server);
        let waiting: u64 =
            redis::cmd("HLEN").arg("scarce:{p0-0}:listed").query(&mut connection(&server)).unwrap();
        assert_eq!(waiting, 399);

        let engine = open(&server.url(), ScriptKind::Functions);
        let answer = ask(&engine, next).expect("an answer");
        assert!(answer.starts_with(expected), "{next}: {answer}");
        let first = engine.call(0, vec![read(&engine, create)]).remove(0).expect("the receipt");
        assert!(first.outcome.to_string().starts_with("APPLIED 100000 500000 "), "{}", first.outcome);
        // An event for the campaign, and one for the first piece.
        assert_eq!((first.sequence_first, first.sequence_last), (1, 2));
        assert_eq!(ask(&engine, "PACKET.CREATE c CNY AMOUNTS 1 1"), Ok("CAMPAIGN_EXISTS c".to_owned()));
        assert!(ask(&engine, "PACKET.CLAIM c v").expect("a packet").starts_with("APPLIED "));
        let exists: bool =
            redis::cmd("EXISTS").arg("scarce:{p0-0}:listed").query(&mut connection(&server)).unwrap();
        assert!(!exists, "amounts are left behind");
        check_fold(&engine);
    }
}

/// What the log folds to is what the keys hold.
fn check_fold(engine: &RedisEngine) {
    let mut machine = Machine::new(state::StateSettings::default(), 0);
    loop {
        let entries: Vec<Entry> = engine.entries(0, machine.sequence() + 1, 1 << 20).expect("the log");
        if entries.is_empty() {
            break;
        }
        entries.iter().for_each(|entry| machine.apply(entry));
    }
    let digest = format!("{:032x}", machine.state().digest(None));
    let kept = ask(engine, "DIGEST").expect("a digest");
    assert!(kept.contains(&digest), "the log folds to {digest}, the keys hold {kept}");
}

/// A row of an item from before receipts left memory has three fields less, and its receipts are not queued.
#[test]
fn a_row_of_stock_without_the_fields_of_receipts_is_read_and_completed() {
    for script in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        let engine = open(&server.url(), script);
        ask(&engine, "STOCK.CREATE s 10").expect("created");
        let key = |name| Keys::new("scarce:", 0, 1).of(name);
        server.ask::<()>(&["HSET", &key("stock"), "s", "10|10|0|0|0|0||||0||||"]).expect("as before");
        assert!(ask(&engine, "DIGEST s").expect("a digest").starts_with("APPLIED"), "{script:?}");
        assert_eq!(ask(&engine, "STOCK.TAKE s 2 u").as_deref(), Ok("APPLIED 1 8"), "{script:?}");
        let due: Vec<String> = server.ask(&["ZRANGE", &key("due"), "0", "-1"]).expect("members");
        assert!(due.len() == 1 && due[0].ends_with(" sale s receipts"), "{script:?}: {due:?}");
        let row: String = server.ask(&["HGET", &key("stock"), "s"]).expect("a row");
        assert!(row.starts_with("10|8|0|2|0|2||||0|||||") && row.ends_with("||"), "{script:?}: {row}");
    }
}
