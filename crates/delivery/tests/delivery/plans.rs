//! Every statement finds its rows by an index: those of consumers, workers, lists, and tools. A rebase reads all rows:
//! it is for a lost history only.

use std::time::Duration;

use scarce_delivery::{
    Delivery, DeliveryFilter, DeliveryState, SettlementFilter, SettlementOptions, SettlementState,
};
use scarce_testkit::Recorder;
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, Receiver, Reply, open, options, wait_until};

/// Tables with a row for each partition, endpoint or campaign, which do not grow with the log.
const SMALL: &[&str] = &["delivery_meta", "delivery_cursors", "delivery_endpoints", "delivery_failing"];

/// What settlement, deliveries and their workers send, with failures among them.
async fn work(bench: &Bench, delivery: &Delivery) {
    let receiver = Receiver::with(|before, _| Reply::Status(if before < 3 { 500 } else { 204 })).await;
    let endpoint = delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one").id;
    let flows = [bench.flow_to_webhooks(delivery), bench.flow_to_settlement(delivery)];
    let running = [
        delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default()),
    ];
    bench.campaign("c", 3).await;
    for user in ["u1", "u2", "u3"] {
        bench.claim("c", user).await;
    }
    wait_until("not all is done", || async {
        let health = delivery.health().await.expect("the database");
        let counts = delivery.settlement_counts().await.expect("the database");
        counts.done == 3 && health.webhooks.pending == 0 && receiver.ids().len() > 3
    })
    .await;
    for flow in flows {
        flow.stop().await;
    }
    for workers in running {
        workers.stop().await;
    }
    ask(delivery, &endpoint).await;
}

/// What lists and tools send.
async fn ask(delivery: &Delivery, endpoint: &str) {
    for endpoint_id in [None, Some(endpoint)] {
        for state in
            [None, Some(DeliveryState::Pending), Some(DeliveryState::Delivered), Some(DeliveryState::Dead)]
        {
            for after in [None, Some("1")] {
                delivery.deliveries(DeliveryFilter { endpoint_id, state }, after, 1).await.expect("a page");
            }
        }
    }
    let states =
        [None, Some(SettlementState::Pending), Some(SettlementState::Settled), Some(SettlementState::Dead)];
    for state in states {
        for (campaign, user) in [(None, None), (Some("c"), None), (None, Some("u1")), (Some("c"), Some("u1"))]
        {
            for after in [None, Some("1")] {
                for is_lost in [false, true] {
                    let filter = SettlementFilter { campaign, user, state, is_lost };
                    delivery.settlements(filter, after, 1).await.expect("a page");
                }
            }
        }
    }
    delivery.replaced(None, 1).await.expect("a page");
    delivery.replaced(Some("1"), 1).await.expect("a page");
    delivery.settlement("c", 1).await.expect("the database");
    delivery.replay_settlement("c", 1).await.expect("the database");
    delivery.replay_campaign("c").await.expect("the database");
    delivery.resolve_settlement("c", 1, true).await.expect("the database");
    delivery.resolve_settlement("c", 1, false).await.expect("the database");
    delivery.replay_delivery(1).await.expect("the database");
    delivery.replay_endpoint(endpoint).await.expect("the database");
    delivery.remove_delivered(Duration::ZERO).await.expect("the database");
    delivery.pause_endpoint(endpoint).await.expect("the database");
    delivery.remove_endpoint(endpoint).await.expect("the database");
}

#[tokio::test]
async fn no_statement_reads_a_table_that_grows_as_a_whole() {
    let mut scans = Vec::new();
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let recorder = Recorder::start();
        let delivery = open(&database, &bench, options()).await;
        work(&bench, &delivery).await;
        let sent = recorder.statements();
        assert!(sent.len() > 40, "{kind:?} recorded only {sent:#?}");
        // The counts of all rows in each state are for people and tests, and count all rows.
        for sql in sent.iter().filter(|sql| !sql.ends_with(" GROUP BY state")) {
            let found = database.scans(sql, SMALL).await;
            scans.extend(found.into_iter().map(|scan| format!("{kind:?}: {scan}")));
        }
    }
    assert!(scans.is_empty(), "read as a whole:\n{}", scans.join("\n"));
}
