//! Events that no state machine writes, as after a damaged disk, a bug or a manual change to the tables: each
//! number of each event is altered, and the rows reveal it.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::event::{Entry, Event};
use scarce_core::outcome::Value;
use scarce_outflow::Consumer;
use scarce_sim::random::Random;

use crate::kit::{Database, DatabaseKind, Log, batch, open};

/// Numbers that nothing in the log can be compared with.
const UNKNOWABLE: &[&str] = &[
    // Set once, by the creator.
    "account.opened overdraft",
    "account.overdraft_set overdraft",
    "stock.created quantity",
    "stock.created per_owner_max",
    "stock.created starts_at",
    "stock.created ends_at",
    "packets.created starts_at",
    "packets.created ends_at",
    "coupon.created starts_at",
    "coupon.created ends_at",
    "coupon.created claim_ttl_ms",
    "market.created tick",
    "market.created lot",
    "market.created min_quantity",
    "market.created max_quantity",
    "order.placed price",
    // Deadlines follow from arguments that are not in the log.
    "hold.placed deadline",
    "hold.extended deadline",
    "reservation.placed deadline",
    "reservation.extended deadline",
    "coupon.claimed deadline",
    // A recount in progress is not in the tables.
    "stock.audit_advanced through_serial",
    "stock.audit_advanced horizon_serial",
    "stock.audit_advanced counted",
    "stock.audit_advanced expected",
    "stock.audited horizon_serial",
    // Nor is what has left the engine's memory.
    "stock.receipts_forgotten through_serial",
    "stock.receipts_forgotten sold",
    "packets.forgotten through_packet",
    "packets.forgotten amount",
    // Packets still to be drawn are not in the tables either; that they sum to the total is.
    "packets.created min",
    "packets.created max",
    "packets.closed min",
    "packets.closed max",
    // Who reduced an order is not in the tables.
    "order.reduced by_self_trade",
];

/// Numbers that may differ and still fit: those of another claim or of other units, or those that are summed
/// up only at the end.
const LATER: &[&str] = &[
    "packets.created count",
    "packets.created total",
    "packets.filled count",
    "packets.claimed amount",
    "coupon.redeemed serial",
    "coupon.revoked serial",
    "stock.returned first",
    // A smaller quantity keeps the priority, whichever it is.
    "order.replaced quantity",
];

/// The indexes of an event's numbers, with their names.
fn figures(event: &Event) -> Vec<(usize, &'static str)> {
    let values = event.values();
    let is_figure = |(at, _): &(usize, &str)| matches!(values[*at], Value::Integer(_));
    event.spec().field_names().enumerate().filter(is_figure).collect()
}

/// The event with one of its numbers altered, if there is such an event.
fn altered(event: &Event, place: usize, by: i64) -> Option<Event> {
    let mut values = event.values();
    if let Value::Integer(value) = &mut values[place] {
        *value += by;
    }
    Event::from_values(event.spec().number, &values).ok().filter(|altered| altered != event)
}

/// The log with one event altered, up to the entry that has it.
fn with(entries: &[Entry], at: (usize, usize), event: Event) -> Vec<Entry> {
    let mut entries = entries[..=at.0].to_vec();
    entries[at.0].events[at.1] = event;
    entries
}

#[tokio::test]
async fn whatever_the_rows_can_tell_of_is_refused_and_changes_nothing() {
    let database = Database::new(DatabaseKind::Sqlite);
    let projection = open(&database, 5).await;
    let mut random = Random::new(3);
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    let mut missed = BTreeSet::new();
    for seed in 1..120 {
        let log = Log::random(seed, 120);
        let mut places = Vec::new();
        for (number, entry) in log.entries.iter().enumerate() {
            for (at, event) in entry.events.iter().enumerate() {
                places.extend(figures(event).into_iter().map(|(field, name)| ((number, at), field, name)));
            }
        }
        for _ in 0..25 {
            let Some((at, field, name)) = (!places.is_empty()).then(|| *random.pick(&places)) else { break };
            let event = &log.entries[at.0].events[at.1];
            let what = format!("{} {name}", event.spec().name);
            // Each number a few times, but no more.
            if UNKNOWABLE.contains(&&*what) || met.get(&what).is_some_and(|times| *times >= 6) {
                continue;
            }
            let Some(wrong) = altered(event, field, *random.pick(&[1, -1, 1_000])) else { continue };
            *met.entry(what.clone()).or_default() += 1;
            projection.rebuild().await.expect("the database");
            let mut consumer = projection.consumer(0);
            let taken = consumer.consume(&batch(&with(&log.entries, at, wrong), Default::default())).await;
            match taken {
                Err(trouble) => assert!(trouble.reason.contains("partition 0"), "{trouble}"),
                Ok(()) if LATER.contains(&&*what) => {}
                Ok(()) => drop(missed.insert(what)),
            }
            if database.figure("COUNT(*)", "FROM cursors WHERE sequence > 0").await == "0" {
                assert_eq!(
                    database.figure("COUNT(*)", "FROM operations").await,
                    "0",
                    "half a batch is there"
                );
            }
        }
    }
    assert!(missed.is_empty(), "altered without being noticed: {missed:#?}");
    // Enough kinds of numbers were tested.
    assert!(met.len() > 60, "{met:#?}");
}

/// Projects a log up to its last entry, alters a row, and then consumes the last entry.
async fn tampered(kind: DatabaseKind, lines: &[&str], tamper: &str, mend: &str) -> String {
    let database = Database::new(kind);
    let projection = open(&database, 600_000).await;
    let mut log = Log::new(Default::default(), 0);
    lines.iter().for_each(|line| log.run(line));
    let pieces = log.pieces(1);
    let (last, before) = pieces.split_last().expect("an entry");
    let mut consumer = projection.consumer(0);
    for piece in before {
        consumer.consume(piece).await.expect("a batch");
    }
    database.run(tamper).await;
    // A new consumer reads the present rows.
    let mut consumer = projection.consumer(0);
    let trouble = consumer.consume(last).await.expect_err("a row was altered");
    assert_eq!(consumer.consume(last).await.expect_err("it still is"), trouble);
    database.run(mend).await;
    consumer.consume(last).await.expect("the row is as it was");
    trouble.reason
}

#[tokio::test]
async fn a_row_changed_by_hand_stops_the_projection_until_it_is_mended() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb] {
        let lines = ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 100", "ACCOUNT.DEBIT a 30"];
        let set = |amount: i64| format!("UPDATE accounts SET balance = {amount}, available = {amount}");
        let reason = tampered(kind, &lines, &set(90), &set(100)).await;
        for part in [
            "event 1.3 of partition 0",
            "account.debited",
            "accounts, a",
            "60 by the rows",
            "70 by the event",
        ] {
            assert!(reason.contains(part), "{part} is missing in: {reason}");
        }
        let lines = ["STOCK.CREATE s 10", "STOCK.TAKE s 3 o", "STOCK.RETURN s 1 2", "STOCK.RETURN s 3 1"];
        let add = "INSERT INTO stock_returns VALUES ('s', 2, 0, 9, 2, 1, 'o', NULL, 1)";
        let reason = tampered(kind, &lines, add, "DELETE FROM stock_returns WHERE first_serial = 2").await;
        assert!(reason.contains("units 3 to 3 come back, and units 2 to 3 did before"), "{reason}");
        let lines = ["PACKET.CREATE c EUR AMOUNTS 2 5 6", "PACKET.CLAIM c u", "PACKET.CLAIM c v"];
        let add = "INSERT INTO packet_claims VALUES ('c', 9, 0, 9, 'v', 1, NULL, 1)";
        let reason = tampered(kind, &lines, add, "DELETE FROM packet_claims WHERE packet = 9").await;
        assert!(reason.contains("an event contradicts the tables"), "{reason}");
    }
}
