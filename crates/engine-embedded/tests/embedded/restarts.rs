//! What survives a restart, a crash and a snapshot.

use std::sync::atomic::{AtomicBool, Ordering};

use scarce_core::state::StateSettings;
use scarce_engine::Engine;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::{DeploymentFiles, open_files, verify_partition};

use crate::support::Bench;

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

/// As many as take several slices.
const ACCOUNTS: u64 = 20_000;

#[test]
fn a_snapshot_that_is_made_while_commands_go_on_is_what_the_journal_comes_to() {
    let mut bench = Bench::new();
    for first in (0..ACCOUNTS).step_by(1_000) {
        let open = |n| Bench::request(&format!("ACCOUNT.OPEN a{n} EUR"));
        bench.engine().call(0, (first..first + 1_000).map(open).collect());
    }
    let is_over = AtomicBool::new(false);
    let snapshots: Vec<u64> = std::thread::scope(|scope| {
        let (bench, is_over) = (&bench, &is_over);
        scope.spawn(move || {
            for round in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let credit = |n: u64| {
                    let account = (round * 7_919 + n * 31) % ACCOUNTS;
                    Bench::request(&format!("ACCOUNT.CREDIT a{account} 1 ID {round}-{n}"))
                };
                bench.engine().call(0, (0..50).map(credit).collect());
            }
        });
        let snapshots = (0..3).map(|_| bench.engine().snapshot(0).expect("a snapshot").sequence).collect();
        is_over.store(true, Ordering::Relaxed);
        snapshots
    });
    assert!(snapshots.is_sorted(), "{snapshots:?}");
    let before = bench.digest();
    // The power goes, and all that was answered is there, from the last snapshot on.
    let crashed = bench.disk.fork();
    crashed.crash(3);
    bench.stop();
    let deployment = Deployment::load(&*bench.root.storage()).expect("read").expect("it is there");
    let settings = StateSettings::default();
    let (machine, _) = verify_partition(&bench.disk.storage(), &deployment, 0, &settings, &mut |_| {})
        .expect("the journal says the same as its snapshots");
    assert!(before.contains(&format!("{:032x}", machine.state().digest(None))), "{before}");
    bench.disk = crashed;
    bench.start();
    assert_eq!(bench.digest(), before);
    bench.stop();
}
