//! Differences are named, and put right where they are.

use scarce_core::state::StateSettings;
use scarce_launch::Server;
use scarce_mirror::{Compared, Verification};

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
