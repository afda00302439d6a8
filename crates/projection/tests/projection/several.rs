//! Several consumers at a time: of one partition, where one must win, and of several, where none may lose.

use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Projection, ProjectionOptions, SqlConsumer};

use crate::agreement;
use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, dump, open, position, take};

const KINDS: [DatabaseKind; 3] = [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb];

/// Consumes a batch; returns whether another consumer was faster.
async fn is_overtaken(consumer: &mut SqlConsumer, batch: &Batch) -> bool {
    match consumer.consume(batch).await {
        Ok(()) => false,
        Err(trouble) => {
            assert!(trouble.reason.contains("another process projects partition 0"), "{trouble}");
            // As the runner of a consumer does.
            assert_eq!(position(consumer).await, batch.end());
            true
        }
    }
}

#[tokio::test]
async fn of_two_processes_that_project_one_partition_each_event_comes_from_one() {
    for kind in KINDS {
        let (database, alone) = (Database::new(kind), Database::new(kind));
        let log = Log::random(16, 300);
        // Two projections, as in two processes: they share only the database.
        let (mut one, mut other) =
            (open(&database, 5).await.consumer(0), open(&database, 5).await.consumer(0));
        let mut overtaken = [0, 0];
        for batch in log.pieces(3) {
            // Both at the same time.
            let lost = tokio::join!(is_overtaken(&mut one, &batch), is_overtaken(&mut other, &batch));
            assert!(!(lost.0 && lost.1), "nobody wrote it");
            overtaken[0] += u32::from(lost.0);
            overtaken[1] += u32::from(lost.1);
        }
        assert!(overtaken.iter().sum::<u32>() > 10, "they hardly met in {kind:?}: {overtaken:?}");
        take(&mut open(&alone, 5).await.consumer(0), &log.all()).await;
        assert_eq!(dump(&database).await, dump(&alone).await, "{kind:?}");
        agreement::check(&database, &log).await;
    }
}

#[tokio::test]
async fn who_was_overtaken_goes_on_from_there() {
    for kind in KINDS {
        let database = Database::new(kind);
        let mut log = Log::new(Default::default(), 0);
        for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 5", "ACCOUNT.CREDIT a 6", "ACCOUNT.DEBIT a 1"] {
            log.run(line);
        }
        let batches = log.pieces(1);
        let (mut slow, mut fast) =
            (open(&database, 5).await.consumer(0), open(&database, 5).await.consumer(0));
        take(&mut slow, &batches[0]).await;
        for batch in &batches[..3] {
            take(&mut fast, batch).await;
        }
        let trouble = slow.consume(&batches[1]).await.expect_err("it was overtaken");
        assert!(trouble.reason.contains("run only one"), "{trouble}");
        // Its cache is stale, and is not used: the debit fits what the other one wrote.
        take(&mut slow, &batches[1]).await;
        take(&mut slow, &batches[3]).await;
        assert_eq!(database.figure("balance", "FROM accounts").await, "10");
    }
}

/// The log of a partition, with operation ids that other partitions use too.
fn partition_log(partition: u32) -> Log {
    let mut log = Log::new(Default::default(), partition);
    log.run(&format!("ACCOUNT.OPEN a{partition} EUR"));
    log.run(&format!("ACCOUNT.CREDIT a{partition} 100000 ID first"));
    log.run(&format!("STOCK.CREATE s{partition} 1000"));
    for number in 0..150 {
        log.run(&format!("ACCOUNT.DEBIT a{partition} {} ID d{number}", 1 + number % 7));
        log.run(&format!("STOCK.TAKE s{partition} 1 o{} ID t{number}", number % 5));
    }
    log
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_are_projected_side_by_side() {
    for kind in KINDS {
        let database = Database::new(kind);
        let projection =
            Projection::open(database.url(), DEPLOYMENT, ProjectionOptions::default()).await.expect("open");
        let tasks: Vec<_> = (0..4)
            .map(|partition| {
                let mut consumer = projection.consumer(partition);
                tokio::spawn(async move {
                    for batch in partition_log(partition).pieces(10) {
                        take(&mut consumer, &batch).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        let counts = "FROM accounts AS a WHERE balance = 100000 - 594";
        assert_eq!(database.figure("COUNT(*)", counts).await, "4", "{kind:?}");
        assert_eq!(database.figure("COUNT(*)", "FROM receipts").await, "600");
        assert_eq!(database.figure("COUNT(*)", "FROM operations WHERE operation_id = 'first'").await, "4");
        let progress = projection.positions().await.expect("the database");
        let ends: Vec<_> = (0..4).map(|partition| partition_log(partition).all().end()).collect();
        assert_eq!(progress.iter().map(|progress| progress.position).collect::<Vec<_>>(), ends);
        assert_eq!(progress.iter().map(|progress| progress.partition).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(progress.iter().all(|progress| progress.at_ms.is_some() && progress.updated_at_ms > 0));
    }
}
