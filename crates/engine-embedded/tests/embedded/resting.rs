//! A deployment at rest, as while it moves: nothing is logged, and all that was decided is durable.

use scarce_engine::{Engine, Failure, Log};

use crate::support::Bench;

fn begun() -> Bench {
    let bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR ID open", "APPLIED 0");
    bench.check("ACCOUNT.CREDIT a 9 ID credit", "APPLIED 9 9");
    bench.check("ACCOUNT.HOLD a h 4 TTL 1000 ID hold", "APPLIED 5 2000");
    bench
}

fn check_unavailable(bench: &Bench, line: &str) {
    let answer = bench.ask(line);
    assert!(
        matches!(&answer, Err(Failure::Unavailable { reason }) if reason.contains("moving")),
        "{answer:?}"
    );
}

#[test]
fn nothing_is_logged_at_rest_and_reads_and_duplicates_are_answered() {
    let mut bench = begun();
    let before = bench.digest();
    let through = bench.engine().rest().expect("it comes to rest");
    assert_eq!(through, [bench.engine().durable_through(0).expect("a sequence")]);
    check_unavailable(&bench, "ACCOUNT.CREDIT a 1 ID late");
    assert!(bench.engine().check_ready(0).is_err());
    bench.clock.set(5_000);
    assert!(bench.engine().call(0, vec![scarce_engine::Request::Expire(10)])[0].is_err());
    bench.check("ACCOUNT.CREDIT a 9 ID credit", "APPLIED 9 9");
    assert_eq!(bench.digest(), before);
    assert_eq!(bench.engine().rest().expect("once more"), through);
    bench.engine().resume();
    bench.check("ACCOUNT.CREDIT a 1 ID late", "APPLIED 10 10");
    assert!(bench.engine().durable_through(0).expect("a sequence") > through[0]);
    bench.stop();
}

#[test]
fn what_was_decided_before_the_rest_is_durable_in_it() {
    let mut bench = begun();
    bench.disk.block_syncs();
    let (sender, receiver) = std::sync::mpsc::channel();
    let credit = vec![Bench::request("ACCOUNT.CREDIT a 1 ID one")];
    bench.engine().submit(0, credit, Box::new(move |answers| sender.send(answers).expect("a listener")));
    bench.disk.wait_for_blocked_syncs(1);
    let engine = bench.engine().clone();
    let resting = std::thread::spawn(move || engine.rest());
    bench.disk.release_syncs();
    let through = resting.join().expect("no panic").expect("it comes to rest");
    let credited = receiver.recv().expect("an answer").remove(0).expect("a receipt");
    assert_eq!(through, [credited.sequence_last]);
    bench.stop();
}

#[test]
fn every_request_is_told_the_new_place() {
    let mut bench = begun();
    bench.engine().rest().expect("it comes to rest");
    bench.engine().move_to("there:7379");
    bench.engine().resume();
    for line in ["ACCOUNT.CREDIT a 9 ID credit", "ACCOUNT.CREDIT a 1 ID new", "ACCOUNT.GET a"] {
        let told = bench.ask(line);
        assert!(matches!(&told, Err(Failure::Migrated { address }) if address == "there:7379"), "{told:?}");
    }
    assert!(matches!(bench.engine().check_ready(0), Err(Failure::Migrated { .. })));
    bench.stop();
}
