//! Backups of a deployment inside Redis, made beside a server under load, and restored into another Redis.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use redis::Value as Answer;
use scarce_client::Client;
use scarce_core::machine::Machine;
use scarce_engine::Log;
use scarce_engine_redis::keys::{Keys, NAMES};
use scarce_engine_redis::{RedisEngine, RedisSettings, default_state};
use scarce_launch::Server as RedisServer;
use serde_json::Value;

use super::support::{Server, redis_server, refused_start, scarce, serve};
use super::{Stage, ended, said};

const PARTITIONS: u32 = 2;

/// Something of everything, so that all keys are in use.
const LINES: [&str; 44] = [
    "ACCOUNT.OPEN a EUR ID open-a",
    "ACCOUNT.OPEN b EUR",
    "ACCOUNT.CREDIT a 1000 ID credit-a",
    "ACCOUNT.HOLD a h1 100 TTL 86400000",
    "ACCOUNT.HOLD a h2 50",
    "ACCOUNT.VOID a h2",
    "ACCOUNT.DEBIT a 100000 ID refused",
    "STOCK.CREATE s 100 PEROWNER 20",
    "STOCK.TAKE s 5 tom ID take",
    "STOCK.TAKE s 3 ann",
    "STOCK.RETURN s 1 2",
    "STOCK.RESERVE s r1 4 tom 86400000",
    "STOCK.RESERVE s r2 4 tom 86400000",
    "STOCK.RELEASE s r2",
    "STOCK.CREATE gone 1",
    "STOCK.TAKE gone 1 tom",
    "PACKET.CREATE open EUR PLAN 100000 600 DOUBLE_MEAN ID open",
    "PACKET.CLAIM open u1",
    "PACKET.CLAIM open u2",
    "PACKET.CREATE listed EUR AMOUNTS 4 5 6 7 8",
    "PACKET.CLAIM listed u1",
    "PACKET.CREATE closed EUR PLAN 1000 10 LINE_CUT",
    "PACKET.CLAIM closed u1",
    "COUPON.CREATE c LIMIT all 100 LIMIT daily 2 PER user WINDOW day",
    "COUPON.CREATE timed LIMIT all 5 CLAIMTTL 86400000",
    "COUPON.CLAIM c USER tom",
    "COUPON.CLAIM c USER tom",
    "COUPON.CLAIM timed USER ann",
    "COUPON.REDEEM c 1 tom",
    "MARKET.CREATE m",
    "ORDER.PLACE m o1 ann SELL LIMIT 100 5",
    "ORDER.PLACE m o2 ann SELL LIMIT 101 5",
    "ORDER.PLACE m o3 bob SELL LIMIT 100 2",
    "ORDER.PLACE m o4 tom BUY LIMIT 100 6",
    "ORDER.PLACE m o5 tom BUY LIMIT 90 3",
    "ORDER.PLACE m o6 tom BUY LIMIT 91 3",
    "ORDER.CANCEL m o6 tom",
    "MARKET.CREATE other",
    "MARKET.HALT other",
    "ACCOUNT.TRANSFER {t}a {t}b 1",
    "ACCOUNT.OPEN {t}a EUR",
    "ACCOUNT.OPEN {t}b EUR",
    "ACCOUNT.CREDIT {t}a 50",
    "ACCOUNT.TRANSFER {t}a {t}b 7 ID move",
];

fn open(redis: &RedisServer, data: &Stage) -> Server {
    Server::start(&data.data, &options(redis).iter().map(String::as_str).collect::<Vec<_>>())
}

fn options(redis: &RedisServer) -> Vec<String> {
    let words = ["--engine", "redis", "--redis-url", &redis.url(), "--partitions"];
    words.into_iter().map(str::to_owned).chain([PARTITIONS.to_string()]).collect()
}

fn call(client: &mut Client, line: &str) -> Answer {
    client.call(&line.split(' ').collect::<Vec<_>>()).unwrap()
}

fn fill(server: &Server) {
    let mut client = server.connect();
    for line in LINES {
        call(&mut client, line);
    }
    call(&mut client, "PACKET.CLOSE closed");
}

fn create(stage: &Stage, url: &str) -> Output {
    stage.backup(&["create", "--redis-url", url])
}

fn restore(stage: &Stage, url: &str, options: &[&str]) -> Output {
    let mut command = scarce();
    command.args(["restore", "--json", "--redis-url", url, "--from"]).arg(&stage.store).args(options);
    command.output().unwrap()
}

/// The digest that the log folds to at a sequence.
fn folded(engine: &RedisEngine, partition: u32, through: u64) -> String {
    let mut machine = Machine::new(default_state(), partition);
    while machine.sequence() < through {
        let page = engine.entries(partition, machine.sequence() + 1, 1 << 20).unwrap();
        assert!(!page.is_empty(), "the log ends early");
        page.iter()
            .take_while(|entry| entry.sequence_last() <= through)
            .for_each(|entry| machine.apply(entry));
    }
    format!("{:032x}", machine.state().digest(None))
}

fn engine(redis: &RedisServer) -> RedisEngine {
    let settings =
        RedisSettings { url: redis.url(), partitions: PARTITIONS, sweeps: false, ..RedisSettings::default() };
    RedisEngine::open(settings).unwrap()
}

/// What a key holds, in an order of its own.
fn content(redis: &RedisServer, key: &str) -> Vec<String> {
    let mut found = match redis.ask::<String>(&["TYPE", key]).unwrap().as_str() {
        "hash" => {
            let rows: BTreeMap<String, String> = redis.ask(&["HGETALL", key]).unwrap();
            rows.into_iter().map(|(field, text)| format!("{field} = {text}")).collect()
        }
        "zset" => redis.ask(&["ZRANGE", key, "0", "-1"]).unwrap(),
        "none" => Vec::new(),
        // Elements are cut otherwise: what is in them is compared.
        "list" => {
            let elements: Vec<String> = redis.ask(&["LRANGE", key, "0", "-1"]).unwrap();
            elements
                .iter()
                .flat_map(|its| its.splitn(4, ' ').nth(3).unwrap().split('\n'))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        }
        other => panic!("{key} is a {other}"),
    };
    found.sort();
    found
}

/// Compares all keys of two deployments but the log, and what says where a server is.
fn check_same_keys(one: &RedisServer, other: &RedisServer) {
    for partition in 0..PARTITIONS {
        let keys = Keys::new("scarce:", partition, PARTITIONS);
        for name in NAMES.into_iter().filter(|name| !["meta", "log"].contains(name)) {
            let key = keys.of(name);
            let (mut ours, theirs) = (content(one, &key), content(other, &key));
            if name == "packets" {
                // What nobody can claim any more of a closed campaign is not kept.
                let kept: BTreeSet<&String> = theirs.iter().collect();
                ours.retain(|row| kept.contains(row) || !row.starts_with("closed "));
            }
            assert_eq!(ours, theirs, "{key}");
        }
    }
    for key in ["scarce:deployment", "scarce:callers", "scarce:scripts"] {
        assert_eq!(content(one, key), content(other, key), "{key}");
    }
}

#[test]
fn a_deployment_inside_redis_is_backed_up_under_load_and_goes_on_in_another_redis() {
    let (redis, stage) = (redis_server(&[]), Stage::new());
    let server = open(&redis, &stage);
    fill(&server);
    let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let rows = std::thread::scope(|scope| {
        for caller in 0..2 {
            let (server, stop, sent) = (&server, &stop, &sent);
            scope.spawn(move || {
                let mut client = server.connect();
                for at in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    call(&mut client, &format!("ACCOUNT.CREDIT a 1 ID load-{caller}-{at}"));
                    call(&mut client, &format!("STOCK.CREATE load-{caller}-{at} 5"));
                    call(&mut client, &format!("STOCK.RESERVE load-{caller}-{at} r 1 tom 1"));
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut rows = Vec::new();
        for _ in 0..3 {
            let before = sent.load(Ordering::Relaxed);
            rows.push(ended(&create(&stage, &redis.url()), 0));
            while sent.load(Ordering::Relaxed) < before + 20 {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::Relaxed);
        rows
    });
    let log = engine(&redis);
    for row in ended(&stage.backup(&["verify", "--all", "--restore"]), 0) {
        let (partition, sequence) = (row["partition"].as_u64().unwrap(), row["sequence"].as_u64().unwrap());
        assert_eq!(row["digest"], folded(&log, u32::try_from(partition).unwrap(), sequence), "{row}");
    }
    let newest = rows[2][0]["backup"].as_str().unwrap().to_owned();
    let other = redis_server(&[]);
    for row in ended(&restore(&stage, &other.url(), &["--backup", &newest]), 0) {
        let (partition, sequence) = (row["partition"].as_u64().unwrap(), row["sequence"].as_u64().unwrap());
        assert_eq!(row["digest"], folded(&log, u32::try_from(partition).unwrap(), sequence), "{row}");
    }
    let (elsewhere, mut client) = (Stage::new(), server.connect());
    let restored = open(&other, &elsewhere);
    let mut theirs = restored.connect();
    for line in
        ["ACCOUNT.OPEN a EUR ID open-a", "STOCK.TAKE s 5 tom ID take", "ACCOUNT.DEBIT a 100000 ID refused"]
    {
        assert_eq!(call(&mut theirs, line), call(&mut client, line), "the first answer again: {line}");
    }
    for user in 3..30 {
        let line = format!("PACKET.CLAIM open u{user}");
        assert_eq!(call(&mut theirs, &line), call(&mut client, &line), "the packet that was cut: {line}");
    }
    let line = "ORDER.PLACE m late tom BUY LIMIT 101 9";
    assert_eq!(call(&mut theirs, line), call(&mut client, line));
    server.stop();
    restored.stop();
}

#[test]
fn every_key_is_restored_as_it_was_and_the_log_goes_on_behind_it() {
    let (redis, stage) = (redis_server(&[]), Stage::new());
    let server = open(&redis, &stage);
    fill(&server);
    server.stop();
    ended(&create(&stage, &redis.url()), 0);
    let other = redis_server(&[]);
    let rows = ended(&restore(&stage, &other.url(), &[]), 0);
    check_same_keys(&redis, &other);
    let refused = restore(&stage, &other.url(), &[]);
    assert!(refused.status.code() == Some(1) && said(&refused).contains("scarce:deployment"), "{refused:?}");
    let elsewhere = Stage::new();
    let restored = open(&other, &elsewhere);
    let mut client = restored.connect();
    for _ in 0..20 {
        call(&mut client, "ACCOUNT.CREDIT a 1");
    }
    restored.stop();
    let (before, after) = (engine(&redis), engine(&other));
    let ends = (0..PARTITIONS).map(|partition| {
        let first = after.first_sequence(partition).unwrap();
        let row = rows.iter().find(|row| row["partition"] == partition).unwrap();
        assert_eq!(row["sequence"].as_u64().unwrap() + 1, first, "the log goes on behind it");
        after.durable_through(partition).unwrap() + 1 - first
    });
    assert_eq!(ends.sum::<u64>(), 20);
    let epochs = |engine: &RedisEngine| (0..PARTITIONS).map(|its| engine.epoch(its).unwrap()).max().unwrap();
    assert!(epochs(&after) > epochs(&before), "what follows is told from what the original logs");
}

/// Forwards connections to a Redis until so many bytes came from it, and then none at all.
fn proxy(redis: &RedisServer, bytes_max: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, to) = (format!("redis://{}", listener.local_addr().unwrap()), redis.url());
    let to = to.trim_start_matches("redis://").trim_end_matches('/').to_owned();
    let left = Arc::new(AtomicUsize::new(bytes_max));
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            if left.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let far = TcpStream::connect(&to).unwrap();
            let (mut near_in, mut far_out) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut near_in, &mut far_out);
                let _ = far_out.shutdown(Shutdown::Both);
            });
            let left = Arc::clone(&left);
            std::thread::spawn(move || forward(far, near, &left));
        }
    });
    url
}

fn forward(mut from: TcpStream, mut to: TcpStream, left: &AtomicUsize) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let before = left.load(Ordering::Relaxed);
        left.store(before.saturating_sub(count), Ordering::Relaxed);
        if before <= count || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_redis_that_goes_away_in_the_middle_leaves_no_backup_and_no_deployment() {
    let (redis, stage) = (redis_server(&[]), Stage::new());
    let server = open(&redis, &stage);
    fill(&server);
    server.stop();
    let mut failed = 0;
    for bytes in (0..12).map(|step| 1_000_usize << step) {
        let output = create(&stage, &proxy(&redis, bytes));
        if output.status.success() {
            break;
        }
        failed += 1;
        assert!(said(&output).contains("Redis"), "{output:?}");
        let listed = stage.backup(&["list"]);
        assert!(listed.status.code() == Some(1) && listed.stdout.is_empty(), "{listed:?}");
    }
    assert!(failed >= 3, "only {failed} were cut off");
    ended(&create(&stage, &redis.url()), 0);
    let (other, mut failed) = (redis_server(&[]), 0);
    for bytes in (0..16).map(|step| 200_usize << step) {
        let output = restore(&stage, &proxy(&other, bytes), &[]);
        if output.status.success() {
            break;
        }
        failed += 1;
        assert!(!other.ask::<bool>(&["EXISTS", "scarce:deployment"]).unwrap(), "{output:?}");
    }
    assert!(failed >= 3, "only {failed} were cut off");
    other.ask::<()>(&["DEL", "scarce:deployment"]).unwrap();
    other.ask::<()>(&["HSET", "scarce:restoring", "partitions", &PARTITIONS.to_string()]).unwrap();
    let words = options(&other);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, message) = refused_start(&mut serve(&Stage::new().data, &words));
    assert!(code == Some(1) && message.contains("the deployment is not"), "{message}");
    ended(&restore(&stage, &other.url(), &[]), 0);
    check_same_keys(&redis, &other);
}

#[test]
fn what_is_damaged_or_of_another_kind_is_refused_before_it_is_served() {
    let (redis, other, stage) = (redis_server(&[]), redis_server(&[]), Stage::new());
    let server = open(&redis, &stage);
    fill(&server);
    server.stop();
    ended(&create(&stage, &redis.url()), 0);
    let (new, output) = stage.restore("never", &[]);
    assert!(output.status.code() == Some(2) && said(&output).contains("--redis-url"), "{output:?}");
    assert!(!new.exists());
    let pieces: Vec<_> =
        stage.objects().into_iter().filter(|its| its.to_string_lossy().contains("/data/2")).collect();
    assert!(pieces.len() >= 3, "{pieces:?}");
    for piece in &pieces {
        let good = std::fs::read(piece).unwrap();
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 1;
        std::fs::write(piece, &bad).unwrap();
        for output in [stage.backup(&["verify"]), restore(&stage, &other.url(), &[])] {
            assert_eq!(output.status.code(), Some(5), "{output:?}");
            assert!(said(&output).contains(piece.file_name().unwrap().to_str().unwrap()), "{output:?}");
        }
        assert!(!other.ask::<bool>(&["EXISTS", "scarce:deployment"]).unwrap());
        std::fs::write(piece, &good).unwrap();
    }
    ended(&restore(&stage, &other.url(), &[]), 0);
    let embedded = Stage::new();
    embedded.serve(&[]).stop();
    embedded.create(&[]);
    let output = restore(&embedded, &redis_server(&[]).url(), &[]);
    assert!(output.status.code() == Some(2) && said(&output).contains("--data"), "{output:?}");
}

#[test]
fn a_store_that_cannot_be_written_or_an_empty_redis_is_told() {
    let (redis, stage) = (redis_server(&[]), Stage::new());
    let output = create(&stage, &redis.url());
    assert!(output.status.code() == Some(2) && said(&output).contains("no deployment"), "{output:?}");
    assert!(!redis.ask::<bool>(&["EXISTS", "scarce:deployment"]).unwrap(), "none was created");
    open(&redis, &stage).stop();
    let mut command = scarce();
    let url = redis.url();
    // Not even root may make a folder there.
    command.args(["backup", "create", "--store", "/sys/kernel/scarce-backup", "--redis-url", &url]);
    let output = command.output().unwrap();
    assert!(
        output.status.code() == Some(1) && said(&output).contains("/sys/kernel/scarce-backup"),
        "{output:?}"
    );
    let rows: Vec<Value> = ended(&create(&stage, &url), 0);
    assert_eq!(rows.len(), PARTITIONS as usize);
}
