//! Answers wait for the disk: syncs that are blocked, fail or find no room.

use std::sync::mpsc;

use scarce_engine::{Engine, Failure, Log};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{DeploymentFiles, EmbeddedSettings, SilentPort, open_files};

use crate::support::{Bench, SLOW};

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
    let unanswered = bench.fill_disk();
    let (_, running) = bench.engine.take().expect("started");
    let ended = running.shut_down();
    let mut answers = unanswered.iter().map(|receiver| receiver.recv().expect("an answer").remove(0));
    match ended {
        // The keeper met the full disk first, so that changes were refused before a batch needed room.
        Ok(()) => assert!(answers.all(|answer| answer.is_ok())),
        Err(error) => {
            assert!(error.to_string().contains("no room"), "{error}");
            let waiting: Vec<_> = answers.filter_map(Result::err).collect();
            assert!(!waiting.is_empty());
            assert!(waiting.iter().all(|answer| matches!(answer, Failure::Unknown { .. })), "{waiting:?}");
        }
    }
}

/// Bytes of a batch, and batches of the inbox, of an engine that is full soon.
const BATCH_BYTES: usize = 16 << 10;
const INBOX_BATCHES: usize = 8;

#[test]
fn while_the_disk_stands_still_no_more_is_taken_than_there_is_room_for() {
    let disk = FaultyDisk::new();
    let files = DeploymentFiles { root: FaultyDisk::new().storage(), partitions: vec![disk.storage()] };
    let settings = EmbeddedSettings {
        segment_bytes: 1 << 20,
        commit_bytes_max: BATCH_BYTES,
        inbox_batches_max: INBOX_BATCHES,
        ..EmbeddedSettings::default()
    };
    let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
    let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("start");
    let credit = || Bench::request("ACCOUNT.CREDIT a 1");
    assert!(engine.call(0, vec![Bench::request("ACCOUNT.OPEN a EUR")]).remove(0).is_ok());
    disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    let submit = |requests: Vec<_>| {
        let sender = sender.clone();
        engine.submit(0, requests, Box::new(move |answers| drop(sender.send(answers))));
    };
    submit(vec![credit()]);
    disk.wait_for_blocked_syncs(1);
    // An entry takes more than sixteen bytes: these are more than two batches, be it one piece of mail.
    let many = BATCH_BYTES / 4;
    submit((0..many).map(|_| credit()).collect());
    let is_full = |failure: &Failure, queue: &str| matches!(failure, Failure::Overloaded { queue: its } if *its == queue);
    // The owner takes no mail any more, and what finds no room in the inbox is refused at once.
    let mut refused = 0;
    for _ in 0..100 * INBOX_BATCHES {
        submit(vec![credit()]);
        // It is told before the call returns.
        if let Ok(answers) = receiver.try_recv() {
            assert!(answers[0].as_ref().is_err_and(|failure| is_full(failure, "inbox")), "{answers:?}");
            refused += 1;
        }
    }
    assert!(refused > 0, "the inbox has no bound");
    disk.release_syncs();
    let answers: Vec<_> = (0..100 * INBOX_BATCHES + 2 - refused)
        .map(|_| receiver.recv().expect("everybody is answered"))
        .collect();
    let together = answers.iter().find(|answers| answers.len() == many).expect("the large batch");
    let full = together.iter().filter(|its| its.as_ref().is_err_and(|failure| is_full(failure, "commit")));
    let full = full.count();
    assert!(full > 0 && full < many, "{full} of {many} found the batch full");
    running.shut_down().expect("a clean end");
}
