//! Broken databases: each problem gives a message for the operator, and the projection continues once it is
//! fixed.

use std::time::Duration;

use scarce_core::event::Position;
use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use scarce_outflow::Consumer;
use scarce_projection::{DatabaseError, Projection, ProjectionError, ProjectionOptions, SqlConsumer};

use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, batch, dump, open, position, take};

const KINDS: [DatabaseKind; 3] = [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb];

fn money() -> Log {
    let mut log = Log::new(Default::default(), 0);
    for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 100", "ACCOUNT.DEBIT a 1", "ACCOUNT.DEBIT a 2"] {
        log.run(line);
    }
    log
}

/// Consumes the last batch of a log, and checks the error message.
async fn refused(consumer: &mut SqlConsumer, log: &Log, parts: &[&str]) {
    let pieces = log.pieces(1);
    let trouble = consumer.consume(pieces.last().expect("a batch")).await.expect_err("something is wrong");
    for part in parts {
        assert!(trouble.reason.contains(part), "'{part}' is missing in: {trouble}");
    }
}

/// Projects all but the last batch of a log.
async fn begun(projection: &Projection, log: &Log) -> SqlConsumer {
    let mut consumer = projection.consumer(0);
    let pieces = log.pieces(1);
    for piece in &pieces[..pieces.len() - 1] {
        take(&mut consumer, piece).await;
    }
    consumer
}

#[tokio::test]
async fn a_broken_schema_is_told_of_until_it_is_mended() {
    for kind in KINDS {
        let (database, log) = (Database::new(kind), money());
        let mut consumer = begun(&open(&database, 5).await, &log).await;
        for (broken, mended) in [
            ("ALTER TABLE entries RENAME TO entries_away", "ALTER TABLE entries_away RENAME TO entries"),
            ("ALTER TABLE accounts RENAME TO accounts_away", "ALTER TABLE accounts_away RENAME TO accounts"),
            (
                "ALTER TABLE accounts RENAME COLUMN asset TO asset_away",
                "ALTER TABLE accounts RENAME COLUMN asset_away TO asset",
            ),
            ("ALTER TABLE cursors RENAME TO cursors_away", "ALTER TABLE cursors_away RENAME TO cursors"),
        ] {
            if kind != DatabaseKind::Postgres {
                // Views name the table, and these databases would look for it after the renaming.
                database.run("DROP VIEW IF EXISTS account_statement").await;
                for view in ["balance_sheet", "account_flows", "operation_movements"] {
                    database.run(&format!("DROP VIEW IF EXISTS {view}")).await;
                }
            }
            database.run(broken).await;
            refused(&mut consumer, &log, &["put the table or column back"]).await;
            assert_eq!(consumer.position().await.is_err(), broken.contains("cursors"));
            database.run(mended).await;
        }
        take(&mut consumer, &log.all()).await;
        assert_eq!(database.figure("balance", "FROM accounts").await, "97");
    }
}

#[tokio::test]
async fn a_row_that_was_removed_by_hand_is_told_of_until_it_is_back() {
    let (database, log) = (Database::new(DatabaseKind::Postgres), money());
    let mut consumer = begun(&open(&database, 5).await, &log).await;
    database.run("CREATE TABLE away AS SELECT * FROM accounts").await;
    database.run("DELETE FROM accounts").await;
    refused(&mut consumer, &log, &["there is no such row", "put them back"]).await;
    database.run("INSERT INTO accounts SELECT * FROM away").await;
    take(&mut consumer, &log.all()).await;
    assert_eq!(database.figure("balance", "FROM accounts").await, "97");
}

#[tokio::test]
async fn another_deployments_tables_are_refused() {
    for kind in KINDS {
        let (database, log) = (Database::new(kind), money());
        let projection = open(&database, 5).await;
        take(&mut projection.consumer(0), &log.all()).await;
        let other = "ffffffffffffffffffffffffffffffff";
        let refusal = Projection::open(database.url(), other, ProjectionOptions::default())
            .await
            .expect_err("another one");
        assert!(
            matches!(&refusal, ProjectionError::Database(DatabaseError::OtherDeployment { found, .. }) if found == DEPLOYMENT)
        );
        // The tables of another deployment replace ours, as from a backup.
        let mut consumer = projection.consumer(0);
        for table in ["meta SET value", "cursors SET deployment_id"] {
            let only = if table.starts_with("meta") { "name = 'deployment_id'" } else { "1 = 1" };
            database.run(&format!("UPDATE {table} = '{other}' WHERE {only}")).await;
        }
        let trouble = consumer.position().await.expect_err("another deployment's tables");
        assert!(trouble.reason.contains("give each deployment a database of its own"), "{trouble}");
    }
    let refused = Projection::new("sqlite:///tmp/x", "not-an-id", ProjectionOptions::default());
    assert!(matches!(refused, Err(ProjectionError::Database(DatabaseError::Deployment { .. }))));
}

#[tokio::test]
async fn tables_of_a_newer_release_are_refused() {
    for kind in KINDS {
        let database = Database::new(kind);
        drop(open(&database, 5).await);
        database.run("UPDATE _sqlx_migrations SET version = 99 WHERE version = 8").await;
        let refusal = Projection::open(database.url(), DEPLOYMENT, ProjectionOptions::default())
            .await
            .expect_err("newer");
        assert!(
            matches!(refusal, ProjectionError::Database(DatabaseError::Newer { found: 99, known: 8, .. })),
            "{refusal}"
        );
        assert!(refusal.to_string().contains("start the newer release"), "{refusal}");
    }
}

#[tokio::test]
async fn a_cursor_from_an_older_backup_is_gone_on_from() {
    for kind in KINDS {
        let (database, older, log) = (Database::new(kind), Database::new(kind), money());
        let mut consumer = begun(&open(&database, 5).await, &log).await;
        // An older copy of the tables: later rows are missing.
        let pieces = log.pieces(1);
        let mut behind = open(&older, 5).await.consumer(0);
        take(&mut behind, &pieces[0]).await;
        // Given the batch after the newer copy, it reports its position and the gap.
        let trouble = behind.consume(&pieces[2]).await.expect_err("a gap");
        assert!(
            trouble.reason.contains("up to 1.1") && trouble.reason.contains("begins at 1.3"),
            "{trouble}"
        );
        assert_eq!(position(&mut behind).await, Position { epoch: 1, sequence: 1 });
        for piece in &pieces[1..] {
            take(&mut behind, piece).await;
        }
        take(&mut consumer, &log.all()).await;
        assert_eq!(dump(&database).await, dump(&older).await);
    }
}

#[tokio::test]
async fn a_log_that_lost_events_and_numbers_them_anew_is_refused() {
    let (database, log) = (Database::new(DatabaseKind::Sqlite), money());
    let mut consumer = open(&database, 5).await.consumer(0);
    take(&mut consumer, &log.all()).await;
    // A failover lost the last event; another one took its sequence in a higher epoch.
    let mut lost = money();
    let mut rewritten = lost.entries.pop().expect("an entry");
    rewritten.head.epoch = 2;
    let trouble = consumer.consume(&batch(&[rewritten], log.all().after)).await.expect_err("rewritten");
    assert!(trouble.reason.contains("numbers them anew; rebuild the projection"), "{trouble}");
    // A batch of another partition is a bug of the program.
    let other = Log::new(Default::default(), 3);
    let foreign = scarce_outflow::Batch { partition: other.machine.partition(), ..log.all() };
    let trouble = consumer.consume(&foreign).await.expect_err("foreign");
    assert!(trouble.reason.contains("a batch of partition 3"), "{trouble}");
}

/// Ends all other connections to a database, so that new ones see the change.
async fn cut_off(server: &Postgres, database: &str) {
    let sql = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
    server.query("postgres", &sql).expect("the server");
}

#[tokio::test]
async fn postgres_that_does_not_let_one_in_or_write_is_told_of() {
    let options = PostgresOptions::new().with_password("secret");
    let mut server = Postgres::start(&options).expect("PostgreSQL");
    let database = Database::at(DatabaseKind::Postgres, server.create_database("d").expect("a database"));
    let log = money();
    let mut consumer = begun(&open(&database, 5).await, &log).await;

    server.query("postgres", "ALTER DATABASE d SET default_transaction_read_only = on").expect("the server");
    cut_off(&server, "d").await;
    refused(&mut consumer, &log, &["read-only", "let the database be written to"]).await;
    server.query("postgres", "ALTER DATABASE d SET default_transaction_read_only = off").expect("the server");

    server.query("postgres", "ALTER ROLE scarce PASSWORD 'other'").expect("the server");
    cut_off_by_restart(&mut server);
    refused(&mut consumer, &log, &["correct user and password in the address"]).await;
    let wrong =
        Projection::open(database.url(), DEPLOYMENT, ProjectionOptions::default()).await.expect_err("wrong");
    assert!(wrong.to_string().contains("correct user and password") && !wrong.to_string().contains("secret"));
    let unknown = server.url_of("nothing").replace("secret", "other");
    let unknown = Projection::open(&unknown, DEPLOYMENT, ProjectionOptions::default())
        .await
        .expect_err("no such database");
    assert!(unknown.to_string().contains("create that database"), "{unknown}");

    server.stop().expect("to stop it");
    refused(&mut consumer, &log, &["it cannot be reached", "start it, or correct address and network"]).await;
    server.start_again().expect("to start it");
    let known = database.url().replace("secret", "other");
    let mut consumer =
        Projection::open(&known, DEPLOYMENT, ProjectionOptions::default()).await.expect("open").consumer(0);
    take(&mut consumer, &log.all()).await;
}

fn cut_off_by_restart(server: &mut Postgres) {
    server.stop().expect("to stop it");
    server.start_again().expect("to start it");
}

#[tokio::test]
async fn mariadb_that_does_not_let_one_in_or_write_is_told_of() {
    let mut server = MariaDb::start(&MariaDbOptions::new()).expect("MariaDB");
    server.create_database("d").expect("a database");
    for sql in ["CREATE USER p@127.0.0.1 IDENTIFIED BY 'secret'", "GRANT ALL ON d.* TO p@127.0.0.1"] {
        server.query("mysql", sql).expect("the server");
    }
    let url = server.url_of("d").replace("root@", "p:secret@");
    let (database, log) = (Database::at(DatabaseKind::MariaDb, url), money());
    let mut consumer = begun(&open(&database, 5).await, &log).await;

    server.query("mysql", "SET GLOBAL read_only = 1").expect("the server");
    refused(&mut consumer, &log, &["--read-only", "let the database be written to"]).await;
    server.query("mysql", "SET GLOBAL read_only = 0").expect("the server");
    server.query("mysql", "REVOKE INSERT ON d.* FROM p@127.0.0.1").expect("the server");
    server.query("mysql", "REVOKE ALL ON d.* FROM p@127.0.0.1").expect("the server");
    refused(&mut consumer, &log, &["the right to read and write these tables"]).await;
    server.query("mysql", "GRANT ALL ON d.* TO p@127.0.0.1").expect("the server");

    server.stop().expect("to stop it");
    refused(&mut consumer, &log, &["it cannot be reached"]).await;
    server.start_again().expect("to start it");
    let wrong = database.url().replace("secret", "wrong");
    let wrong = Projection::open(&wrong, DEPLOYMENT, ProjectionOptions::default()).await.expect_err("wrong");
    assert!(wrong.to_string().contains("correct user and password"), "{wrong}");
    take(&mut consumer, &log.all()).await;
}

#[tokio::test]
async fn a_server_that_was_restarted_between_batches_is_not_noticed() {
    let mut server = Postgres::start(&PostgresOptions::new()).expect("PostgreSQL");
    let database = Database::at(DatabaseKind::Postgres, server.create_database("d").expect("a database"));
    let (log, projection) = (money(), open(&database, 5).await);
    let mut consumer = begun(&projection, &log).await;
    cut_off_by_restart(&mut server);
    take(&mut consumer, &log.all()).await;
    cut_off_by_restart(&mut server);
    assert_eq!(position(&mut consumer).await, log.all().end());
    cut_off_by_restart(&mut server);
    assert_eq!(projection.positions().await.expect("the database").len(), 1);
}

#[tokio::test]
async fn a_server_that_stands_still_is_told_of_and_nothing_is_twice_when_it_goes_on() {
    let server = Postgres::start(&PostgresOptions::new()).expect("PostgreSQL");
    let database = Database::at(DatabaseKind::Postgres, server.create_database("d").expect("a database"));
    let log = money();
    let options = ProjectionOptions { timeout: Duration::from_secs(2), ..ProjectionOptions::default() };
    let projection = Projection::open(database.url(), DEPLOYMENT, options).await.expect("the database");
    let mut consumer = begun(&projection, &log).await;
    server.pause().expect("to pause it");
    refused(&mut consumer, &log, &["has not answered within 2000 ms"]).await;
    assert!(consumer.position().await.is_err());
    assert!(projection.positions().await.is_err());
    server.resume().expect("to let it go on");
    // The write before the pause may have succeeded or not; the next position tells.
    let patient = open(&database, 5).await;
    let mut consumer = patient.consumer(0);
    position(&mut consumer).await;
    take(&mut consumer, &log.all()).await;
    assert_eq!(database.figure("COUNT(*)", "FROM entries").await, "3");
}
