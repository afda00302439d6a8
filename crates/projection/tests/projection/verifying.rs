//! The comparison of the tables with the log: whatever row is removed, added or changed, in any table, is found.

use std::sync::Arc;

use scarce_api::event::of_entry;
use scarce_core::event::Entry;
use scarce_core::state::StateSettings;
use scarce_projection::{Compared, Projection, ProjectionError, Replay};

use crate::histories::LINES;
use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, columns, open, take};

/// What a server would show of the events after a sequence, a few at a time.
fn shown(entries: &[Entry], after: u64) -> Vec<Vec<u8>> {
    let events = entries.iter().flat_map(|entry| of_entry(0, entry, after));
    events.take(7).map(|(_, event)| event.to_string().into_bytes()).collect()
}

pub async fn compare(projection: &Projection, log: &Log) -> Compared {
    let mut frozen = projection.freeze().await.expect("the database");
    let folder = tempfile::tempdir().expect("a folder");
    let replay = Replay::open(folder.path(), DEPLOYMENT).await.expect("a file");
    for its in frozen.positions() {
        let entries = Arc::new(log.entries.clone());
        let ask = |after| Ok::<_, ProjectionError>(shown(&entries, after));
        replay.write(its, ask).await.expect("the log");
    }
    let compared = frozen.compare(&replay, 10).await.expect("the database");
    let waits_for_disk = folder.path().join("replay.db-wal").exists();
    assert!(!waits_for_disk, "what is thrown away afterwards does not compete with a server's journal");
    frozen.close().await;
    replay.close().await;
    compared
}

#[tokio::test]
async fn a_row_that_is_removed_or_changed_is_found_in_any_table() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings::default(), 0);
        LINES.iter().for_each(|line| log.run(line));
        log.put_back(5);
        take(&mut projection.consumer(0), &log.all()).await;
        let compared = compare(&projection, &log).await;
        assert!(compared.rows > 30 && compared.wrong_rows == 0, "{kind:?}: {compared:?}");
        for table in columns()
            .keys()
            .filter(|table| !["meta", "assets", "cursors", "openings"].contains(&table.as_str()))
        {
            database.run(&format!("CREATE TABLE kept AS SELECT * FROM {table}")).await;
            let rows: u64 =
                database.figure("COUNT(*)", &format!("FROM {table}")).await.parse().expect("a count");
            assert!(rows > 0, "the log makes no row of {table}");
            database.run(&format!("DELETE FROM {table}")).await;
            let compared = compare(&projection, &log).await;
            assert_eq!(compared.wrong_rows, rows, "{kind:?}: {table} was emptied");
            let first = &compared.differences[0];
            assert!(first.table == table && first.column.is_none() && first.tables.is_none(), "{first:?}");
            database.run(&format!("INSERT INTO {table} SELECT * FROM kept")).await;
            database.run("DROP TABLE kept").await;
        }
        assert_eq!(compare(&projection, &log).await.wrong_rows, 0, "{kind:?}: all was put back");
        check_changes(&database, &projection, &log).await;
    }
}

/// A changed value and an added row.
async fn check_changes(database: &Database, projection: &Projection, log: &Log) {
    database.run("UPDATE receipts SET owner_id = 'thief' WHERE sku = 'sku-1' AND first_serial = 1").await;
    let added = "INSERT INTO packet_claims (campaign_id, packet, partition_id, sequence, user_id, amount, at_ms) \
                 VALUES ('c1', 3, 0, 999, 'thief', 10, 1)";
    database.run(added).await;
    let compared = compare(projection, log).await;
    let found: Vec<_> = compared
        .differences
        .iter()
        .map(|its| (its.table, its.key.as_str(), its.column, its.tables.as_deref(), its.log.as_deref()))
        .collect();
    let row = "partition_id=0 sequence=999 user_id=thief amount=10 at_ms=1";
    let expected = [
        ("receipts", "sku-1 1", Some("owner_id"), Some("thief"), Some("u1")),
        ("packet_claims", "c1 3", None, Some(row), None),
    ];
    assert_eq!((found.as_slice(), compared.wrong_rows), (&expected[..], 2));
}

#[tokio::test]
async fn what_is_written_meanwhile_is_no_difference() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings::default(), 0);
        LINES.iter().for_each(|line| log.run(line));
        let pieces = log.pieces(4);
        let mut consumer = projection.consumer(0);
        let (before, later) = pieces.split_at(4);
        for piece in before {
            take(&mut consumer, piece).await;
        }
        let mut frozen = projection.freeze().await.expect("the database");
        for piece in later {
            take(&mut consumer, piece).await;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let replay = Replay::open(folder.path(), DEPLOYMENT).await.expect("a file");
        let its = frozen.positions()[0];
        assert_eq!(its.position, before[3].end());
        replay
            .write(&its, |after| Ok::<_, ProjectionError>(shown(&log.entries, after)))
            .await
            .expect("the log");
        assert_eq!(frozen.compare(&replay, 10).await.expect("the database").wrong_rows, 0, "{kind:?}");
        frozen.close().await;
    }
}

#[tokio::test]
async fn a_log_that_is_another_or_shorter_is_reported() {
    let database = Database::new(DatabaseKind::Sqlite);
    let projection = open(&database, 5).await;
    let mut log = Log::new(StateSettings::default(), 0);
    LINES.iter().for_each(|line| log.run(line));
    take(&mut projection.consumer(0), &log.all()).await;
    let frozen = projection.freeze().await.expect("the database");
    let folder = tempfile::tempdir().expect("a folder");
    let replay = Replay::open(folder.path(), DEPLOYMENT).await.expect("a file");
    let shorter = &log.entries[..9];
    let ask = |after| Ok::<_, ProjectionError>(shown(shorter, after));
    let refused = replay.write(&frozen.positions()[0], ask).await.expect_err("it is shorter").to_string();
    assert!(refused.contains("the log ends at"), "{refused}");
    frozen.close().await;
}

/// A table, and its column whose sum does not agree; `None` where the row is missing.
pub type Wrong = (&'static str, Option<&'static str>);

/// The sums that do not agree.
pub async fn wrong_sums(projection: &Projection) -> Vec<Wrong> {
    let mut frozen = projection.freeze().await.expect("the database");
    let (found, count) = frozen.check_sums(10).await.expect("the database");
    let (first, all) = frozen.check_sums(1).await.expect("the database");
    assert_eq!(
        (first.len() <= found.len(), all, count),
        (true, count, found.len() as u64),
        "all are counted"
    );
    frozen.close().await;
    found.iter().map(|its| (its.table, its.column)).collect()
}

#[tokio::test]
async fn a_lost_row_is_found_by_the_sums_where_the_log_does_not_reach_back() {
    let cases: [(&str, &[Wrong]); 7] = [
        ("DELETE FROM accounts WHERE account_id = 'u1'", &[("accounts", None), ("accounts", None)]),
        ("DELETE FROM entries WHERE amount = 500", &[("accounts", Some("balance"))]),
        (
            "DELETE FROM entries WHERE amount = -80",
            &[("accounts", Some("balance")), ("entries", Some("amount"))],
        ),
        (
            "UPDATE receipts SET quantity = 4 WHERE sku = 'sku-1' AND first_serial = 1",
            &[("stock", Some("sold"))],
        ),
        ("DELETE FROM stock_returns WHERE sku = 'sku-1'", &[("receipts", Some("returned"))]),
        ("DELETE FROM reservations WHERE reservation_id = 'r2'", &[("stock", Some("reserved"))]),
        ("DELETE FROM packet_claims WHERE user_id = 'u1'", &[("packet_campaigns", Some("claimed_amount"))]),
    ];
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings::default(), 0);
        LINES.iter().for_each(|line| log.run(line));
        for (lost, expected) in cases {
            projection.rebuild().await.expect("the database");
            take(&mut projection.consumer(0), &log.all()).await;
            assert_eq!(wrong_sums(&projection).await, [], "{kind:?}");
            database.run(lost).await;
            assert_eq!(wrong_sums(&projection).await, expected, "{kind:?}: {lost}");
        }
    }
}

#[tokio::test]
async fn sums_agree_in_random_logs() {
    let database = Database::new(DatabaseKind::Sqlite);
    let projection = open(&database, 5).await;
    for seed in 1..30 {
        let log = Log::random(seed, 200);
        projection.rebuild().await.expect("the database");
        take(&mut projection.consumer(0), &log.all()).await;
        assert_eq!(wrong_sums(&projection).await, [], "seed {seed}");
    }
}
