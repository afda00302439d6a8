use scarce_core::command::{Body, Command, Common, Envelope, table};
use scarce_core::event::{EVENTS, Entry, EntryHead, Event, EventSpec, OperationMark};
use scarce_core::machine::Machine;
use scarce_core::outcome::shape::{Shape, ValueSpec};
use scarce_core::outcome::{Outcome, Value as Figure};
use scarce_core::state::StateSettings;
use scarce_core::types::OperationId;
use scarce_core::{event as table_of, facts};
use scarce_sim::random::Random;
use serde_json::Value;

use super::*;

/// A value that the field of an event may have.
fn sample(random: &mut Random, spec: &EventSpec, field: &ValueSpec) -> Figure {
    let (field, its) = (field.name, field.value_type);
    if its.is_nullable && random.percent(40) {
        return Figure::Absent;
    }
    let integer = |random: &mut Random| {
        let figure = i64::try_from(random.number() >> 11).expect("53 bits");
        Figure::Integer(if is_signed(spec, field) && random.percent(50) { -figure } else { figure })
    };
    let hex = |random: &mut Random| {
        let digits: String = (0..4).map(|_| format!("{:016x}", random.number())).collect();
        Figure::from(digits.as_str())
    };
    match its.shape {
        Shape::Boolean => Figure::Integer(i64::from(random.percent(50))),
        Shape::Words(words) => Figure::from(*random.pick(words)),
        Shape::Integers => Figure::List((0..3).map(|_| Figure::Integer(-7)).collect()),
        Shape::Texts => Figure::List(vec![Figure::from("total"), Figure::from("daily")]),
        Shape::Limits => Figure::List(vec![
            limit(Figure::from("NONE"), Figure::Absent),
            limit(Figure::from("DAY"), Figure::Integer(-480)),
            limit(Figure::Integer(60_000), Figure::Absent),
        ]),
        Shape::Subject => Figure::List(["device", "d-1", "user", "u-1"].map(Figure::from).to_vec()),
        Shape::Text => match field {
            "commitment" | "seed" => hex(random),
            "reason" if spec.name == "order.cancelled" => Figure::from("self_trade"),
            "reason" => Figure::from("counted \"twice\", 数错了"),
            _ => Figure::from(format!("{field}-{}", random.below(9)).as_str()),
        },
        Shape::Integer => integer(random),
        other => panic!("{}.{field} is {other:?}", spec.name),
    }
}

/// Whether a number may be negative: money may, units may not.
fn is_signed(spec: &EventSpec, field: &str) -> bool {
    let is_money = spec.name.starts_with("account.") || spec.name.starts_with("hold.");
    field == "delta" || (is_money && (field.ends_with("balance") || field.ends_with("available")))
}

fn limit(window: Figure, offset: Figure) -> Figure {
    let per = Figure::List(vec![Figure::from("store"), Figure::from("user")]);
    Figure::List(vec![Figure::from("a-limit"), Figure::Integer(3), per, window, offset])
}

/// An entry of one event.
fn entry_of(random: &mut Random, spec: &'static EventSpec) -> Entry {
    let values: Vec<_> = spec.fields.iter().map(|field| sample(random, spec, field)).collect();
    let event = Event::from_public_values(spec.number, &values)
        .unwrap_or_else(|_| panic!("{} of {values:?}", spec.name));
    let operation = random.percent(70).then(|| OperationMark {
        namespace: if random.percent(50) { "shop".into() } else { Default::default() },
        id: OperationId::parse(b"pay-\"1\"", "id").expect("an id"),
        fingerprint: 0,
    });
    let outcome = operation.as_ref().map(|_| Outcome::applied(facts![7_i64, "x", Figure::Absent]));
    let head = EntryHead {
        epoch: random.below(9) + 1,
        sequence_first: random.below(1 << 40) + 1,
        at: random.below(1 << 45),
        operation,
        more: random.percent(10),
    };
    Entry { head, outcome, events: vec![event] }
}

fn text_of(public: &Public<'_>) -> Vec<u8> {
    serde_json::to_vec(public).expect("JSON")
}

#[test]
fn every_event_of_the_table_comes_back() {
    let mut random = Random::new(1);
    for spec in EVENTS {
        for _ in 0..50 {
            let entry = entry_of(&mut random, spec);
            let public = public(3, &entry, 0).next().expect("an event");
            let text = text_of(&public);
            let received = read(&text).unwrap_or_else(|error| panic!("{}: {error}", spec.name));
            assert_eq!(received.event, entry.events[0], "{}", String::from_utf8_lossy(&text));
            assert_eq!(received.head, entry.head);
            assert_eq!(received.outcome, entry.outcome);
            assert_eq!((received.partition, received.sequence), (3, entry.head.sequence_first));
            let shown = fields(&entry.events[0]);
            assert!(spec.fields.iter().all(|field| shown.contains_key(field.name)), "{shown:?}");
            assert_eq!(shown.len(), spec.fields.len(), "{shown:?}");
        }
    }
}

#[test]
fn members_are_those_that_are_listed() {
    let mut random = Random::new(2);
    let entry = entry_of(&mut random, table_of::find("account.debited").expect("a row"));
    let public = public(0, &entry, 0).next().expect("an event");
    let value: Value = serde_json::from_slice(&text_of(&public)).expect("JSON");
    let mut members: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    members.sort_unstable();
    let mut listed = MEMBERS.to_vec();
    listed.sort_unstable();
    assert_eq!(members, listed);
}

/// The log of a random day's commands.
fn log() -> Vec<Entry> {
    let mut machine = Machine::new(StateSettings::default(), 0);
    let mut log = Vec::new();
    let secret = [7; 32];
    let mut submit = |words: &str, at: u64| {
        let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, common): (Command, Common) = Command::parse(spec, &words[1..]).expect("well-formed");
        let envelope = Envelope::new("", common, Body::Single(command), &secret).expect("a cut");
        machine.submit(&envelope, at, &mut log);
    };
    for line in [
        "ACCOUNT.OPEN a EUR",
        "ACCOUNT.CREDIT a 100 ID 1",
        "ACCOUNT.DEBIT a 500 ID 2",
        "ACCOUNT.HOLD a h 10 TTL 5 ID 3",
        "ACCOUNT.FREEZE a",
        "ACCOUNT.FREEZE a ID 4",
        "STOCK.CREATE s 2",
        "STOCK.TAKE s 2 o",
        "PACKET.CREATE p EUR PLAN 1000 300 DOUBLE_MEAN ID 5",
        "PACKET.CREATE q EUR AMOUNTS 3 11 22 33 ID 6",
        "PACKET.CLAIM p u",
        "PACKET.CLOSE p",
        "MARKET.CREATE m",
    ] {
        submit(line, 1_000);
    }
    for order in 0..300 {
        submit(&format!("ORDER.PLACE m s{order} seller SELL LIMIT 5 1"), 2_000);
    }
    submit("ORDER.PLACE m b buyer BUY LIMIT 5 299 ID 7", 3_000);
    submit("OPERATION.RESOLVE 8 ON a", 4_000);
    Entry::read_all(&log).expect("entries")
}

/// The part of an entry that a public stream contains.
fn told(entry: &Entry) -> Entry {
    let mut told = entry.clone();
    told.events = told.events.into_iter().map(Event::redacted).collect();
    if let Some(operation) = &mut told.head.operation {
        operation.fingerprint = 0;
    }
    told
}

#[test]
fn a_log_is_put_together_again_whatever_is_repeated() {
    let log = log();
    assert!(log.iter().any(|entry| entry.head.more && entry.events.len() > 100), "no step in between");
    let texts: Vec<Vec<u8>> =
        log.iter().flat_map(|entry| public(0, entry, 0)).map(|public| text_of(&public)).collect();
    let mut random = Random::new(3);
    let (mut entries, mut found, mut at) = (Entries::default(), Vec::new(), 0);
    while at < texts.len() {
        let received = read(&texts[at]).expect("an event");
        found.extend(entries.push(received).expect("no gap"));
        // Sometimes the source restarts at an earlier position.
        at = if random.percent(5) {
            at.saturating_sub(usize::try_from(random.below(40)).expect("small"))
        } else {
            at + 1
        };
    }
    let expected: Vec<Entry> = log.iter().map(told).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_gap_is_told_and_a_new_epoch_begins_where_the_old_one_was_lost() {
    let log = log();
    let received = |entry: &Entry, epoch: u64, at: usize| {
        let mut entry = told(entry);
        entry.head.epoch = epoch;
        read(&text_of(&public(0, &entry, 0).nth(at).expect("an event"))).expect("an event")
    };
    let mut entries = Entries::default();
    assert!(entries.push(received(&log[0], 1, 0)).expect("no gap").is_some());
    let gap = entries.push(received(&log[2], 1, 0)).expect_err("a gap");
    assert_eq!((gap.last.sequence, gap.found.sequence), (1, 3));
    let long = log.iter().position(|entry| entry.events.len() > 1).expect("a long entry");
    let mut entries = Entries::after(log[long - 1].end());
    assert_eq!(entries.push(received(&log[long], 1, 0)).expect("no gap"), None);
    // The rest of it is lost with its epoch, and its sequences are used again.
    let again = entries.push(received(&log[long - 1], 2, 0)).expect("no gap");
    assert_eq!(again.expect("an entry").head.epoch, 2);
}

#[test]
fn nothing_that_is_secret_is_written() {
    for entry in log() {
        for public in public(0, &entry, 0) {
            let text = String::from_utf8(text_of(&public)).expect("JSON");
            if public.event.spec().name == "packets.created" || public.event.spec().name == "packets.filled" {
                assert!(!text.contains("22") && !text.contains("amounts") && !text.contains("cut"), "{text}");
            }
            let value: Value = serde_json::from_str(&text).expect("JSON");
            let fields = value["fields"].as_object().expect("fields");
            for secret in public.event.spec().secret_fields {
                assert!(!fields.contains_key(*secret), "{text}");
            }
        }
    }
}

#[test]
fn what_is_no_event_is_named() {
    let mut random = Random::new(4);
    let entry = entry_of(&mut random, table_of::find("packets.closed").expect("a row"));
    let public = public(0, &entry, 0).next().expect("an event");
    let whole: Value = serde_json::from_slice(&text_of(&public)).expect("JSON");
    for member in MEMBERS {
        let mut other = whole.clone();
        other[member] = serde_json::json!({ "x": 1 });
        let is_operation_less = entry.head.operation.is_none() && member == "namespace";
        assert!(read_value(&other).is_err() || is_operation_less, "{member}");
    }
    assert!(matches!(read(b"{"), Err(Unreadable::Syntax(_))));
    let mut other = whole.clone();
    other["name"] = "account.teleported".into();
    assert!(matches!(read_value(&other), Err(Unreadable::Name { .. })));
    let mut other = whole;
    other["fields"]["left_amount"] = serde_json::json!(1_u64 << 53);
    assert!(
        matches!(read_value(&other), Err(Unreadable::Member { member }) if member == "fields.left_amount")
    );
}
