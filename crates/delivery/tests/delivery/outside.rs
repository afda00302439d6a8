//! Claimed packets, settled by calls to an outside system.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use scarce_delivery::{DeliveryOptions, Route, Secret, SettlementOptions, SettlementState};
use scarce_sim::random::Random;
use tokio::runtime::Handle;

use crate::kit::{
    Bench, Database, DatabaseKind, Heard, Receiver, Reply, hasty, number, open, options, some_time,
    wait_until,
};
use crate::settlement::{all_in, counts, wait_for};
use crate::webhooks::is_signed;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn secret() -> Secret {
    Secret::parse(SECRET).expect("a secret")
}

/// The accounts of an outside system, which counts each operation id once.
fn booked(heard: &[Heard]) -> BTreeMap<String, u64> {
    let mut booked = BTreeMap::new();
    for heard in heard {
        let data = &heard.json()["data"];
        let amount = data["amount"].as_u64().expect("an amount");
        let before = booked.insert(heard.header("idempotency-key").to_owned(), amount);
        assert!(before.is_none_or(|before| before == amount), "one id, two amounts");
    }
    booked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_signed_and_carry_a_fixed_id() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        let receiver = Receiver::with(|before, _| Reply::Status([503, 409, 201][before.min(2)])).await;
        let flow = bench.flow_to_settlement(&delivery);
        let running = delivery.run_settlement_outside(
            &Handle::current(),
            bench.engine.clone(),
            &receiver.url(),
            secret(),
        );
        let running = running.expect("an address");
        bench.campaign("c", 1).await;
        let (packet, amount) = bench.claim("c", "alice").await;
        wait_for(&delivery, 1, 0).await;
        running.stop().await;
        flow.stop().await;
        assert_eq!(receiver.heard().len(), 3);
        for heard in receiver.heard().iter() {
            let data = serde_json::json!({
                "campaign": "c", "packet": packet, "user": "alice", "amount": amount, "asset": "EUR",
                "operation_id": "settle:c:1",
            });
            assert_eq!(heard.json(), serde_json::json!({"type": "packet.claimed", "data": data}));
            assert_eq!((heard.id(), heard.header("idempotency-key")), ("settle:c:1", "settle:c:1"));
            assert!(is_signed(heard, SECRET));
        }
        let settled = delivery.settlement("c", packet).await.expect("the database").expect("one");
        assert_eq!((settled.route, settled.last_status), (Some(Route::Outside), Some(201)));
        assert_eq!((settled.attempts, settled.account), (3, None));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_is_a_dead_letter_after_few_tries_and_can_be_replayed() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    let receiver = Receiver::with(|_, _| Reply::Full(422, "x:y", "unknown user".to_owned())).await;
    let flow = bench.flow_to_settlement(&delivery);
    let running = delivery
        .run_settlement_outside(&Handle::current(), bench.engine.clone(), &receiver.url(), secret())
        .expect("one");
    bench.campaign("c", 2).await;
    bench.claim("c", "alice").await;
    bench.claim("c", "bob").await;
    wait_for(&delivery, 0, 2).await;
    assert_eq!(receiver.heard().len(), 6, "three tries each");
    let letters = all_in(&delivery, SettlementState::Dead).await;
    assert!(letters.iter().all(|its| its.last_error.as_deref() == Some("it answered 422: unknown user")));
    assert_eq!(delivery.health().await.expect("the database").settlement.dead, 2);
    receiver.set(|_, _| Reply::Status(204));
    assert!(delivery.replay_settlement("c", 1).await.expect("the database"));
    wait_for(&delivery, 1, 1).await;
    // A packet that was tried by one route is never tried by the other.
    let inside =
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
    assert_eq!(delivery.replay_campaign("c").await.expect("the database"), 1);
    wait_for(&delivery, 2, 0).await;
    inside.stop().await;
    running.stop().await;
    flow.stop().await;
    assert_eq!((bench.count("account.credited"), booked(&receiver.heard()).len()), (0, 2));
    let refused =
        delivery.run_settlement_outside(&Handle::current(), bench.engine.clone(), "ftp://h/", secret());
    assert!(refused.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_packet_is_booked_once_whoever_is_killed_when() {
    for kind in DatabaseKind::ALL {
        let seed = number("SCARCE_SEED", 3);
        let (bench, database) = (Bench::new(), Database::new(kind));
        let options = DeliveryOptions { lease: Duration::from_millis(400), ..hasty() };
        let delivery = open(&database, &bench, options).await;
        let random = Mutex::new(Random::new(seed));
        let mut receiver = Receiver::with(move |_, _| match random.lock().expect("no panic").below(12) {
            0 => Reply::Never,
            1 => Reply::Close,
            2 => Reply::Status(500),
            _ => Reply::Status(200),
        })
        .await;
        let flow = bench.flow_to_settlement(&delivery);
        bench.campaign("c", 120).await;
        let mut claimed = 0;
        for number in 0..120 {
            claimed += bench.claim("c", &format!("user-{number}")).await.1;
        }
        let url = receiver.url();
        let mut random = Random::new(seed + 1);
        for kills in 0..10 {
            let running = delivery
                .run_settlement_outside(&Handle::current(), bench.engine.clone(), &url, secret())
                .expect("one");
            tokio::time::sleep(some_time(&mut random, 60)).await;
            if kills % 3 == 0 {
                receiver.kill().await;
                tokio::time::sleep(some_time(&mut random, 20)).await;
                receiver.start_again().await;
            }
            running.abort();
        }
        let running = delivery
            .run_settlement_outside(&Handle::current(), bench.engine.clone(), &url, secret())
            .expect("one");
        wait_until("not all was settled", || async { counts(&delivery).await == (0, 120, 0) }).await;
        running.stop().await;
        flow.stop().await;
        let booked = booked(&receiver.heard());
        assert_eq!((booked.len(), booked.values().sum::<u64>()), (120, claimed), "{kind:?}");
        let ids: BTreeSet<String> = booked.into_keys().collect();
        assert_eq!(ids, receiver.ids());
    }
}
