//! Emptying the tables and filling them again.

use scarce_core::event::Position;
use scarce_outflow::Consumer;

use crate::agreement;
use crate::kit::{Database, DatabaseKind, Log, dump, open, position, take};

const KINDS: [DatabaseKind; 3] = [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb];

#[tokio::test]
async fn what_is_rebuilt_is_what_was_there() {
    for kind in KINDS {
        let (database, log) = (Database::new(kind), Log::random(5, 300));
        let projection = open(&database, 5).await;
        let mut consumer = projection.consumer(0);
        take(&mut consumer, &log.all()).await;
        let before = dump(&database).await;
        projection.rebuild().await.expect("the database");
        let empty = dump(&database).await;
        assert!(empty.values().all(Vec::is_empty), "{empty:?}");
        // An earlier consumer notices, and begins again.
        assert_eq!(position(&mut consumer).await, Position::default());
        take(&mut consumer, &log.all()).await;
        assert_eq!(dump(&database).await, before);
        agreement::check(&database, &log).await;
    }
}

#[tokio::test]
async fn who_writes_while_the_tables_are_emptied_writes_all_or_finds_out() {
    for kind in KINDS {
        let (database, log) = (Database::new(kind), Log::random(5, 300));
        let projection = open(&database, 5).await;
        let mut consumer = projection.consumer(0);
        let pieces = log.pieces(20);
        for piece in &pieces {
            let (taken, emptied) = tokio::join!(consumer.consume(piece), projection.rebuild());
            emptied.expect("the database");
            drop(taken);
            let rows = dump(&database).await;
            let is_empty = rows.iter().all(|(table, rows)| table == "cursors" || rows.is_empty());
            let is_first = piece.after == Position::default();
            assert!(is_empty || is_first, "{kind:?}: rows without those before them");
        }
        let reached = position(&mut consumer).await;
        for piece in pieces.iter().filter(|piece| piece.after >= reached) {
            take(&mut consumer, piece).await;
        }
        agreement::check(&database, &log).await;
    }
}

#[tokio::test]
async fn an_emptying_that_was_interrupted_is_told_of_and_can_be_finished() {
    let (database, log) = (Database::new(DatabaseKind::MariaDb), Log::random(5, 300));
    let projection = open(&database, 5).await;
    let mut consumer = projection.consumer(0);
    take(&mut consumer, &log.all()).await;
    // The state after the process was killed in the middle of the tables.
    database.run("INSERT INTO meta VALUES ('rebuilding', 'yes')").await;
    database.run("DELETE FROM cursors").await;
    database.run("TRUNCATE TABLE accounts").await;
    let trouble = consumer.position().await.expect_err("half of it is gone");
    assert!(trouble.reason.contains("if the rebuild was interrupted, run it again"), "{trouble}");
    let trouble = consumer.consume(&log.all()).await.expect_err("half of it is gone");
    assert!(trouble.reason.contains("run it again"), "{trouble}");
    projection.rebuild().await.expect("the database");
    take(&mut consumer, &log.all()).await;
    agreement::check(&database, &log).await;
}
