//! Campaigns of many packets inside Redis: others are served while their packets are laid ready, the next process goes on
//! after a crash, and nobody gets a packet before the last one is there.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::{Duration, Instant};

use load::{Told, ask, insist, read, told};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::outcome::Value;
use scarce_core::types::Id;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::call::{self, EncodedRequest, Heading, Owed};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind, default_state};
use servers::{Server, connection, restart};

const PATIENCE: Duration = Duration::from_secs(180);

const SCRIPTS: [ScriptKind; 2] = [ScriptKind::Functions, ScriptKind::Evalsha];

/// Two hundred calls.
const MANY: &str = "PACKET.CREATE many EUR PLAN 5000000 50000 DOUBLE_MEAN ID made";

/// Four calls.
const SOME: &str = "PACKET.CREATE some EUR PLAN 20000 1000 DOUBLE_MEAN ID made";

fn open_with(server: &Server, script: ScriptKind, clock: Option<&ManualClock>) -> RedisEngine {
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        script: Some(script),
        clock: clock.cloned(),
        ..RedisSettings::default()
    };
    RedisEngine::open(settings).expect("the engine")
}

fn open(server: &Server, script: ScriptKind) -> RedisEngine {
    open_with(server, script, None)
}

/// Makes one call, as an engine would that ends before the next one. Gives what is owed.
fn call_once(server: &Server, encoded: &EncodedRequest, clock: Option<u64>) -> Owed {
    let settings = default_state();
    let source = if clock.is_some() { ClockSource::Call } else { ClockSource::Server };
    let (library, keys) = (Library::new(source), Keys::new("scarce:", 0, 1));
    let message = call::message(&Heading { clock, ..Heading::from(&settings) }, &[encoded]);
    let mut command = redis::cmd("EVAL");
    command.arg(library.script()).arg(keys.all().len()).arg(keys.all()).arg(message).arg("write");
    let answer: redis::Value = command.query(&mut connection(server)).expect("an answer");
    call::read_reply(&answer, 0).expect("a reply").owed
}

fn begin(server: &Server, request: &Request, clock: Option<u64>) {
    let encoded = call::encode(request, &default_state(), &mut Vec::new());
    assert_eq!(call_once(server, &encoded, clock), Owed::Packets);
}

fn campaign(name: &str) -> Id {
    Id::parse(name.as_bytes(), "campaign").expect("an id")
}

fn entries(engine: &RedisEngine) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    loop {
        let next = all.last().map_or(1, |entry| entry.sequence_last() + 1);
        let page = engine.entries(0, next, 1 << 20).expect("the log");
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

fn fold<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut machine = Machine::new(default_state(), 0);
    entries.for_each(|entry| machine.apply(entry));
    format!("{:032x}", machine.state().digest(None))
}

/// A digest and the sequence that it is of.
fn digest(engine: &RedisEngine) -> (u64, String) {
    let answer = insist(engine, 0, "DIGEST").outcome.facts;
    let Some(Value::List(rows)) = answer.first() else { panic!("{answer:?}") };
    let Some(Value::List(row)) = rows.first() else { panic!("{rows:?}") };
    match row.as_slice() {
        [_, Value::Integer(sequence), Value::Text(digest)] => {
            (u64::try_from(*sequence).expect("a sequence"), digest.to_string())
        }
        other => panic!("{other:?}"),
    }
}

/// The log folds to what the keys hold, at the sequence of a digest.
fn check_fold(engine: &RedisEngine) {
    let (sequence, digest) = digest(engine);
    let entries = entries(engine);
    assert_eq!(fold(entries.iter().take_while(|entry| entry.sequence_last() <= sequence)), digest);
}

/// The sequences of the events of a name.
fn sequences(entries: &[Entry], name: &str) -> Vec<u64> {
    let events = entries.iter().flat_map(|entry| (entry.head.sequence_first..).zip(&entry.events));
    events.filter(|(_, event)| event.spec().name == name).map(|(sequence, _)| sequence).collect()
}

fn wait_until_open(engine: &RedisEngine, name: &str) {
    let begun = Instant::now();
    while !insist(engine, 0, &format!("PACKET.GET {name}")).outcome.to_string().contains(" open ") {
        assert!(begun.elapsed() < PATIENCE, "the campaign does not open");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn others_are_served_while_the_packets_of_a_campaign_are_laid_ready() {
    for script in SCRIPTS {
        let server = servers::server();
        let engine = open(&server, script);
        insist(&engine, 0, "ACCOUNT.OPEN hot EUR");
        let (seen, created) = Told::during(&engine, 0, 2, || {
            std::thread::scope(|scope| {
                let create = scope.spawn(|| insist(&engine, 0, MANY));
                while !create.is_finished() {
                    let claim = told(&engine, 0, "PACKET.CLAIM many early").expect("an answer");
                    let words = ["CAMPAIGN_NOT_FOUND", "NOT_STARTED", "APPLIED 1 ", "ALREADY_CLAIMED"];
                    assert!(words.iter().any(|word| claim.starts_with(word)), "{claim}");
                }
                create.join().expect("created")
            })
        });
        assert!(created.outcome.to_string().starts_with("APPLIED 50000 5000000 "), "{}", created.outcome);
        assert!(!told(&engine, 0, "PACKET.CLAIM many late").expect("an answer").starts_with("NOT_STARTED"));
        let entries = entries(&engine);
        let filled = sequences(&entries, "packets.filled");
        assert_eq!((sequences(&entries, "packets.created").len(), filled.len()), (1, 200));
        let credited = sequences(&entries, "account.credited");
        let between = credited.iter().filter(|its| (filled[0]..filled[199]).contains(its)).count();
        assert!(between >= 20, "{between} of {} credits while packets were laid ready", seen.applied());
        // The answer names the entry that created it, and nobody had a packet before the last was there.
        assert_eq!((created.sequence_first, created.sequence_last), (filled[0] - 1, filled[0]));
        assert!(sequences(&entries, "packets.claimed").iter().all(|its| *its > filled[199]));
        assert!(entries.windows(2).all(|pair| pair[0].head.at <= pair[1].head.at), "stamps never go back");
        check_fold(&engine);
    }
}

#[test]
fn a_digest_that_is_taken_meanwhile_is_that_of_one_sequence() {
    let server = servers::server();
    let engine = open(&server, ScriptKind::Functions);
    let taken: Vec<(u64, String)> = std::thread::scope(|scope| {
        let create = scope.spawn(|| insist(&engine, 0, MANY));
        let mut taken = Vec::new();
        while !create.is_finished() {
            taken.push(digest(&engine));
        }
        taken
    });
    let entries = entries(&engine);
    let last = sequences(&entries, "packets.filled")[199];
    assert!(taken.iter().any(|(sequence, _)| *sequence < last), "none was taken meanwhile");
    for (sequence, digest) in taken {
        let until = entries.iter().take_while(|entry| entry.sequence_last() <= sequence);
        assert_eq!(fold(until), digest, "at {sequence}");
    }
}

#[test]
fn the_next_process_lays_the_other_packets_ready_after_a_crash() {
    for script in SCRIPTS {
        for has_copy in [true, false] {
            let mut server = servers::server();
            let engine = open(&server, script);
            let request = read(&engine, SOME);
            // No sweeper may come in between.
            drop(engine);
            begin(&server, &request, None);
            assert_eq!(call_once(&server, &call::prepare(&campaign("some")), None), Owed::Packets);
            restart(&mut server);
            let engine = open(&server, script);
            if has_copy {
                let copy = insist(&engine, 0, SOME);
                assert!(copy.replayed && copy.outcome.to_string().starts_with("APPLIED 1000 20000 "));
            } else {
                wait_until_open(&engine, "some");
            }
            let claim = told(&engine, 0, "PACKET.CLAIM some u").expect("an answer");
            assert!(claim.starts_with("APPLIED 1 "), "{claim}");
            assert_eq!(sequences(&entries(&engine), "packets.filled").len(), 4);
            check_fold(&engine);
        }
    }
}

#[test]
fn a_campaign_counts_as_created_from_its_first_entry_on() {
    let server = servers::server();
    let clock = ManualClock::default();
    clock.set(1_000);
    let engine = open_with(&server, ScriptKind::Functions, Some(&clock));
    begin(&server, &read(&engine, SOME), Some(1_000));
    for (line, answer) in [
        ("PACKET.CLAIM some u", "NOT_STARTED - 1000"),
        ("PACKET.CREATE some EUR PLAN 20000 1000 DOUBLE_MEAN ID other", "CAMPAIGN_EXISTS some"),
        ("PACKET.CREATE some EUR PLAN 20000 1000 EVEN ID made", "ID_REUSED made"),
        ("OPERATION.GET made ON some", "APPLIED made 2 1000 [1 1000 20000 "),
        ("OPERATION.RESOLVE made ON some", "APPLIED APPLIED [1 1000 20000 "),
        ("PACKET.GET some", "APPLIED some EUR 1000 20000 0 0 - - not_started "),
        ("PACKET.CLOSE some", "APPLIED 0 1000 20000 "),
        ("PACKET.CLAIM some u", "ENDED 1000 1000"),
    ] {
        let told = told(&engine, 0, line).expect("an answer");
        assert!(told.starts_with(answer), "{line}: {told}");
    }
    // Its retention is over before its packets are all there.
    let later = 1_000 + 2 * default_state().receipt_retention_ms;
    clock.set(later);
    let ended = |engine: &RedisEngine| engine.call(0, vec![Request::Expire(1)]).remove(0).expect("swept");
    assert_eq!(ended(&engine).outcome.to_string(), "APPLIED 0");
    for owed in [Owed::Packets, Owed::Packets, Owed::Nothing, Owed::Nothing] {
        assert_eq!(call_once(&server, &call::prepare(&campaign("some")), Some(later)), owed);
    }
    assert_eq!(ended(&engine).outcome.to_string(), "APPLIED 1");
    check_fold(&engine);
}

#[test]
fn what_is_behind_a_campaign_in_a_batch_waits_for_its_packets() {
    for script in SCRIPTS {
        let server = servers::server();
        let engine = open(&server, script);
        let lines = [
            "ACCOUNT.OPEN a EUR",
            SOME,
            "PACKET.CLAIM some u",
            "PACKET.CREATE more EUR PLAN 900 900 EVEN",
            "PACKET.CLAIM more u",
            "ACCOUNT.CREDIT a 5",
        ];
        let batch: Vec<Request> = lines.iter().map(|line| read(&engine, line)).collect();
        let answers = engine.call(0, batch);
        let expected = [
            "APPLIED ",
            "APPLIED 1000 20000 ",
            "APPLIED 1 ",
            "APPLIED 900 900 ",
            "APPLIED 1 1",
            "APPLIED 5 5",
        ];
        for ((line, answer), expected) in lines.iter().zip(answers).zip(expected) {
            let answer = answer.expect("a receipt").outcome.to_string();
            assert!(answer.starts_with(expected), "{line}: {answer}");
        }
        check_fold(&engine);
    }
}

#[test]
fn of_two_servers_with_the_same_campaign_one_creates_it_and_both_answer() {
    let server = servers::server();
    let (one, other) = (open(&server, ScriptKind::Functions), open(&server, ScriptKind::Evalsha));
    let receipts = std::thread::scope(|scope| {
        [&one, &other]
            .map(|engine| scope.spawn(move || insist(engine, 0, MANY)))
            .map(|its| its.join().expect("answered"))
    });
    for receipt in &receipts {
        assert!(receipt.outcome.to_string().starts_with("APPLIED 50000 5000000 "), "{}", receipt.outcome);
        assert_eq!(receipt.sequence_last, receipts[0].sequence_last);
    }
    assert_eq!(receipts.iter().filter(|receipt| receipt.replayed).count(), 1);
    let claim = ask(&other, 0, "PACKET.CLAIM many u").expect("an answer").outcome.to_string();
    assert!(claim.starts_with("APPLIED 1 "), "{claim}");
    assert_eq!(sequences(&entries(&one), "packets.filled").len(), 200);
    check_fold(&one);
}
