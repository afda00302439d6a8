//! Endpoints: refusals, signing secrets, and encryption.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use scarce_delivery::{Delivery, DeliveryError, DeliveryOptions, Endpoint, EndpointState, Secret};
use tokio::runtime::Handle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::kit::{Bench, Database, DatabaseKind, Receiver, Reply, open, options, wait_until};
use crate::webhooks::is_signed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_sent_to_or_names_no_event_is_refused() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    for url in ["", "ftp://h/", "http://user:password@h/", "h"] {
        let refused = delivery.add_endpoint(url, &["*"], None).await.expect_err(url);
        assert!(matches!(refused, DeliveryError::Url { .. }), "{refused}");
    }
    for events in [&["stocks.*"][..], &[]] {
        let refused = delivery.add_endpoint("http://h/", events, None).await.expect_err("no event");
        assert!(matches!(refused, DeliveryError::Pattern { .. }), "{refused}");
    }
    assert!(delivery.endpoints().await.expect("the database").is_empty());
    let added = delivery.add_endpoint("http://h/", &["stock.*", "account.opened"], None).await.expect("one");
    let listed = delivery.endpoints().await.expect("the database");
    assert_eq!((listed.len(), listed[0].id.as_str()), (1, added.id.as_str()));
    assert_eq!(listed[0].events, ["stock.*", "account.opened"]);
    assert!(!format!("{listed:?} {added:?}").contains(added.secret.reveal()), "secrets are not shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_secret_signs_beside_the_one_before_for_a_while() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        let receiver = Receiver::start().await;
        let first = delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
        let rotate = |overlap| delivery.rotate_secret(&first.id, None, overlap);
        let second = rotate(Duration::from_secs(60)).await.expect("the database").expect("an endpoint");
        let (flow, running) = (
            bench.flow_to_webhooks(&delivery),
            delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        );
        bench.run("ACCOUNT.OPEN a EUR").await;
        wait_until("it was not sent", || async { receiver.heard().len() == 1 }).await;
        let third = rotate(Duration::ZERO).await.expect("the database").expect("an endpoint");
        bench.run("ACCOUNT.OPEN b EUR").await;
        wait_until("it was not sent", || async { receiver.heard().len() == 2 }).await;
        running.stop().await;
        flow.stop().await;
        let signed_by = |at: usize| {
            let heard = receiver.heard()[at].clone();
            [&first.secret, &second, &third].map(|secret| is_signed(&heard, secret.reveal()))
        };
        assert_eq!((signed_by(0), signed_by(1)), ([true, true, false], [false, false, true]), "{kind:?}");
        let signatures = receiver.heard()[0].header("webhook-signature").split(' ').count();
        assert_eq!(signatures, 2);
        let none = delivery.rotate_secret("ep_none", Some(first.secret), Duration::ZERO).await;
        assert_eq!(none.expect("the database"), None);
    }
}

/// A certificate for `localhost`, and a TLS acceptor with it.
fn certificate() -> (String, TlsAcceptor) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a certificate");
    (certificate.pem(), TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_receiver_is_sent_to_where_its_authority_is_known() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let (pem, tls) = certificate();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, pem).expect("to write it");
    let receiver = Receiver::with_tls(tls).await;
    let stranger = open(&database, &bench, options()).await;
    stranger.add_endpoint(&receiver.url(), &["*"], None).await.expect("one");
    let flow = bench.flow_to_webhooks(&stranger);
    let running = stranger.run_webhooks(&Handle::current(), bench.engine.clone());
    bench.run("ACCOUNT.OPEN a EUR").await;
    let error = || async {
        let page = stranger.deliveries(Default::default(), None, 1).await.expect("the database");
        page.items.into_iter().next().and_then(|its| its.last_error).unwrap_or_default()
    };
    wait_until("it was not refused", || async { error().await.contains("certificate") }).await;
    running.stop().await;
    assert!(receiver.heard().is_empty());
    let friend = open(&database, &bench, DeliveryOptions { ca_file: Some(file.clone()), ..options() }).await;
    let running = friend.run_webhooks(&Handle::current(), bench.engine.clone());
    wait_until("it was not sent", || async { receiver.heard().len() == 1 }).await;
    running.stop().await;
    flow.stop().await;
    std::fs::write(&file, "nothing").expect("to write it");
    let options = DeliveryOptions { ca_file: Some(file), ..DeliveryOptions::default() };
    let refused = Delivery::new(database.url(), bench.deployment_id(), options).expect_err("no certificate");
    assert!(matches!(refused, DeliveryError::Certificates { .. }), "{refused}");
}

#[tokio::test]
async fn what_is_no_secret_is_refused() {
    assert!(matches!(Secret::parse("whsec_short"), Err(DeliveryError::Secret)));
}

/// Suspends after ten failures, and half a second of them.
fn impatient() -> DeliveryOptions {
    DeliveryOptions { suspend_after: Some(Duration::from_millis(500)), suspend_failures_min: 10, ..options() }
}

async fn state(delivery: &Delivery, id: &str) -> Endpoint {
    delivery.endpoint(id).await.expect("the database").expect("an endpoint")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_always_fails_is_suspended_and_loses_nothing() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, impatient()).await;
        let (broken, sound) = (Receiver::with(|_, _| Reply::Status(503)).await, Receiver::start().await);
        let failing = delivery.add_endpoint(&broken.url(), &["*"], None).await.expect("one").id;
        delivery.add_endpoint(&sound.url(), &["*"], None).await.expect("one");
        let (flow, running) = (
            bench.flow_to_webhooks(&delivery),
            delivery.run_webhooks(&Handle::current(), bench.engine.clone()),
        );
        bench.run("ACCOUNT.OPEN a EUR").await;
        wait_until("it is not suspended", || async {
            state(&delivery, &failing).await.state == EndpointState::Suspended
        })
        .await;
        let its = state(&delivery, &failing).await.failing.expect("its failures");
        assert!(its.failures >= 10 && its.last_error.contains("503"), "{its:?}");
        assert!(its.suspended_at_ms.expect("a time") >= its.since_ms + 500, "{its:?}");
        // What comes meanwhile is sent to the other one only, and is still due.
        bench.run("ACCOUNT.OPEN b EUR").await;
        wait_until("not all else is done", || async {
            let health = delivery.health().await.expect("the database");
            (health.suspended_endpoints, health.webhooks.pending, health.webhooks.dead) == (1, 2, 0)
        })
        .await;
        assert_eq!(sound.ids().len(), 2);
        assert_eq!(broken.ids().len(), 1, "nothing is sent to a suspended endpoint");
        broken.set(|_, _| Reply::Status(204));
        assert!(delivery.resume_endpoint(&failing).await.expect("the database"));
        wait_until("not all was sent after all", || async {
            broken.ids() == sound.ids() && delivery.delivery_counts().await.is_ok_and(|its| its.done == 4)
        })
        .await;
        wait_until("it still fails", || async {
            let its = state(&delivery, &failing).await;
            its.state == EndpointState::Active && its.failing.is_none()
        })
        .await;
        running.stop().await;
        flow.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_answers_now_and_then_is_not_suspended() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let soon = DeliveryOptions { suspend_after: Some(Duration::ZERO), ..impatient() };
    let delivery = open(&database, &bench, soon).await;
    let receiver = Receiver::with(|before, _| Reply::Status(if before % 5 == 4 { 204 } else { 503 })).await;
    let id = delivery.add_endpoint(&receiver.url(), &["*"], None).await.expect("one").id;
    let (flow, running) =
        (bench.flow_to_webhooks(&delivery), delivery.run_webhooks(&Handle::current(), bench.engine.clone()));
    for number in 0..8 {
        bench.run(&format!("ACCOUNT.OPEN a{number} EUR")).await;
        wait_until("it was not sent", || async { receiver.heard().len() >= 5 * (number + 1) }).await;
    }
    wait_until("not all arrived", || async {
        delivery.delivery_counts().await.is_ok_and(|counts| counts.done == 8)
    })
    .await;
    assert_eq!(state(&delivery, &id).await.state, EndpointState::Active);
    running.stop().await;
    flow.stop().await;
}
