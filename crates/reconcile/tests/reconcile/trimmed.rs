//! Logs whose beginning is gone: what they no longer tell is neither called wrong nor put right.

use scarce_core::event::{AccountEvent, Event, StockEvent};
use scarce_core::state::StateSettings;
use scarce_projection::Repaired;
use scarce_reconcile::{CheckKind, LogSource, Options, Served, compare_rows};
use scarce_testkit::{DatabaseKind, wait_until};

use crate::kit::{Bench, Copied, LINES, PARTITIONS, compare, database, mend, of, runtime, told};

/// A copy of which nothing is left but what it came to.
fn trimmed(bench: &Bench) -> Copied {
    let mut log = bench.copy();
    let last = |entries: &Vec<_>| entries.last().map_or(0, scarce_core::event::Entry::sequence_last);
    let ends: Vec<u64> = log.entries.iter().map(last).collect();
    log.trimmed_through.copy_from_slice(&ends);
    log
}

#[test]
fn sales_whose_receipts_left_memory_are_neither_wrong_nor_removed() {
    let (runtime, state) = (runtime(), StateSettings { receipt_retention_ms: 1, ..StateSettings::default() });
    let bench = Bench::embedded_with(state);
    bench.send("STOCK.CREATE s 10");
    (0..5).for_each(|buyer| bench.send(&format!("STOCK.TAKE s 1 u{buyer}")));
    // All of them: nothing may happen once the tables are compared.
    let is_forgotten = |entries: &[scarce_core::event::Entry]| {
        let mut events = entries.iter().flat_map(|entry| &entry.events);
        events.any(|event| matches!(event, Event::Stock(StockEvent::StockReceiptsForgotten(its)) if its.through_serial == 5))
    };
    let have_left = || std::future::ready(bench.copy().entries.iter().any(|its| is_forgotten(its)));
    runtime.block_on(wait_until("receipts leave memory", have_left));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut log = trimmed(&bench);
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    assert_eq!(report.differences(), 0, "{report:#?}");
    let repair = mend(&runtime, &mut log, &projection, true).repair.expect("a repair");
    assert_eq!((repair.is_done, repair.rows), (true, Repaired::default()));
    let report = compare(&runtime, &mut Served::new(bench.engine.clone()), Some(&bench), Some(&projection));
    assert_eq!(report.differences(), 0, "the rows are still there: {report:#?}");
}

/// What came before the beginning differs, and nothing tells who is right.
#[test]
fn a_state_that_may_be_wrong_changes_no_row() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut log = trimmed(&bench);
    for event in log.entries.iter_mut().flatten().flat_map(|entry| &mut entry.events) {
        if let Event::Account(AccountEvent::AccountCredited(its)) = event {
            its.amount += 900;
            (its.balance, its.available) = (its.balance + 900, its.available + 900);
        }
    }
    for is_state_of_engine in [true, false] {
        log.is_state_of_engine = is_state_of_engine;
        let report = mend(&runtime, &mut log, &projection, true);
        assert!(report.differences() > 0, "{report:#?}");
        let repair = report.repair.expect("a repair");
        if is_state_of_engine {
            assert!(repair.is_done && repair.rows.left > 0, "{repair:?}");
            assert_eq!(repair.rows, Repaired { left: repair.rows.left, ..Repaired::default() });
        } else {
            assert!(repair.refused.is_some_and(|why| why.contains("sums")));
        }
    }
    let report = compare(&runtime, &mut Served::new(bench.engine.clone()), Some(&bench), Some(&projection));
    assert_eq!(report.differences(), 0, "nothing was changed: {report:#?}");
}

#[test]
fn an_engine_is_not_called_equal_to_itself() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let mut log = trimmed(&bench);
    log.is_state_of_engine = true;
    let report = compare(&runtime, &mut log, Some(&bench), None);
    let engine = report.checks.iter().find(|its| its.kind == CheckKind::Engine).expect("the check");
    assert_eq!(engine.state.word(), "skipped", "{report:#?}");
}

#[test]
fn tables_that_do_not_say_how_far_they_are_differ_and_lose_no_row() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let partition = bench.copy().find(|name, _| name == "account.opened").0;
    runtime.block_on(database.run(&format!("DELETE FROM cursors WHERE partition_id = {partition}")));
    let mut log = Served::new(bench.engine.clone());
    let report = mend(&runtime, &mut log, &projection, true);
    let found: Vec<_> = of(&report, CheckKind::Tables).into_iter().map(told).collect();
    assert_eq!(found.len(), 1, "{report:#?}");
    assert_eq!((found[0].1, found[0].3), ("last position", None), "{report:#?}");
    assert_eq!(report.repair.expect("a repair").rows, Repaired::default());
    assert!(partition < PARTITIONS as usize);
}

#[test]
fn tables_that_end_before_a_trimmed_log_begins_are_reported() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    bench.credit("{a}u1", 10);
    let mut log = trimmed(&bench);
    log.is_state_of_engine = true;
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    let found: Vec<_> = of(&report, CheckKind::Tables).into_iter().map(told).collect();
    assert_eq!(found.len(), 1, "{report:#?}");
    assert_eq!((found[0].1, found[0].4.map(|part| part.1)), ("last position", Some(None)), "{report:#?}");
}

#[test]
fn a_log_that_is_trimmed_while_it_is_compared_says_what_to_do() {
    let bench = Bench::embedded();
    LINES.iter().for_each(|line| bench.send(line));
    let mut log = Served::new(bench.engine.clone());
    let mut first = 1;
    while first == 1 {
        bench.credit("{a}u1", 500);
        for partition in 0..PARTITIONS {
            bench.engine.snapshot(partition).expect("a snapshot");
        }
        first = (0..PARTITIONS)
            .map(|its| bench.engine.first_sequence(its).expect("a sequence"))
            .max()
            .expect("one");
    }
    let is_it = |its: &u32| bench.engine.first_sequence(*its).expect("a sequence") == first;
    let partition = (0..PARTITIONS).find(is_it).expect("a trimmed partition");
    let read = log.read(partition, first - 1, &mut |_| Ok(true));
    let told = read.expect_err("it is gone").to_string();
    let expected = format!("partition {partition} was trimmed up to {} while it was compared", first - 1);
    assert!(told.contains(&expected) && told.contains("raise --redis-log-retention-ms"), "{told}");
    log.read(partition, first, &mut |_| Ok(true)).expect("the rest");
}

#[test]
fn what_is_open_is_compared_by_its_last_use_where_the_log_begins_later() {
    for kind in DatabaseKind::ALL {
        let (runtime, bench) = (runtime(), Bench::embedded());
        LINES.iter().for_each(|line| bench.send(line));
        let database = database(&runtime, kind);
        let projection = bench.project(&runtime, &database);
        let mut log = trimmed(&bench);
        let mut compare = || {
            let rows =
                compare_rows(runtime.handle(), &projection, &mut log, Options::default(), &mut |_| true);
            rows.expect("the rows")
        };
        let rows = compare();
        assert_eq!((rows.compared.wrong_rows, rows.wrong_sums.1), (0, 0), "{kind:?}: {rows:?}");
        assert!(rows.left_out.is_empty() && rows.findings.is_empty(), "{kind:?}: {rows:?}");
        // The hold that has ended, the reservation that was confirmed and the order that was filled are not in the state.
        for (table, count) in
            [("entries", 5), ("holds", 1), ("orders", 1), ("reservations", 1), ("operations", 1)]
        {
            assert_eq!(rows.compared.unproved.get(table), Some(&count), "{kind:?}: {table}: {rows:?}");
        }
        for (table, changed) in [
            ("holds", "UPDATE holds SET deadline_ms = deadline_ms + 1 WHERE hold_id = 'h1'"),
            ("reservations", "UPDATE reservations SET owner_id = 'thief' WHERE reservation_id = 'r2'"),
            ("orders", "UPDATE orders SET price = 1 WHERE order_id = 'o3'"),
            ("orders", "DELETE FROM orders WHERE order_id = 'o1'"),
        ] {
            runtime.block_on(database.run(changed));
            let rows = compare();
            let tables: Vec<_> = rows.compared.differences.iter().map(|its| its.table).collect();
            assert!(tables.contains(&table), "{kind:?}: {changed}: {tables:?}");
            assert_eq!(rows.wrong_sums.1, 0, "{kind:?}: no sum shows it");
        }
        assert_eq!(compare().compared.wrong_rows, 4, "{kind:?}");
        let repair = mend(&runtime, &mut log, &projection, true).repair.expect("a repair");
        let left = Repaired { left: 4, ..Repaired::default() };
        assert_eq!((repair.is_done, repair.rows), (true, left), "{kind:?}: which use it is, nobody knows");
    }
}
