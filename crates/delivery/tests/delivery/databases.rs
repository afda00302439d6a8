//! What delivery leaves to other users of its database.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use scarce_sql::{Address, Link};

use crate::kit::{Bench, Database, DatabaseKind, open, options, wait_until};
use crate::settlement::counts;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_for_its_owner_only_and_has_no_log_beside_it_after_the_end() {
    let (bench, folder) = (Bench::new(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("delivery.db");
    let database = Database::at(DatabaseKind::Sqlite, format!("sqlite://{}", path.display()));
    let delivery = open(&database, &bench, options()).await;
    bench.campaign("c", 1).await;
    bench.claim("c", "u").await;
    let flow = bench.flow_to_settlement(&delivery);
    wait_until("it was not written", || async { counts(&delivery).await.0 == 1 }).await;
    let log = PathBuf::from(format!("{}-wal", path.display()));
    for file in [&path, &log] {
        let mode = std::fs::metadata(file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    flow.stop().await;
    delivery.close().await;
    assert!(!log.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_was_interrupted_is_applied_again() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::MariaDb));
    open(&database, &bench, options()).await.close().await;
    // As after a kill behind the statement, and as before it.
    for undone in ["", "ALTER TABLE delivery_settlements DROP COLUMN operation_scheme"] {
        if !undone.is_empty() {
            database.run(undone).await;
        }
        database.run("UPDATE delivery_migrations SET success = FALSE WHERE version = 2").await;
        let delivery = open(&database, &bench, options()).await;
        assert_eq!(counts(&delivery).await.0, 0);
        delivery.close().await;
        let there = "FROM information_schema.columns WHERE table_name = 'delivery_settlements' \
                     AND column_name = 'operation_scheme' AND table_schema = DATABASE()";
        assert_eq!(database.figure("COUNT(*)", there).await, "1");
    }
}

/// A statement that waits for another session's lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_not_waited_for_forever_and_the_error_says_how_to_find_it() {
    let cases = [
        (DatabaseKind::Postgres, "BEGIN; LOCK TABLE delivery_settlements", "pg_stat_activity"),
        (DatabaseKind::MariaDb, "LOCK TABLES delivery_settlements WRITE", "SHOW FULL PROCESSLIST"),
    ];
    for (kind, lock, advice) in cases {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        let address = Address::parse(database.url(), "test").expect("an address");
        let mut other = Link::open(&address).await.expect("a connection");
        other.run(lock).await.expect("a lock");
        let error = delivery.replay_campaign("c").await.expect_err("it is locked").to_string();
        assert!(error.contains("lock") && error.contains(advice), "{error}");
        other.close().await;
        delivery.replay_campaign("c").await.expect("it is free");
    }
}
