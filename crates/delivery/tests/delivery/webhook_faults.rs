//! Each event is delivered at least once under its fixed id, whatever is killed at any time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use scarce_delivery::{Delivery, DeliveryOptions};
use scarce_sim::random::Random;
use tokio::runtime::Handle;

use crate::kit::{
    Bench, Database, DatabaseKind, DatabaseServer, Receiver, Reply, hasty, number, open, some_time,
    wait_until,
};

/// How many events there are.
const EVENTS: usize = 200;

/// How often workers are killed.
const KILLS: u64 = 12;

/// A receiver that fails often.
async fn unreliable(seed: u64) -> Receiver {
    let random = Mutex::new(Random::new(seed));
    Receiver::with(move |_, _| match random.lock().expect("no panic").below(15) {
        0 => Reply::Never,
        1 => Reply::Close,
        2 => Reply::Status(500),
        3 => Reply::Full(429, "retry-after:0", String::new()),
        _ => Reply::Status(204),
    })
    .await
}

/// Every event was received, and each under one id with one body.
fn check(receiver: &Receiver, bench: &Bench) {
    let mut bodies: BTreeMap<String, String> = BTreeMap::new();
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for heard in receiver.heard().iter() {
        let before = bodies.insert(heard.id().to_owned(), heard.body.clone());
        assert!(before.is_none_or(|before| before == heard.body), "one id, two bodies");
        let before = ids.insert(heard.body.clone(), heard.id().to_owned());
        assert!(before.is_none_or(|before| before == heard.id()), "one event, two ids");
    }
    assert_eq!(bodies.len(), bench.count("account.opened"));
}

async fn is_done(delivery: &Delivery) -> bool {
    delivery
        .delivery_counts()
        .await
        .is_ok_and(|counts| (counts.pending, counts.done, counts.dead) == (0, EVENTS as u64, 0))
}

async fn all_is_killed(kind: DatabaseKind) {
    let seed = number("SCARCE_SEED", 7);
    let mut random = Random::new(seed);
    let (bench, database) = (Bench::new(), Database::new(kind));
    let options = DeliveryOptions { lease: Duration::from_millis(500), ..hasty() };
    let delivery = open(&database, &bench, options.clone()).await;
    let mut receiver = unreliable(seed).await;
    delivery.add_endpoint(&receiver.url(), &["account.*"], None).await.expect("one");
    let mut opened = 0;
    for kills in 0..KILLS {
        // Everything that a process has: its connections, its consumers, its workers.
        let process = open(&database, &bench, options.clone()).await;
        let flow = bench.flow_to_webhooks(&process);
        let workers = [
            process.run_webhooks(&Handle::current(), bench.engine.clone()),
            delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        ];
        for _ in 0..EVENTS / usize::try_from(KILLS).expect("few") {
            bench.run(&format!("ACCOUNT.OPEN a{opened} EUR")).await;
            opened += 1;
        }
        tokio::time::sleep(some_time(&mut random, 50)).await;
        if kills % 3 == 0 {
            receiver.kill().await;
            tokio::time::sleep(some_time(&mut random, 30)).await;
            receiver.start_again().await;
        }
        for worker in workers {
            worker.abort();
        }
        flow.stop().await;
    }
    for number in opened..EVENTS {
        bench.run(&format!("ACCOUNT.OPEN a{number} EUR")).await;
    }
    let (flow, worker) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    wait_until("not all was delivered", || is_done(&delivery)).await;
    worker.stop().await;
    flow.stop().await;
    check(&receiver, &bench);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_and_receivers_are_killed_over_sqlite() {
    all_is_killed(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_and_receivers_are_killed_over_postgres() {
    all_is_killed(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_and_receivers_are_killed_over_mariadb() {
    all_is_killed(DatabaseKind::MariaDb).await;
}

async fn the_database_is_killed(kind: DatabaseKind) {
    let mut random = Random::new(number("SCARCE_SEED", 7));
    let bench = Bench::new();
    let mut server = DatabaseServer::start(kind);
    let database = server.database();
    let delivery = open(&database, &bench, hasty()).await;
    let receiver = Receiver::start().await;
    delivery.add_endpoint(&receiver.url(), &["account.*"], None).await.expect("one");
    let (flow, worker) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    for number in 0..EVENTS {
        bench.run(&format!("ACCOUNT.OPEN a{number} EUR")).await;
        if number % 40 == 20 {
            tokio::time::sleep(some_time(&mut random, 10)).await;
            server = server.kill_and_start().await;
        }
    }
    wait_until("not all was delivered", || is_done(&delivery)).await;
    worker.stop().await;
    flow.stop().await;
    check(&receiver, &bench);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_killed_while_events_are_delivered() {
    the_database_is_killed(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_killed_while_events_are_delivered() {
    the_database_is_killed(DatabaseKind::MariaDb).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_receivers_that_hang_and_nothing_is_lost_by_that() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    // A stop that waits for the receiver takes as long as the test may.
    let patient = DeliveryOptions { request_timeout: Duration::from_secs(600), ..hasty() };
    let delivery = open(&database, &bench, patient).await;
    let receiver =
        Receiver::with(|before, _| if before == 0 { Reply::Never } else { Reply::Status(204) }).await;
    delivery.add_endpoint(&receiver.url(), &["account.opened"], None).await.expect("one");
    let flow = bench.flow_to_webhooks(&delivery);
    let worker = delivery.run_webhooks(&Handle::current(), bench.engine.clone());
    bench.run("ACCOUNT.OPEN a EUR").await;
    wait_until("it was not called", || async { receiver.heard().len() == 1 }).await;
    let begun = std::time::Instant::now();
    worker.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let worker = delivery.run_webhooks(&Handle::current(), bench.engine.clone());
    let is_sent = || async { delivery.delivery_counts().await.is_ok_and(|counts| counts.done == 1) };
    wait_until("it was not sent again", is_sent).await;
    assert_eq!((receiver.ids().len(), receiver.heard().len()), (1, 2));
    worker.stop().await;
    flow.stop().await;
}
