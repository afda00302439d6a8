//! The embedded engine in process: restarts, receipts, blocked and failed syncs, turns.

mod duplicates;
mod receipts;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use scarce_engine::{Engine, Failure, Log, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{DeploymentFiles, EmbeddedSettings, Owner, Port, SilentPort, open_files};

use crate::support::{Bench, SLOW};

#[test]
fn what_was_answered_survives_a_restart_and_a_crash() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR ID 1", "APPLIED 0");
    bench.check("ACCOUNT.CREDIT a 100 ID 2", "APPLIED 100 100");
    let before = bench.digest();
    bench.stop();
    bench.start();
    assert_eq!(bench.digest(), before);
    bench.check("ACCOUNT.CREDIT a 100 ID 2", "APPLIED 100 100");
    bench.check("ACCOUNT.DEBIT a 1 ID 3", "APPLIED 99 99");
    let crashed = bench.disk.fork();
    crashed.crash(7);
    bench.stop();
    bench.disk = crashed;
    bench.start();
    bench.check("ACCOUNT.DEBIT a 1 ID 3", "APPLIED 99 99");
    bench.check("ACCOUNT.GET a", "APPLIED a EUR 99 0 99 0 open");
    bench.stop();
}

#[test]
fn a_snapshot_shortens_recovery_and_keeps_the_state() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 5000", "APPLIED 5000");
    for unit in 1..=2_000 {
        let line = format!("STOCK.TAKE s 1 owner-{unit} ID take-{unit}");
        bench.check(&line, &format!("APPLIED {unit} {}", 5_000 - unit));
    }
    let done = bench.engine().snapshot(0).expect("a snapshot");
    assert_eq!(done.sequence, 2_001);
    bench.check("STOCK.TAKE s 1 last", "APPLIED 2001 2999");
    let before = bench.digest();
    bench.engine().snapshot(0).expect("a second snapshot, on top of the first");
    bench.stop();
    bench.start();
    assert_eq!(bench.digest(), before);
    bench.check("STOCK.TAKE s 1 owner-7 ID take-7", "APPLIED 7 4993");
    bench.stop();
}

#[test]
fn commands_that_waited_long_for_the_disk_are_remembered_by_name_and_resource() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    let answer = move |answers| sender.send(answers).expect("a listener");
    bench.engine().submit(0, vec![Bench::request("ACCOUNT.CREDIT a 5 ID secret")], Box::new(answer));
    bench.disk.wait_for_blocked_syncs(1);
    assert!(receiver.recv_timeout(2 * SLOW).is_err(), "it waits for the disk");
    bench.disk.release_syncs();
    receiver.recv().expect("an answer");
    let slow = &bench.engine().metrics(0).expect("metrics").slow_commands;
    let newest = slow.newest().into_iter().next().expect("a slow command");
    assert_eq!((newest.command, newest.resource.as_str()), ("ACCOUNT.CREDIT", "a"));
    assert!(newest.took >= 2 * SLOW && slow.total() >= 1, "{newest:?}");
    bench.stop();
}

#[test]
fn nothing_leaves_while_the_sync_is_blocked() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    for line in ["ACCOUNT.CREDIT a 5", "ACCOUNT.GET a", "ACCOUNT.DEBIT a 9"] {
        let sender = sender.clone();
        bench.engine().submit(
            0,
            vec![Bench::request(line)],
            Box::new(move |mut answers| sender.send(answers.remove(0)).expect("a listener")),
        );
    }
    bench.disk.wait_for_blocked_syncs(1);
    assert!(receiver.try_recv().is_err(), "an answer left before its batch was durable");
    assert_eq!(bench.engine().entries(0, 2, 1 << 20).expect("the log"), []);
    bench.disk.release_syncs();
    let answers: Vec<_> = (0..3)
        .map(|_| receiver.recv().expect("an answer").expect("no failure").outcome.to_string())
        .collect();
    assert_eq!(answers, ["APPLIED 5 5", "APPLIED a EUR 5 0 5 0 open", "INSUFFICIENT_FUNDS a 5 9"]);
    bench.stop();
}

#[test]
fn a_failed_sync_ends_the_engine_and_leaves_the_outcome_unknown() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    let call = bench.disk.call_count() + 1;
    bench.disk.inject(call, scarce_engine_embedded::storage::faulty::Fault::SyncError);
    let answer = bench.ask("ACCOUNT.CREDIT a 5 ID c");
    assert!(matches!(answer, Err(Failure::Unknown { .. })), "{answer:?}");
    assert_eq!(bench.disk.fired_count(), 1);
    let (_, running) = bench.engine.take().expect("started");
    assert!(running.join().is_err());
    bench.start();
    let again = bench.ask("ACCOUNT.CREDIT a 5 ID c").expect("an answer");
    assert_eq!(again.outcome.to_string(), "APPLIED 5 5");
    bench.stop();
}

#[test]
fn when_one_partition_fails_all_end_and_nobody_waits_for_ever() {
    let disks = [FaultyDisk::new(), FaultyDisk::new()];
    let files = DeploymentFiles {
        root: FaultyDisk::new().storage(),
        partitions: disks.iter().map(FaultyDisk::storage).collect(),
    };
    let settings = EmbeddedSettings { partitions: 2, segment_bytes: 64 << 10, ..EmbeddedSettings::default() };
    let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
    let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("start");
    let ask = |partition| engine.call(partition, vec![Bench::request("ACCOUNT.OPEN a EUR")]).remove(0);
    assert!(ask(0).is_ok());
    disks[1].inject(disks[1].call_count() + 1, scarce_engine_embedded::storage::faulty::Fault::SyncError);
    assert!(matches!(ask(1), Err(Failure::Unknown { .. })));
    let reason = running.join().expect_err("the failure").to_string();
    assert!(reason.contains("committer-1") && !reason.contains("has ended"), "{reason}");
    for partition in [0, 1] {
        assert!(matches!(ask(partition), Err(Failure::Unavailable { .. })), "{partition}");
    }
}

#[test]
fn a_full_disk_does_not_hold_up_the_end() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 5000", "APPLIED 5000");
    bench.disk.set_capacity(Some(0));
    let (sender, receiver) = mpsc::channel();
    let takes = (0..2_000).map(|unit| Bench::request(&format!("STOCK.TAKE s 1 {unit:0>64}"))).collect();
    bench.engine().submit(0, takes, Box::new(move |answers| drop(sender.send(answers))));
    let (_, running) = bench.engine.take().expect("started");
    let reason = running.shut_down().expect_err("a batch that found no room").to_string();
    assert!(reason.contains("no room"), "{reason}");
    let answers = receiver.recv().expect("the answers");
    assert!(answers.iter().all(|answer| matches!(answer, Err(Failure::Unknown { .. }))));
}

#[test]
fn damage_to_the_last_batch_of_an_idle_engine_is_not_taken_for_a_torn_end() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a-name-to-look-for EUR", "APPLIED 0");
    let name = b"a-name-to-look-for";
    // For a minute at most, since a busy machine lets it wait.
    let refused = (0..1_200).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        let damaged = bench.disk.fork();
        let files = damaged.storage().list().expect("a listing");
        let held = files.iter().find_map(|file| {
            let content = damaged.content(file)?;
            let at = content.windows(name.len()).position(|bytes| bytes == name)?;
            Some((file.clone(), at as u64))
        });
        let (file, at) = held.expect("the batch");
        assert!(damaged.flip_bit(&file, at, 0));
        let files =
            DeploymentFiles { root: bench.root.fork().storage(), partitions: vec![damaged.storage()] };
        open_files(&files, &bench.settings(), &mut |_| {}).is_err()
    });
    assert!(refused, "what was acknowledged was cut off without a word");
    bench.stop();
}

/// A port without sockets that counts its turns.
struct CountingPort {
    silent: SilentPort,
    turns: Arc<AtomicUsize>,
}

impl Port for CountingPort {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        self.silent.turn(owner, timeout)
    }

    fn send(&mut self, _owner: &mut Owner) {}

    fn close(&mut self, owner: &mut Owner) {
        self.silent.close(owner);
    }

    fn waker(&self) -> scarce_engine::stop::Waker {
        self.silent.waker()
    }
}

#[test]
fn a_batch_of_much_work_lets_sockets_in_between_and_keeps_its_order() {
    let turns = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::new();
    bench.stop();
    bench.start_with(|| Box::new(CountingPort { silent: SilentPort::default(), turns: turns.clone() }));
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    let ask = |line: &str| {
        let batch: Vec<Request> = (0..100)
            .map(|at| Bench::request(if at == 50 { "ACCOUNT.CREDIT a 5" } else { line }))
            .chain([Bench::request("ACCOUNT.GET a")])
            .collect();
        let before = turns.load(Ordering::SeqCst);
        let answers = bench.engine().call(0, batch);
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|its| its.outcome.is_applied())));
        (answers, turns.load(Ordering::SeqCst) - before)
    };
    // A thousand rows are ten thousand units, and a turn has twenty thousand for mail.
    let (answers, turns_between) = ask("ACCOUNT.HOLDS a COUNT 1000");
    assert!(turns_between >= 30, "{turns_between} turns for a million units");
    let last = answers[100].as_ref().expect("applied").outcome.to_string();
    assert_eq!(last, "APPLIED a EUR 5 0 5 0 open", "what follows sees what came before");
    bench.stop();
}
