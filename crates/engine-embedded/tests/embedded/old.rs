//! Ids that left memory: duplicates get the first answer from a run on disk, whatever happened in between.

use scarce_core::outcome::Receipt;
use scarce_engine::Engine;
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::storage::faulty::Fault;

use crate::support::Bench;

/// A bench whose ids leave memory as soon as they are durable.
fn bench_on(root: FaultyDisk, disk: FaultyDisk) -> Bench {
    let clock = scarce_engine::clock::ManualClock::default();
    clock.set(1_000);
    let mut bench = Bench::on(root, disk, clock);
    bench.operations_in_memory_max = 0;
    bench
}

fn started() -> Bench {
    let mut bench = bench_on(FaultyDisk::new(), FaultyDisk::new());
    bench.start();
    bench
}

fn runs(bench: &Bench) -> Vec<String> {
    let names = bench.disk.storage().list().expect("the directory is read");
    names.into_iter().filter(|name| name.starts_with("ids-")).collect()
}

/// What the names of runs begin with that have the first operation.
const FIRST: &str = "ids-0000000000000000-";

/// The number behind the last one that is in a run.
fn covered(bench: &Bench) -> u64 {
    let end = |name: &String| name.get(21..37).and_then(|end| u64::from_str_radix(end, 16).ok());
    runs(bench).iter().filter_map(end).max().unwrap_or(0)
}

/// Asks until it is so: each question is a turn in which some ids may leave.
pub(crate) fn wait_until(bench: &Bench, what: &str, is_so: impl Fn() -> bool) {
    let mut turns = (0..2_000_000).inspect(|_| bench.check("ACCOUNT.GET nobody", "ACCOUNT_NOT_FOUND nobody"));
    assert!(turns.any(|_| is_so()), "{what}: {:?}", runs(bench));
}

fn wait_for_runs(bench: &Bench, count: u64) {
    wait_until(bench, "all ids are on disk", || covered(bench) >= count);
}

const LONG: &str = "account-of-a-very-long-name";

/// Operations of all kinds of answers, each with the id of its number.
fn line(number: u64) -> String {
    match number {
        0 => "ACCOUNT.OPEN a EUR ID 0".to_owned(),
        1 => format!("ACCOUNT.OPEN {LONG} EUR ID 1"),
        _ if number % 7 == 3 => format!("ACCOUNT.DEBIT {LONG} 10 ID {number}"),
        _ if number % 7 == 5 => format!("ACCOUNT.FREEZE {LONG} ID {number}"),
        _ => format!("ACCOUNT.CREDIT a {number} ID {number}"),
    }
}

fn apply(bench: &Bench, count: u64) -> Vec<Receipt> {
    (0..count).map(|number| bench.ask(&line(number)).expect("an answer")).collect()
}

fn check_replays(bench: &Bench, first: &[Receipt]) {
    for (number, first) in (0..).zip(first) {
        let again = bench.ask(&line(number)).expect("the first answer");
        assert_eq!(again, Receipt { replayed: true, ..first.clone() }, "{number}");
    }
    bench.check("ACCOUNT.CREDIT a 3 ID 2", "ID_REUSED 2");
    let found = bench.ask("OPERATION.GET 2 ON a").expect("it is found").outcome.to_string();
    assert!(found.starts_with("APPLIED 2 "), "{found}");
    let resolved = bench.ask("OPERATION.RESOLVE 2 ON a").expect("it is found").outcome.to_string();
    assert!(resolved.starts_with("APPLIED APPLIED"), "{resolved}");
}

#[test]
fn a_duplicate_gets_the_first_answer_from_disk_also_after_restarts_and_snapshots() {
    let mut bench = started();
    let first = apply(&bench, 60);
    wait_for_runs(&bench, 60);
    check_replays(&bench, &first);
    for _ in 0..3 {
        bench.engine().snapshot(0).expect("a snapshot");
        bench.stop();
        bench.start();
        check_replays(&bench, &first);
    }
    wait_until(&bench, "they are merged, and what was merged is removed", || runs(&bench).len() < 8);
    check_replays(&bench, &first);
    bench.stop();
}

#[test]
fn each_command_has_its_effect_once_wherever_the_power_goes() {
    const COUNT: u64 = 25;
    let mut reference = started();
    apply(&reference, COUNT);
    wait_for_runs(&reference, COUNT);
    let calls = reference.disk.call_count();
    let expected = reference.ask("ACCOUNT.GET a").expect("an account").outcome.to_string();
    reference.stop();
    for call in (0..calls).step_by(2) {
        let mut bench = bench_on(FaultyDisk::new(), FaultyDisk::new());
        bench.disk.inject(call, Fault::PowerCut);
        let mut answered = Vec::new();
        if bench.try_start().is_ok() {
            let answers = (0..COUNT).map(|number| bench.ask(&line(number)));
            answered.extend(answers.map_while(Result::ok));
            if answered.len() as u64 == COUNT {
                // What is left to be written is written, and meets its fate.
                let _ = bench.engine().snapshot(0);
            }
        }
        let crashed = bench.disk.fork();
        crashed.clear_faults();
        crashed.crash(call);
        drop(bench.engine.take().map(|(_, running)| running.shut_down()));
        let mut after = bench_on(bench.root.fork(), crashed);
        after.try_start().unwrap_or_else(|error| panic!("power cut at call {call}: {error}"));
        for (number, first) in (0..).zip(&answered) {
            let again = after.ask(&line(number)).expect("the first answer");
            assert_eq!(again, Receipt { replayed: true, ..first.clone() }, "call {call}, operation {number}");
        }
        apply(&after, COUNT);
        let balance = after.ask("ACCOUNT.GET a").expect("an account").outcome.to_string();
        assert_eq!(balance, expected, "power cut at call {call}");
        after.stop();
    }
}

#[test]
fn a_run_that_is_lost_damaged_or_of_another_history_is_told() {
    let mut bench = started();
    let first = apply(&bench, 20);
    wait_for_runs(&bench, 20);
    bench.stop();
    bench.start();
    bench.engine().snapshot(0).expect("a snapshot, which rests on them");
    bench.stop();
    let name = runs(&bench).pop().expect("a run");
    let mut lost = bench_on(bench.root.fork(), bench.disk.fork());
    runs(&lost).iter().for_each(|name| lost.disk.storage().remove(name).expect("it is there"));
    let refused = lost.try_start().expect_err("ids are missing");
    assert!(refused.contains("remembers operations") && refused.contains("backup"), "{refused}");
    let mut damaged = bench_on(bench.root.fork(), bench.disk.fork());
    assert!(damaged.disk.flip_bit(&name, 20, 1));
    let refused = damaged.try_start().expect_err("its header is damaged");
    assert!(refused.contains(&name), "{refused}");
    bench.start();
    check_replays(&bench, &first);
    bench.stop();
}

#[test]
fn a_damaged_block_is_told_to_its_duplicates_and_holds_up_nothing_else() {
    let mut bench = started();
    let first = apply(&bench, 20);
    wait_for_runs(&bench, 20);
    bench.stop();
    let firsts = runs(&bench).into_iter().filter(|name| name.starts_with(FIRST));
    let name = firsts.max().expect("a run, of which others may have a part");
    assert!(bench.disk.flip_bit(&name, 140, 1), "in the first block");
    bench.start();
    let asked = (0..20).map(|number| bench.ask(&line(number)));
    let (mut told, mut replayed) = (0, 0);
    for (answer, first) in asked.zip(&first) {
        match answer {
            Ok(again) => {
                assert_eq!(again, Receipt { replayed: true, ..first.clone() });
                replayed += 1;
            }
            Err(failure) => {
                let failure = failure.to_string();
                assert!(failure.contains(&name) && failure.contains("backup"), "{failure}");
                told += 1;
            }
        }
    }
    assert!(told > 0 && replayed > 0, "{told} of the block, {replayed} others");
    let more: Vec<_> = (20..200).map(|number| bench.ask(&line(number)).expect("an answer")).collect();
    wait_for_runs(&bench, 200);
    wait_until(&bench, "those behind it are merged", || runs(&bench).len() < 20);
    for (number, first) in (20..).zip(&more) {
        let again = bench.ask(&line(number)).expect("the first answer");
        assert_eq!(again, Receipt { replayed: true, ..first.clone() }, "{number}");
    }
    bench.stop();
}

/// Whether a run still begins with the first operation.
fn has_first(bench: &Bench) -> bool {
    runs(bench).iter().any(|name| name.starts_with(FIRST))
}

#[test]
fn runs_are_removed_once_no_snapshot_remembers_their_operations() {
    const DAY_MS: u64 = 24 * 3_600_000;
    let mut bench = started();
    apply(&bench, 40);
    wait_for_runs(&bench, 40);
    bench.engine().snapshot(0).expect("a snapshot");
    // A run may be merged with the first one of a day, and stays for another one then.
    let is_removed = (1..8).any(|day| {
        bench.clock.set(1_000 + day * (DAY_MS + 1));
        for number in 0..6 {
            bench.ask(&format!("ACCOUNT.CREDIT a 1 ID {day}-{number}")).expect("an answer");
        }
        wait_for_runs(&bench, 40 + 6 * day);
        assert!(day > 1 || has_first(&bench), "the oldest snapshot remembers it");
        for number in 6..8 {
            bench.engine().snapshot(0).expect("a snapshot that does not");
            bench.ask(&format!("ACCOUNT.CREDIT a {number}")).expect("an answer");
        }
        let mut turns =
            (0..200_000).inspect(|_| bench.check("ACCOUNT.GET nobody", "ACCOUNT_NOT_FOUND nobody"));
        turns.any(|_| !has_first(&bench))
    });
    assert!(is_removed, "{:?}", runs(&bench));
    let anew = bench.ask("ACCOUNT.CREDIT a 2 ID 2").expect("an answer");
    assert!(!anew.replayed, "its id was forgotten a day ago: {anew:?}");
    bench.stop();
}
