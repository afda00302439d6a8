//! Beginning with the state at one position, where the log before it is gone.

use scarce_core::machine::Machine;
use scarce_outflow::{Batch, Consumer};
use scarce_projection::history::{Paging, Span};
use scarce_sql::Dialect;

use crate::agreement;
use crate::kit::{Database, DatabaseKind, Log, batch, dump, open, position, take};
use crate::verifying::compare;

const KINDS: [DatabaseKind; 3] = [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb];

/// The state after some entries of a log, and the rest of it.
fn cut(log: &Log, entries: usize) -> (Machine, Batch) {
    let mut machine = Machine::new(log.machine.state().settings.clone(), 0);
    log.entries[..entries].iter().for_each(|entry| machine.apply(entry));
    let after = log.entries[entries - 1].end();
    (machine, batch(&log.entries[entries..], after))
}

#[tokio::test]
async fn a_state_and_the_rest_of_the_log_come_to_what_the_machine_has() {
    for (kind, seeds) in KINDS.into_iter().zip([1..=8, 9..=10, 11..=12]) {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        for seed in seeds {
            let log = Log::random(seed, 200);
            for part in 1..4 {
                let (image, rest) = cut(&log, log.entries.len() * part / 4);
                let reached = rest.after;
                projection.rebuild().await.expect("the database");
                let mut consumer = projection.consumer(0);
                consumer
                    .begin_with(Box::new(image))
                    .await
                    .unwrap_or_else(|trouble| panic!("seed {seed}: {trouble}"));
                assert_eq!(position(&mut consumer).await, reached, "seed {seed}");
                take(&mut consumer, &rest).await;
                agreement::check_state(&database, &log).await;
                let opening = database.ask(&["sequence"], "FROM openings WHERE partition_id = 0").await;
                assert_eq!(opening, [[reached.sequence.to_string()]]);
            }
        }
    }
}

#[tokio::test]
async fn a_balance_that_was_there_is_the_first_line_of_the_statement() {
    for kind in KINDS {
        let (database, mut log) = (Database::new(kind), Log::new(Default::default(), 0));
        for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.OPEN b EUR OVERDRAFT 50", "ACCOUNT.CREDIT a 100"] {
            log.run(line);
        }
        log.run("ACCOUNT.DEBIT b 20");
        let (before, count) = (log.machine.now(), log.entries.len());
        log.run("ACCOUNT.TRANSFER a b 30");
        let (image, rest) = cut(&log, count);
        let projection = open(&database, 5).await;
        let mut consumer = projection.consumer(0);
        consumer.begin_with(Box::new(image)).await.expect("the database");
        take(&mut consumer, &rest).await;
        let columns = ["account_id", "kind", "amount", "balance", "at_ms", "sequence"];
        let rows = database.ask(&columns, "FROM account_statement ORDER BY account_id, sequence").await;
        let (at, last) = (before.to_string(), log.machine.now().to_string());
        let lines = [
            ["a", "opening", "100", "100", &at, "4"],
            ["a", "transfer", "-30", "70", &last, "5"],
            ["b", "opening", "-20", "-20", &at, "4"],
            ["b", "transfer", "30", "10", &last, "5"],
        ];
        assert_eq!(rows, lines, "{kind:?}");
        let flows = database.ask(&["account_id", "received"], "FROM account_flows ORDER BY account_id").await;
        assert_eq!(flows, [["a", "0"], ["b", "30"]], "nobody is known to have paid what was there");
    }
}

#[tokio::test]
async fn a_state_comes_once_and_all_or_nothing() {
    for kind in KINDS {
        let (database, log) = (Database::new(kind), Log::random(3, 200));
        let projection = open(&database, 5).await;
        let (image, rest) = cut(&log, log.entries.len() / 2);
        let mut consumer = projection.consumer(0);
        // A row that is in the way of the last table: nothing else is left behind.
        database.run("INSERT INTO openings VALUES (0, 1, 1, 1, 1)").await;
        consumer.begin_with(Box::new(image)).await.expect_err("a row is there already");
        database.run("DELETE FROM openings").await;
        assert!(dump(&database).await.iter().all(|(table, rows)| table == "cursors" || rows.is_empty()));
        let image = || cut(&log, log.entries.len() / 2).0;
        consumer.begin_with(Box::new(image())).await.expect("the database");
        let opened = dump(&database).await;
        let trouble = projection.consumer(0).begin_with(Box::new(image())).await.expect_err("it has begun");
        assert!(trouble.reason.contains("another process"), "{trouble}");
        assert_eq!(dump(&database).await, opened);
        take(&mut consumer, &rest).await;
        agreement::check_state(&database, &log).await;
    }
}

#[tokio::test]
async fn tables_of_the_version_before_keep_their_rows() {
    for (kind, dialect) in KINDS.into_iter().zip([Dialect::Sqlite, Dialect::Postgres, Dialect::MySql]) {
        let (database, log) = (Database::new(kind), Log::random(5, 300));
        let projection = open(&database, 5).await;
        take(&mut projection.consumer(0), &log.all()).await;
        // What a later version adds is empty in the tables of this one.
        let kept = || async {
            let mut tables = dump(&database).await;
            tables.retain(|table, _| {
                !["stock_availability", "operations", "cursors"].contains(&table.as_str())
            });
            tables
        };
        let before = kept().await;
        projection.close().await;
        // As the version before had left them, but for the constraints, which only forbade more.
        let with_views =
            if dialect == Dialect::Postgres { "DROP TABLE assets CASCADE" } else { "DROP TABLE assets" };
        for undone in [
            "DROP TABLE openings",
            "DROP TABLE clock_moves",
            "DROP VIEW ledger",
            "DROP VIEW balance_sheet",
            "DROP VIEW account_balances",
            "DROP TABLE stock_availability",
            "ALTER TABLE operations DROP COLUMN event",
            "ALTER TABLE operations DROP COLUMN resource_id",
            "ALTER TABLE operations DROP COLUMN event_fields",
            "ALTER TABLE operations DROP COLUMN command",
            "ALTER TABLE operations DROP COLUMN arguments",
            "ALTER TABLE cursors DROP COLUMN step_command",
            "ALTER TABLE cursors DROP COLUMN step_arguments",
            "ALTER TABLE cursors DROP COLUMN complete_after",
            with_views,
            "DELETE FROM _sqlx_migrations WHERE version > 3",
            "UPDATE meta SET value = '3' WHERE name = 'schema_version'",
        ] {
            database.run(undone).await;
        }
        let projection = open(&database, 5).await;
        assert_eq!(kept().await, before, "{dialect:?}");
        let mut log = log;
        log.run("ACCOUNT.OPEN late EUR ID late-1");
        take(&mut projection.consumer(0), &log.all()).await;
        agreement::check(&database, &log).await;
        let old = database.figure("COUNT(*)", "FROM operations WHERE command IS NULL").await;
        assert!(old.parse::<u64>().expect("a count") > 10, "{old}");
        let found = compare(&projection, &log).await.differences;
        // The history of what was sold out is of a later version, too, and is missing there.
        assert!(found.iter().all(|its| its.table == "stock_availability"), "{dialect:?}: {found:?}");
        database.run("UPDATE operations SET command = NULL WHERE operation_id = 'late-1'").await;
        let found = compare(&projection, &log).await.differences;
        let found = found.iter().filter(|its| its.table == "operations");
        let found: Vec<_> = found.map(|its| (its.column, its.log.as_deref())).collect();
        assert_eq!(found, [(Some("command"), Some("ACCOUNT.OPEN"))], "{dialect:?}");
    }
}

#[tokio::test]
async fn units_of_a_moment_and_money_from_outside_are_right_before_and_after_the_beginning() {
    for kind in KINDS {
        let (database, mut log) = (Database::new(kind), Log::new(Default::default(), 0));
        for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.OPEN b EUR", "ACCOUNT.OPEN c USD", "ACCOUNT.CREDIT a 100"]
        {
            log.run(line);
        }
        for line in ["STOCK.CREATE s 10", "STOCK.TAKE s 3 u1", "STOCK.RESERVE s r1 2 u1 600000"] {
            log.run(line);
        }
        let (before, count) = (log.machine.now(), log.entries.len());
        for line in ["ACCOUNT.TRANSFER a b 30", "ACCOUNT.DEBIT b 5", "ACCOUNT.CREDIT c 7"] {
            log.run(line);
        }
        for line in ["STOCK.CONFIRM s r1", "STOCK.ADJUST s -1 REASON broken", "STOCK.CREATE t 4"] {
            log.run(line);
        }
        let (image, rest) = cut(&log, count);
        let projection = open(&database, 5).await;
        let mut consumer = projection.consumer(0);
        consumer.begin_with(Box::new(image)).await.expect("the database");
        take(&mut consumer, &rest).await;
        let last = log.machine.now();
        let mut found = Vec::new();
        for at_ms in [before, last] {
            let units = projection.history().units_then(at_ms.try_into().expect("a time"), "").await;
            let units = units.unwrap_or_else(|trouble| panic!("{kind:?}: {trouble}"));
            found.push(units.into_iter().map(|its| (its.sku, its.unsold, its.reserved)).collect::<Vec<_>>());
        }
        let item = |sku: &str, unsold, reserved| (sku.to_owned(), unsold, reserved);
        assert_eq!(found, [vec![item("s", 7, 2)], vec![item("s", 4, 0), item("t", 4, 0)]], "{kind:?}");
        let outside =
            projection.history().outside_entries(0, "EUR", Span::default(), &Paging::default()).await;
        let outside = outside.unwrap_or_else(|trouble| panic!("{kind:?}: {trouble}")).rows;
        let outside: Vec<_> = outside.iter().map(|its| (its.account_id.as_str(), its.amount)).collect();
        assert_eq!(outside, [("b", -5)], "{kind:?}: opening balances are no movements");
    }
}
