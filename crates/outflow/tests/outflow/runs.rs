//! Consumers that run while commands come in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use scarce_core::event::Position;
use scarce_outflow::{Batch, Consumer, Outflow, Start, State, Trouble, run};
use tokio::runtime::Runtime;

use super::engines::{Bench, PARTITIONS, PATIENCE, wait_until};
use super::recorder::{Record, plan};

/// How many credits each partition gets.
const CREDITS: usize = 3_000;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Whether everything durable was consumed, in every partition.
fn has_all(bench: &Bench, record: &Record) -> bool {
    (0..PARTITIONS).all(|partition| {
        let through = bench.engine.durable_through(partition).expect("a sequence");
        record.sequences(partition) == (1..=through).collect::<Vec<_>>()
    })
}

fn is_running(outflow: &Outflow) -> bool {
    outflow.statuses().iter().all(|its| its.state() == State::Running)
}

fn fill(bench: &Bench) {
    for partition in 0..PARTITIONS {
        let account = bench.account_in(partition);
        assert_eq!(bench.credit(&account, CREDITS), 0);
    }
}

#[test]
fn all_events_come_in_order_also_to_one_who_fails_again_and_again() {
    Bench::each(None, |bench| {
        bench.keep_log();
        let (runtime, steady, failing) = (runtime(), Record::default(), Record::failing_every(7));
        let one = run(runtime.handle(), bench.engine.clone(), &plan("one", "a", Start::Beginning), |_| {
            steady.consumer()
        });
        fill(bench);
        let other =
            run(runtime.handle(), bench.engine.clone(), &plan("other", "a", Start::Beginning), |_| {
                failing.consumer()
            });
        wait_until("not all was taken", || has_all(bench, &steady) && has_all(bench, &failing));
        let through = (0..PARTITIONS).map(|it| bench.engine.durable_through(it).expect("a sequence"));
        assert_eq!(steady.count() as u64, through.sum::<u64>(), "without a failure nothing comes twice");
        assert!(failing.failures() > 0 && failing.count() > steady.count());
        bench.release_log();
        let confirmed = || {
            let known = bench.engine.consumers(1).expect("the consumers");
            known.iter().all(|its| Some(its.confirmed.sequence) == bench.engine.durable_through(1).ok())
        };
        wait_until("it was not noted how far they are", confirmed);
        runtime.block_on(async {
            one.stop().await;
            other.stop().await;
        });
        assert!(bench.engine.consumers(0).expect("the consumers").iter().all(|its| its.holder.is_none()));
    });
}

#[test]
fn who_begins_now_misses_nothing_of_what_comes_before_its_first_turn() {
    Bench::each(None, |bench| {
        let account = bench.account_in(0);
        bench.keep_log();
        let (record, before) = (Record::default(), bench.engine.durable_through(0).expect("a sequence"));
        // Nothing runs on it before it is told to.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let outflow = run(runtime.handle(), bench.engine.clone(), &plan("late", "a", Start::Now), |_| {
            record.consumer()
        });
        assert_eq!(bench.credit(&account, 3), 0);
        let expected: Vec<u64> = (before + 1..=before + 3).collect();
        runtime.block_on(async {
            let all_came = async {
                while record.sequences(0) != expected {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let came = tokio::time::timeout(PATIENCE, all_came).await;
            assert!(came.is_ok(), "{:?} came, not {expected:?}", record.sequences(0));
            outflow.stop().await;
        });
        bench.release_log();
    });
}

#[test]
fn two_processes_share_the_work_and_one_goes_on_where_the_other_ended() {
    Bench::each(None, |bench| {
        let (runtime, record) = (runtime(), Record::default());
        let begin = |holder: &str| {
            run(runtime.handle(), bench.engine.clone(), &plan("shared", holder, Start::Beginning), |_| {
                record.consumer()
            })
        };
        let first = begin("a");
        wait_until("nobody took the leases", || is_running(&first));
        let second = begin("b");
        let waits = State::Elsewhere { holder: "a".to_owned() };
        wait_until("the second did not wait", || second.statuses().iter().all(|its| its.state() == waits));
        fill(bench);
        runtime.block_on(first.stop());
        let account = bench.account_in(2);
        bench.credit(&account, 10);
        wait_until("the rest was not taken", || has_all(bench, &record));
        let sum: u64 = (0..PARTITIONS).map(|it| bench.engine.durable_through(it).expect("a sequence")).sum();
        assert_eq!(record.count() as u64, sum, "nothing was taken twice");
        runtime.block_on(second.stop());
    });
}

#[test]
fn a_restart_goes_on_behind_what_was_confirmed() {
    Bench::each(None, |bench| {
        let (runtime, record) = (runtime(), Record::default());
        for _ in 0..3 {
            let running =
                run(runtime.handle(), bench.engine.clone(), &plan("again", "a", Start::Beginning), |_| {
                    record.consumer()
                });
            // From then on the engine keeps the log for it.
            wait_until("it did not begin", || is_running(&running));
            let account = bench.account_in(0);
            bench.credit(&account, 500);
            wait_until("not all was taken", || has_all(bench, &record));
            runtime.block_on(running.stop());
        }
        let sum: u64 = (0..PARTITIONS).map(|it| bench.engine.durable_through(it).expect("a sequence")).sum();
        assert_eq!(record.count() as u64, sum, "nothing was taken twice");
    });
}

/// A consumer with its own stored position, which a test may set back.
struct Remembering {
    recorder: super::recorder::Recorder,
    at: Arc<Mutex<Position>>,
}

impl Consumer for Remembering {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        Ok(Some(*self.at.lock().expect("no panic")))
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        self.recorder.consume(batch).await?;
        *self.at.lock().expect("no panic") = batch.end();
        Ok(())
    }
}

#[test]
fn a_memory_that_is_emptied_is_filled_again_although_nothing_more_happens() {
    Bench::each(None, |bench| {
        bench.keep_log();
        let (runtime, record) = (runtime(), Record::default());
        let memories: Vec<Arc<Mutex<Position>>> = (0..PARTITIONS).map(|_| Arc::default()).collect();
        let account = bench.account_in(1);
        bench.credit(&account, 500);
        let running =
            run(runtime.handle(), bench.engine.clone(), &plan("own", "a", Start::Beginning), |partition| {
                Remembering {
                    recorder: record.consumer(),
                    at: memories[usize::try_from(partition).expect("a place")].clone(),
                }
            });
        wait_until("not all was taken", || record.count() == 501);
        *memories[1].lock().expect("no panic") = Position::default();
        wait_until("it was not taken again", || record.count() == 1_002);
        runtime.block_on(running.stop());
    });
}
