//! Where nothing was changed, nothing differs.

use std::sync::atomic::{AtomicBool, Ordering};

use scarce_core::machine::Machine;
use scarce_reconcile::{CheckKind, CheckState, FilesLog, ReconcileError, Served};
use scarce_sim::compare::envelope;
use scarce_sim::random::{Sequence, Step};
use scarce_testkit::DatabaseKind;

use crate::kit::{Bench, Copied, LINES, PARTITIONS, compare, database, of, runtime, try_compare};

#[test]
fn engine_log_and_tables_agree_on_both_engines_and_in_every_database() {
    let runtime = runtime();
    Bench::each(|bench| {
        for kind in DatabaseKind::ALL {
            let database = database(&runtime, kind);
            let projection = bench.project(&runtime, &database);
            let mut log = Served::new(bench.engine.clone());
            let report = compare(&runtime, &mut log, Some(bench), Some(&projection));
            assert_eq!(report.differences(), 0, "{kind:?}: {report:#?}");
            for check in &report.checks {
                let is_made = check.kind == CheckKind::Settlement || check.kind == CheckKind::Sums;
                assert!(is_made || check.compared > 0, "{kind:?}: {check:?}");
                assert_eq!(check.state, CheckState::Equal, "{kind:?}: {check:?}");
            }
            let reached: Vec<_> = report.reaches.iter().map(|its| Some(its.log) == its.tables).collect();
            assert_eq!(reached, vec![true; PARTITIONS as usize], "{report:#?}");
        }
    });
}

#[test]
fn what_is_written_meanwhile_is_no_difference() {
    let runtime = runtime();
    for bench in [Bench::embedded(), Bench::redis()] {
        LINES.iter().for_each(|line| bench.send(line));
        let database = database(&runtime, DatabaseKind::Sqlite);
        let projection = bench.project(&runtime, &database);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..1_000 {
                    if is_done.load(Ordering::Relaxed) {
                        break;
                    }
                    bench.send(&format!("ACCOUNT.OPEN {{a}}new-{number} EUR"));
                    bench.send("ACCOUNT.CREDIT {a}u1 1");
                    bench.send("STOCK.RESTOCK sku-1 1");
                }
            });
            // Also where something panics, so that the thread ends.
            let _done = Done(&is_done);
            for _ in 0..3 {
                let mut log = Served::new(bench.engine.clone());
                let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
                assert_eq!(report.differences(), 0, "{report:#?}");
            }
        });
    }
}

/// Says so when it is dropped.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn tables_that_are_behind_are_compared_as_far_as_they_are_and_said_to_be() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    (0..3).for_each(|_| bench.send("ACCOUNT.CREDIT {a}u1 1"));
    let mut log = Served::new(bench.engine.clone());
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    assert_eq!(report.differences(), 0, "{report:#?}");
    let tables = report.checks.iter().find(|check| check.kind == CheckKind::Tables).expect("a check");
    assert!(tables.notes.iter().any(|note| note.contains("3 events behind")), "{tables:?}");
}

#[test]
fn a_log_without_its_beginning_is_compared_from_the_oldest_snapshot_on() {
    let (runtime, mut bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let is_trimmed = || (0..PARTITIONS).any(|its| bench.engine.first_sequence(its).expect("a sequence") > 1);
    for round in 0..200 {
        bench.credit("{a}u1", 500);
        (0..PARTITIONS).for_each(|partition| bench.project_on(&runtime, &projection, partition));
        for partition in 0..PARTITIONS {
            bench.engine.snapshot(partition).expect("a snapshot");
        }
        if is_trimmed() {
            break;
        }
        assert!(round < 199, "nothing was trimmed");
    }
    bench.send("ACCOUNT.DEBIT {a}u1 7");
    (0..PARTITIONS).for_each(|partition| bench.project_on(&runtime, &projection, partition));
    bench.shut_down();
    let report = |log: &mut FilesLog| compare(&runtime, log, None, Some(&projection));
    let mut log = FilesLog::open(bench.folder.path(), false).expect("files");
    let equal = report(&mut log);
    assert_eq!(equal.differences(), 0, "{equal:#?}");
    assert!(equal.reaches.iter().any(|reach| reach.begins_after > 0), "{equal:#?}");
    let of_log = equal.checks.iter().find(|check| check.kind == CheckKind::Log).expect("a check");
    assert!(of_log.notes.iter().any(|note| note.contains("taken from the state at")), "{of_log:?}");
    let changed =
        "UPDATE accounts SET balance = balance + 1, available = available + 1 WHERE account_id = '{a}u1'";
    runtime.block_on(database.run(changed));
    let different = report(&mut log);
    let found = of(&different, CheckKind::Tables);
    assert!(found.iter().any(|its| its.field == "accounts.balance of '{a}u1'"), "{different:#?}");
    let last = found[0].first_event.as_ref().expect("an event");
    assert_eq!(last.event, Some("account.debited"), "{different:#?}");
}

/// The figures of every event are what those before come to, whatever commands there were.
#[test]
fn random_logs_agree_with_themselves() {
    let runtime = runtime();
    for seed in 1..60 {
        let sequence = Sequence::random(seed, 300);
        let mut machine = Machine::new(sequence.settings.clone(), 0);
        let mut log = Vec::new();
        for step in &sequence.steps {
            match step {
                Step::Submit { clock, namespace, options, lines } => {
                    if let Ok(envelope) = envelope(namespace, options, lines) {
                        let is_read = envelope
                            .commands()
                            .iter()
                            .any(|command| command.spec().effect == scarce_core::command::Effect::Read);
                        if !is_read {
                            machine.submit(&envelope, *clock, &mut log);
                        }
                    }
                }
                Step::Expire { clock, limit } => drop(machine.expire(*limit, *clock, &mut log)),
                Step::Reload | Step::Fold => machine.set_epoch(machine.epoch() + 1),
            }
        }
        let entries = scarce_core::event::Entry::read_all(&log).expect("a log");
        let mut copied = Copied {
            deployment_id: "0".repeat(32),
            settings: sequence.settings.clone(),
            entries: vec![entries, Vec::new()],
            trimmed_through: [0; PARTITIONS as usize],
            is_state_of_engine: false,
        };
        let report = compare(&runtime, &mut copied, None, None);
        assert_eq!(report.differences(), 0, "seed {seed}: {report:#?}");
        assert_eq!(report.reaches[0].log, machine.sequence(), "seed {seed}");
    }
}

#[test]
fn sides_of_two_deployments_are_not_compared() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut other = Copied { deployment_id: "0".repeat(32), ..bench.copy() };
    for (engine, tables) in [(Some(&bench), None), (None, Some(&projection))] {
        let refused = try_compare(&runtime, &mut other, engine, tables);
        assert!(matches!(refused, Err(ReconcileError::OtherDeployment { .. })), "{refused:?}");
    }
}
