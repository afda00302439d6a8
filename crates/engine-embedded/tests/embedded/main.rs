//! The embedded engine in process: restarts, snapshots, blocked and failed syncs.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use scarce_core::command::{Body, Common, Envelope};
use scarce_core::event::Position;
use scarce_core::outcome::Receipt;
use scarce_engine::consumers::ConsumerName;
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
fn a_large_receipt_is_read_back_from_the_log() {
    let mut bench = Bench::new();
    let lines =
        ["ACCOUNT.OPEN account-of-a-very-long-name EUR", "ACCOUNT.CREDIT account-of-a-very-long-name 1"];
    let commands = lines.map(|line| match Bench::request(line) {
        Request::Write(envelope) => envelope.commands()[0].clone(),
        _ => unreachable!("both write"),
    });
    let refused = "ACCOUNT.DEBIT account-of-a-very-long-name 10 ID x";
    let expected = "INSUFFICIENT_FUNDS account-of-a-very-long-name 1 10";
    let batch =
        Envelope::new("", Common::default(), Body::Atomic(commands.to_vec()), &[0; 32]).expect("a batch");
    bench.engine().call(0, vec![Request::Write(batch)]);
    bench.check(refused, expected);
    let replayed = bench.ask(refused).expect("the first receipt");
    assert!(replayed.replayed);
    // Copies that come with the operation, or between others, find it among those under way.
    let mut together: Vec<_> = (0..100).map(|n| Bench::request(&format!("ACCOUNT.OPEN b{n} EUR"))).collect();
    for n in 0..10 {
        let late = format!("ACCOUNT.DEBIT account-of-a-very-long-name 10 ID late-{n}");
        together.extend([Bench::request(&late), Bench::request("ACCOUNT.CREDIT b1 1")]);
    }
    together.extend(
        (0..10).map(|n| Bench::request(&format!("ACCOUNT.DEBIT account-of-a-very-long-name 10 ID late-{n}"))),
    );
    let answers = bench.engine().call(0, together);
    for (n, answer) in answers.iter().rev().take(10).rev().enumerate() {
        let copy = answer.as_ref().expect("the first receipt");
        let first = answers[100 + 2 * n].as_ref().expect("a receipt");
        assert!(copy.replayed && copy.sequence_last == first.sequence_last, "{copy:?}");
        assert_eq!(copy.outcome, first.outcome);
    }
    assert_eq!(replayed.outcome.to_string(), expected);
    bench.stop();
    bench.start();
    bench.check(refused, expected);
    bench.stop();
}

/// A day, for which operation ids are remembered.
const WINDOW_MS: u64 = 24 * 60 * 60 * 1_000;

fn receipt_files(bench: &Bench) -> Vec<String> {
    let names = bench.disk.storage().list().expect("the directory is read");
    names.into_iter().filter(|name| name.starts_with("receipts-")).collect()
}

/// Fills some segments, and makes the snapshots that let the oldest of them go.
fn fill_and_snapshot(bench: &Bench, round: u32) {
    for part in 0..3 {
        let credit = |n| Bench::request(&format!("ACCOUNT.CREDIT a 1 ID {round}-{part}-{n}"));
        bench.engine().call(0, (0..2_000).map(credit).collect());
        bench.engine().snapshot(0).expect("a snapshot");
    }
}

#[test]
fn a_refusal_that_is_remembered_does_not_keep_the_log() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.check("ACCOUNT.OPEN account-of-a-very-long-name EUR", "APPLIED 0");
    let refused = "ACCOUNT.DEBIT account-of-a-very-long-name 10 ID x";
    bench.check(refused, "INSUFFICIENT_FUNDS account-of-a-very-long-name 0 10");
    let first = bench.ask(refused).expect("the first receipt");
    fill_and_snapshot(&bench, 1);
    let oldest = bench.engine().first_sequence(0).expect("the log's start");
    assert!(oldest > first.sequence_last, "the log begins at {oldest}, the receipt is at {first:?}");
    assert_eq!(receipt_files(&bench).len(), 1);
    for _ in 0..2 {
        let again = bench.ask(refused).expect("the first receipt");
        assert_eq!(again, first);
        let found = bench.ask("OPERATION.GET x ON a").expect("it is found").outcome.to_string();
        assert!(found.contains("INSUFFICIENT_FUNDS"), "{found}");
        bench.stop();
        bench.start();
    }
    bench.check("ACCOUNT.DEBIT account-of-a-very-long-name 11 ID x", "ID_REUSED x");
    bench.clock.set(1_000 + WINDOW_MS + 1);
    fill_and_snapshot(&bench, 2);
    assert_eq!(receipt_files(&bench), [""; 0], "the id is forgotten");
    bench.stop();
}

#[test]
fn receipts_that_left_the_log_survive_a_crash_and_damage_is_named() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.check("ACCOUNT.OPEN account-of-a-very-long-name EUR", "APPLIED 0");
    let refused = |n| format!("ACCOUNT.DEBIT account-of-a-very-long-name 10 ID x{n}");
    for n in 0..20 {
        bench.check(&refused(n), "INSUFFICIENT_FUNDS account-of-a-very-long-name 0 10");
    }
    fill_and_snapshot(&bench, 1);
    let name = receipt_files(&bench).remove(0);
    for crash in 0..8 {
        let crashed = bench.disk.fork();
        crashed.crash(crash);
        let mut after = Bench::on(bench.root.fork(), crashed, bench.clock.clone());
        after.start();
        for n in 0..20 {
            let again = after.ask(&refused(n)).expect("the first receipt");
            assert!(again.replayed, "x{n} after crash {crash}");
        }
        after.stop();
    }
    bench.stop();
    let storage = bench.disk.storage();
    let mut file = storage.open(&name).expect("it is there");
    let mut byte = [0];
    file.read_at(80, &mut byte).expect("it is read");
    file.write_at(80, &[byte[0] ^ 1]).expect("it is written");
    drop(file);
    bench.start();
    let failure = bench.ask(&refused(0)).expect_err("its receipt is damaged");
    assert!(failure.to_string().contains(&name), "{failure}");
    assert!(bench.ask(&refused(19)).expect("this one is whole").replayed);
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

/// A duplicate of each kind of remembered operation, and the outcome of the first one.
const APPLIED: [(&str, &str); 3] = [
    ("ACCOUNT.CREDIT a 100 ID credit", "APPLIED 100 100"),
    ("ACCOUNT.DEBIT a 900 ID refused", "INSUFFICIENT_FUNDS a 100 900"),
    ("STOCK.TAKE s 1 u ID take", "APPLIED 1 4999"),
];

/// Applies the operations, each once.
fn apply(bench: &Bench) -> Vec<Receipt> {
    bench.check("STOCK.CREATE s 5000 ID s", "APPLIED 5000");
    bench.check("ACCOUNT.OPEN a EUR ID a", "APPLIED 0");
    let first = |(line, outcome): &(&str, &str)| {
        bench.check(line, outcome);
        Receipt { replayed: false, ..bench.ask(line).expect("a receipt") }
    };
    APPLIED.iter().map(first).collect()
}

/// Checks that new work is refused, and duplicates receive the answer of the first one.
fn check_duplicates(bench: &Bench, first: &[Receipt]) {
    let refused = bench.ask("ACCOUNT.CREDIT a 1 ID new");
    assert!(matches!(refused, Err(Failure::Overloaded { .. } | Failure::Unavailable { .. })), "{refused:?}");
    for ((line, _), first) in APPLIED.iter().zip(first) {
        let again = bench.ask(line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
        assert_eq!(again, Receipt { replayed: true, ..first.clone() }, "{line}");
    }
    bench.check("ACCOUNT.CREDIT a 101 ID credit", "ID_REUSED credit");
    let resolved = bench.ask("OPERATION.RESOLVE take ON s").expect("an outcome").outcome.to_string();
    assert!(resolved.starts_with("APPLIED APPLIED"), "{resolved}");
    let unknown = bench.ask("OPERATION.RESOLVE new ON s");
    assert!(unknown.is_err(), "a mark of absence needs room: {unknown:?}");
}

#[test]
fn on_a_full_disk_a_duplicate_gets_the_answer_of_the_first_one() {
    let mut bench = Bench::new();
    let first = apply(&bench);
    bench.disk.set_capacity(Some(0));
    // The segment in use has room until it is full; a batch that does not fit any more waits, unanswered.
    let is_refused = (0..5_000).any(|unit| {
        let (sender, receiver) = mpsc::channel();
        let take = Bench::request(&format!("STOCK.TAKE s 1 {unit:0>64} ID {unit}"));
        bench.engine().submit(0, vec![take], Box::new(move |answers| drop(sender.send(answers))));
        receiver.recv_timeout(Duration::from_millis(200)).is_ok_and(|answers| answers[0].is_err())
    });
    assert!(is_refused, "the disk is full");
    check_duplicates(&bench, &first);
    bench.disk.set_capacity(None);
    bench.stop();
}

#[test]
fn above_the_lag_limit_a_duplicate_gets_the_answer_of_the_first_one() {
    let mut bench = Bench::new();
    bench.stop();
    bench.outflow_lag_max = 10;
    bench.start();
    let first = apply(&bench);
    let name = ConsumerName::parse("slow").expect("a name");
    bench
        .engine()
        .confirm(0, &name, "", Position { epoch: first[0].epoch, sequence: 1 })
        .expect("registered");
    let is_refused = (0..20).any(|unit| bench.ask(&format!("STOCK.TAKE s 1 u ID {unit}")).is_err());
    assert!(is_refused, "the consumer lags behind");
    check_duplicates(&bench, &first);
    bench.stop();
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
