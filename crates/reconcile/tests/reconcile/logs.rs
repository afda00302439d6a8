//! Logs from which something was taken, or to which something was added.

use scarce_core::event::{AccountEvent, Event};
use scarce_reconcile::{CheckKind, FilesLog};
use scarce_testkit::DatabaseKind;

use crate::kit::{Bench, LINES, compare, copy_folder, database, of, runtime, told};

fn is_debit(name: &str, _: &str) -> bool {
    name == "account.debited"
}

#[test]
fn a_lost_event_leaves_a_gap_that_is_named() {
    let runtime = runtime();
    Bench::each(|bench| {
        let mut log = bench.copy();
        let place = log.find(is_debit);
        let lost = log.lose(place, false);
        let report = compare(&runtime, &mut log, None, None);
        let found: Vec<_> = of(&report, CheckKind::Log).into_iter().map(told).collect();
        let (next, after) = (lost.to_string(), (lost + 1).to_string());
        assert_eq!(
            found,
            [(None, "sequence", Some(&*next), Some(&*after), Some((lost, None)))],
            "{report:#?}"
        );
    });
}

/// A log that was numbered anew contradicts itself at the next event of the account, whose figures contain the lost one.
#[test]
fn a_lost_event_that_left_no_gap_is_named_by_the_figures_after_it() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut log = bench.copy();
    let place = log.find(is_debit);
    let lost = log.lose(place, true);
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    let found: Vec<_> = of(&report, CheckKind::Log).into_iter().map(told).collect();
    let part = Some((lost, Some("account.transferred")));
    assert_eq!(found, [(Some("{a}u1"), "balance", Some("420"), Some("300"), part)], "{report:#?}");
    assert!(report.differences() > 0 && report.checks.iter().any(|its| its.kind == CheckKind::Engine));
}

/// A log that goes another way than the engine did, without contradicting itself.
#[test]
fn an_engine_that_has_another_value_parts_after_the_last_event_that_gave_the_same() {
    let runtime = runtime();
    Bench::each(|bench| {
        bench.send("ACCOUNT.CREDIT {a}u2 11");
        let mut log = bench.copy();
        let (mut changed, mut sequence) = (0, 0);
        for entry in log.entries.iter_mut().flatten() {
            for event in &mut entry.events {
                if let Event::Account(AccountEvent::AccountCredited(its)) = event
                    && its.amount == 11
                {
                    (its.amount, its.balance, its.available) = (12, its.balance + 1, its.available + 1);
                    (changed, sequence) = (changed + 1, entry.head.sequence_first);
                }
            }
        }
        assert_eq!(changed, 1);
        let report = compare(&runtime, &mut log, Some(bench), None);
        let found: Vec<_> = of(&report, CheckKind::Engine).into_iter().map(told).collect();
        let part = Some((sequence, Some("account.credited")));
        assert_eq!(
            found,
            [
                (Some("{a}u2"), "account.balance", Some("92"), Some("91"), part),
                (Some("{a}u2"), "account.available", Some("92"), Some("91"), part),
            ],
            "{report:#?}"
        );
    });
}

/// Each figure follows from those before, and still the account may not have spent so much.
#[test]
fn an_invariant_that_does_not_hold_is_named_with_the_event_since_which_it_does_not() {
    let runtime = runtime();
    Bench::each(|bench| {
        bench.send("ACCOUNT.DEBIT {a}u2 11");
        bench.send("ACCOUNT.CREDIT {a}u2 1");
        bench.send("ACCOUNT.CREDIT {a}u1 1");
        let mut log = bench.copy();
        let mut broken = None;
        for entry in log.entries.iter_mut().flatten() {
            for event in &mut entry.events {
                match event {
                    Event::Account(AccountEvent::AccountDebited(its)) if its.amount == 11 => {
                        its.amount += 100;
                        (its.balance, its.available) = (its.balance - 100, its.available - 100);
                        broken = Some(entry.head.sequence_first);
                    }
                    Event::Account(AccountEvent::AccountCredited(its))
                        if broken.is_some() && its.account.as_str() == "{a}u2" =>
                    {
                        (its.balance, its.available) = (its.balance - 100, its.available - 100);
                    }
                    _ => {}
                }
            }
        }
        let report = compare(&runtime, &mut log, None, None);
        assert!(of(&report, CheckKind::Log).is_empty(), "{report:#?}");
        let found: Vec<_> = of(&report, CheckKind::Invariants).into_iter().map(told).collect();
        let part = broken.map(|sequence| (sequence, Some("account.debited")));
        assert_eq!(
            found,
            [(Some("{a}u2"), "available, by its overdraft", Some("0 or more"), Some("-30"), part)],
            "{report:#?}"
        );
    });
}

#[test]
fn a_log_that_ends_before_the_engine_and_the_tables_is_named() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut log = bench.copy();
    let lost = log.entries[0].pop().expect("an entry").head.sequence_first;
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    for kind in [CheckKind::Engine, CheckKind::Tables] {
        let first = of(&report, kind)[0].first_event.as_ref().expect("an event");
        assert_eq!((first.partition, first.sequence), (0, lost), "{kind:?}: {report:#?}");
    }
}

#[test]
fn a_copied_journal_with_a_damaged_frame_is_broken_where_it_is() {
    let (runtime, mut bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    bench.shut_down();
    let copy = tempfile::tempdir().expect("a folder");
    copy_folder(bench.folder.path(), copy.path());
    let mut whole = FilesLog::open(copy.path(), false).expect("files");
    let report = compare(&runtime, &mut whole, None, None);
    assert_eq!(report.differences(), 0, "{report:#?}");
    let reached = report.reaches[0].log.max(report.reaches[1].log);
    damage(copy.path());
    let mut damaged = FilesLog::open(copy.path(), false).expect("files");
    let report = compare(&runtime, &mut damaged, None, None);
    let found = of(&report, CheckKind::Log);
    assert!(!found.is_empty(), "{report:#?}");
    for finding in found {
        let first = finding.first_event.as_ref().expect("an event");
        assert!(finding.found.as_ref().is_some_and(|what| what.contains("corrupt")), "{report:#?}");
        assert!((2..=reached).contains(&first.sequence), "{report:#?}");
    }
}

/// Changes a byte in the middle of what the journal says of an item.
fn damage(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            damage(&path);
            continue;
        }
        let mut bytes = std::fs::read(&path).expect("a file");
        let name = b"sku-1";
        let found: Vec<usize> =
            (0..bytes.len().saturating_sub(name.len())).filter(|at| bytes[*at..].starts_with(name)).collect();
        if let Some(at) = found.get(found.len() / 2)
            && found.len() > 2
        {
            bytes[*at] ^= 1;
            std::fs::write(&path, bytes).expect("a file");
        }
    }
}
