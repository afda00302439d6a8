//! Differences are named, and put right where they are.

use scarce_core::state::StateSettings;
use scarce_launch::Server;
use scarce_mirror::{Compared, MirrorError, Verification};

use super::bench::{Bench, Mirrored, advance, server};

fn ask(server: &Server, words: &[&str]) {
    server.ask::<redis::Value>(words).expect("a change");
}

/// Compares, and puts right if asked to.
fn verify(bench: &Bench, mirrored: &Mirrored, repairs: bool) -> Compared {
    let log = bench.log();
    let mut tracker = bench.tracker();
    bench.runtime.block_on(async {
        let mut advance = |tracker: &mut _, through| advance(&*log, tracker, through);
        let mut go_on = |_| true;
        let verification = Verification::run(&mirrored.mirror, &mut tracker, &mut advance, &mut go_on);
        let verification = verification.await.expect("it is compared");
        if repairs {
            let count = verification.repair().await.expect("it is put right");
            assert_eq!(count, verification.compared().differences.len());
        }
        verification.compared().clone()
    })
}

#[test]
fn every_difference_is_named_and_put_right() {
    let (bench, server) = (Bench::new(&StateSettings::default()), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 3);
    bench.send("ACCOUNT.HOLD ann taxi 1 TTL 100000");
    mirrored.check(&bench);
    assert_eq!(verify(&bench, &mirrored, false).differences, []);
    ask(&server, &["HSET", "scarce:{p0-0}:accounts", "ann", "EUR|1|0|0|open"]);
    ask(&server, &["HDEL", "scarce:{p0-0}:holds", "ann taxi"]);
    ask(&server, &["ZADD", "scarce:{p0-0}:names", "0", "account eve"]);
    let found = verify(&bench, &mirrored, true).differences;
    let named: Vec<_> = found
        .iter()
        .map(|its| (its.key, its.resource(), its.expected.is_some(), its.found.is_some()))
        .collect();
    let expected =
        [("accounts", "ann", true, true), ("holds", "ann", true, false), ("names", "eve", false, true)];
    assert_eq!(named, expected);
    assert_eq!(verify(&bench, &mirrored, false).differences, []);
    bench.credit("ben", 1);
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn rows_that_change_while_they_are_compared_are_no_differences() {
    let (bench, server) = (Bench::new(&StateSettings::default()), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 300);
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| bench.credit("ben", 2_000));
        while !writes.is_finished() {
            assert_eq!(verify(&bench, &mirrored, false).differences, []);
        }
    });
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

/// As many accounts as are compared before it is asked whether to go on.
fn open_many(bench: &Bench) {
    bench.send("ACCOUNT.OPEN ann EUR");
    bench.send("ACCOUNT.CREDIT ann 10000");
    for n in 0..1_000 {
        bench.send(&format!("ACCOUNT.OPEN many{n} EUR"));
    }
}

#[test]
fn many_rows_that_came_while_it_was_compared_are_no_differences() {
    let (bench, server) = (Bench::new(&StateSettings::default()), server());
    let mirrored = bench.start(&server.url());
    open_many(&bench);
    mirrored.check(&bench);
    let (log, mut tracker, mut is_held) = (bench.log(), bench.tracker(), false);
    // Behind the accounts, and before the holds: more rows than are read at once.
    let mut go_on = |_| {
        for n in 0..if is_held { 0 } else { 600 } {
            bench.send(&format!("ACCOUNT.HOLD ann hold{n} 1 TTL 100000"));
        }
        mirrored.wait_until_written(&bench);
        is_held = true;
        true
    };
    let mut advance = |tracker: &mut _, through| advance(&*log, tracker, through);
    let verification = Verification::run(&mirrored.mirror, &mut tracker, &mut advance, &mut go_on);
    let compared = bench.runtime.block_on(verification).expect("it is compared").compared().clone();
    assert!(is_held);
    assert_eq!(compared.differences, []);
    mirrored.stop(&bench);
}

#[test]
fn what_was_compared_at_two_positions_is_not_put_right() {
    let (bench, server) = (Bench::new(&StateSettings::default()), server());
    let mirrored = bench.start(&server.url());
    open_many(&bench);
    mirrored.check(&bench);
    // Rows that are there are read once more before those that must not be.
    ask(&server, &["HSET", "scarce:{p0-0}:accounts", "ann", "EUR|1|0|0|open"]);
    ask(&server, &["ZADD", "scarce:{p0-0}:names", "0", "account eve"]);
    let (log, mut tracker, credit) = (bench.log(), bench.tracker(), |account: &str| {
        bench.send(&format!("ACCOUNT.CREDIT {account} 1"));
        mirrored.wait_until_written(&bench);
    });
    let mut go_on = |_| {
        credit("many1");
        true
    };
    let mut advanced = 0;
    let mut advance = |tracker: &mut _, through| {
        advanced += 1;
        let done = advance(&*log, tracker, through);
        // The server writes the row that differs.
        if advanced == 1 {
            credit("ann");
        }
        done
    };
    let verification = Verification::run(&mirrored.mirror, &mut tracker, &mut advance, &mut go_on);
    let verification = bench.runtime.block_on(verification).expect("it is compared");
    let repaired = bench.runtime.block_on(verification.repair());
    assert!(matches!(repaired, Err(MirrorError::Unsettled)), "{repaired:?}");
    let row: String = server.ask(&["HGET", "scarce:{p0-0}:accounts", "ann"]).expect("a row");
    assert_eq!(row, "EUR|10001|0|0|open");
    mirrored.stop(&bench);
}
