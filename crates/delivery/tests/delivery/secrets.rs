//! Secrets at rest: encrypted with a key outside the database, or kept elsewhere; and never nothing in their place.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scarce_delivery::{
    Delivery, DeliveryOptions, EndpointState, Secret, SecretKeys, SecretReference, Workers,
};
use scarce_outflow::Outflow;
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, Receiver, open, options, wait_until};
use crate::webhooks::is_signed;

/// Options with keys of these bytes.
fn with_keys(keys: &[u8]) -> DeliveryOptions {
    let texts: Vec<String> = keys.iter().map(|byte| STANDARD.encode([*byte; 32])).collect();
    let secret_keys = Some(SecretKeys::parse(&texts.join("\n")).expect("keys"));
    DeliveryOptions { secret_keys, ..options() }
}

fn start(bench: &Bench, delivery: &Delivery) -> (Outflow, Workers) {
    (bench.flow_to_webhooks(delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()))
}

async fn stop((flow, running): (Outflow, Workers)) {
    running.stop().await;
    flow.stop().await;
}

/// Whether the table holds this text in some row.
async fn is_stored(database: &Database, text: &str) -> bool {
    let rows = database.ask(&["secret", "secret_before"], "FROM delivery_endpoints").await;
    rows.into_iter().flatten().any(|cell| cell.contains(text))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_secrets_are_encrypted_at_the_next_start_with_a_key_and_sign_as_before() {
    for kind in DatabaseKind::ALL {
        let (bench, database, receiver) = (Bench::new(), Database::new(kind), Receiver::start().await);
        let without = open(&database, &bench, options()).await;
        let added = without.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
        let rotated = without.rotate_secret(&added.id, None, Duration::from_secs(3_600)).await;
        let rotated = rotated.expect("the database").expect("an endpoint");
        assert!(is_stored(&database, "whsec_").await);
        // The first key, and then one after it: a rotation of the key.
        for keys in [&[1][..], &[2, 1]] {
            let delivery = open(&database, &bench, with_keys(keys)).await;
            let before = receiver.heard().len();
            let running = start(&bench, &delivery);
            bench.run(&format!("ACCOUNT.OPEN a{} EUR", keys.len())).await;
            wait_until("it was not sent", || async { receiver.heard().len() > before }).await;
            stop(running).await;
            assert!(!is_stored(&database, "whsec_").await);
            assert!(is_signed(&receiver.heard()[before], rotated.reveal()));
            assert!(is_signed(&receiver.heard()[before], added.secret.reveal()), "the one before signs, too");
        }
        // The first key is not needed any more.
        let delivery = open(&database, &bench, with_keys(&[2])).await;
        let kept = Secret::generate().expect("random bytes");
        delivery.add_endpoint(&receiver.url(), &["*"], Some(kept.clone())).await.expect("one");
        assert!(!is_stored(&database, kept.reveal()).await, "a new one is never stored as plain text");
        let running = start(&bench, &delivery);
        bench.run("ACCOUNT.OPEN b EUR").await;
        wait_until("it was not sent to both", || async { receiver.heard().len() == 4 }).await;
        assert!(receiver.heard().iter().any(|heard| is_signed(heard, kept.reveal())));
        stop(running).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_another_key_an_endpoint_says_so_and_the_others_are_sent_to() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let (locked, open_one) = (Receiver::start().await, Receiver::start().await);
        let delivery = open(&database, &bench, with_keys(&[1])).await;
        let its = delivery.add_endpoint(&locked.url(), &["*"], None).await.expect("one");
        let other = open(&database, &bench, with_keys(&[2])).await;
        other.add_endpoint(&open_one.url(), &["*"], None).await.expect("one");
        let running = start(&bench, &other);
        bench.run("ACCOUNT.OPEN a EUR").await;
        wait_until("the other one was not sent to", || async { open_one.heard().len() == 1 }).await;
        let endpoint = || async { delivery.endpoint(&its.id).await.expect("the database").expect("one") };
        let failing = endpoint().await.failing.expect("what is wrong");
        assert!(failing.last_error.contains("--secrets-key-file"), "{failing:?}");
        assert_eq!((failing.failures, locked.heard().len()), (0, 0), "nothing is sent unsigned");
        stop(running).await;
        let both = open(&database, &bench, with_keys(&[2, 1])).await;
        let running = start(&bench, &both);
        wait_until("it was not sent after all", || async { locked.heard().len() == 1 }).await;
        assert!(is_signed(&locked.heard()[0], its.secret.reveal()));
        let endpoint = endpoint().await;
        assert_eq!((endpoint.state, endpoint.failing), (EndpointState::Active, None));
        stop(running).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_may_be_kept_in_a_file_which_may_change() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let (receiver, folder) = (Receiver::start().await, tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("secret");
    let reference = SecretReference::parse(&format!("file:{}", path.display())).expect("a reference");
    let delivery = open(&database, &bench, with_keys(&[1])).await;
    let id = delivery.add_endpoint_with(&receiver.url(), &["*"], &reference).await.expect("one");
    let running = start(&bench, &delivery);
    bench.run("ACCOUNT.OPEN a EUR").await;
    wait_until("the missing file is not reported", || async {
        let its = delivery.endpoint(&id).await.expect("the database").expect("one");
        its.failing.is_some_and(|failing| failing.last_error.contains(reference.text()))
    })
    .await;
    assert!(receiver.heard().is_empty());
    for name in ["a", "b"] {
        let secret = Secret::generate().expect("random bytes");
        std::fs::write(&path, format!("{}\n", secret.reveal())).expect("the file");
        let before = receiver.heard().len();
        if name != "a" {
            bench.run(&format!("ACCOUNT.OPEN {name} EUR")).await;
        }
        wait_until("it was not sent", || async { receiver.heard().len() > before }).await;
        assert!(is_signed(&receiver.heard()[before], secret.reveal()));
    }
    stop(running).await;
    assert!(is_stored(&database, reference.text()).await);
}
