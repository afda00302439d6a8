//! Each packet is settled under an id of its own, which no caller can use.

use std::collections::BTreeMap;

use scarce_delivery::{Delivery, SettlementOptions};
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, open, options, wait_until};
use crate::settlement::{check_credited_once, counts, wait_for};

/// Creates a campaign of packets of 100, claims all for a user, and has that written down.
async fn claim_all(bench: &Bench, delivery: &Delivery, campaigns: &[(&str, u64)], user: &str) {
    let before = counts(delivery).await.0;
    for (campaign, packets) in campaigns {
        for packet in 0..*packets {
            let name = format!("{campaign} EUR PLAN {} {packets} EVEN", packets * 100);
            if packet == 0 {
                assert!(bench.run(&format!("PACKET.CREATE {name}")).await.outcome.is_applied());
            }
            let user = if packet + 1 == *packets { user.to_owned() } else { format!("{user}-{packet}") };
            assert_eq!(bench.claim(campaign, &user).await.1, 100);
        }
    }
    let flow = bench.flow_to_settlement(delivery);
    let claims: u64 = campaigns.iter().map(|(_, packets)| packets).sum();
    wait_until("it was not written", || async { counts(delivery).await.0 == before + claims }).await;
    flow.stop().await;
}

async fn settle(bench: &Bench, delivery: &Delivery, settled: u64) {
    let flow = bench.flow_to_settlement(delivery);
    let running =
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
    wait_for(delivery, settled, 0).await;
    running.stop().await;
    flow.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_packets_whose_names_run_together_are_both_credited() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        claim_all(&bench, &delivery, &[("a:1", 2), ("a", 1)], "{x}u").await;
        // As after a refusal: both would be settled as 'settle:a:1:2'.
        database.run("UPDATE delivery_settlements SET operation_round = 2 WHERE campaign = 'a'").await;
        settle(&bench, &delivery, 3).await;
        let claims = BTreeMap::from([("{x}u".to_owned(), 200), ("{x}u-0".to_owned(), 100)]);
        check_credited_once(&bench, &claims).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_who_used_the_id_before_does_not_make_a_claim_appear_settled() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    bench.run("ACCOUNT.OPEN u EUR").await;
    bench.run("ACCOUNT.CREDIT u 100 ID settle:c:1").await;
    claim_all(&bench, &delivery, &[("c", 1)], "u").await;
    settle(&bench, &delivery, 1).await;
    assert_eq!(bench.balance("u").await, Some(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credit_of_an_earlier_release_is_recognized_and_something_else_is_not() {
    for (amount, balance) in [(100, 100), (5, 105)] {
        let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
        let delivery = open(&database, &bench, options()).await;
        claim_all(&bench, &delivery, &[("c", 1)], "u").await;
        database.run("UPDATE delivery_settlements SET operation_scheme = NULL").await;
        bench.run("ACCOUNT.OPEN u EUR").await;
        bench.run(&format!("ACCOUNT.CREDIT u {amount} ID settle:c:1")).await;
        settle(&bench, &delivery, 1).await;
        assert_eq!(bench.balance("u").await, Some(balance));
    }
}
