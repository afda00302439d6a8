//! An engine whose older copy is put back, with the tables of what was read before.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use scarce_core::event::Position;
use scarce_delivery::{Delivery, Secret, SettlementOptions, SettlementState, Stretch};
use scarce_engine::Request;
use scarce_launch::Server;
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::kit::{
    Bench, Database, DatabaseKind, Fault, Faulty, PARTITIONS, Receiver, Reply, open, options, wait_until,
};
use crate::rollbacks::{only, read_log};
use crate::settlement::wait_for;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Copies a folder; what it was copied to before is gone.
fn copy_anew(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    copy(from, to);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_claim_that_is_lost_between_the_check_and_the_credit_is_not_paid() {
    let home = tempfile::tempdir().expect("a folder");
    let (older, database) = (home.path().join("older"), Database::new(DatabaseKind::ALL[0]));
    let mut server = Server::start(scarce_launch::Options::new()).expect("a server");
    let bench = Bench::at_redis(&server.url());
    let delivery = open(&database, &bench, options()).await;
    bench.campaign("c", 1).await;
    assert!(bench.run("ACCOUNT.OPEN u EUR").await.outcome.is_applied());
    read_log(&bench, &delivery).await;
    server.kill().expect("killed");
    copy_anew(server.folder(), &older);
    server.restart().expect("a server");
    // It may still be loading its data.
    wait_until("the server is not back", || async { bench.engine.durable_through(0).is_ok() }).await;
    bench.claim("c", "u").await;
    read_log(&bench, &delivery).await;
    // When the credit is on its way, the server loses the claim, as by a failover, and is there again.
    let (engine, is_tried) = (bench.engine.clone(), Arc::new(AtomicBool::new(false)));
    let (was_tried, server) = (Arc::clone(&is_tried), Arc::new(Mutex::new(server)));
    let failing = Arc::clone(&server);
    let faulty = Faulty::new(&bench.engine, move |batch| {
        let is_credit = |its: &Request| matches!(its, Request::Write(its) if its.common.operation.is_some());
        if batch.iter().any(is_credit) && !was_tried.swap(true, Ordering::SeqCst) {
            let mut server = failing.lock().expect("no panic");
            server.kill().expect("killed");
            copy_anew(&older, server.folder());
            server.restart().expect("a server");
            let engine = engine.clone();
            let is_back = std::thread::spawn(move || while engine.durable_through(0).is_err() {});
            is_back.join().expect("no panic");
        }
        Fault::None
    });
    let running = delivery.run_settlement(&Handle::current(), faulty, SettlementOptions::default());
    let says = || running.trouble().is_some_and(|trouble| trouble.reason.contains("rebase settlement"));
    wait_until("the lost history is not noticed", || async { is_tried.load(Ordering::SeqCst) && says() })
        .await;
    running.stop().await;
    assert_eq!(bench.balance("u").await, Some(0), "its claim is lost");
    assert_ne!(only(&delivery).await.state, SettlementState::Settled);
    drop((bench, server));
}

/// A folder with the data of an engine, and copies of them.
struct Data(TempDir);

impl Data {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn copy(&self) {
        copy(&self.folder(), &self.0.path().join("older"));
    }

    fn put_back(&self) {
        std::fs::remove_dir_all(self.folder()).expect("it is removed");
        copy(&self.0.path().join("older"), &self.folder());
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(copied.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credit_that_is_lost_before_it_was_read_is_made_again() {
    for kind in DatabaseKind::ALL {
        let (data, database) = (Data::new(), Database::new(kind));
        let bench = Bench::at(&data.folder());
        let delivery = open(&database, &bench, options()).await;
        bench.campaign("c", 1).await;
        let (_, amount) = bench.claim("c", "u").await;
        let paid = Some(i64::try_from(amount).expect("an amount"));
        read_log(&bench, &delivery).await;
        drop(bench);
        data.copy();
        let bench = Bench::at(&data.folder());
        let engine = bench.engine.clone();
        let running = delivery.run_settlement(&Handle::current(), engine, SettlementOptions::default());
        wait_until("it is not credited", || async { bench.balance("u").await == paid }).await;
        running.stop().await;
        assert_eq!(only(&delivery).await.state, SettlementState::Pending, "its credit was not read");
        drop(bench);
        data.put_back();
        // The consumer finds its own position, and all that it has read.
        let bench = Bench::at(&data.folder());
        assert_eq!(bench.balance("u").await, None);
        let flow = bench.flow_to_settlement(&delivery);
        let engine = bench.engine.clone();
        let running = delivery.run_settlement(&Handle::current(), engine, SettlementOptions::default());
        wait_for(&delivery, 1, 0).await;
        running.stop().await;
        flow.stop().await;
        assert_eq!((bench.balance("u").await, bench.count("account.credited")), (paid, 1));
    }
}

/// A claim that was read and never tried, in a history that the engine no longer has.
async fn with_a_lost_claim(data: &Data, database: &Database) -> (Bench, Delivery) {
    let bench = Bench::at(&data.folder());
    let delivery = open(database, &bench, options()).await;
    bench.campaign("c", 1).await;
    read_log(&bench, &delivery).await;
    drop(bench);
    data.copy();
    let bench = Bench::at(&data.folder());
    bench.claim("c", "u").await;
    read_log(&bench, &delivery).await;
    drop(bench);
    data.put_back();
    (Bench::at(&data.folder()), delivery)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_paid_for_claims_of_a_history_that_the_log_does_not_have() {
    for (kind, is_outside) in DatabaseKind::ALL.into_iter().zip([false, true, false]) {
        let (data, database) = (Data::new(), Database::new(kind));
        let (bench, delivery) = with_a_lost_claim(&data, &database).await;
        let receiver = Receiver::with(|_, _| Reply::Status(200)).await;
        let (runtime, engine) = (Handle::current(), bench.engine.clone());
        let running = if is_outside {
            let secret = Secret::parse(SECRET).expect("a secret");
            delivery.run_settlement_outside(&runtime, engine, &receiver.url(), secret).expect("one")
        } else {
            delivery.run_settlement(&runtime, engine, SettlementOptions::default())
        };
        let says = || running.trouble().is_some_and(|trouble| trouble.reason.contains("rebase settlement"));
        let is_over = || async { says() || only(&delivery).await.state == SettlementState::Settled };
        wait_until("it does not say why it waits", is_over).await;
        let row = only(&delivery).await;
        assert_eq!((row.state, row.attempts), (SettlementState::Pending, 0));
        assert_eq!((bench.balance("u").await, receiver.heard().len()), (None, 0));
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_of_a_history_that_the_log_does_not_have() {
    for kind in DatabaseKind::ALL {
        let (data, database, receiver) = (Data::new(), Database::new(kind), Receiver::start().await);
        let bench = Bench::at(&data.folder());
        let delivery = open(&database, &bench, options()).await;
        delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("an endpoint");
        bench.run("ACCOUNT.OPEN kept EUR").await;
        drop(bench);
        data.copy();
        let bench = Bench::at(&data.folder());
        bench.run("ACCOUNT.OPEN lost EUR").await;
        let flow = bench.flow_to_webhooks(&delivery);
        let pending = || async { delivery.health().await.expect("the database").webhooks.pending };
        wait_until("they are not written down", || async { pending().await == 2 }).await;
        flow.stop().await;
        drop(bench);
        data.put_back();
        let bench = Bench::at(&data.folder());
        let running = delivery.run_webhooks(&Handle::current(), bench.engine.clone());
        let says = || running.trouble().is_some_and(|trouble| trouble.reason.contains("rebase webhooks"));
        wait_until("it does not say why it waits", || async { says() || !receiver.heard().is_empty() }).await;
        let heard = receiver.heard().len();
        assert_eq!((heard, pending().await), (0, 2), "{kind:?}");
        for partition in 0..PARTITIONS {
            let through = bench.engine.durable_through(partition).expect("a sequence");
            let last = bench.engine.entries(partition, through.max(1), 1).expect("entries");
            let to = last.last().map_or(Position { epoch: 0, sequence: 0 }, scarce_core::event::Entry::end);
            delivery.rebase_webhooks(partition, to).await.expect("rebased");
        }
        wait_until("what is left is not sent", || async { receiver.heard().len() == 1 }).await;
        assert!(receiver.heard()[0].json().to_string().contains("kept"));
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_epochs_that_were_read_are_kept_and_cut_back_by_a_rebase() {
    for kind in DatabaseKind::ALL {
        let (data, database) = (Data::new(), Database::new(kind));
        let mut epochs = Vec::new();
        for start in 0..3 {
            let bench = Bench::at(&data.folder());
            let delivery = open(&database, &bench, options()).await;
            bench.campaign(&format!("c{start}"), 1).await;
            for user in ["a", "b"] {
                bench.run(&format!("ACCOUNT.OPEN {user}{start} EUR")).await;
            }
            read_log(&bench, &delivery).await;
            for partition in 0..PARTITIONS {
                let stretches = delivery.stretches("settlement", partition).await.expect("the database");
                let through = bench.engine.durable_through(partition).expect("a sequence");
                assert_eq!(stretches.last().map_or(0, |its| its.last), through);
                for its in &stretches {
                    let entries = bench.engine.entries(partition, its.first, 1).expect("entries");
                    assert_eq!(entries[0].head.epoch, its.epoch);
                }
                epochs.push(stretches);
            }
        }
        let (partition, read) = epochs
            .split_off(epochs.len() - PARTITIONS as usize)
            .into_iter()
            .enumerate()
            .max_by_key(|(_, read)| read.len())
            .expect("one");
        let partition = u32::try_from(partition).expect("a number");
        let bench = Bench::at(&data.folder());
        let delivery = open(&database, &bench, options()).await;
        let Stretch { epoch, first: sequence, .. } = *read.last().expect("it was read");
        let to = scarce_core::event::Position { epoch, sequence };
        delivery.rebase_settlement(&[(partition, to)], 0).await.expect("the database");
        let left = delivery.stretches("settlement", partition).await.expect("the database");
        assert_eq!(left.last(), Some(&Stretch { epoch, first: sequence, last: sequence }));
        assert_eq!(left.len(), read.len());
    }
}
