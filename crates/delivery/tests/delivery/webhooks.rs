//! Deliveries to endpoints: their contents, and the meaning of responses.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use scarce_delivery::{
    Delivery, DeliveryFilter, DeliveryOptions, DeliveryState, EndpointState, Secret, WebhookDelivery,
};
use sha2::Sha256;
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, Heard, Receiver, Reply, open, options, wait_until};

/// Whether a signature is right, computed as a receiver does.
pub fn is_signed(heard: &Heard, secret: &str) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key");
    mac.update(heard.id().as_bytes());
    mac.update(b".");
    mac.update(heard.header("webhook-timestamp").as_bytes());
    mac.update(b".");
    mac.update(heard.body.as_bytes());
    let wanted = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    heard.header("webhook-signature").split(' ').any(|signature| signature == wanted)
}

pub async fn dead(delivery: &Delivery) -> Vec<WebhookDelivery> {
    let filter = DeliveryFilter { state: Some(DeliveryState::Dead), ..Default::default() };
    delivery.deliveries(filter, None, 1_000).await.expect("the database").items
}

async fn pending(delivery: &Delivery) -> u64 {
    delivery.health().await.expect("the database").webhooks.pending
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_endpoint_gets_what_it_wants_signed_and_with_a_fixed_id() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        let (all, stock) = (Receiver::start().await, Receiver::start().await);
        let wanted = delivery.add_endpoint(&all.url(), &["*"], None).await.expect("an endpoint");
        let secret = Secret::generate().expect("random bytes");
        let events = ["stock.*", "packets.claimed"];
        let chosen = delivery.add_endpoint(&stock.url(), &events, Some(secret.clone())).await.expect("one");
        assert_eq!(chosen.secret, secret);
        let (flow, running) = (
            bench.flow_to_webhooks(&delivery),
            delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        );
        bench.run("ACCOUNT.OPEN a EUR ID first").await;
        bench.run("STOCK.CREATE sku 5").await;
        bench.run("STOCK.TAKE sku 2 owner").await;
        bench.campaign("spring", 3).await;
        bench.claim("spring", "alice").await;
        wait_until("not all was heard", || async { all.heard().len() == 6 && stock.heard().len() == 3 })
            .await;
        running.stop().await;
        flow.stop().await;
        let kinds = |receiver: &Receiver| -> BTreeSet<String> {
            receiver
                .heard()
                .iter()
                .map(|heard| heard.json()["type"].as_str().expect("a type").to_owned())
                .collect()
        };
        let of_stock = ["packets.claimed", "stock.created", "stock.taken"].map(str::to_owned);
        assert_eq!(kinds(&stock), BTreeSet::from(of_stock));
        assert!(kinds(&all).is_superset(&kinds(&stock)) && kinds(&all).len() == 6);
        assert!(all.ids().is_superset(&stock.ids()), "an event has one id");
        for heard in all.heard().iter() {
            check_form(heard, bench.deployment_id());
            assert!(is_signed(heard, wanted.secret.reveal()) && !is_signed(heard, secret.reveal()));
        }
        assert!(stock.heard().iter().all(|heard| is_signed(heard, secret.reveal())));
        assert_eq!(delivery.delivery_counts().await.expect("the database").done, 9, "{kind:?}");
    }
}

/// The format of a delivery, which has only public fields.
fn check_form(heard: &Heard, deployment_id: &str) {
    let json = heard.json();
    let (name, data) = (json["type"].as_str().expect("a type"), &json["data"]);
    assert_eq!(data["name"], name);
    let id = format!("evt_{deployment_id}_{}_{}_{}", data["partition"], data["epoch"], data["sequence"]);
    assert_eq!(heard.id(), id);
    assert_eq!(heard.header("content-type"), "application/json");
    assert!(heard.header("user-agent").starts_with("scarce/"));
    let at = data["at"].as_i64().expect("a stamp");
    let written: jiff::Timestamp = json["timestamp"].as_str().expect("a date").parse().expect("a date");
    assert_eq!(written.as_millisecond(), at);
    let fields: Vec<&str> = data["fields"].as_object().expect("fields").keys().map(String::as_str).collect();
    if name == "packets.filled" {
        assert_eq!(fields, ["campaign", "count", "first_packet"]);
    }
    if name == "packets.created" {
        assert!(!fields.contains(&"seed") && !fields.contains(&"cut"), "{fields:?}");
    }
    if name == "account.opened" {
        assert_eq!(data["operation"], "first");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_never_succeeds_is_a_dead_letter_with_its_reason_and_can_be_replayed() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, DeliveryOptions { attempts_max: 3, ..options() }).await;
        let receiver = Receiver::with(|_, _| Reply::Full(500, "x-a:b", "é".repeat(5_000))).await;
        let endpoint = delivery.add_endpoint(&receiver.url(), &["account.*"], None).await.expect("one");
        let (flow, running) = (
            bench.flow_to_webhooks(&delivery),
            delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        );
        bench.run("ACCOUNT.OPEN a EUR").await;
        bench.run("ACCOUNT.OPEN b EUR").await;
        wait_until("no dead letters", || async { dead(&delivery).await.len() == 2 }).await;
        assert_eq!(receiver.heard().len(), 6, "three tries each");
        let letters = dead(&delivery).await;
        for letter in &letters {
            assert_eq!((letter.attempts, letter.last_status), (3, Some(500)));
            let error = letter.last_error.as_deref().expect("a reason");
            assert!(error.starts_with("it answered 500: é") && error.len() <= 4_096, "{}", error.len());
        }
        let health = delivery.health().await.expect("the database");
        assert_eq!((health.webhooks.pending, health.webhooks.dead), (0, 2));
        receiver.set(|_, _| Reply::Status(200));
        assert!(delivery.replay_delivery(letters[0].id).await.expect("the database"));
        wait_until("it was not replayed", || async { dead(&delivery).await.len() == 1 }).await;
        assert_eq!(delivery.replay_endpoint(&endpoint.id).await.expect("the database"), 1);
        wait_until("the rest was not replayed", || async {
            delivery.delivery_counts().await.expect("the database").done == 2
        })
        .await;
        assert_eq!(receiver.ids().len(), 2, "the ids are those of before");
        assert!(!delivery.replay_delivery(999_999).await.expect("the database"));
        running.stop().await;
        flow.stop().await;
        assert_eq!(delivery.remove_delivered(Duration::from_secs(60)).await.expect("the database"), 0);
        assert_eq!(delivery.remove_delivered(Duration::ZERO).await.expect("the database"), 2);
        let left = delivery.deliveries(DeliveryFilter::default(), None, 10).await.expect("the database");
        assert!(left.items.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_is_gone_is_disabled_until_it_is_resumed() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    let receiver = Receiver::with(|_, _| Reply::Status(410)).await;
    let endpoint = delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
    let (flow, running) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    bench.run("ACCOUNT.OPEN a EUR").await;
    let found = || async { delivery.endpoint(&endpoint.id).await.expect("the database").expect("one") };
    wait_until("it was not disabled", || async { found().await.state == EndpointState::Disabled }).await;
    assert_eq!(found().await.reason.as_deref(), Some("it answered 410 Gone"));
    wait_until("no dead letter", || async { dead(&delivery).await.len() == 1 }).await;
    // Nothing more is written for it, and pausing it does not bring it back.
    bench.run("ACCOUNT.OPEN b EUR").await;
    let through = || flow.statuses().iter().map(|status| status.position().sequence).sum::<u64>();
    wait_until("the log was not taken", || async { through() == 2 }).await;
    assert!(!delivery.pause_endpoint(&endpoint.id).await.expect("the database"));
    assert_eq!((pending(&delivery).await, receiver.heard().len()), (0, 1));
    receiver.set(|_, _| Reply::Status(200));
    assert!(delivery.resume_endpoint(&endpoint.id).await.expect("the database"));
    bench.run("ACCOUNT.OPEN c EUR").await;
    wait_until("it did not go on", || async { receiver.heard().len() == 2 }).await;
    running.stop().await;
    flow.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_endpoint_gets_all_when_it_is_resumed_and_a_removed_one_nothing() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    let receiver = Receiver::start().await;
    let endpoint = delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
    assert!(delivery.pause_endpoint(&endpoint.id).await.expect("the database"));
    let (flow, running) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    bench.run("ACCOUNT.OPEN a EUR").await;
    wait_until("it was not written", || async { pending(&delivery).await == 1 }).await;
    assert!(receiver.heard().is_empty());
    assert!(delivery.resume_endpoint(&endpoint.id).await.expect("the database"));
    wait_until("it was not sent", || async { pending(&delivery).await == 0 }).await;
    assert!(delivery.remove_endpoint(&endpoint.id).await.expect("the database"));
    assert!(!delivery.remove_endpoint(&endpoint.id).await.expect("the database"));
    assert!(delivery.endpoints().await.expect("the database").is_empty());
    let left = delivery.deliveries(DeliveryFilter::default(), None, 10).await.expect("the database");
    assert!(left.items.is_empty());
    running.stop().await;
    flow.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_are_not_followed_and_retry_after_is_heeded_up_to_the_bound() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let retry_max = Duration::from_millis(250);
    let delivery = open(&database, &bench, DeliveryOptions { retry_max, ..options() }).await;
    let elsewhere = Receiver::start().await;
    let location = Box::leak(format!("location:{}", elsewhere.url()).into_boxed_str()) as &'static str;
    let receiver = Receiver::with(move |before, _| match before {
        0 => Reply::Full(307, location, String::new()),
        1 => Reply::Full(429, "retry-after:3600", "later".to_owned()),
        _ => Reply::Status(202),
    })
    .await;
    delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
    let (flow, running) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    bench.run("ACCOUNT.OPEN a EUR").await;
    wait_until("it was not sent twice", || async { receiver.heard().len() == 2 }).await;
    wait_until("it was not delivered", || async { pending(&delivery).await == 0 }).await;
    let at: Vec<_> = receiver.heard().iter().map(|heard| heard.at).collect();
    let waited = at[2] - at[1];
    assert!(waited >= retry_max, "{waited:?}");
    assert!(elsewhere.heard().is_empty());
    running.stop().await;
    flow.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_share_the_work_and_send_nothing_twice_while_all_is_well() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let one = open(&database, &bench, options()).await;
        let other = open(&database, &bench, options()).await;
        let receiver = Receiver::start().await;
        one.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
        let flow = bench.flow_to_webhooks(&one);
        let (first, second) = (
            one.run_webhooks(&Handle::current(), bench.engine.clone()),
            other.run_webhooks(&Handle::current(), bench.engine.clone()),
        );
        for number in 0..150 {
            bench.run(&format!("ACCOUNT.OPEN a{number} EUR")).await;
        }
        wait_until("not all was sent", || async { receiver.ids().len() == 150 }).await;
        wait_until("not all was noted", || async { pending(&one).await == 0 }).await;
        first.stop().await;
        second.stop().await;
        flow.stop().await;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for heard in receiver.heard().iter() {
            *counts.entry(heard.id().to_owned()).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "{kind:?}");
    }
}
