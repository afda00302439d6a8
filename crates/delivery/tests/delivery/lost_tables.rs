//! Tables that know less than was paid, because they were lost or are of an older backup, when the engine has forgotten the
//! operation ids of the credits.

use std::time::{SystemTime, UNIX_EPOCH};

use scarce_core::event::Position;
use scarce_core::machine::Machine;
use scarce_delivery::{Delivery, SettlementOptions, SettlementState};
use scarce_engine::clock::ManualClock;
use scarce_outflow::Consumer;
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, PARTITIONS, open, options};
use crate::rollbacks::{only, read_log};
use crate::settlement::wait_for;

/// Longer ago than the engine remembers operation ids.
const LONG_MS: u64 = 3 * 86_400_000;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    u64::try_from(now.as_millis()).expect("a time")
}

async fn settle(bench: &Bench, delivery: &Delivery, ends: (u64, u64)) {
    let flow = bench.flow_to_settlement(delivery);
    let running =
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
    wait_for(delivery, ends.0, ends.1).await;
    running.stop().await;
    flow.stop().await;
}

async fn held(delivery: &Delivery) -> Vec<(u32, Position)> {
    let mut places = Vec::new();
    for partition in 0..PARTITIONS {
        let held = delivery.held_position("settlement", partition).await.expect("the database");
        places.extend(held.map(|held| (partition, held)));
    }
    places
}

/// A claim that was paid long ago, and where the consumer was before it.
async fn paid_long_ago(database: &Database) -> (Bench, Delivery, Vec<(u32, Position)>) {
    let clock = ManualClock::default();
    clock.set(now_ms() - LONG_MS);
    let bench = Bench::timed(&clock);
    let delivery = open(database, &bench, options()).await;
    bench.campaign("c", 2).await;
    read_log(&bench, &delivery).await;
    let places = held(&delivery).await;
    bench.claim("c", "u").await;
    settle(&bench, &delivery, (1, 0)).await;
    clock.set(now_ms());
    // With the next command the engine finds what is due to be forgotten.
    assert!(bench.run("ACCOUNT.CREDIT u 1 ID later").await.outcome.is_applied());
    (bench, delivery, places)
}

/// Has what is claimed since paid, and that of before named.
async fn check_paid_once(bench: &Bench, delivery: &Delivery) {
    bench.claim("c", "w").await;
    settle(bench, delivery, (1, 1)).await;
    let letter = only(delivery).await;
    assert_eq!((letter.user.as_str(), letter.state), ("u", SettlementState::Dead));
    assert_eq!(bench.count("account.credited"), 3, "one for each claim, and one by hand");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_tables_begin_anew_and_pay_nothing_a_second_time() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let (bench, delivery, _) = paid_long_ago(&database).await;
        for table in ["settlements", "cursors", "epochs", "campaigns"] {
            database.run(&format!("DELETE FROM delivery_{table}")).await;
        }
        for partition in 0..PARTITIONS {
            delivery.begin_settlement_anew(partition).await.expect("the database");
        }
        check_paid_once(&bench, &delivery).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_an_older_backup_pay_nothing_a_second_time() {
    const UNTRIED: &str = "UPDATE delivery_settlements SET state = 'pending', attempts = 0, route = NULL, \
                           first_tried_at_ms = NULL, done_at_ms = NULL, credit_partition_id = NULL, \
                           credit_epoch = NULL, credit_sequence = NULL";
    for since in ["DELETE FROM delivery_settlements", UNTRIED] {
        let database = Database::new(DatabaseKind::Sqlite);
        let (bench, delivery, places) = paid_long_ago(&database).await;
        database.run(since).await;
        for (partition, Position { epoch, sequence }) in places {
            let cursor = format!(
                "UPDATE delivery_cursors SET epoch = {epoch}, sequence = {sequence} WHERE partition_id = {partition}"
            );
            database.run(&cursor).await;
        }
        check_paid_once(&bench, &delivery).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_try_at_a_time_of_a_clock_that_was_ahead_is_not_made_a_second_time() {
    let database = Database::new(DatabaseKind::Sqlite);
    let (bench, delivery, _) = paid_long_ago(&database).await;
    // The clock was ahead when it was claimed and paid, and its answer was lost.
    let ahead_ms = now_ms() + 10 * LONG_MS;
    database
        .run(&format!(
            "UPDATE delivery_settlements SET state = 'pending', claimed_at_ms = {ahead_ms}, \
             first_tried_at_ms = {ahead_ms}, done_at_ms = NULL, credit_partition_id = NULL, credit_epoch = NULL, \
             credit_sequence = NULL"
        ))
        .await;
    check_paid_once(&bench, &delivery).await;
}

/// The state of the partition that has the claims, and which that is.
fn image(bench: &Bench, partition: u32) -> Machine {
    let mut machine = Machine::new(bench.engine.state_settings().clone(), partition);
    let entries = bench.engine.entries(partition, 1, 1 << 24).expect("entries");
    entries.iter().for_each(|entry| machine.apply(entry));
    machine
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_state_gives_every_claim_that_older_tables_lack_and_none_of_before_they_began() {
    for (begins_at, expected) in [(1, [true, true, true]), (2, [false, true, true])] {
        let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
        let delivery = open(&database, &bench, options()).await;
        bench.campaign("c", 3).await;
        bench.claim("c", "before").await;
        bench.claim("c", "u").await;
        read_log(&bench, &delivery).await;
        bench.claim("c", "w").await;
        let partition = database.figure("partition_id", "FROM delivery_settlements WHERE packet = 1").await;
        let partition: u32 = partition.parse().expect("a partition");
        let ahead_ms = now_ms() + LONG_MS;
        for sql in [
            "DELETE FROM delivery_settlements WHERE packet = 1".to_owned(),
            format!("UPDATE delivery_settlements SET claimed_at_ms = {ahead_ms}"),
            format!(
                "UPDATE delivery_epochs SET first_sequence = {begins_at} WHERE partition_id = {partition}"
            ),
            "UPDATE delivery_cursors SET epoch = 0, sequence = 0".to_owned(),
        ] {
            database.run(&sql).await;
        }
        let mut consumer = delivery.settlement_consumer(partition);
        consumer.begin_with(Box::new(image(&bench, partition))).await.expect("the database");
        let mut found = Vec::new();
        for packet in 1..=3 {
            found.push(delivery.settlement("c", packet).await.expect("the database").is_some());
        }
        assert_eq!(found, expected, "{begins_at}");
    }
}
