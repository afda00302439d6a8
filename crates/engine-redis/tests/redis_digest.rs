//! Digests are taken while the partition is written to: each is that of one sequence, and keeps nobody waiting.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use load::{insist, read};
use scarce_core::machine::Machine;
use scarce_core::outcome::Value;
use scarce_core::state::StateSettings;
use scarce_core::types::Id;
use scarce_engine::{Engine, Image, Log, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use servers::Server;

const DAY_MS: u64 = 86_400_000;

/// How many digests are taken while others write.
const DIGESTS: usize = 4;

/// How long what has ended is kept: as usual, or so short that it is forgotten while a digest is taken. Who a claim was
/// given back to is not known then, so that is left out.
const RETENTIONS_MS: [(u64, ScriptKind); 2] = [(DAY_MS, ScriptKind::Evalsha), (100, ScriptKind::Functions)];

/// Of what each writer does one after the other, `#` is the number of the turn.
const LINES: [&str; 24] = [
    "ACCOUNT.CREDIT w@-% 3",
    "ACCOUNT.TRANSFER w@-1 w@-% 1",
    "ACCOUNT.HOLD w@-1 h# 1 TTL 30",
    "ACCOUNT.HOLD w@-2 h# 1",
    "ACCOUNT.CAPTURE w@-2 h# TO w@-3",
    "ACCOUNT.OPEN new@-# EUR",
    "STOCK.TAKE s 2 u%",
    "STOCK.RESERVE s r@-# 1 u% 30",
    "STOCK.RESERVE s q@-# 2 u% 60000",
    "STOCK.CONFIRM s q@-#",
    "STOCK.RESERVE s p@-# 1 u% 60000",
    "STOCK.RELEASE s p@-#",
    "STOCK.RETURN s # 1",
    "STOCK.AUDIT s",
    "STOCK.CREATE s@-# 5",
    "PACKET.CLAIM p v@-#",
    "COUPON.CLAIM c USER u%",
    "COUPON.REVOKE c # GIVEBACK",
    "ORDER.PLACE m o@-# ann@ SELL LIMIT 1% 2",
    "ORDER.PLACE m t@-# tom@ BUY LIMIT 14 3",
    "ORDER.REDUCE m o@-# ann@ 1",
    "ORDER.CANCEL m t@-# tom@",
    "PACKET.CREATE p@-# EUR PLAN 300 20 even",
    "COUPON.UPDATE c LIMIT all 9#",
];

fn open(server: &Server, script: ScriptKind, retention_ms: u64) -> RedisEngine {
    let state = settings(retention_ms);
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        state,
        script: Some(script),
        ..RedisSettings::default()
    };
    RedisEngine::open(settings).expect("the engine")
}

fn settings(retention_ms: u64) -> StateSettings {
    // Where records leave soon, receipts leave while digests are taken, too.
    let receipt_retention_ms = retention_ms.max(300);
    StateSettings { retention_ms, receipt_retention_ms, ..scarce_engine_redis::default_state() }
}

/// Says that something is over, also where it panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn prepare(engine: &RedisEngine, accounts: usize) {
    for line in [
        "STOCK.CREATE s 100000 PEROWNER 90000",
        "PACKET.CREATE p EUR PLAN 100000 5000 even",
        "COUPON.CREATE c LIMIT all 90000 PER - WINDOW none LIMIT each 90000 PER user WINDOW 50",
        "MARKET.CREATE m",
    ] {
        assert!(insist(engine, 0, line).outcome.is_applied(), "{line}");
    }
    let opened: Vec<Request> =
        (0..accounts).map(|at| read(engine, &format!("ACCOUNT.OPEN a{at} EUR"))).collect();
    for batch in opened.chunks(200) {
        assert!(engine.call(0, batch.to_vec()).iter().all(Result::is_ok));
    }
    let writers = (0..2)
        .flat_map(|writer| (0..10).map(move |at| format!("ACCOUNT.OPEN w{writer}-{at} EUR OVERDRAFT 9999")));
    writers.for_each(|line| drop(insist(engine, 0, &line)));
}

/// Writes all kinds of things until it is over.
fn write(engine: &RedisEngine, writer: usize, retention_ms: u64, is_over: &AtomicBool) {
    let is_known = |line: &&&str| retention_ms > 1_000 || !line.ends_with("GIVEBACK");
    for turn in 1_usize.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let line = |line: &&str| {
            let line = line.replace('@', &writer.to_string()).replace('%', &(turn % 10).to_string());
            read(engine, &line.replace('#', &turn.to_string()))
        };
        // Refusals are answers as well.
        for answer in engine.call(0, LINES.iter().filter(is_known).map(line).collect()) {
            answer.expect("an answer");
        }
    }
}

/// The sequence and the digest of an answer.
fn digest(engine: &RedisEngine, of: &str) -> (u64, String) {
    let line = format!("DIGEST {of}");
    let receipt = insist(engine, 0, line.trim());
    let Some(Value::List(rows)) = receipt.outcome.facts.first() else { panic!("{}", receipt.outcome) };
    let Some(Value::List(row)) = rows.first() else { panic!("{}", receipt.outcome) };
    let [_, Value::Integer(sequence), Value::Text(digest)] = row.as_slice() else {
        panic!("{}", receipt.outcome)
    };
    (u64::try_from(*sequence).expect("a sequence"), digest.to_string())
}

/// Checks digests against those of the log folded up to the same sequences.
fn check(engine: &RedisEngine, retention_ms: u64, mut taken: Vec<(&str, u64, String)>) {
    taken.sort_by_key(|(_, sequence, _)| *sequence);
    let mut machine = Machine::new(settings(retention_ms), 0);
    let mut differing = Vec::new();
    let mut entries = engine.entries(0, 1, 1 << 30).expect("the log").into_iter().peekable();
    for (of, sequence, digest) in taken {
        while let Some(entry) = entries.next_if(|entry| entry.sequence_last() <= sequence) {
            machine.apply(&entry);
        }
        assert_eq!(machine.sequence(), sequence, "DIGEST {of} is of no sequence");
        let only = (!of.is_empty()).then(|| Id::parse(of.as_bytes(), "id").expect("an id"));
        let folded = format!("{:032x}", machine.state().digest(only.as_ref()));
        if digest != folded {
            differing.push((of, sequence));
        }
    }
    assert!(differing.is_empty(), "these are not of their sequence: {differing:?}");
}

#[test]
fn each_digest_is_of_one_sequence_while_others_write() {
    for (retention_ms, script) in RETENTIONS_MS {
        let server = servers::server();
        let open = || open(&server, script, retention_ms);
        let (engine, other) = (open(), open());
        prepare(&engine, 3_000);
        let is_over = AtomicBool::new(false);
        let taken = std::thread::scope(|scope| {
            for (writer, engine) in [&engine, &other].into_iter().enumerate() {
                let is_over = &is_over;
                scope.spawn(move || write(engine, writer, retention_ms, is_over));
            }
            let _over = Over(&is_over);
            let mut taken = Vec::new();
            for _ in 0..DIGESTS {
                for of in ["", "s", "w0-1", "p", "c", "m", "nothing"] {
                    let (sequence, digest) = digest(&engine, of);
                    taken.push((of, sequence, digest));
                }
                let machine = engine.image(0).and_then(Image::into_machine).expect("the state");
                taken.push(("", machine.sequence(), format!("{:032x}", machine.state().digest(None))));
            }
            taken
        });
        check(&engine, retention_ms, taken);
    }
}

#[test]
fn others_are_served_while_a_digest_is_taken() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions, DAY_MS);
    prepare(&engine, 20_000);
    let (is_over, served) = (AtomicBool::new(false), AtomicU64::new(0));
    let (before, after) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                insist(&engine, 0, "ACCOUNT.GET a1");
                served.fetch_add(1, Ordering::Relaxed);
            }
        });
        let _over = Over(&is_over);
        while served.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let before = served.load(Ordering::Relaxed);
        digest(&engine, "");
        (before, served.load(Ordering::Relaxed))
    });
    assert!(after > before + 2, "{} others were served meanwhile", after - before);
}

/// One account among many costs what it has itself.
#[test]
fn a_digest_of_one_resource_reads_what_belongs_to_it() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions, DAY_MS);
    prepare(&engine, 3_000);
    insist(&engine, 0, "ACCOUNT.HOLD w0-1 h 5");
    server.ask::<()>(&["CONFIG", "RESETSTAT"]).expect("statistics");
    let taken: Vec<_> = ["w0-1", "a7"].into_iter().map(|of| (of, digest(&engine, of))).collect();
    let statistics: String = server.ask(&["INFO", "commandstats"]).expect("statistics");
    assert!(!statistics.contains("hscan"), "{statistics}");
    check(
        &engine,
        DAY_MS,
        taken.into_iter().map(|(of, (sequence, digest))| (of, sequence, digest)).collect(),
    );
}
