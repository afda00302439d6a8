//! What a doubted, confirmed or moved clock ends and forgets.

use super::bench::Bench;
use super::*;
use crate::machine::ClockChange;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// A machine at noon of some day, with an account, a hold and a debit under an id.
fn begun() -> Bench {
    let mut bench = Bench::new();
    bench.clock = 1_000 * DAY;
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.check("ACCOUNT.CREDIT a 100", "APPLIED 100 100");
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
    let deadline = bench.clock + HOUR;
    bench.check("ACCOUNT.HOLD a h 50 TTL 3600000", &format!("APPLIED 40 {deadline}"));
    bench
}

fn change(bench: &mut Bench, change: ClockChange) {
    bench.machine.change_clock(change, &mut bench.log);
}

/// The machine again, folded from the log and loaded from a snapshot, is the same.
fn assert_is_its_fold(bench: &Bench) {
    let bytes = |machine: &Machine| {
        let mut out = Vec::new();
        machine.put(&mut out);
        out
    };
    let mut again = Machine::new(StateSettings::default(), 0);
    for entry in Entry::read_all(&bench.log).expect("the log") {
        again.apply(&entry);
    }
    assert_eq!(bytes(&again), bytes(&bench.machine));
    assert_eq!(again.now(), bench.machine.now());
    assert_eq!(again.state().digest(None), bench.machine.state().digest(None));
    let loaded = Machine::load(StateSettings::default(), &bytes(&again)).expect("the snapshot");
    assert_eq!(bytes(&loaded), bytes(&again));
}

#[test]
fn nothing_ends_by_doubted_time_until_it_is_confirmed() {
    let mut bench = begun();
    let (from_ms, to_ms) = (bench.clock, bench.clock + 90 * DAY);
    change(&mut bench, ClockChange::Doubted { from_ms, to_ms });
    bench.clock = to_ms + 1_000;
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
    assert_eq!(bench.machine.expire(100, bench.clock, &mut bench.log), 0);
    let deadline = bench.clock + HOUR;
    bench.check("ACCOUNT.HOLD a later 5 TTL 3600000", &format!("APPLIED 35 {deadline}"));
    bench.check("ACCOUNT.CAPTURE a h AMOUNT 20", "APPLIED 20 0 65");
    assert_is_its_fold(&bench);
    // The machine goes on: the hour of the later hold passes, and is beyond doubt.
    bench.clock += 2 * HOUR;
    assert_eq!(bench.machine.expire(100, bench.clock, &mut bench.log), 0, "only the time since counts");
    change(&mut bench, ClockChange::Confirmed);
    assert_eq!(bench.machine.expire(100, bench.clock, &mut bench.log), 1);
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 60 60");
    assert_is_its_fold(&bench);
}

#[test]
fn doubts_add_up() {
    let mut bench = begun();
    for _ in 0..3 {
        let from_ms = bench.machine.now();
        change(&mut bench, ClockChange::Doubted { from_ms, to_ms: from_ms + HOUR });
    }
    assert_eq!(bench.machine.state().doubted_ms, 3 * HOUR);
    bench.clock = bench.machine.now();
    bench.check("ACCOUNT.VOID a h", "APPLIED 50 90");
}

#[test]
fn a_clock_put_forward_forgets_no_id() {
    let mut bench = begun();
    for _ in 0..3 {
        let from_ms = bench.machine.now();
        change(&mut bench, ClockChange::Moved { from_ms, to_ms: from_ms + 20 * HOUR });
        bench.clock = bench.machine.now();
        bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
        assert_is_its_fold(&bench);
    }
    bench.clock += DAY - 1;
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
    bench.clock += 2;
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 80 80");
    assert_is_its_fold(&bench);
}

#[test]
fn a_clock_put_back_goes_on_from_there_and_forgets_no_id() {
    let mut bench = begun();
    let right = bench.clock;
    bench.clock += 90 * DAY;
    bench.check("ACCOUNT.DEBIT a 1 ID ahead", "APPLIED 89 89");
    let from_ms = bench.clock;
    change(&mut bench, ClockChange::Moved { from_ms, to_ms: right });
    assert_eq!(bench.machine.now(), right);
    bench.clock = right + 1;
    bench.check("ACCOUNT.DEBIT a 1 ID ahead", "APPLIED 89 89");
    let deadline = bench.clock + HOUR;
    bench.check("ACCOUNT.HOLD a new 5 TTL 3600000", &format!("APPLIED 84 {deadline}"));
    assert_is_its_fold(&bench);
    bench.clock += DAY - 2;
    bench.check("ACCOUNT.DEBIT a 1 ID ahead", "APPLIED 89 89");
    bench.clock += 2;
    bench.check("ACCOUNT.DEBIT a 1 ID ahead", "APPLIED 88 88");
    assert_is_its_fold(&bench);
}

#[test]
fn ids_that_carry_a_time_are_taken_again_after_the_way_back() {
    let mut bench = Bench::with(StateSettings { operations_max: 1, ..StateSettings::default() });
    bench.clock = 1_000 * DAY;
    bench.check("ACCOUNT.OPEN a EUR ID 1", "APPLIED 0");
    let right = bench.clock;
    bench.clock += 90 * DAY;
    bench.check("ACCOUNT.CREDIT a 1 ID 2", "APPLIED 1 1");
    bench.clock += HOUR;
    bench.check("ACCOUNT.CREDIT a 1 ID 3", "APPLIED 2 2");
    let from_ms = bench.clock;
    change(&mut bench, ClockChange::Moved { from_ms, to_ms: right });
    // A full memory refuses for the shortest window only, and ids made now are not taken for older than it.
    bench.clock = right + 11 * 60_000;
    let made = format!("{:012x}", right + 10 * 60_000);
    let id = format!("{}-{}-7000-8000-000000000000", &made[..8], &made[8..]);
    bench.check(&format!("ACCOUNT.CREDIT a 1 ID {id}"), "APPLIED 3 3");
}
