//! A cursor and its rows are written together: nothing is written twice, nothing is skipped.

use scarce_core::event::Position;
use scarce_delivery::{DatabaseError, Delivery, DeliveryError, DeliveryFilter, DeliveryOptions};
use scarce_outflow::{Batch, Consumer};

use crate::kit::{Bench, Database, DatabaseKind, open, options};
use crate::settlement::counts;

const OTHER: &str = "ffffffffffffffffffffffffffffffff";

/// The whole log of a partition in batches of this many entries.
fn batches(bench: &Bench, partition: u32, size: usize) -> Vec<Batch> {
    let entries = bench.engine.entries(partition, 1, 1 << 24).expect("entries");
    let mut after = Position::default();
    let cut = |entries: &[scarce_core::event::Entry]| {
        let batch = Batch { partition, after, entries: entries.to_vec() };
        after = batch.end();
        batch
    };
    entries.chunks(size).map(cut).collect()
}

/// The partition with the most events.
fn busiest(bench: &Bench) -> u32 {
    let through = |partition: &u32| bench.engine.durable_through(*partition).expect("a sequence");
    (0..bench.engine.partitions()).max_by_key(through).expect("a partition")
}

async fn begun(database: &Database) -> (Bench, Delivery) {
    let bench = Bench::new();
    let delivery = open(database, &bench, options()).await;
    delivery.add_endpoint("http://localhost:1/", &["packets.claimed"], None).await.expect("one");
    bench.campaign("c", 40).await;
    for number in 0..40 {
        bench.claim("c", &format!("user-{number}")).await;
    }
    (bench, delivery)
}

async fn written(delivery: &Delivery) -> (usize, u64) {
    let page = delivery.deliveries(DeliveryFilter::default(), None, 1_000).await.expect("the database");
    (page.items.len(), counts(delivery).await.0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_again_changes_nothing_and_what_is_missing_is_asked_for() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let (bench, delivery) = begun(&database).await;
        let partition = busiest(&bench);
        let pieces = batches(&bench, partition, 7);
        let mut webhooks = delivery.webhooks_consumer(partition);
        let mut settlement = delivery.settlement_consumer(partition);
        assert_eq!(webhooks.position().await.expect("the database"), None);
        let gap = settlement.consume(&pieces[0]).await.and(settlement.consume(&pieces[2]).await);
        let gap = gap.expect_err("a gap").reason;
        assert!(gap.contains("the batch begins behind") && gap.contains("goes on from where it is"), "{gap}");
        assert_eq!(settlement.position().await.expect("the database"), Some(pieces[0].end()));
        for piece in &pieces {
            for _ in 0..2 {
                webhooks.consume(piece).await.expect("the database");
                settlement.consume(piece).await.expect("the database");
            }
        }
        // Larger pieces that overlap, and a new consumer with an empty cache.
        for piece in batches(&bench, partition, 11) {
            delivery.webhooks_consumer(partition).consume(&piece).await.expect("the database");
            delivery.settlement_consumer(partition).consume(&piece).await.expect("the database");
        }
        assert_eq!(written(&delivery).await, (40, 40), "{kind:?}");
        assert_eq!(webhooks.position().await.expect("the database"), pieces.last().map(Batch::end));
        assert_eq!(database.figure("COUNT(DISTINCT asset)", "FROM delivery_settlements").await, "1");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_processes_that_take_one_partition_each_event_is_written_by_one() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let (bench, delivery) = begun(&database).await;
        let partition = busiest(&bench);
        let pieces = batches(&bench, partition, 1);
        let other = open(&database, &bench, options()).await;
        let take = |delivery: Delivery, pieces: Vec<Batch>| async move {
            let (mut consumer, mut next) = (delivery.settlement_consumer(partition), 0);
            while let Some(piece) = pieces.get(next) {
                if consumer.consume(piece).await.is_ok() {
                    next += 1;
                } else if let Some(reached) = consumer.position().await.expect("the database") {
                    next = pieces.iter().take_while(|piece| piece.end() <= reached).count();
                }
            }
        };
        let both = tokio::join!(
            tokio::spawn(take(delivery.clone(), pieces.clone())),
            tokio::spawn(take(other, pieces))
        );
        both.0.and(both.1).expect("no panic");
        assert_eq!(written(&delivery).await, (0, 40), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_deployments_tables_are_refused() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        drop(open(&database, &bench, options()).await);
        let refused = Delivery::open(database.url(), OTHER, options()).await.expect_err("another's");
        let is_right = matches!(&refused, DeliveryError::Database(DatabaseError::OtherDeployment { found, wanted, .. })
            if found == bench.deployment_id() && wanted == OTHER);
        assert!(is_right, "{refused}");
        let other = Delivery::new(database.url(), OTHER, options()).expect("an address");
        let trouble = other.settlement_consumer(0).position().await.expect_err("another's").reason;
        assert!(trouble.contains("give each deployment a database of its own"), "{trouble}");
        assert!(other.health().await.is_err());
    }
    let refused = Delivery::new("sqlite:///x", "no-id", DeliveryOptions::default());
    assert!(matches!(refused, Err(DeliveryError::Database(DatabaseError::Deployment { .. }))));
    assert!(Delivery::new("oracle://h", OTHER, DeliveryOptions::default()).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tables_share_a_database_with_the_projection_and_newer_ones_are_refused() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let usual = scarce_projection::ProjectionOptions::default();
        let id = bench.deployment_id();
        let projection = scarce_projection::Projection::open(database.url(), id, usual).await;
        drop(open(&database, &bench, options()).await);
        assert!(projection.expect("the database").positions().await.expect("the database").is_empty());
        let again = scarce_projection::Projection::open(database.url(), id, usual).await;
        drop(again.expect("the database"));
        database.run("UPDATE delivery_migrations SET version = 99 WHERE version = 1").await;
        let refused = Delivery::open(database.url(), id, options()).await.expect_err("newer");
        assert!(
            matches!(refused, DeliveryError::Database(DatabaseError::Newer { found: 99, .. })),
            "{refused}"
        );
    }
}

/// A server that was killed during the creation of the tables leaves some of them, and a record of what it
/// had begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn making_the_tables_in_mariadb_goes_on_where_it_was_interrupted() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::MariaDb));
    drop(open(&database, &bench, options()).await);
    database.run("DROP TABLE delivery_settlements").await;
    database.run("DROP TABLE delivery_webhooks").await;
    database.run("DELETE FROM delivery_migrations WHERE version > 1").await;
    database.run("UPDATE delivery_migrations SET success = FALSE").await;
    let delivery = open(&database, &bench, options()).await;
    assert_eq!(delivery.health().await.expect("the database").settlement.pending, 0);
    assert_eq!(database.figure("COUNT(*)", "FROM delivery_webhooks").await, "0");
}
