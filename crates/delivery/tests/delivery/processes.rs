//! Whole processes, each with engine, consumers and workers, killed again and again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use scarce_core::outcome::Value;
use scarce_delivery::{Delivery, DeliveryOptions, SettlementOptions};
use scarce_sim::random::Random;
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, Receiver, hasty, number, open, wait_until};
use crate::settlement::check_credited_once;

/// How often a process is killed.
const KILLS: usize = 8;

/// How many packets are claimed.
const CLAIMS: u64 = 300;

/// The variables that give a child the engine's folder, and the database.
const CHILD_FOLDER: &str = "SCARCE_TEST_DELIVER_FROM";
const CHILD_URL: &str = "SCARCE_TEST_DELIVER_BY";

fn brief() -> DeliveryOptions {
    DeliveryOptions { lease: Duration::from_millis(700), ..hasty() }
}

async fn is_done(delivery: &Delivery) -> bool {
    let settled = delivery.settlement_counts().await.expect("the database").done;
    let delivered = delivery.delivery_counts().await.expect("the database").done;
    (settled, delivered) == (CLAIMS, CLAIMS)
}

/// The child: claims the packets that are unclaimed, delivers and settles, until it is killed or done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_delivers_and_settles() {
    let (Ok(folder), Ok(url)) = (std::env::var(CHILD_FOLDER), std::env::var(CHILD_URL)) else { return };
    let bench = Bench::at(Path::new(&folder));
    let delivery = Delivery::open(&url, bench.deployment_id(), brief()).await.expect("the database");
    let flows = [bench.flow_to_webhooks(&delivery), bench.flow_to_settlement(&delivery)];
    let settlement = SettlementOptions { batch_max: 10, ..SettlementOptions::default() };
    let workers = [
        delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), settlement),
    ];
    for number in 0..CLAIMS {
        // Refused if the user has one.
        bench.run(&format!("PACKET.CLAIM c user-{number}")).await;
    }
    wait_until("not all was done", || is_done(&delivery)).await;
    for worker in workers {
        worker.stop().await;
    }
    for flow in flows {
        flow.stop().await;
    }
}

fn spawn_child(folder: &Path, url: &str) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "processes::child_that_delivers_and_settles", "--test-threads=1"])
        .env(CHILD_FOLDER, folder)
        .env(CHILD_URL, url);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("to start it")
}

/// The amount that each user claimed.
async fn claims(bench: &Bench) -> BTreeMap<String, i64> {
    let mut claims = BTreeMap::new();
    for number in 0..CLAIMS {
        let user = format!("user-{number}");
        let claimed = bench.run(&format!("PACKET.CLAIMED c {user}")).await;
        match claimed.outcome.facts.get(2) {
            Some(Value::Integer(amount)) => claims.insert(user, *amount),
            other => panic!("{user}: {other:?}"),
        };
    }
    claims
}

async fn processes_are_killed(kind: DatabaseKind) {
    let mut random = Random::new(number("SCARCE_SEED", 9));
    let (folder, database) = (tempfile::tempdir().expect("a folder"), Database::new(kind));
    let receiver = Receiver::start().await;
    let bench = Bench::at(folder.path());
    bench.campaign("c", CLAIMS).await;
    let delivery = open(&database, &bench, brief()).await;
    delivery.add_endpoint(&receiver.url(), &["packets.claimed"], None).await.expect("one");
    drop(bench);
    for kills in 1..=KILLS {
        let mut child = spawn_child(folder.path(), database.url());
        // Each child gets a little further than the one before, and then a random time.
        let wanted = CLAIMS * kills as u64 / (2 * KILLS as u64);
        let has_settled =
            || async { delivery.settlement_counts().await.expect("the database").done >= wanted };
        wait_until("the child does not go on", has_settled).await;
        tokio::time::sleep(Duration::from_millis(random.below(50))).await;
        child.kill().expect("to kill it");
        child.wait().expect("its end");
    }
    let mut child = spawn_child(folder.path(), database.url());
    let ended = tokio::task::spawn_blocking(move || child.wait()).await.expect("no panic");
    assert!(ended.expect("its end").success());
    let bench = Bench::at(folder.path());
    check_credited_once(&bench, &claims(&bench).await).await;
    assert_eq!(receiver.ids().len() as u64, CLAIMS, "{kind:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_over_sqlite_are_killed() {
    processes_are_killed(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_over_postgres_are_killed() {
    processes_are_killed(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_over_mariadb_are_killed() {
    processes_are_killed(DatabaseKind::MariaDb).await;
}
