//! Receipts that are too large for memory: in the log, and once they have left it.

use scarce_core::command::{Body, Common, Envelope};
use scarce_engine::{Engine, Log, Request};

use crate::support::Bench;

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
