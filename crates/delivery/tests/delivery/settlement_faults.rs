//! Each claim is credited once, whatever is killed at any time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scarce_delivery::{Delivery, DeliveryOptions, SettlementOptions};
use scarce_engine::{Engine, Request};
use scarce_sim::random::Random;
use tokio::runtime::Handle;

use crate::kit::{
    Bench, Database, DatabaseKind, DatabaseServer, Fault, Faulty, hasty, number, open, some_time, wait_until,
};
use crate::settlement::{check_credited_once, counts};

/// How many packets are claimed.
const CLAIMS: u64 = 400;

/// The longest life of a worker before it is killed.
const LIFE_MS_MAX: u64 = 60;

/// How often workers are killed.
const KILLS: usize = 15;

fn settlement() -> SettlementOptions {
    SettlementOptions { batch_max: 20, ..SettlementOptions::default() }
}

/// Claims all packets of two campaigns, by users of whom many have several.
async fn claim_all(bench: &Bench) -> BTreeMap<String, i64> {
    let mut claims = BTreeMap::new();
    for campaign in ["{a}one", "{b}two"] {
        bench.campaign(campaign, CLAIMS / 2).await;
        for number in 0..CLAIMS / 2 {
            let user = format!("user-{number}");
            let (_, amount) = bench.claim(campaign, &user).await;
            *claims.entry(user).or_default() += i64::try_from(amount).expect("an amount");
        }
    }
    claims
}

/// An engine that at random loses requests and answers, and stops answering.
fn unreliable(engine: &Arc<dyn Engine>, seed: u64) -> Arc<dyn Engine> {
    let random = Mutex::new(Random::new(seed));
    let is_write = |request: &Request| matches!(request, Request::Write(_));
    Faulty::new(engine, move |batch: &[Request]| {
        let mut random = random.lock().expect("no panic");
        match random.below(10) {
            0 | 1 if batch.iter().any(is_write) => Fault::AnswersLost,
            2 => Fault::RequestLost,
            3 => Fault::Overloaded,
            4 if random.below(4) == 0 => Fault::Silent,
            _ => Fault::None,
        }
    })
}

/// Runs two workers, each of which is killed at random points again and again, until all is settled.
async fn settle_with_kills(deliveries: [&Delivery; 2], engine: &Arc<dyn Engine>, random: &mut Random) {
    for _ in 0..KILLS {
        let workers = deliveries
            .map(|delivery| delivery.run_settlement(&Handle::current(), Arc::clone(engine), settlement()));
        tokio::time::sleep(some_time(random, LIFE_MS_MAX)).await;
        for worker in workers {
            worker.abort();
        }
        assert_eq!(counts(deliveries[0]).await.2, 0);
    }
    let workers = deliveries
        .map(|delivery| delivery.run_settlement(&Handle::current(), Arc::clone(engine), settlement()));
    wait_until("not all was settled", || async { counts(deliveries[0]).await == (0, CLAIMS, 0) }).await;
    for worker in workers {
        worker.stop().await;
    }
}

async fn workers_are_killed(kind: DatabaseKind) {
    let seed = number("SCARCE_SEED", 5);
    let mut random = Random::new(seed);
    let (bench, database) = (Bench::new(), Database::new(kind));
    let options = DeliveryOptions { lease: Duration::from_millis(300), ..hasty() };
    let (one, other) =
        (open(&database, &bench, options.clone()).await, open(&database, &bench, options).await);
    let flow = bench.flow_to_settlement(&one);
    let claims = claim_all(&bench).await;
    let engine = unreliable(&bench.engine, seed);
    settle_with_kills([&one, &other], &engine, &mut random).await;
    flow.stop().await;
    check_credited_once(&bench, &claims).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_on_sqlite_are_killed_and_the_engine_loses_answers() {
    workers_are_killed(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_on_postgres_are_killed_and_the_engine_loses_answers() {
    workers_are_killed(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_on_mariadb_are_killed_and_the_engine_loses_answers() {
    workers_are_killed(DatabaseKind::MariaDb).await;
}

/// The engine has credited, and the worker dies before it has recorded that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_dies_between_the_credit_and_its_note_credits_nothing_twice() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let options = DeliveryOptions { lease: Duration::from_millis(300), ..hasty() };
        let delivery = open(&database, &bench, options).await;
        bench.campaign("c", 5).await;
        let mut claims = BTreeMap::new();
        for number in 0..5 {
            let user = format!("user-{number}");
            let (_, amount) = bench.claim("c", &user).await;
            claims.insert(user, i64::try_from(amount).expect("an amount"));
        }
        let flow = bench.flow_to_settlement(&delivery);
        wait_until("not all was written", || async { counts(&delivery).await.0 == 5 }).await;
        // Accounts are found and opened; credits are done, and their answers never come.
        let credits = |batch: &[Request]| {
            batch
                .iter()
                .any(|request| matches!(request, Request::Write(its) if its.common.operation.is_some()))
        };
        let silent = Faulty::new(
            &bench.engine,
            move |batch: &[Request]| {
                if credits(batch) { Fault::Silent } else { Fault::None }
            },
        );
        let worker = delivery.run_settlement(&Handle::current(), silent, SettlementOptions::default());
        wait_until("nothing was credited", || async { bench.count("account.credited") == 5 }).await;
        worker.abort();
        assert_eq!(counts(&delivery).await, (5, 0, 0));
        let worker =
            delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
        wait_until("not all was settled", || async { counts(&delivery).await == (0, 5, 0) }).await;
        worker.stop().await;
        flow.stop().await;
        check_credited_once(&bench, &claims).await;
    }
}

async fn the_database_is_killed(kind: DatabaseKind) {
    let mut random = Random::new(number("SCARCE_SEED", 5));
    let bench = Bench::new();
    let mut server = DatabaseServer::start(kind);
    let database = server.database();
    let delivery = open(&database, &bench, hasty()).await;
    let flow = bench.flow_to_settlement(&delivery);
    let engine = bench.engine.clone();
    let slow = SettlementOptions { batch_max: 5, ..SettlementOptions::default() };
    let worker = delivery.run_settlement(&Handle::current(), engine, slow);
    bench.campaign("c", 200).await;
    let mut claims = BTreeMap::new();
    let mut kills = 0;
    for number in 0..200 {
        let user = format!("user-{number}");
        let (_, amount) = bench.claim("c", &user).await;
        claims.insert(user, i64::try_from(amount).expect("an amount"));
        if number % 40 == 20 {
            tokio::time::sleep(some_time(&mut random, 10)).await;
            server = server.kill_and_start().await;
            kills += 1;
        }
    }
    assert_eq!(kills, 5);
    let is_done = || async { delivery.settlement_counts().await.is_ok_and(|counts| counts.done == 200) };
    wait_until("not all was settled", is_done).await;
    // A worker that was idle meanwhile notices at its next poll.
    wait_until("a trouble stays", || async { worker.trouble().is_none() }).await;
    worker.stop().await;
    flow.stop().await;
    check_credited_once(&bench, &claims).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_killed_while_packets_are_settled() {
    the_database_is_killed(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_killed_while_packets_are_settled() {
    the_database_is_killed(DatabaseKind::MariaDb).await;
}
